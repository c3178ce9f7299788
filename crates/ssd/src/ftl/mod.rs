//! The flash translation layer: where units of the host's data are, where new ones go, and what is moved and erased.
//!
//! It knows no time. What the flash has to do is told to a [`FlashOps`](flash_ops::FlashOps).

pub(crate) mod allocation;
pub(crate) mod array;
pub(crate) mod blocks;
pub(crate) mod flash_ops;
pub(crate) mod gc;
mod invariants;
pub(crate) mod mapping;
pub(crate) mod paged;
mod restoring;
pub(crate) mod translation;
