//! Errors while a workload runs. All of them are user errors.

use crate::trace::TraceError;
use nacre_kernel::{Bytes, ErrorCode, ErrorData};
use std::fmt;

/// Reason why a workload cannot continue.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkloadError {
    /// An arrival is after the end of simulated time, i.e. after 213 days.
    TooLong {
        /// Scenario path of the arrival process.
        path: String,
        /// Number of the request, counted from one.
        request: u64,
    },
    /// The rest of a trace cannot be read.
    Trace {
        /// Scenario path of the setting that names the trace.
        path: String,
        /// The error, with location and remedy.
        error: TraceError,
    },
    /// A request of a trace is outside the address space.
    Placement {
        /// Scenario path of the setting that names the trace.
        path: String,
        /// Number of the request, counted from one.
        request: u64,
        /// End of the request and the limit, as text.
        problem: String,
    },
    /// A request of a tenant is outside the tenant's address range.
    PastTenant {
        /// Scenario path of the tenant's capacity.
        path: String,
        /// Number of the tenant's request, counted from one.
        request: u64,
        /// End of the request, and end of the tenant's address range, in bytes.
        ends: [u64; 2],
    },
}

impl WorkloadError {
    /// Scenario path of the setting to change.
    pub fn path(&self) -> &str {
        match self {
            WorkloadError::TooLong { path, .. }
            | WorkloadError::Trace { path, .. }
            | WorkloadError::Placement { path, .. }
            | WorkloadError::PastTenant { path, .. } => path,
        }
    }

    /// Error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            WorkloadError::TooLong { .. } => ErrorCode::EndOfTime,
            WorkloadError::Trace { error, .. } => error.code(),
            WorkloadError::Placement { .. } | WorkloadError::PastTenant { .. } => ErrorCode::PastTheEnd,
        }
    }

    /// Named values of the error, for programs that process the error.
    pub fn data(&self) -> ErrorData {
        match self {
            WorkloadError::Trace { error, .. } => error.data(),
            WorkloadError::PastTenant { ends: [end, capacity], .. } => {
                vec![("end", (*end).into()), ("capacity", (*capacity).into())]
            }
            WorkloadError::TooLong { .. } | WorkloadError::Placement { .. } => ErrorData::new(),
        }
    }

    /// Description of the error.
    pub fn problem(&self) -> String {
        match self {
            WorkloadError::TooLong { request, .. } => format!(
                "request {request} would arrive more than 213 days after the start, the end of simulated \
                 time"
            ),
            WorkloadError::Trace { error, .. } => error.problem(),
            WorkloadError::Placement { request, problem, .. } => {
                format!("request {request} cannot be placed: {problem}")
            }
            WorkloadError::PastTenant { request, ends: [end, capacity], .. } => {
                format!(
                    "request {request} of this tenant reaches to byte {end}, and the tenant has {capacity}"
                )
            }
        }
    }

    /// Remedy for the user. The text may be empty.
    pub fn remedy(&self) -> String {
        match self {
            WorkloadError::TooLong { .. } => "use fewer requests or a higher rate".into(),
            WorkloadError::Trace { error, .. } => error.remedy(),
            WorkloadError::Placement { .. } => "use placement = \"compact\"".into(),
            WorkloadError::PastTenant { ends: [end, _], .. } => {
                format!("give at least {}, or use placement = \"compact\" for a trace", Bytes(*end))
            }
        }
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remedy() {
            remedy if remedy.is_empty() => write!(f, "{}: {}", self.path(), self.problem()),
            remedy => write!(f, "{}: {}; {remedy}", self.path(), self.problem()),
        }
    }
}

impl std::error::Error for WorkloadError {}
