//! Workloads that replay recorded requests.

pub mod trace;

mod part;
mod placement;
mod shares;

pub use part::{By, Part};
pub use shares::{First, Share, Shares, shares};

use crate::WorkloadFamily;
use nacre_config::Model;

/// Descriptor and constructor of the trace workload.
pub(crate) const TRACE: Model<WorkloadFamily> = trace::MODEL;
