//! What a trace looks like: miss-ratio curves, popularity, reuse, rhythm, each from one pass.
//!
//! Everything here takes requests in batches and keeps memory for what was touched, never for the length of a
//! trace. Reads and writes are cut into blocks and counted apart; trims and flushes touch nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`distances`] | the LRU stack distance of every access, in one pass |
//! | [`curve`] | what a cache of any size, or two of them, would hit |
//! | [`exact`] | the curve of all accesses |
//! | [`fit`] | a workload with the shape of a trace and none of its addresses, and how well it fits |
//! | [`miniature`] | what caches of any policy miss at a few sizes, simulated whole or in miniature |
//! | [`profile`] | everything else: popularity, sizes, runs, gaps, rhythm, growth, reuse, working sets |
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
