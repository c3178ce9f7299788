//! A disk cache in DRAM: the page cache of an operating system, in front of a slower device.
//!
//! # Model
//! Frames in DRAM hold copies of pages of a slower device, the backing. The cache evicts the least recently
//! used page.
//!
//! - *Read miss*: The cache fetches the page from the backing. One request fetches adjacent missing pages.
//! - *Write*: A write is acknowledged when its data is in DRAM. Before a partial write of a page that is not
//!   cached, the cache fetches the page.
//! - *Write-back*: Dirty pages are written back when they are evicted, when the share of dirty pages exceeds
//!   `dirty_limit`, and on a flush. Above `dirty_limit`, the cache writes back the pages that have been dirty
//!   longest, and keeps them as clean pages. A flush waits for earlier writes, and then for the write-back of
//!   all dirty pages.
//! - *Concurrency*: At most 32 write-backs are in progress. An operation that needs another write-back waits.
//!   A page that is being fetched or written is not evicted, and requests for it wait. If an evicted page is
//!   requested during its write-back, it is fetched from the backing after the write-back.
//!
//! *Time and power*: A DRAM access takes `latency` plus the transfer time of a page at `bandwidth`. Pages are
//! accessed one after the other. During an access, each chip of a rank uses `active_power`. An idle chip uses
//! `idle_power`, or `power_down_power` after it has been idle for `power_down_after`. The number of chips is
//! `capacity` / `chip`. In a scaled-down system, the number of chips need not be an integer.
//!
//! *Power loss*: All cached pages are lost. Data that was flushed before the power loss is in the backing.
//!
//! *Counters*: The page counters balance: `pages.held` equals `pages.held_before` (at the start of
//! measurement) plus `fills` and `write_allocations`, minus `evictions`, `pages_trimmed`, and
//! `pages_power_failed`. `write_allocations` counts writes of whole pages that were not cached. Each page
//! that is read counts once, in `read_hits`, `read_merged`, `read_misses`, or `read_lost`.
//!
//! # Not modeled
//! - DRAM accesses by processors, and the rest of the system's memory.
//! - Refresh as a separate activity. `idle_power` includes refresh power.
//! - The wake-up time from power-down, which is only nanoseconds.
//! - Read-ahead and software time.
//! - Idle time after the last access of a run.
//!
//! # Sources
//! roberts-2009, section III and figure 2: a DRAM page cache in front of a flash cache. The power values of
//! the chips are from kgil-2008, cited from memory. The catalog lists these values.
//!
//! # Checks
//! - A naive event simulation gives the same completion times and counts. A plain LRU cache has the same hits
//!   and misses.
//! - In every run, the number of held pages equals the number of pages that entered the cache minus the
//!   number of pages that left it.
//! - Reads return the data of the last write. After a power loss, reads return data that the durability
//!   guarantee allows.
//! - The energy equals the sum of power times time over all power states.

mod dram;
#[cfg(test)]
mod tests;

use crate::frames::{FrameCache, Settings};
use dram::Dram;
use nacre_config::{Configuration, Descriptor, Model, Problems, Reader, Slot};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bandwidth, BitArea, Bytes, Power, Price, Ratio, Time};
use nacre_media::charge::check_powers;
use nacre_media::store::{Layout, Nothing};

/// A DRAM disk cache.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Capacity of the cache.
    #[config(min = "64 KiB", max = "16 TiB")]
    pub capacity: Bytes,
    /// Size of a page in bytes, a power of two.
    #[config(
        default = "2 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "paper: roberts-2009 section II.A: the page of the flash below"
    )]
    pub page: Bytes,
    /// Maximum share of dirty pages.
    #[config(
        default = "10 %",
        max = "100 %",
        source = "assumed: the threshold of background write-back in Linux"
    )]
    pub dirty_limit: Ratio,
    /// Access latency until the first byte.
    #[config(default = "55 ns", max = "1 ms", source = "paper: kim-2014 quotes 55 ns for DRAM")]
    pub latency: Time,
    /// Bandwidth after the first byte.
    #[config(default = "4 GB/s", min = "1 MB/s", source = "assumed: one channel of DDR2-533, 64 bits wide")]
    pub bandwidth: Bandwidth,
    /// Size of a chip, in bytes.
    #[config(default = "128 MiB", min = "1 MiB", source = "assumed: 1 Gb chips of 2008")]
    pub chip: Bytes,
    /// Number of chips in a rank. The chips of a rank operate together.
    #[config(default = 8, min = 1, max = 72, source = "assumed: a rank of eight chips of 8 bits")]
    pub rank: u32,
    /// Power of a chip during reads and writes, including idle power.
    pub active_power: Option<Power>,
    /// Power of an idle chip.
    pub idle_power: Option<Power>,
    /// Power of a chip in power-down.
    pub power_down_power: Option<Power>,
    /// Idle time before chips enter power-down.
    #[config(default = "1 us", max = "1 s", source = "assumed: controllers wait for a few hundred cycles")]
    pub power_down_after: Time,
    /// Cell area per bit.
    pub area: Option<BitArea>,
    /// Price per capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
    /// Device that stores all pages.
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

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "dram_disk_cache",
        "a disk cache in DRAM, like the page cache of an operating system",
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
    /// Settings of the frames, and the layout of their data.
    fn frames(&self, path: &str, builder: &mut dyn Builder) -> Result<(Settings, Layout), Problems> {
        let frames = (self.capacity.0 / self.page.0) as u32;
        // Each frame takes memory for its page, its arrival time, its positions in two lists, and the index.
        builder.take_memory(path, u64::from(frames) * 48)?;
        let dirty_frames = (f64::from(frames) * self.dirty_limit.0) as u32;
        let settings = Settings { page: self.page, frames, dirty_frames };
        let layout =
            Layout { page_bytes: self.page.0 as u32, pages_per_extent: 64, pages: u64::from(frames) };
        Ok((settings, layout))
    }
}
