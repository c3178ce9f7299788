//! Statistics of traces: miss-ratio curves, popularity, reuse, and rhythm. Each statistic is computed in one
//! pass over the trace.
//!
//! All statistics are computed from batches of requests. Their memory use depends on the footprint, not on
//! the length of a trace. Reads and writes are divided into blocks and counted separately. Trims and flushes
//! are ignored.
//!
//! | module | content |
//! |---|---|
//! | [`distances`] | the LRU stack distance of every access, from one pass |
//! | [`curve`] | hits of an LRU cache of any size |
//! | [`exact`] | the curve of all accesses |
//! | [`fit`] | a workload with the statistics of a trace but without its addresses, and its accuracy |
//! | [`miniature`] | miss ratios of any policy at a few sizes, simulated in full size or in miniature |
//! | [`profile`] | all other statistics: popularity, sizes, runs, gaps, rhythm, growth, reuse, and working sets |
//! | [`sampled`] | the curve of a sample of the blocks, with its uncertainty (SHARDS) |

pub mod curve;
pub mod distances;
pub mod exact;
pub mod fit;
pub mod miniature;
pub mod profile;
pub mod sampled;

mod index;
mod marks;

pub use curve::{Curve, Hits};
pub use distances::Distances;
pub use exact::ExactCurve;
pub use profile::{Description, Profile};
pub use sampled::{Estimate, Rate, SampledCurve};
