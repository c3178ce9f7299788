//! Garbage collection: live data leaves superblocks, which are erased then.

pub(crate) mod emptying;
pub(crate) mod idle;
pub(crate) mod relocation;
mod wear_leveling;
