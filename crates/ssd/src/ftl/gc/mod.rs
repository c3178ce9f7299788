//! Garbage collection: valid units move out of superblocks, which are then erased.

mod others;
pub(crate) mod relocation;
