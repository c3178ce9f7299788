//! Persistence of data that is written in place, and the effect of a power loss.
//!
//! # Model
//! A write is applied when it ends, so earlier reads return the previous data. A power loss keeps all
//! completed writes. In a write in progress, each atomic unit of the medium has old or new data at random. A
//! write that has not started has no effect. No write has to be undone.
//!
//! # Not modeled
//! Errors of the medium: a torn unit reads as a mixture of old and new data, not as an uncorrectable error.
//!
//! # Sources
//! The NVMe and SCSI standards: after a power loss, each sector of an atomic write unit has old or new data.
//!
//! # Checks
//! Random torn writes are compared with a copy of the previous content. The crash simulator tests drives and
//! caches that use this model.

mod landed;
#[cfg(test)]
mod tests;

pub use landed::{Landed, drawn_units};
