//! A hard disk drive: seek, rotation, transfer, queueing, read-ahead, write cache, and standby.
//!
//! # Model
//! The module `media::disk` models the mechanics. The seek curve is fitted to a data sheet. The rotational
//! position depends on the absolute simulated time. The transfer rate falls linearly from the outermost to
//! the innermost track. The drive has one arm and one queue of requests. After a seek, a write needs the
//! additional settling time `write_settle`.
//!
//! *Scheduling*: When the arm is free, the drive selects one of the `queue` oldest waiting requests.
//! `scheduling` is the policy:
//!
//! - `"first_come"`: the oldest request.
//! - `"shortest_seek"` (SSTF): the request on the nearest cylinder.
//! - `"shortest_access"` (SATF): the request whose first sector reaches the head first, counting both seek
//!   and rotation.
//!
//! A request that has waited longer than `age_limit` is served first. Cached writes wait in the same queue.
//! If two requests touch the same bytes and one of the requests is a write, the drive keeps their order.
//!
//! *Read-ahead* (`read_ahead`): After a read, the drive continues to read the following data. Read-ahead
//! stops when the buffer holds `read_ahead` bytes beyond the requested data, or when another access starts. A
//! read of data that is being read ahead waits until the buffer contains the data. Buffered data is then
//! transferred over the interface.
//!
//! *Write cache* (`write_cache`): A write is acknowledged when the cache has space and the data has crossed
//! the interface. Transfers between the host and the buffer do not overlap. When the scheduler selects a
//! cached write, the drive writes it to the platter. A flush waits until the last cached write is on the
//! platter.
//!
//! *Standby* (`standby`): After the idle time `standby.after`, the drive spins down and uses less power. The
//! next access waits for the time `spin_up`. The power while spinning, the power in standby, and the energy
//! to spin up must be given together.
//!
//! *Share of a drive*: `drive` is the capacity of a whole drive. If `capacity` is smaller, the device is a
//! share of a pool of such drives. Cost and idle power are in proportion to the share. The share has the seek
//! times, the rotational speed, and the transfer rates of a whole drive. The arm serves only the requests of
//! this share.
//!
//! # Not modeled
//! - Read hits in the write cache. Reads of data that is still in the write cache go to the platter.
//! - Several buffer segments. The buffer has only one segment, so two interleaved streams evict each other's
//!   data.
//! - The energy to read ahead data that the host never requests.
//! - Standby after the last access of a run. The drive counts as idle from this access until the end of the
//!   run.
//! - Scaling of spin-ups. A spin-up of a share takes the time and energy of a spin-up of a whole drive.
//!
//! # Sources
//! - Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994.
//! - Jacobson and Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7, 1991:
//!   shortest access time first.
//!
//! # Checks
//! - The mean service time of random 4 KiB requests equals mean seek + half a rotation + transfer, within 1
//!   %. Sequential bandwidth equals the transfer rate of the accessed tracks, within 1 %.
//! - Throughput is within 1 %, and latency percentiles are within 3 %, of the results of an independent event
//!   simulation. The tests cover all three policies at queue depths 1 to 64, in open and closed loops, with
//!   uniform and skewed requests.
//! - The energy equals the sum of power times time over all activities, plus the idle power times the elapsed
//!   time.
//! - The costs and idle energies of all shares of a drive add up to the cost and idle energy of the drive.

mod access;
mod arm;
mod buffer;
mod cached;
mod drive;
mod request;
mod scheduling;
#[cfg(test)]
mod tests;

use drive::Hdd;
use nacre_config::{Choice, Configuration, Descriptor, Model, Reader};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bandwidth, Bytes, Energy, Power, Price, Time};
use nacre_media::charge::check_together;
use nacre_media::disk::Mechanics;
use nacre_media::persistence::Landed;
use nacre_media::store::Nothing;

/// Order in which a drive serves waiting requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Scheduling {
    /// The oldest request is served first.
    FirstCome,
    /// The request on the nearest cylinder is served first (shortest seek time first, SSTF).
    ShortestSeek,
    /// The request whose first sector reaches the head first, including both seek and rotation, is served
    /// first (shortest access time first, SATF). Drives with command queueing (NCQ, TCQ) use this order.
    ShortestAccess,
}

/// Settings of a hard disk drive.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Arm and platters.
    #[config(flatten)]
    pub mechanics: Mechanics,
    /// Bandwidth of the interface for buffered data.
    #[config(
        default = "600 MB/s",
        min = "1 kB/s",
        source = "standard: SAS-2 and SATA 3, 6 Gb/s with 8b/10b coding"
    )]
    pub interface_rate: Bandwidth,
    /// Order in which waiting requests are served.
    #[config(default = "first_come", source = "assumed: off, so that every request shows the mechanics")]
    pub scheduling: Scheduling,
    /// Number of oldest waiting requests, including cached writes, from which the scheduler selects.
    #[config(default = 32, min = 1, max = 4096, source = "standard: SATA, native command queueing")]
    pub queue: u32,
    /// Age at which a waiting request gets priority, oldest first. By default, the waiting time is not
    /// limited.
    #[config(min = "1 ms", max = "1000 s")]
    pub age_limit: Option<Time>,
    /// Number of bytes that the drive reads ahead; 0 B disables read-ahead.
    #[config(
        default = "0 B",
        max = "1 GiB",
        source = "assumed: off, so that every read shows the mechanics"
    )]
    pub read_ahead: Bytes,
    /// Size of the write cache; 0 B disables it.
    #[config(default = "0 B", max = "1 GiB", source = "assumed: off, usual in servers with valuable data")]
    pub write_cache: Bytes,
    /// Spin-down of an idle drive: its delay, and the time and energy to spin up. By default, the drive does
    /// not spin down.
    pub standby: Option<Standby>,
    /// Capacity of the whole drive, to which the idle powers apply. If `capacity` is smaller, the device is a
    /// share of a pool of such drives. The default is `capacity`.
    #[config(min = "1 B")]
    pub drive: Option<Bytes>,
    /// Price per capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
}

impl Config {
    /// The device's share of a whole drive, if known.
    fn share(&self) -> Option<f64> {
        self.drive.map(|drive| self.mechanics.capacity.0 as f64 / drive.0 as f64)
    }

    /// Idle energy over the time `elapsed`. The platters were stopped for `standing` of this time. `None` if
    /// the power is unknown.
    fn idle_energy(&self, elapsed: Time, standing: Time) -> Option<Energy> {
        let idle = self.mechanics.idle_power?;
        let standby = self.standby.as_ref().and_then(|standby| standby.power).unwrap_or(idle);
        let whole = idle.over(elapsed - standing).0 + standby.over(standing).0;
        Some(Energy(self.share().unwrap_or(1.0) * whole))
    }
}

/// Spin-down of an idle drive: its delay, and the time and energy to spin up.
#[derive(Clone, Debug, Configuration)]
pub struct Standby {
    /// Idle time before the platters stop.
    #[config(min = "1 ms", max = "30 d")]
    pub after: Time,
    /// Power in standby. If it is given, the powers of the spinning drive must also be given.
    pub power: Option<Power>,
    /// Time to spin up.
    #[config(default = "10 s", max = "10 min", source = "assumed: typical in data sheets of 2008")]
    pub spin_up: Time,
    /// Energy to spin down and up, in addition to idle power. If it is given, the standby power must also be
    /// given.
    pub spin_up_energy: Option<Energy>,
}

/// Checks that the powers while spinning and in standby, and the energy to spin up, are either all given or
/// all absent.
fn check(config: &Config, reader: &mut Reader<'_>) {
    let Mechanics { idle_power, seek_power, active_power, .. } = config.mechanics;
    let turning = [("idle_power", idle_power), ("seek_power", seek_power), ("active_power", active_power)];
    let given = turning.iter().filter(|(_, power)| power.is_some()).count();
    // Missing powers of the spinning drive were already reported.
    let (Some(standby), true) = (&config.standby, given == 0 || given == turning.len()) else { return };
    let turning = turning.map(|(name, power)| (name, power.map(|power| power.to_string())));
    let standing = [
        ("standby.power", standby.power.map(|power| power.to_string())),
        ("standby.spin_up_energy", standby.spin_up_energy.map(|energy| energy.to_string())),
    ];
    check_together(reader, turning.into_iter().chain(standing));
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "hdd",
        "a hard disk drive: seek, rotation, transfer",
        &["ruemmler-1994", "jacobson-wilkes-1991"],
        4,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let id = builder.component();
        let config: Config = slot.config(builder.families());
        let path = slot.path().to_string();
        Ok(match builder.store(&path, Landed::layout(Some(config.mechanics.capacity))) {
            Some(store) => Box::new(Hdd::new(id, path, config, store)),
            None => Box::new(Hdd::new(id, path, config, Nothing)),
        })
    },
};
