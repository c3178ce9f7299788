//! A driver, its CPUs, and a link that carries data and nothing else.
//!
//! # Models
//! The driver takes CPU time for a request. The data of a write crosses the link to the device, that of a read back;
//! each way has its own bandwidth. The host knows at once that a request is done.
//!
//! # Leaves out
//! Commands, doorbells, completions and interrupts, whose costs are in what the driver takes; packets.
//!
//! # Sources
//! akel-2011 section 2.1, whose drive and driver know each other so.
//!
//! # Checks
//! A request alone takes the sum of its parts; many take what the slowest part takes.

use super::HostInterfaceFamily;
use super::plain::Plain;
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::{Bandwidth, Time};

#[cfg(test)]
mod tests;

/// A driver, its CPUs, and a link that carries data and nothing else.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// CPU time of the driver per request.
    #[config(default = "0 s", max = "1 s", source = "assumed: the host is free unless told otherwise")]
    pub driver: Time,
    /// CPUs that run the driver.
    #[config(default = 16, min = 1, max = 1024, source = "assumed: enough not to wait for")]
    pub cpus: u32,
    /// Bandwidth of the link, each way.
    #[config(min = "1 B/s")]
    pub link: Bandwidth,
}

/// This room.
pub const ROOM: Room<HostInterfaceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "direct",
        "a driver and a link that carries data and nothing else",
        &["akel-2011"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, host| {
        let config: Config = slot.config(host.families);
        let links = ["to_device", "to_host"];
        Ok(Box::new(Plain::new(config.driver, config.cpus, config.link, links).in_pieces(4096)))
    },
};
