//! Pages go to the die that is free first.
//!
//! # Models
//! Each plane is filled and cleaned by itself, with erased blocks, victims and wear levelling of its own, and what is said
//! of superblocks holds for its blocks. A page goes to the die that is free first, to its planes in turn. It is programmed
//! when its units are there; with `multi_plane` pages of the same number of other planes that wait for the die are
//! programmed with it, if nothing has to be done before them. With `copyback` pages that move stay in their die: their
//! commands alone cross the channel, and nothing corrects them.
//!
//! # Leaves out
//! Planes of one die are read for copies, and erased, one after the other. What a copy inside a die holds in its register is
//! not kept from reads that come between. Parity: a plane is erased by itself, while the others of a stripe need it to
//! rebuild theirs.
//!
//! # Sources
//! tavakkol-2018 (MQSim).
//!
//! # Checks
//! The bandwidth of a stride; dies that are free first fill their planes in turn; write amplification against the closed
//! forms.

#[cfg(test)]
mod tests;

use super::{Allocation, AllocationFamily};
use nacre_config::{Configuration, Descriptor, Room};

/// Pages to the die that is free first.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Whether cleaning copies a page inside its die, so that commands alone cross the channel and nothing corrects it. It
    /// takes units of a page.
    #[config(default = false, source = "assumed: controllers correct what they copy")]
    pub copyback: bool,
}

/// This room.
pub const ROOM: Room<AllocationFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "dynamic",
        "to the die that is free first; each plane is filled and cleaned by itself",
        &["tavakkol-2018"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Allocation::Dynamic(slot.config(none))),
};
