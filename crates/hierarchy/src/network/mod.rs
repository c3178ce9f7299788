//! A store behind a network, modeled by its latencies.
//!
//! # Model
//! The latency of a request is sampled from `read` or `write`, regardless of the request size. The latency
//! includes the network round trip and the processing on the remote side. The remote side serves
//! `parallelism` requests at a time, first come, first served. Other requests wait.
//!
//! With a `bandwidth`, all requests share one link, and transfers run one after the other. The latency
//! applies to a request of `unit` bytes and includes the transfer of these bytes. A request of n bytes on an
//! idle link therefore takes `latency + (n - min(n, unit)) / bandwidth`. Write data crosses the link before
//! the remote side serves the request. Read data crosses the link afterwards.
//!
//! If the remote side has not finished a read after `hedge_after`, the read is sent again, with an
//! independent latency (hedged request). The first reply counts. If the other request is still queued, it is
//! canceled. If the remote side already serves the other request, it completes the service, and the reply is
//! dropped. The counters are `hedges_sent`, `hedges_won` (the second request was answered first), and
//! `reads_canceled`.
//!
//! # Not modeled
//! - Addresses, packets, packet loss, and retries.
//! - Other hosts that share the store, unless the latencies were measured under their load.
//! - Full duplex. Reads and writes share the bandwidth of the link.
//! - Separate latencies for trims and flushes. A trim or flush takes the latency of a write and transfers no
//!   data.
//!
//! # Sources
//! - Kim, Seshadri, Dickey, Chiu, "Evaluating phase change memory for enterprise storage systems", FAST'14:
//!   networked storage with 919.0 us per 4 KiB read and 133.0 us per 4 KiB write.
//! - Dean, Barroso, "The tail at scale", CACM 2013: hedged requests.
//!
//! # Checks
//! - Unloaded latencies are exact to the picosecond.
//! - A closed loop with Q outstanding requests has the rate min(Q / latency, parallelism / latency). The
//!   throughput of a saturated link is exactly its bandwidth.
//! - The spans of the breakdown add up to the latency.
//! - The latency of a hedged read has the distribution of the minimum of two latencies, one of which is
//!   delayed by `hedge_after`.

mod model;
#[cfg(test)]
mod tests;

use model::Network;
use nacre_config::{Configuration, Descriptor, Model, Slot, both};
use nacre_controller::latency::{self, LatencyFamily};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bandwidth, Bytes, Price, Time};
use nacre_media::persistence::Landed;
use nacre_media::store::Nothing;

/// A network store.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Latency to read one unit, including the network: a duration or a distribution.
    pub read: Slot<LatencyFamily>,
    /// Latency to write one unit, including the network: a duration or a distribution.
    pub write: Slot<LatencyFamily>,
    /// Request size at which the latencies were measured.
    #[config(
        default = "4 KiB",
        min = "1 B",
        max = "4 GiB",
        source = "standard: the usual size of a random-access benchmark"
    )]
    pub unit: Bytes,
    /// Number of requests that the remote side serves in parallel.
    #[config(
        default = 256,
        min = 1,
        max = 4096,
        source = "assumed: an array of many disks behind a cache; enough that a single host rarely waits"
    )]
    pub parallelism: u32,
    /// Bandwidth of the link, shared by both directions; by default, there is no limit.
    #[config(min = "1 B/s")]
    pub bandwidth: Option<Bandwidth>,
    /// Time after which a read that the remote side has not finished is sent again, with a new latency. The
    /// first reply counts. If the other request is still queued, it is canceled. By default, reads are not
    /// hedged.
    #[config(min = "1 ps", max = "1 h")]
    pub hedge_after: Option<Time>,
    /// Capacity; by default, the capacity is not limited.
    #[config(min = "1 B")]
    pub capacity: Option<Bytes>,
    /// Price per capacity. Without a capacity, the cost is unknown, and the record reports this.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "network",
        "a store behind a network, described by its latencies",
        &["kim-2014", "dean-2013"],
        2,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let id = builder.component();
        let config: Config = slot.config(builder.families());
        let read = latency::build(&config.read, builder);
        let write = latency::build(&config.write, builder);
        let (read, write) = both(read, write)?;
        let path = slot.path().to_string();
        Ok(match builder.store(&path, Landed::layout(config.capacity)) {
            Some(store) => Box::new(Network::new(id, path, &config, read, write, store)),
            None => Box::new(Network::new(id, path, &config, read, write, Nothing)),
        })
    },
};
