//! Superblocks over all dies, filled in stripes.
//!
//! # Models
//! A superblock is one block of every plane of every die. Full operations (a page of every plane, with multi-plane
//! commands) go to the dies in turn, over channel, then die. Drives do so because a stripe uses all dies at once, one
//! parity covers it, and one erase count and one list of what is valid stand for thousands of blocks; the price is a coarser
//! choice of victims.
//!
//! *Parity* (`parity`; Micron's RAIN, SandForce's RAISE): of `stripe` operations that follow each other in a superblock, on
//! a die each, one programs parity over the others, unit by unit. It moves on by a die with every row of dies. A share of
//! 1 / `stripe` of the flash is parity, and taken from over-provisioning. The parity of a stripe is programmed behind the
//! last data of it, with time, energy and wear, and counts in write amplification; until then the drive keeps it in memory
//! of its own, which capacitors protect with the buffer. A superblock that is closed early ends with a shorter stripe. A
//! unit beyond the code is rebuilt: the units in its place of the stripe's other operations are read on their dies at
//! once, sensed again where they need it, and decoded; what the drive still has of them need not be read. If one of these
//! is beyond the code too, the unit is lost. Copies are rebuilt as reads of the host are. Counters tell units of parity,
//! units that were rebuilt, reads for that, and the units that are lost all the same. Without `power_protected` the parity
//! of stripes that are not full is found again in recovery from their pages.
//!
//! # Leaves out
//! Stripes longer than there are dies, and more than one page of parity in one; dies and blocks that fail as a whole. What
//! was rebuilt stays where it is, so that the next read rebuilds it again, until it is written or cleaned; units of one page
//! are rebuilt each by itself. To compute parity takes no time, and its memory is no part of `buffer`. Where cleaning
//! copies a unit that is rebuilt, the others are read beside it and not behind it. After a power loss of a drive without
//! capacitors stripes of which a program was cut count as whole, and pages that it damaged are not rebuilt.
//!
//! # Sources
//! shadley-2011 (parity over dies, which moves on, of 7 + 1 and 15 + 1 pages).
//!
//! # Checks
//! The bandwidth of a stride; writes with parity at (n - 1) / n of the dies, and write amplification at the spare space that
//! parity leaves against the closed forms; shares of units that are lost and rebuilt against binomial tails; the time of a
//! rebuilt read.

#[cfg(test)]
mod tests;

use super::{Allocation, AllocationFamily};
use nacre_config::{Configuration, Descriptor, Room};

/// Superblocks over all dies.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Parity within superblocks, as Micron's RAIN and SandForce's RAISE have it: what the code does not put right is
    /// rebuilt from the other dies. It takes its share of the flash from over-provisioning. Absent means none.
    pub parity: Option<ParityConfig>,
}

/// Parity over pages of different dies.
#[derive(Clone, Debug, Configuration)]
pub struct ParityConfig {
    /// Dies of a stripe, one of which holds its parity: 8 is 7 + 1, and an eighth of the flash is parity. A divisor of
    /// all dies; absent means all of them.
    #[config(min = 2, max = 1048576)]
    pub stripe: Option<u32>,
}

/// This room.
pub const ROOM: Room<AllocationFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "superblock",
        "to the next die in turn: a block of every plane of every die is filled and cleaned together",
        &["shadley-2011"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Allocation::Superblock(slot.config(none))),
};
