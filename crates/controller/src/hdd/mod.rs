//! A hard disk drive: seeks, turns, transfers, in the order of arrival.
//!
//! # Models
//! The mechanics of `media::disk` (seek curve fitted to a datasheet, rotation in absolute time, linearly
//! falling transfer rate) behind one queue. Writes settle `write_settle` longer than reads after a seek.
//!
//! With `read_ahead`, the drive keeps reading after a read until the buffer is that far ahead or another
//! access takes the arm; a read of what was read ahead waits for the platter if it must and then crosses
//! the interface. With `write_cache`, a write is acknowledged once there is room and it has crossed the
//! interface. What the buffer takes or gives crosses one request after the other. A cached write goes to the platter as soon as the arm is free, in order of arrival, and a flush waits for
//! the last one.
//!
//! With `standby`, a drive that rested so long stands, at a lower power; the next access waits for `spin_up`.
//! Powers while it turns and stands and the energy to spin up are given together, or none of them.
//!
//! With a `capacity` below that of the `drive` it is a share of a pool of such drives: it pays for its capacity and idles
//! as its part of one. Its seeks, rotation, and rates are those of one whole drive, whose arm serves the share alone.
//!
//! When the arm is free it takes one of the `queue` oldest waiting requests: with `scheduling = "first_come"` the oldest,
//! with `"shortest_seek"` the one on the nearest cylinder (SSTF), with `"shortest_access"` the one whose first sector is
//! under the head first, seek and rotation together (SATF). A request that has waited longer than `age_limit` goes first.
//! Cached writes wait in the same queue. A request never overtakes an older one if both touch the same bytes and one of
//! them writes.
//!
//! # Leaves out
//! Below a cache or a tier that has not been converted to discrete events, and in memories and servers, the drive still
//! decides when a request arrives: throughput is right there, the tail of queued requests too short. Reads of data that is still in the write cache go to the platter. One buffer segment, so
//! two interleaved streams evict each other. Energy of reading ahead what nobody reads. The rest after
//! the last access counts as idle, however long. A share of a drive spins up as a whole one.
//!
//! # Sources
//! Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994; Jacobson and Wilkes,
//! "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7, 1991 (shortest access time first).
//!
//! # Checks
//! Mean random 4 KiB service = mean seek + half a turn + transfer, within 1 %; sequential bandwidth = rate
//! of the zone, within 1 %; throughput and percentiles of all three policies at depths 1 to 64, open and closed, uniform
//! and skewed, against an independent event simulation, within 1 and 3 %; energy = power by time of each activity + idle power by elapsed
//! time; shares of a drive cost and idle together as the drive does.

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
use nacre_config::{Choice, Configuration, Descriptor, Reader, Room};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bandwidth, Bytes, Energy, Power, Price, Time};
use nacre_media::charge::check_together;
use nacre_media::disk::Mechanics;
use nacre_media::persistence::Landed;
use nacre_media::store::Nothing;

/// Which waiting request a drive serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Scheduling {
    /// The one that came first.
    FirstCome,
    /// The one on the nearest cylinder: shortest seek first, SSTF.
    ShortestSeek,
    /// The one whose first sector is under the head first, seek and rotation together: shortest access first, SATF, as drives
    /// with command queueing (NCQ, TCQ) have it.
    ShortestAccess,
}

/// A hard disk drive.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Arm and platters.
    #[config(flatten)]
    pub mechanics: Mechanics,
    /// How fast buffered bytes cross the interface.
    #[config(
        default = "600 MB/s",
        min = "1 kB/s",
        source = "standard: SAS-2 and SATA 3, 6 Gb/s with 8b/10b coding"
    )]
    pub interface_rate: Bandwidth,
    /// Which request is served next.
    #[config(
        default = "first_come",
        source = "assumed: off, so that every request shows the mechanics of its own"
    )]
    pub scheduling: Scheduling,
    /// How many of the oldest waiting requests it chooses among, cached writes included.
    #[config(default = 32, min = 1, max = 4096, source = "standard: SATA, native command queueing")]
    pub queue: u32,
    /// Age at which a waiting request gets priority, oldest first; absent means that requests may wait without
    /// limit.
    #[config(min = "1 ms", max = "1000 s")]
    pub age_limit: Option<Time>,
    /// How far the drive reads ahead; 0 B is not at all.
    #[config(
        default = "0 B",
        max = "1 GiB",
        source = "assumed: off, so that every read shows the mechanics"
    )]
    pub read_ahead: Bytes,
    /// Bytes of writes it acknowledges before they are on the platter; 0 B is none.
    #[config(
        default = "0 B",
        max = "1 GiB",
        source = "assumed: off, as on servers that care for their data"
    )]
    pub write_cache: Bytes,
    /// Spin-down: when the platters stop, with time and energy; absent means never.
    pub standby: Option<Standby>,
    /// Bytes that the whole drive holds, whose powers at rest are given. With a smaller `capacity` the device is a share of
    /// a pool of such drives. Absent means `capacity`.
    #[config(min = "1 B")]
    pub drive: Option<Bytes>,
    /// Price per capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023"; prices in different currencies are not added.
    pub price_basis: Option<String>,
}

impl Config {
    /// Its part of a whole drive, where that is known.
    fn share(&self) -> Option<f64> {
        self.drive.map(|drive| self.mechanics.capacity.0 as f64 / drive.0 as f64)
    }

    /// What flows over `elapsed` whether or not it works, of which its platters stood for `standing`.
    fn idle_energy(&self, elapsed: Time, standing: Time) -> Option<Energy> {
        let idle = self.mechanics.idle_power?;
        let standby = self.standby.as_ref().and_then(|standby| standby.power).unwrap_or(idle);
        let whole = idle.over(elapsed - standing).0 + standby.over(standing).0;
        Some(Energy(self.share().unwrap_or(1.0) * whole))
    }
}

/// A drive whose platters stop when nobody asks.
#[derive(Clone, Debug, Configuration)]
pub struct Standby {
    /// Rest after which they stop.
    #[config(min = "1 ms", max = "30 d")]
    pub after: Time,
    /// Power while they stand; given with those of the drive that turns.
    pub power: Option<Power>,
    /// Time they need to come up to speed.
    #[config(
        default = "10 s",
        max = "10 min",
        source = "assumed: what data sheets of disks of 2008 say, typical"
    )]
    pub spin_up: Time,
    /// Energy to stop them and bring them up to speed, beyond idling; given with the power while they stand.
    pub spin_up_energy: Option<Energy>,
}

/// What the drive takes while its platters turn, stand and begin to turn is known together or not at all.
fn check(config: &Config, reader: &mut Reader<'_>) {
    let Mechanics { idle_power, seek_power, active_power, .. } = config.mechanics;
    let turning = [("idle_power", idle_power), ("seek_power", seek_power), ("active_power", active_power)];
    let given = turning.iter().filter(|(_, power)| power.is_some()).count();
    // What is missing among those of the drive that turns was reported.
    let (Some(standby), true) = (&config.standby, given == 0 || given == turning.len()) else { return };
    let turning = turning.map(|(name, power)| (name, power.map(|power| power.to_string())));
    let standing = [
        ("standby.power", standby.power.map(|power| power.to_string())),
        ("standby.spin_up_energy", standby.spin_up_energy.map(|energy| energy.to_string())),
    ];
    check_together(reader, turning.into_iter().chain(standing));
}

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
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
