//! A driver that uses CPU time, and a link that carries only data.
//!
//! # Model
//! The driver uses CPU time for each request. The link transfers write data to the device and read data to
//! the host. The two directions have separate bandwidths. The host receives a completion without delay.
//!
//! # Not modeled
//! The model omits packets, commands, doorbells, completions, and interrupts. The driver time includes the
//! costs of commands, doorbells, completions, and interrupts.
//!
//! # Sources
//! akel-2011, section 2.1, describes a drive and a driver of this kind.
//!
//! # Checks
//! The latency of a single request is the sum of the driver time, the link time, and the device time. With
//! many outstanding requests, the slowest of driver, link, and device limits the request rate.

use super::HostInterfaceFamily;
use super::plain::Plain;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::{Bandwidth, Time};

#[cfg(test)]
mod tests;

/// A driver that uses CPU time, and a link that carries only data.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// CPU time of the driver per request.
    #[config(default = "0 s", max = "1 s", source = "assumed: no host cost by default")]
    pub driver: Time,
    /// Number of CPUs that run the driver.
    #[config(default = 16, min = 1, max = 1024, source = "assumed: enough that no request waits")]
    pub cpus: u32,
    /// Bandwidth of the link, in each direction.
    #[config(min = "1 B/s")]
    pub link: Bandwidth,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<HostInterfaceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "direct",
        "a driver, and a link that carries only data",
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
