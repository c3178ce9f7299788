//! Parity over operations of a superblock.

mod filling;
pub(crate) mod members;
pub(crate) mod stripes;
