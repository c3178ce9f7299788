//! Superblocks over all dies, written in stripes, optionally with parity.
//!
//! # Model
//! A superblock is one block of every plane of every die. Full operations (one page of every plane, with
//! multi-plane commands) go to the dies round robin: to the next channel each time, and to the next die of each
//! channel after all channels. A stripe uses all dies at once, one parity page covers it, and one erase count and
//! one list of valid units serve thousands of blocks. The disadvantage is a coarser choice of victims.
//!
//! *Parity* (`parity`; Micron's RAIN, SandForce's RAISE): `stripe` consecutive operations of a superblock, each
//! on a different die, form a stripe. One of them programs parity over the others, unit by unit. The parity moves
//! to the next die with every row of dies. It takes a share of 1 / `stripe` of the flash from over-provisioning.
//!
//! - The parity of a stripe is programmed after its last data, with time, energy, and wear. It counts in write
//!   amplification. Until then, the drive keeps it in separate memory, which capacitors protect with the buffer.
//!   A superblock that is closed early ends with a shorter stripe.
//! - An uncorrectable unit is rebuilt. The units at its position in the other operations of the stripe are read
//!   from their dies in parallel, with read retries if necessary, and decoded. Units that are still in the
//!   drive's memory are not read. If one of these units is uncorrectable, too, the unit is lost. Copies of
//!   garbage collection are rebuilt like reads of the host.
//! - Without `power_protected`, recovery computes the parity of partly filled stripes from their pages.
//! - Counters report the parity units, the rebuilt units, the reads for rebuilds, and the units that are lost
//!   despite parity.
//!
//! # Not modeled
//! - Stripes longer than the number of dies, several parity pages per stripe, and failures of whole dies or
//!   blocks.
//! - A rebuilt unit is not rewritten. The next read rebuilds it again, until the unit is written or
//!   garbage-collected. Units of one page are rebuilt separately.
//! - Computing parity takes no time, and its memory is not part of `buffer`.
//! - If garbage collection copies a unit that must be rebuilt, the other units are read in parallel with it, not
//!   after it.
//! - After a power loss of a drive without capacitors, stripes with an interrupted program count as complete, and
//!   pages that it damaged are not rebuilt.
//!
//! # Sources
//! shadley-2011 (rotating parity over dies, with 7 + 1 and 15 + 1 pages).
//!
//! # Checks
//! The bandwidth of a strided workload. Writes with parity at (n - 1) / n of the dies, and write amplification at
//! the remaining spare space against the closed forms. Shares of lost and rebuilt units against binomial tails.
//! The time of a rebuilt read.

#[cfg(test)]
mod tests;

use super::{Allocation, AllocationFamily};
use nacre_config::{Configuration, Descriptor, Room};

/// Superblocks over all dies.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Parity within superblocks, like Micron's RAIN and SandForce's RAISE: uncorrectable units are rebuilt
    /// from the other dies. It takes its share of the flash from over-provisioning. Absent means no parity.
    pub parity: Option<ParityConfig>,
}

/// Parity over pages of different dies.
#[derive(Clone, Debug, Configuration)]
pub struct ParityConfig {
    /// Dies of a stripe, including one for parity: with 8 (7 + 1), 1/8 of the flash is parity. Must divide
    /// the number of dies; absent means all dies.
    #[config(min = 2, max = 1048576)]
    pub stripe: Option<u32>,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<AllocationFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "superblock",
        "to the next die in turn, in superblocks of one block of every plane of every die",
        &["shadley-2011"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Allocation::Superblock(slot.config(none))),
};
