//! The machine: scenario -> resolved -> checked -> built -> run -> record.
//!
//! The only crate that knows every room. It still does no I/O: documents come in as text, traces and
//! other files through the [`Files`] the caller brings, and the record goes out as a value.
//!
//! | module | step |
//! |---|---|
//! | [`scenario`] | what a scenario holds; reading it, presets and overrides, every error at once |
//! | [`rooms`] | every family and room of the product |
//! | [`catalog`] | shipped devices, workloads and scenarios |
//! | [`identity`] | what decides how the device of a scenario behaves, as text that images keep |
//! | [`stack`] | from a checked scenario to live components |
//! | [`run_span`] | the virtual-time driver: preconditioning, then open, serial or closed loop, then wear |
//! | [`meter`] | what is measured while it runs |
//! | [`crash`] | the stack of a scenario, or one that is drawn, loses its power anywhere |
//! | [`faults`] | faults that are added to a device while it is served |
//! | [`saved`] | the state of a run as bytes, and the runs that continue from it |
//! | [`policies`] | a replacement policy alone |
//! | [`split`] | a trace split over workers: the scenario of each part, and one record of all |
//! | [`console`] | single requests, and where every nanosecond of each went |
//! | [`record`] | the result, as published in `schema/record.json` |
//! | [`schema`] | JSON Schema of a scenario, and the description of all rooms |

mod accesses;
pub mod capable;
pub mod catalog;
pub mod console;
pub mod crash;
mod drive;
mod endurance;
pub mod faults;
mod host;
pub mod identity;
pub mod meter;
pub mod policies;
mod precondition;
mod presets;
mod progress;
pub mod record;
mod rest;
pub mod rooms;
mod run;
pub mod saved;
pub mod scenario;
pub mod schema;
pub mod split;
pub mod stack;

pub use drive::Beside;
pub use nacre_config::{Problem, Problems};
pub use progress::{Progress, Watch};
pub use record::{Columns, Outcome, Record};
pub use run::{Ran, Span, run, run_span};
pub use saved::SavedRun;
pub use scenario::{Checked, Document, Fill, Parsed, check};
pub use stack::{Files, HostMemory};

#[cfg(test)]
mod tests;
