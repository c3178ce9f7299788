//! Static allocation: a page goes to the plane given by its address.
//!
//! # Model
//! Each plane has its own write frontiers, erased blocks, garbage collection, and wear leveling. Everything that
//! is described for superblocks holds for its blocks. The address of a page determines its plane, in the order of
//! `order`, as in MQSim. Requests for one die wait there, even if other dies are idle.
//!
//! A page is programmed when its units are complete. With `multi_plane`, pages with the same number in other
//! planes that wait for the die are programmed with it, if they have no unfinished prerequisites. With
//! `copyback`, garbage collection copies pages within their die: only their commands cross the channel, and bit
//! errors are not corrected.
//!
//! # Not modeled
//! - Static allocation of channels or ways alone.
//! - Multi-plane reads for copies and multi-plane erases: the planes of a die perform them one after the other.
//! - The register that holds a copy inside a die is available to reads in between.
//! - Parity: a plane erases its blocks alone, while the others of a stripe need them for rebuilds.
//!
//! # Sources
//! tavakkol-2018 (MQSim).
//!
//! # Checks
//! The plane of a page in several orders; the bandwidth of a strided workload; multi-plane programs; channel time
//! of copies that do not cross it; write amplification against the closed forms.

#[cfg(test)]
mod tests;

use super::{Allocation, AllocationFamily};
use nacre_config::{Choice, Configuration, Descriptor, Room};

/// Order in which consecutive pages are distributed, fastest first: the letters of channel, way, and plane.
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
    /// Order in which consecutive pages are distributed, fastest first: the letters of channel (C), way (W),
    /// and plane (P). A way has one die, so MQSim's D is omitted.
    #[config(default = "cwp", source = "tavakkol-2018: MQSim's own settings")]
    pub order: Order,
    /// Whether garbage collection copies pages inside their die: only commands cross the channel, and bit
    /// errors are not corrected. Requires `unit` = `page`.
    #[config(default = false, source = "assumed: controllers correct copied data")]
    pub copyback: bool,
}

/// The component's descriptor and constructor.
pub const ROOM: Room<AllocationFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "static",
        "to the plane given by the address; each plane has its own garbage collection",
        &["tavakkol-2018"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, none| Ok(Allocation::Static(slot.config(none))),
};
