//! A memory channel of the DDR kind: ranks, banks and open rows, and when the next command may be given.
//!
//! # Models
//! Commands on one channel: activate, read, write, precharge, refresh. Every timing constraint of the data sheet is a
//! row of a table (what comes first, what comes later, where, how many clocks), and the command bus carries one
//! command a clock. A command that the state of a bank does not allow, or that comes too early, is refused with a
//! panic: no controller may give it. A command finds its place between those that were given before where it leaves all
//! of them their clocks: rows are opened while data of others moves, and one whose bank is ready goes before one that
//! waits. Commands to a bank and around a refresh keep their order, but that a row may be read or written before the
//! command that closes it, up to the last clock that leaves that one its own. Reads or writes may take rows of several groups of
//! banks in turn. A row closes by itself after its last
//! burst where that was asked for (auto-precharge).
//! With the times of another part the same channel is STT-MRAM: longer activation and precharge, no refresh.
//!
//! # Leaves out
//! Which command comes next, which is a controller's to decide; power-down and self refresh, mode registers,
//! calibration, training, burst chop; bits. A command that could have gone more than 65,536 clocks
//! before the newest one goes no earlier than that, nor one before the last 64 openings of rows of its rank and the last
//! 64 trains of data.
//!
//! # Sources
//! jesd79-3 and jesd79-4 for the constraints, jedec-21c-spd-ddr4 for their rounding; the numbers of parts are in the
//! catalog.
//!
//! # Checks
//! Every constraint by itself: a command is refused one clock early and taken in time. Random commands against a
//! model that tries every clock and compares all pairs of commands, whichever of both comes first. Many bursts at once
//! against as many one by one.

mod bank;
mod channel;
mod command;
mod holds;
mod in_order;
mod kind;
mod latest;
mod moved;
mod opened;
mod part;
mod rules;
mod slots;
#[cfg(test)]
mod tests;

pub use channel::{Channel, Unready, Whole};
pub use command::{Command, Place};
pub use in_order::InOrder;
pub use kind::Kind;
pub use part::{Part, Rounding};
