//! Workloads that replay what was recorded elsewhere.

pub mod trace;

mod placement;
