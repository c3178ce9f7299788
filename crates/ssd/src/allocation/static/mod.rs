//! Pages go to the plane that their address says.
//!
//! # Models
//! Each plane is filled and cleaned by itself, with erased blocks, victims and wear levelling of its own, and what is said
//! of superblocks holds for its blocks. The address of a page says its plane, in the order of `order`, as in MQSim: requests
//! that meet on one die wait there while others have nothing to do. A page is programmed when its units are there; with
//! `multi_plane` pages of the same number of other planes that wait for the die are programmed with it, if nothing has to
//! be done before them. With `copyback` pages that move stay in their die: their commands alone cross the channel, and
//! nothing corrects them.
//!
//! # Leaves out
//! Allocation of channels or ways alone by address. Planes of one die are read for copies, and erased, one after the
//! other. What a copy inside a die holds in its register is not kept from reads that come between. Parity: a plane is
//! erased by itself, while the others of a stripe need it to rebuild theirs.
//!
//! # Sources
//! tavakkol-2018 (MQSim).
//!
//! # Checks
//! The plane of a page in several orders; the bandwidth of a stride; pages of two planes that are programmed together; time
//! of a channel that copies do not cross; write amplification against the closed forms.

#[cfg(test)]
mod tests;

use super::{Allocation, AllocationFamily};
use nacre_config::{Choice, Configuration, Descriptor, Room};

/// What changes from one page to the next, the fastest first: channel, way and plane, by their letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Order {
    /// Channels, then ways, then planes.
    Cwp,
    /// Channels, then planes, then ways.
    Cpw,
    /// Ways, then channels, then planes.
    Wcp,
    /// Ways, then planes, then channels.
    Wpc,
    /// Planes, then channels, then ways.
    Pcw,
    /// Planes, then ways, then channels.
    Pwc,
}

impl Order {
    /// The places of channels, ways and planes, from the fastest on.
    pub(crate) fn places(self) -> [usize; 3] {
        match self {
            Order::Cwp => [0, 1, 2],
            Order::Cpw => [0, 2, 1],
            Order::Wcp => [1, 0, 2],
            Order::Wpc => [1, 2, 0],
            Order::Pcw => [2, 0, 1],
            Order::Pwc => [2, 1, 0],
        }
    }
}

/// Pages by their address.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// What changes from one page to the next, the fastest first: the letters of channel, way and plane. A way has one die
    /// here, so that MQSim's D has no place.
    #[config(default = "cwp", source = "tavakkol-2018: MQSim's own settings")]
    pub order: Order,
    /// Whether cleaning copies a page inside its die, so that commands alone cross the channel and nothing corrects it. It
    /// takes units of a page.
    #[config(default = false, source = "assumed: controllers correct what they copy")]
    pub copyback: bool,
}

/// This room.
pub const ROOM: Room<AllocationFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "static",
        "to the plane that the address says; each plane is filled and cleaned by itself",
        &["tavakkol-2018"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Allocation::Static(slot.config(none))),
};
