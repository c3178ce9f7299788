//! A DDR memory channel: ranks, banks, open rows, and the earliest clock of the next command.
//!
//! # Model
//! The channel accepts the commands activate, read, write, precharge, and refresh. Every timing constraint of
//! the data sheet is a row of a table: the earlier command, the later command, the scope, and the number of
//! clocks. The command bus carries one command per clock.
//!
//! - A command that is too early, or that the state of a bank does not allow, causes a panic, because a
//!   controller must not issue it.
//! - A command may be inserted between commands that were issued before, if all of them keep their clocks. As
//!   a result, rows can be opened while other data is transferred, and a command for a ready bank can precede
//!   a command that waits.
//! - Commands to a bank and around a refresh keep their order, with one exception. A row may be accessed
//!   before the command that closes it, up to the last clock that does not delay that command.
//! - Reads or writes may alternate between rows of several bank groups.
//! - With auto-precharge, a row closes after its last burst.
//!
//! With the timing of STT-MRAM parts, the channel models STT-MRAM, which has longer activation and precharge
//! times and no refresh.
//!
//! # Not modeled
//! - Selection of the next command, which the controller performs.
//! - Power-down and self refresh, mode registers, calibration, training, burst chop, and the stored bits.
//! - Insertion without limit: a command is inserted at most 65,536 clocks before the newest one. It is not
//!   inserted before the last 64 activations of its rank or the last 64 data bursts.
//!
//! # Sources
//! jesd79-3 and jesd79-4 for the constraints; jedec-21c-spd-ddr4 for their rounding. The catalog has the
//! values of memory parts.
//!
//! # Checks
//! For every constraint, a command is rejected one clock too early and accepted on time. Random commands are
//! compared with a model that tries every clock and compares all pairs of commands in both orders. Many
//! bursts that are issued at once equal single bursts.

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
pub use command::{Command, Location};
pub use in_order::InOrder;
pub use kind::Kind;
pub use part::{Part, Rounding};
