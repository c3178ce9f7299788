//! A memory channel of the DDR kind: ranks, banks and open rows, and when the next command may be given.
//!
//! # Models
//! Commands on one channel: activate, read, write, precharge, refresh. Every timing constraint of the data sheet is a
//! row of a table (what comes first, what comes later, where, how many clocks); one walker keeps them all.
//! A command that the state of a bank does not allow, or that comes too early, is refused with a panic: no
//! controller may give it. [`Channel::access`] is the simplest controller: in order, rows left open.
//! With the rows of another part the same channel is STT-MRAM: longer activation and precharge, no refresh.
//!
//! # Leaves out
//! Schedulers, power-down and self refresh, mode registers, calibration, training, burst chop, auto-precharge;
//! bits. The command bus carries one command per clock.
//!
//! # Sources
//! jesd79-3 and jesd79-4 for the constraints and for what the data sheets leave to them; everspin-emd3d256m for
//! STT-MRAM, alliance-as4c256m16d3b for DDR3. See [`part`] for each number.
//!
//! # Checks
//! Every constraint by itself: a command is refused one clock early and taken in time. Random commands against a
//! model that compares all pairs of commands. The bandwidth of back-to-back accesses is that of the constraint
//! that binds; refreshing takes its share, tRFC / tREFI.

mod channel;
mod part;
mod rules;
#[cfg(test)]
mod tests;

pub use channel::{Access, Channel, Command, Kind, Place, Unready};
pub use part::{DDR3_1600_4GBIT, DDR4_2400_8GBIT, Part, ST_DDR3_1066_256MBIT, Span};
