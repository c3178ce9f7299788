//! The mapping table in flash, and the part of it that is in DRAM.

pub(crate) mod cache;
mod moved;
mod planes;
