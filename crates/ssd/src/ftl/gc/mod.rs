//! Garbage collection: valid units move out of superblocks, which are then erased.

mod idle;
mod refresh;
pub(crate) mod relocation;
mod wear_leveling;
