//! Garbage collection: live data leaves superblocks, which are erased then.

mod idle;
mod refresh;
pub(crate) mod relocation;
mod wear_leveling;
