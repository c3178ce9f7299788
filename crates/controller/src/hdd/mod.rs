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
//! With `spin_down_after`, a drive that rested so long stands, at `standby_power`; the next access waits for `spin_up`.
//!
//! With `scheduling = "nearest"` the drive chooses among `queue` requests. When a request is told when it is done
//! the ones that will come later are not known, so that the choice is made the other way round: the new request
//! follows whichever of three quarters of those that wait or are served leaves the arm and the platters nearest to
//! it, and takes the arm for as long as that takes. Choosing the nearest of n places from one, or the nearest of n
//! ones to one place, is the same by symmetry where requests lie at random; the last quarter stands for requests that
//! were passed over because they lie far off. So throughput and mean latency are those
//! of shortest access time first; requests end in the order in which they came, so the tail is shorter than the
//! drive's. One alone is served as without.
//!
//! Otherwise requests are served in order of submission. One that is submitted later but arrives earlier (below a
//! cache, say) takes a gap of the arm's timeline if it fits; its seek begins where the arm was left by the
//! request submitted before it, and the requests already planned stay as they are.
//!
//! # Leaves out
//! With `nearest`: who is overtaken by how many, and the limits that drives set to that; the way back from a request
//! that was put between two others. Reads of data that is still in the write cache go to the platter. One buffer segment, so
//! two interleaved streams evict each other. Energy of reading ahead what nobody reads. The rest after
//! the last access counts as idle, however long.
//!
//! # Sources
//! Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994; Jacobson and Wilkes,
//! "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7, 1991 (shortest access time first).
//!
//! # Checks
//! Mean random 4 KiB service = mean seek + half a turn + transfer, within 1 %; sequential bandwidth = rate
//! of the zone, within 1 %; throughput of the nearest first at eight depths against a drive that knows its whole
//! queue; energy = power by time of each activity + idle power by elapsed time.

mod buffer;
mod model;
mod queue;
#[cfg(test)]
mod tests;

use model::Hdd;
use nacre_config::{Choice, Configuration, Descriptor, Reader, Room};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bandwidth, Bytes, Energy, Power, Price, Rate, Time};
use nacre_media::disk::{SeekCurve, SeekTimes};
use nacre_media::persistence::Linear;
use nacre_media::store::Nothing;

/// Which request a drive serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Scheduling {
    /// The one that came first.
    Arrival,
    /// The one that takes the shortest access from where arm and platters are: command queueing, NCQ or TCQ.
    Nearest,
}

/// A hard disk drive.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Bytes it holds.
    #[config(min = "1 MiB")]
    pub capacity: Bytes,
    /// How fast the platters turn.
    #[config(min = "1 /s", max = "1000 /s")]
    pub rotation: Rate,
    /// Surfaces with data; that many tracks lie under one position of the arm.
    #[config(min = 1, max = 64)]
    pub heads: u32,
    /// Seek to the next track, settling included.
    #[config(min = "1 us")]
    pub track_to_track_seek: Time,
    /// Seek averaged over all pairs of tracks, settling included.
    pub average_seek: Time,
    /// Seek over all tracks, settling included.
    pub full_stroke_seek: Time,
    /// What a write settles longer than a read.
    #[config(default = "0 s", source = "assumed: none, where a datasheet gives one seek time for both")]
    pub write_settle: Time,
    /// Sustained transfer rate of the outermost tracks.
    #[config(min = "1 kB/s")]
    pub outer_rate: Bandwidth,
    /// Sustained transfer rate of the innermost tracks.
    #[config(min = "1 kB/s")]
    pub inner_rate: Bandwidth,
    /// How fast buffered bytes cross the interface.
    #[config(
        default = "600 MB/s",
        min = "1 kB/s",
        source = "standard: SAS-2 and SATA 3, 6 Gb/s with 8b/10b coding"
    )]
    pub interface_rate: Bandwidth,
    /// Which request is served next.
    #[config(
        default = "arrival",
        source = "assumed: off, so that every request shows the mechanics of its own"
    )]
    pub scheduling: Scheduling,
    /// How many requests it chooses among, cached writes included.
    #[config(default = 32, min = 1, max = 4096, source = "standard: SATA, native command queueing")]
    pub queue: u32,
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
    /// Power while spinning without work.
    pub idle_power: Option<Power>,
    /// Power while the arm moves, idling included.
    pub seek_power: Option<Power>,
    /// Power while waiting for a sector, reading or writing, idling included.
    pub active_power: Option<Power>,
    /// Rest after which the platters stop; absent means never.
    #[config(min = "1 ms", max = "30 d")]
    pub spin_down_after: Option<Time>,
    /// Time the platters need to come up to speed.
    #[config(
        default = "10 s",
        max = "10 min",
        source = "assumed: what data sheets of disks of 2008 say, typical"
    )]
    pub spin_up: Time,
    /// Power while the platters stand.
    pub standby_power: Option<Power>,
    /// Energy to stop the platters and bring them up to speed, beyond idling.
    pub spin_up_energy: Option<Energy>,
    /// Price of its capacity.
    pub price: Option<Price>,
    /// What the price is counted in, such as "USD 2023"; prices counted in different things are not added up.
    pub price_basis: Option<String>,
}

impl Config {
    fn seek_times(&self) -> SeekTimes {
        SeekTimes {
            track_to_track: self.track_to_track_seek,
            average: self.average_seek,
            full_stroke: self.full_stroke_seek,
        }
    }
}

/// The longest that reading a whole disk may take: 200 days, as long as simulated time lasts.
const WHOLE_DISK_MOST: Time = Time::from_s(200 * 86_400);

fn check(config: &Config, reader: &mut Reader<'_>) {
    if let Err(unfit) = SeekCurve::fit(config.seek_times()) {
        let remedy = format!(
            "with these track-to-track and full-stroke seeks it lies between {} and {}",
            unfit.least_average, unfit.most_average
        );
        let given = config.average_seek.to_string();
        reader.conflict("average_seek", &given, "no seek curve has these three times", &remedy);
    }
    if config.inner_rate > config.outer_rate {
        let remedy = format!("the largest allowed is outer_rate, {}", config.outer_rate);
        reader.conflict("inner_rate", &config.inner_rate.to_string(), "it is above outer_rate", &remedy);
    }
    check_capacity(config, reader);
    check_power(config, reader);
}

/// The place of a byte on the platters is a time, which must not end before they do.
fn check_capacity(config: &Config, reader: &mut Reader<'_>) {
    let mean_rate = (config.outer_rate.0 + config.inner_rate.0) / 2.0;
    let most = mean_rate * WHOLE_DISK_MOST.as_secs_f64();
    if config.capacity.0 as f64 > most {
        let problem = format!("reading all of it takes longer than {WHOLE_DISK_MOST}");
        let remedy = format!("at these rates the largest allowed is {}", Bytes(most as u64));
        reader.conflict("capacity", &config.capacity.to_string(), &problem, &remedy);
    }
}

fn check_power(config: &Config, reader: &mut Reader<'_>) {
    let one_alone = match (config.seek_power, config.active_power) {
        (Some(seek), None) => Some(("seek_power", seek, "active_power")),
        (None, Some(active)) => Some(("active_power", active, "seek_power")),
        _ => None,
    };
    if let Some((field, power, missing)) = one_alone {
        let problem = format!("an access without {missing} would take no energy in its other parts");
        reader.conflict(field, &power.to_string(), &problem, &format!("give {missing} too, or neither"));
    }
    for (field, power) in [("seek_power", config.seek_power), ("active_power", config.active_power)] {
        match (power, config.idle_power) {
            (Some(power), Some(idle)) if power < idle => {
                let remedy = format!("it includes idling: at least {idle}");
                reader.conflict(field, &power.to_string(), "it is below idle_power", &remedy);
            }
            (Some(power), None) => {
                reader.conflict(field, &power.to_string(), "it includes idling", "give idle_power too");
            }
            _ => {}
        }
    }
}

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "hdd",
        "a hard disk drive: seek, rotation, transfer",
        &["ruemmler-1994", "jacobson-wilkes-1991"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let id = builder.component();
        let config: Config = slot.config(builder.families());
        let path = slot.path().to_string();
        Ok(match builder.store(&path, Linear::<Nothing>::layout(Some(config.capacity))) {
            Some(store) => Box::new(Hdd::new(id, path, config, store)),
            None => Box::new(Hdd::new(id, path, config, Nothing)),
        })
    },
};
