//! A disk cache in DRAM: the pages that an operating system keeps of a slower device.
//!
//! # Models
//! Pages of a slower device in frames of DRAM; the page used longest ago leaves. What is read and not there
//! comes from the backing; adjacent pages with one request. What is written is acknowledged when it is in DRAM;
//! a page that is written in part is fetched first. Dirty pages go back when they leave, when more than
//! `dirty_limit` are dirty (those that are so for longest, which stay as clean ones), and with a flush, which
//! waits for earlier writes, and then for all of them. At most 32 are on their way at one time; who needs the next one waits
//! for it. A page that is on its way into a frame or being written does not leave; who wants it waits. A page that goes back
//! comes from the backing again when it is there.
//!
//! DRAM takes `latency` and the time a page needs at `bandwidth`, one page after the other. While it does, the
//! chips of a rank draw `active_power`, and otherwise all chips `idle_power`, or `power_down_power` from
//! `power_down_after` of rest on; `capacity` over `chip` is the number of chips, which need not be whole where a
//! system is scaled down.
//!
//! A power loss takes all of it. What was flushed is in the backing.
//!
//! Every page comes in and leaves in one way that is counted: `pages.held` is `pages.held_before`, those when measuring
//! began, with `fills` and `write_allocations` (pages written in whole that had no frame), and without `evictions`,
//! `pages_trimmed` and `pages_power_failed`. A page that is read is one of `read_hits`, `read_merged`, `read_misses` and
//! `read_lost`.
//!
//! # Leaves out
//! Accesses of processors to DRAM, and the rest of a machine's memory; refresh, which is a part of `idle_power`; waking from
//! power-down, which takes nanoseconds; read-ahead; the time of software. Time at rest after the last access.
//!
//! # Sources
//! roberts-2009 section III and figure 2: a DRAM page cache before a flash cache. kgil-2008 for the power of chips, as
//! it is recalled. The catalog has the numbers.
//!
//! # Checks
//! Completion times and counts equal those of a naive event simulation; hits and misses against a plain LRU; pages held are those that came in less those that left, in every run; reads give
//! what was written last, also after power losses; energy = power of each state by its time.

mod dram;
#[cfg(test)]
mod tests;

use crate::frames::{FrameCache, Settings};
use dram::Dram;
use nacre_config::{Configuration, Descriptor, Problems, Reader, Room, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bandwidth, BitArea, Bytes, Power, Price, Ratio, Time};
use nacre_media::charge::check_powers;
use nacre_media::store::{Layout, Nothing};

/// A disk cache in DRAM.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Bytes of pages it holds.
    #[config(min = "64 KiB", max = "16 TiB")]
    pub capacity: Bytes,
    /// Bytes of a page; a power of two.
    #[config(
        default = "2 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "paper: roberts-2009 section II.A: the page of the flash below"
    )]
    pub page: Bytes,
    /// Share of the pages that may be dirty.
    #[config(
        default = "10 %",
        max = "100 %",
        source = "assumed: as Linux began to write back in the background"
    )]
    pub dirty_limit: Ratio,
    /// Time until the first byte.
    #[config(default = "55 ns", max = "1 ms", source = "paper: kim-2014 quotes 55 ns for DRAM")]
    pub latency: Time,
    /// How fast bytes follow.
    #[config(default = "4 GB/s", min = "1 MB/s", source = "assumed: one channel of DDR2-533, 64 bits wide")]
    pub bandwidth: Bandwidth,
    /// Bytes of a chip.
    #[config(default = "128 MiB", min = "1 MiB", source = "assumed: chips of 1 Gb, as of 2008")]
    pub chip: Bytes,
    /// Chips that work together.
    #[config(default = 8, min = 1, max = 72, source = "assumed: a rank of eight chips of 8 bits")]
    pub rank: u32,
    /// Power of a chip that reads or writes, idling included.
    pub active_power: Option<Power>,
    /// Power of a chip at rest.
    pub idle_power: Option<Power>,
    /// Power of a chip that is powered down.
    pub power_down_power: Option<Power>,
    /// Rest after which chips are powered down.
    #[config(default = "1 us", max = "1 s", source = "assumed: controllers wait for some hundred cycles")]
    pub power_down_after: Time,
    /// Area per bit of its cells.
    pub area: Option<BitArea>,
    /// Price per capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023"; prices in different currencies are not added.
    pub price_basis: Option<String>,
    /// Device that holds all pages.
    pub backing: Slot<DeviceFamily>,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    if !config.page.0.is_power_of_two() {
        let remedy = format!("the next one is {}", Bytes(config.page.0.next_power_of_two()));
        reader.conflict("page", &config.page.to_string(), "it is not a power of two", &remedy);
    }
    if config.capacity.0 / config.page.0 > 1 << 30 {
        let remedy = "use larger pages, or a smaller capacity";
        reader.conflict("capacity", &config.capacity.to_string(), "it has more than 2^30 pages", remedy);
    }
    let above =
        |field: &str, power: Option<Power>, least: Option<Power>, name: &str, reader: &mut Reader<'_>| {
            if let (Some(power), Some(least)) = (power, least)
                && power < least
            {
                reader.conflict(
                    field,
                    &power.to_string(),
                    &format!("it is below {name}"),
                    &format!("at least {least}"),
                );
            }
        };
    let powers = [("active_power", config.active_power), ("idle_power", config.idle_power)];
    let down = config.power_down_power.map(|power| ("power_down_power", Some(power)));
    check_powers(reader, &powers.into_iter().chain(down).collect::<Vec<_>>());
    above("active_power", config.active_power, config.idle_power, "idle_power", reader);
    above("idle_power", config.idle_power, config.power_down_power, "power_down_power", reader);
}

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "dram_disk_cache",
        "a disk cache in DRAM: the pages an operating system keeps of a slower device",
        &["roberts-2009", "kgil-2008"],
        5,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let (id, path) = (builder.component(), slot.path().to_string());
        let config: Config = slot.config(builder.families());
        let backing = builder.device(&config.backing)?;
        let (settings, layout) = config.frames(&path, builder)?;
        Ok(match builder.store(&path, layout) {
            Some(store) => Box::new(FrameCache::new(id, path, settings, Dram::new(&config, store), backing)),
            None => Box::new(FrameCache::new(id, path, settings, Dram::new(&config, Nothing), backing)),
        })
    },
};

impl Config {
    /// Its frames, and how their bytes are laid out.
    fn frames(&self, path: &str, builder: &mut dyn Builder) -> Result<(Settings, Layout), Problems> {
        let frames = (self.capacity.0 / self.page.0) as u32;
        // Of a frame: its page, when it arrives, its places in two orders and in the index.
        builder.take_memory(path, u64::from(frames) * 48)?;
        let dirty_frames = (f64::from(frames) * self.dirty_limit.0) as u32;
        let settings = Settings { page: self.page, frames, dirty_frames };
        let layout =
            Layout { page_bytes: self.page.0 as u32, pages_per_extent: 64, pages: u64::from(frames) };
        Ok((settings, layout))
    }
}
