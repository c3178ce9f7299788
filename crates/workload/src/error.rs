//! What can go wrong while a workload runs. All of it is the user's to mend.

use crate::trace::TraceError;

/// Why a workload cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// Simulated time ends after 213 days.
    #[error(
        "{path}: request {request} would arrive later than 213 days after the start, where simulated time ends; \
         ask for fewer requests or a higher rate"
    )]
    TooLong {
        /// The arrival process, by its place in the scenario.
        path: String,
        /// The request, counted from one.
        request: u64,
    },
    /// A trace cannot be read on.
    #[error("{path}: {error}")]
    Trace {
        /// The setting that names the trace, by its place in the scenario.
        path: String,
        /// What is wrong, with its place and remedy.
        error: TraceError,
    },
    /// A request of a trace has no place in the address space.
    #[error("{path}: request {request} cannot be placed: {problem}; use placement = \"compact\"")]
    Placement {
        /// The setting that names the trace, by its place in the scenario.
        path: String,
        /// The request, counted from one.
        request: u64,
        /// Where it reaches, and how far it may.
        problem: String,
    },
}
