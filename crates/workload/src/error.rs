//! What can go wrong while a workload runs. All of it is the user's to mend.

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
}
