//! A device modeled only by its measured latencies.
//!
//! # Model
//! The latency of a read or write of up to `unit` bytes is sampled from `read` or `write`. A larger request
//! consists of several units. The device has `parallelism` servers, which share one first-come, first-served
//! queue. Every unit occupies one server for its latency. A request completes when its last unit completes. A
//! closed loop of Q one-unit requests therefore reaches `min(Q, parallelism) / latency` requests per second.
//! With Poisson arrivals of one-unit requests, the device is an M/G/c queue with c = `parallelism`.
//!
//! *Bandwidth*: With a `bandwidth`, all units also share one link. A measured latency includes the transfer
//! of its unit, so an idle link adds no time. Read data crosses the link at the end of the latency, and write
//! data crosses the link at the start of the latency. The link adds time only if a unit waits for other
//! transfers, or if its transfer takes longer than the latency.
//!
//! *Energy and lifetime*: Each unit that is read or written takes a constant amount of energy. Idle power is
//! constant. Lifetime is `endurance / bytes written per simulated day`.
//!
//! *Share of a drive*: `drive` is the capacity of a whole drive. If `capacity` is smaller, the device is a
//! share of a pool of such drives. Cost, idle power, and endurance are in proportion to the share. The share
//! has the latencies, `parallelism`, and `bandwidth` of a whole drive, because any drive of the pool may
//! serve the share. If the share uses more than its proportional part of the performance of the drive, the
//! record contains a finding.
//!
//! # Not modeled
//! - Addresses. The latency of a request does not depend on its address, its alignment, or earlier requests.
//!   A request shorter than `unit` takes as long as a whole unit.
//! - Interference between reads and writes, other than queueing.
//! - Latencies measured under load, which already include queueing. Measure at queue depth 1.
//!
//! # Sources
//! Any measurement. The catalog contains the four devices of Kim et al., FAST'14.
//!
//! # Checks
//! - Mean waiting times are within 2 % of the formulas for M/D/1, M/M/1, M/G/1, and M/M/c queues. The
//!   closed-loop throughput formula and Little's law also hold within 2 %.
//! - The costs and idle energies of all shares of a drive add up to the cost and idle energy of the drive.
//!   The lifetime of all shares together equals the lifetime of the drive.
//! - The tests reproduce two thresholds for the devices of Kim et al. Above a read share of 0.4738, the PCM
//!   SSD is faster than the eMLC SSD. Above a read share of 0.8543, the PCM SSD also has more IOPS per cost.

mod model;
#[cfg(test)]
mod tests;

use crate::latency::{self, LatencyFamily};
use model::Measured;
use nacre_config::{Configuration, Descriptor, Model, Reader, Slot, both};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bandwidth, Bytes, Energy, Power, Price, Time};
use nacre_media::charge::{Energies, check_energies};
use nacre_media::persistence::Landed;
use nacre_media::store::Nothing;

/// A device modeled only by its measured latencies.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Capacity. By default, the device serves every address, and its cost is unknown.
    #[config(min = "1 B")]
    pub capacity: Option<Bytes>,
    /// Capacity of the whole drive, to which `idle_power` and `endurance` apply. If `capacity` is smaller,
    /// the device is a share of a pool of such drives. The default is `capacity`.
    #[config(min = "1 B")]
    pub drive: Option<Bytes>,
    /// Latency to read one unit: a duration or a distribution.
    pub read: Slot<LatencyFamily>,
    /// Latency to write one unit: a duration or a distribution.
    pub write: Slot<LatencyFamily>,
    /// Trim latency. A trim uses no server.
    #[config(default = "0 s", source = "assumed: a trim changes tables in the background")]
    pub trim: Time,
    /// Flush latency after the last write completes. A flush uses no server.
    #[config(default = "0 s", source = "assumed: acknowledged writes are already safe")]
    pub flush: Time,
    /// Request size at which the latencies were measured.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "4 GiB",
        source = "standard: the usual size of a random-access benchmark"
    )]
    pub unit: Bytes,
    /// Number of units served in parallel.
    #[config(
        default = 1,
        min = 1,
        max = 4096,
        source = "assumed: one, since a measurement at queue depth 1 shows no more"
    )]
    pub parallelism: u32,
    /// Bandwidth shared by all units. By default, the bandwidth is not limited.
    #[config(min = "1 B/s")]
    pub bandwidth: Option<Bandwidth>,
    /// Energy to read one unit, in addition to idle power.
    pub read_energy: Option<Energy>,
    /// Energy to write one unit, in addition to idle power.
    pub write_energy: Option<Energy>,
    /// Idle power of a whole drive.
    pub idle_power: Option<Power>,
    /// Price per capacity. Without a capacity, the cost is unknown, and the record reports this.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
    /// Rated number of bytes written to a whole drive.
    pub endurance: Option<Bytes>,
}

impl Config {
    /// The device's share of a whole drive, if known.
    fn share(&self) -> Option<f64> {
        let (capacity, drive) = self.capacity.zip(self.drive)?;
        Some(capacity.0 as f64 / drive.0 as f64)
    }

    /// The configuration, with power and endurance scaled to the device's share of a drive.
    fn of_share(mut self) -> Config {
        if let Some(share) = self.share() {
            self.idle_power = self.idle_power.map(|power| Power(power.0 * share));
            self.endurance = self.endurance.map(|bytes| Bytes((bytes.0 as f64 * share) as u64));
        }
        self
    }

    /// Energies of a unit read and a unit write.
    fn energies(&self) -> Energies<2> {
        Energies::of([self.read_energy, self.write_energy])
    }
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let energies = [("read_energy", config.read_energy), ("write_energy", config.write_energy)];
    check_energies(reader, &energies, config.idle_power);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "measured",
        "a device that is described only by its measured latencies",
        &["kim-2014"],
        3,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let id = builder.component();
        let config = slot.config::<Config>(builder.families()).of_share();
        let read = latency::build(&config.read, builder);
        let write = latency::build(&config.write, builder);
        let (read, write) = both(read, write)?;
        let path = slot.path().to_string();
        Ok(match builder.store(&path, Landed::layout(config.capacity)) {
            Some(store) => Box::new(Measured::new(id, path, config, read, write, store)),
            None => Box::new(Measured::new(id, path, config, read, write, Nothing)),
        })
    },
};
