//! Effects of a power loss, and the reads of recovery.

pub(crate) mod outage;
pub(crate) mod scan;
pub(crate) mod spare_area;
pub(crate) mod versions;
