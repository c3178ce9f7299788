//! Zones: a host interface that is written in order, and maps zones in place of pages.

mod layer;
mod refusal;
mod report;
mod restoring;
mod table;

pub(crate) use layer::Zones;
pub(crate) use table::ZoneTable;
