//! The flash translation layer: where units of the host's data are, where new ones go, and what is moved and erased.
//!
//! It knows no time. What the flash has to do is told to a [`FlashOps`](crate::ops::FlashOps).

mod allocation;
pub(crate) mod array;
pub(crate) mod gc;
pub(crate) mod history;
mod invariants;
mod loss;
mod mapping;
pub(crate) mod mapping_cache;
pub(crate) mod paged;
mod parity;
pub(crate) mod parts;
pub(crate) mod report;
mod restoring;
pub(crate) mod translation;
