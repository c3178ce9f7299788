//! A disk cache in phase-change memory. Pages are written in place, and the tables are in the same memory.
//!
//! # Model
//! Frames in phase-change memory (PCM) hold copies of pages of a slower device, the backing. The cache evicts
//! the least recently used page. If this page is dirty, it is written back first. There are no erases and no
//! garbage collection, and one region serves reads and writes. The tables are also in the PCM. Hardware with
//! one port looks up pages, and each lookup takes the time `lookup`. A write is acknowledged when it is in
//! the PCM. An error-correcting code covers each page, so a partial write first reads the page from its frame
//! or the backing.
//!
//! *Timing*: Reading a frame takes `read`, and writing it takes `write`. Each of the `banks` banks performs
//! one operation at a time, in order of arrival. A page is encoded before the write needs the bank. One
//! decoder decodes pages in the order of their reads.
//!
//! *Bit errors*: When a frame reaches its endurance, its bit error rate is `bit_error_rate`. Below the
//! endurance, the bit error rate is proportional to a power of the number of writes. The endurance of frames
//! has a log-normal distribution. Bit errors are sampled when a page is written. The affected bits are
//! inverted in the data that is read.
//!
//! A page with more bit errors than its code corrects is never returned, even if the code detects no error. A
//! clean page is fetched from the backing again. The data of a dirty page is lost, and reads fail until the
//! whole page is written. A dirty page is also lost if the cache must evict it while the backing rejects it
//! or cannot store it.
//!
//! *Wear leveling*: New pages take the frames of evicted pages, which spreads wear across all frames. Pages
//! that are written repeatedly stay in their frames. `wear_leveling` moves such pages. After the write that
//! causes a move, one additional frame is read and written. This move takes time and energy and causes wear.
//! The table entries of the page move with the page.
//!
//! *Concurrency*: A page that is being fetched or written is not evicted, and requests for it wait. A frame
//! has at most one write in progress.
//!
//! *Power loss*: A power loss affects only operations in progress. A page that was being written is then a
//! mixture of old and new data, in units of 64 B. A page that was being fetched is not in the cache. A page
//! whose write-back was interrupted is still in the cache. The page is written back again when the backing is
//! ready. If the backing reports that it lost data, clean pages count as dirty from then on.
//!
//! *Counters*: Pages are conserved. `pages.held` equals `pages.held_before` (at the start of measurement)
//! plus `fills` and `write_allocations`, minus `evictions`, `pages_given_up`, `pages_trimmed`, and
//! `pages_power_failed`. `write_allocations` are written whole pages that had no frame. `pages_given_up` are
//! pages with too many bit errors in a read. Each page that is read counts once, in `read_hits`,
//! `read_merged`, `read_misses`, or `read_lost`.
//!
//! # Not modeled
//! - Repair of a page whose write was interrupted by a power loss. Reads return the mixture of old and new
//!   data without correction.
//! - Multi-level cells and resistance drift.
//! - Energy and wear of the tables.
//! - Retired frames. With an endurance of 10^10 writes, no frame reaches its endurance in a run.
//!
//! # Sources
//! - roberts-2009, section IV and figure 4: writes in place, no separate regions for reads and writes,
//!   metadata and lookup in hardware, weak codes. Compared with SLC flash, reads are over 200 times faster,
//!   and writes are over 5 times faster.
//! - roberts-2009, table I: endurance. The paper requires wear leveling without naming a method.
//! - qureshi-2009: start-gap, the usual method.
//!
//! # Checks
//! - A plain LRU cache has the same hits. The times of hits are exact.
//! - Writes of frames are conserved. In every run, the number of held pages equals the number of pages that
//!   entered the cache minus the number of pages that left it.
//! - Reads return the data of the last write, even after power losses at any time. Pages with more bit errors
//!   than their code corrects are never returned.
//! - Every `interval`-th write moves a frame, and the wear of frames is then even.

mod pcm;
#[cfg(test)]
mod tests;

use crate::frames::{FrameCache, Settings};
use nacre_config::{Configuration, Descriptor, ErrorCode, Problem, Problems, Reader, Room, Slot};
use nacre_controller::ecc::{self, EccFamily, Page};
use nacre_controller::wear_leveling::{self, Region, WearLevelingFamily};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event::Device;
use nacre_kernel::{BitArea, Bytes, Price, Time};
use nacre_media::dual_mode_flash::ErrorModel;
use nacre_media::pcm::Cells;
use nacre_media::store::{Layout, Nothing};
use pcm::Pcm;

/// A disk cache in phase-change memory.
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
        max = "8 KiB",
        source = "paper: roberts-2009 section IV: a 2 KB page"
    )]
    pub page: Bytes,
    /// Number of spare bytes per page.
    #[config(default = "64 B", min = "1 B", max = "1 KiB", source = "assumed: as for flash")]
    pub spare: Bytes,
    /// Number of banks. Each bank reads or writes one page at a time.
    #[config(default = 4, min = 1, max = 1024, source = "assumed: as many banks as the flash has dies")]
    pub banks: u32,
    /// Latency and endurance of the cells.
    #[config(flatten)]
    #[config(with(read(
        doc = "Time to read a page.",
        default = "125 ns",
        source = "paper: roberts-2009 section II: over 200 times faster than 25 us"
    )))]
    #[config(with(program(
        name = "write",
        doc = "Time to write a page.",
        default = "50 us",
        source = "paper: roberts-2009 section II: over 5 times faster than 250 us"
    )))]
    #[config(with(endurance(
        doc = "Rated writes of a frame.",
        default = 10_000_000_000,
        max = 1_000_000_000_000_000,
        source = "paper: roberts-2009 table I, 2009",
        after = "ecc"
    )))]
    #[config(with(read_energy(doc = "Energy to read a page.", after = "wear_leveling")))]
    #[config(with(program_energy(
        name = "write_energy",
        doc = "Energy to write a page.",
        after = "read_energy"
    )))]
    #[config(with(idle_power(doc = "Idle power of the whole memory.", after = "write_energy")))]
    pub cells: Cells,
    /// Time to look up a page in the tables.
    #[config(default = "125 ns", max = "1 s", source = "assumed: one read of the memory")]
    pub lookup: Time,
    /// Error-correcting code of a page.
    pub ecc: Slot<EccFamily>,
    /// Bit errors as a function of wear.
    #[config(flatten)]
    #[config(with(bit_error_rate(
        doc = "Bit error rate at the rated writes of a frame.",
        source = "assumed: as for flash"
    )))]
    #[config(with(error_exponent(
        doc = "Exponent of the writes in the bit error rate.",
        source = "assumed: as for flash"
    )))]
    #[config(with(endurance_spread(
        doc = "Standard deviation of the logarithm of the endurance of frames.",
        source = "assumed: as for flash"
    )))]
    pub errors: ErrorModel,
    /// Wear leveling of frames.
    #[config(
        default = "start_gap",
        source = "assumed: roberts-2009 section IV requires leveling without naming a method"
    )]
    pub wear_leveling: Slot<WearLevelingFamily>,
    /// Cell area per bit, without spare bytes.
    pub area: Option<BitArea>,
    /// Price per capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
    /// Device that stores all pages.
    pub backing: Slot<DeviceFamily>,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.cells.check_energies(reader, ["read_energy", "write_energy"]);
    if !config.page.0.is_power_of_two() {
        let remedy = format!("the next one is {}", Bytes(config.page.0.next_power_of_two()));
        reader.conflict("page", &config.page.to_string(), "it is not a power of two", &remedy);
    }
    if config.capacity.0 / config.page.0 > 1 << 30 {
        let remedy = "use larger pages, or a smaller capacity";
        reader.conflict("capacity", &config.capacity.to_string(), "it has more than 2^30 pages", remedy);
    }
}

/// The component's descriptor and constructor.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "pcm_disk_cache",
        "a disk cache in phase-change memory, written in place",
        &["roberts-2009", "qureshi-2009"],
        9,
        include_str!("mod.rs"),
    ),
    build,
};

fn build(slot: &Slot<DeviceFamily>, builder: &mut (dyn Builder + '_)) -> Result<Box<dyn Device>, Problems> {
    let (id, path) = (builder.component(), slot.path().to_string());
    let config: Config = slot.config(builder.families());
    let code = ecc::build(&config.ecc, Page { families: builder.families(), bytes: config.page });
    let frames = (config.capacity.0 / config.page.0) as u32;
    let region = Region { number: 0, rows: u64::from(frames), endurance: config.cells.endurance };
    let leveller = wear_leveling::build(&config.wear_leveling, region, builder);
    let backing = builder.device(&config.backing);
    let (code, leveller, backing) = match (code, leveller, backing) {
        (Ok(code), Ok(leveller), Ok(backing)) => (code, leveller, backing),
        (code, leveller, backing) => {
            let mut problems = code.err().unwrap_or_default();
            problems.0.extend(leveller.err().unwrap_or_default().0);
            problems.0.extend(backing.err().unwrap_or_default().0);
            return Err(problems);
        }
    };
    let needs = code.layout().spare_bytes;
    if needs > config.spare.0 {
        let text = format!("the code needs {needs} B next to a page, and there are {}", config.spare);
        let problem = Problem::new(ErrorCode::ConflictingSettings, config.ecc.path(), None, text);
        return Err(problem.remedy("give a larger spare, or a weaker code").into());
    }
    builder.take_memory(&path, u64::from(frames) * 72)?;
    let settings = Settings { page: config.page, frames, dirty_frames: frames };
    let layout = Layout {
        page_bytes: (config.page.0 + config.spare.0).next_power_of_two() as u32,
        pages_per_extent: 64,
        pages: leveller.physical_rows(),
    };
    let random = builder.random(&path);
    Ok(match builder.store(&path, layout) {
        Some(store) => {
            let memory = Pcm::new(config, leveller, code, random, store);
            Box::new(FrameCache::new(id, path, settings, memory, backing))
        }
        None => {
            let memory = Pcm::new(config, leveller, code, random, Nothing);
            Box::new(FrameCache::new(id, path, settings, memory, backing))
        }
    })
}
