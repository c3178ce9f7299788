//! The machine: a scenario is resolved, checked, built, and run, and its results are recorded.
//!
//! This is the only crate that depends on every component. It performs no I/O: documents are text, traces and
//! other files come from the caller's implementation of [`Files`], and the record is returned as a value.
//!
//! | module | content |
//! |---|---|
//! | [`scenario`] | reads a scenario with presets and overrides, and reports all errors together |
//! | [`models`] | the table of all component families and components |
//! | [`catalog`] | shipped devices, workloads, and scenarios |
//! | [`identity`] | settings and versions that determine the behavior of a device, as text that images store |
//! | [`stack`] | builds the components of a checked scenario |
//! | [`run_span`] | the virtual-time driver: preconditioning, then an open, serial, or closed loop, then wear-out |
//! | [`meter`] | measurements during a run |
//! | [`crash`] | power-loss tests of the stack of a scenario or of a random stack |
//! | [`faults`] | faults injected into a running device |
//! | [`saved`] | the state of a run as bytes, from which other runs continue |
//! | [`policies`] | a replacement policy without a device |
//! | [`split`] | split of a trace across workers: the scenario of each part, and the combined record |
//! | [`console`] | single requests with latency breakdowns |
//! | [`record`] | the result, as published in `schema/record.json` |
//! | [`schema`] | JSON Schema of a scenario, and the description of all components |

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
pub mod models;
pub mod policies;
mod precondition;
mod presets;
mod progress;
pub mod record;
mod rest;
mod run;
pub mod saved;
pub mod scenario;
pub mod schema;
pub mod split;
pub mod stack;

pub use drive::Parallel;
pub use nacre_config::{Problem, Problems};
pub use progress::{Progress, Watch};
pub use record::{Columns, Outcome, Record};
pub use run::{RunOutput, Span, run, run_span};
pub use saved::SavedRun;
pub use scenario::{Checked, Document, Fill, Parsed, check};
pub use stack::{Files, HostMemory};

#[cfg(test)]
mod tests;
