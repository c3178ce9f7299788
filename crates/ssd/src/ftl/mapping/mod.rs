//! The mapping table in flash, and the part of it that is in DRAM.

pub(crate) mod cache;
pub(crate) mod cached_entries;
pub(crate) mod cached_pages;
mod moved;
mod planes;
mod recency;
