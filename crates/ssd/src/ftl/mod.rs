//! The flash translation layer: mapping, allocation, garbage collection, and wear leveling.
//!
//! The translation layer does not model time. It reports its operations to a
//! [`FlashOps`](crate::ops::FlashOps).

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
pub(crate) mod translation;
