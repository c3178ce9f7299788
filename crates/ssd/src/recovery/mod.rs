//! Loss of power and recovery.

mod falling_back;
pub(crate) mod outage;
pub(crate) mod scan;
pub(crate) mod spare_area;
pub(crate) mod versions;
mod word_lines;
