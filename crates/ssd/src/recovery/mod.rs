//! What a power loss leaves behind, and what recovery reads.

pub(crate) mod outage;
pub(crate) mod scan;
pub(crate) mod spare_area;
pub(crate) mod versions;
