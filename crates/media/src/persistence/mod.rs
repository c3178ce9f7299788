//! Persistence: bytes that are written in place, and what a power loss leaves of them.
//!
//! # Models
//! A write is applied when it lands, so reads before that see what was there. A power loss leaves what has landed; of a
//! write in progress, each unit that the medium takes as a whole is old or new, as chance decides; what has not begun did
//! not happen. Nothing has to be taken back.
//!
//! # Leaves out
//! Errors of the medium: a unit that was torn reads as a mixture and not as uncorrectable.
//!
//! # Sources
//! standard: the atomic write unit of NVMe and SCSI, sectors that are old or new.
//!
//! # Checks
//! Random writes that are torn, against a copy of what was there before; drives and caches in the crash simulator.

mod landed;
#[cfg(test)]
mod tests;

pub use landed::{Landed, drawn_units};
