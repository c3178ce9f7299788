//! Persistence: which writes have landed on the medium, and what a loss of power takes.
//!
//! # Models
//! Reads see what was written last. Beside the bytes stands, for each write that may not have landed, what was
//! there before and when each of its programs begins and ends. A loss of power takes all of them back and then
//! lets them happen again, in their order, as far as they had come: a program that had ended is there; for the
//! others stored energy is spent in the order in which they would have ended; one without it that was under
//! way is torn, and one that had not begun did not happen.
//!
//! # Leaves out
//! Errors of the medium: a page that was torn reads as a mixture and not as uncorrectable.
//!
//! # Sources
//! akel-2011 for capacitors that finish programs; disks and flash promise sectors that are old or new
//! (standard: the atomic write unit of NVMe and SCSI).
//!
//! # Checks
//! Random writes with losses of power at random moments, against an oracle that keeps every version of every
//! unit; energy program by program in the tests of `onyx`.

mod linear;
mod pending;
#[cfg(test)]
mod tests;

pub use linear::{Landing, Linear};
pub use pending::{Loss, Medium, Pending, Program, Torn, Write};
