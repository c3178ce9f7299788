//! Persistence: which changes have landed on the medium, and what a loss of power takes.
//!
//! # Models
//! Reads see what was written last. Beside it stands, for each [`Change`] that may not have landed, what was there
//! before. When it lands it knows itself, or who has it under way does: a program that waits for its die, or is
//! suspended, moves. A loss of power takes back what has not landed, from the newest change to the oldest, except
//! where a newer one has landed: of each byte, page or block the newest version that landed is left.
//!
//! Of a [`Write`] of bytes each program lands for itself: one that had ended is there; for the others stored energy is
//! spent in the order in which they would have ended; one without it that was under way is torn, and one that had
//! not begun did not happen. Flash drives and caches have changes of their own, with what they put back.
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
//! unit; energy program by program in the tests of `onyx`; drives and caches in the crash simulator.

mod landed;
mod linear;
mod pending;
#[cfg(test)]
mod tests;
mod write;

pub use landed::Landed;
pub use linear::{Landing, Linear};
pub use pending::{Change, Lost, Pending};
pub use write::{Loss, Program, Torn, Write, drawn_units};
