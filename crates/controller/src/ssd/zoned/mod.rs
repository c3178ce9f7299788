//! Zones: a host interface that is written in order, and maps zones in place of pages.
//!
//! A drive of its own over the same flash, channels, dies and host interface, so that a page-mapped drive pays nothing
//! for it.

mod checks;
mod device;
mod incoming;
mod model;
mod power;
mod reading;
mod refusal;
mod report;
mod restoring;
mod table;

pub(super) use checks::check;
pub(super) use model::Zoned;
pub(super) use table::ZoneTable;
