//! Dynamic allocation: a page goes to the die that is free first.
//!
//! # Model
//! Each plane has its own write frontiers, erased blocks, garbage collection, and wear leveling. Everything that
//! is described for superblocks holds for its blocks. A page goes to the die that is free first, and there to its
//! planes in turn.
//!
//! A page is programmed when its units are complete. With `multi_plane`, pages with the same number in other
//! planes that wait for the die are programmed with it, if they have no unfinished prerequisites. With
//! `copyback`, garbage collection copies pages within their die: only their commands cross the channel, and bit
//! errors are not corrected.
//!
//! # Not modeled
//! - Multi-plane reads for copies and multi-plane erases: the planes of a die perform them one after the other.
//! - The register that holds a copy inside a die is available to reads in between.
//! - Parity: a plane erases its blocks alone, while the others of a stripe need them for rebuilds.
//!
//! # Sources
//! tavakkol-2018 (MQSim).
//!
//! # Checks
//! The bandwidth of a strided workload; free dies fill their planes in turn; write amplification against the
//! closed forms.

#[cfg(test)]
mod tests;

use super::{Allocation, AllocationFamily};
use nacre_config::{Configuration, Descriptor, Room};

/// Pages to the die that is free first.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Whether garbage collection copies pages inside their die: only commands cross the channel, and bit
    /// errors are not corrected. Requires `unit` = `page`.
    #[config(default = false, source = "assumed: controllers correct copied data")]
    pub copyback: bool,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<AllocationFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "dynamic",
        "to the die that is free first; each plane has its own garbage collection",
        &["tavakkol-2018"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Allocation::Dynamic(slot.config(none))),
};
