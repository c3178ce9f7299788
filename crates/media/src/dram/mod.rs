//! A memory channel of the DDR kind: ranks, banks and open rows, and when the next command may be given.
//!
//! # Models
//! Commands on one channel: activate, read, write, precharge, refresh. Every timing constraint of the data sheet is a
//! row of a table (what comes first, what comes later, where, how many clocks), and the command bus carries one
//! command a clock. A command that the state of a bank does not allow, or that comes too early, is refused with a
//! panic: no controller may give it. Commands that open and close rows find their place between reads and writes
//! that were given before, so that rows are opened while data of others moves. A row closes by itself after its last
//! burst where that was asked for (auto-precharge).
//! With the times of another part the same channel is STT-MRAM: longer activation and precharge, no refresh.
//!
//! # Leaves out
//! Which command comes next, which is a controller's to decide; power-down and self refresh, mode registers,
//! calibration, training, burst chop; bits. A command that could have gone more than 65,536 clocks
//! before the newest one goes no earlier than that.
//!
//! # Sources
//! jesd79-3 and jesd79-4 for the constraints, jedec-21c-spd-ddr4 for their rounding; the numbers of parts are in the
//! catalogue.
//!
//! # Checks
//! Every constraint by itself: a command is refused one clock early and taken in time. Random commands against a
//! model that compares all pairs of commands. Many bursts at once against as many one by one.

mod channel;
mod kind;
mod part;
mod rules;
mod slots;
#[cfg(test)]
mod tests;

pub use channel::{Channel, Command, Place, Unready};
pub use kind::Kind;
pub use part::{Part, Rounding};
