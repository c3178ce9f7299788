//! A disk cache in phase-change memory. Pages are written in place. By default, the tables are in the same
//! memory.
//!
//! # Model
//! Frames of phase-change memory (PCM) hold copies of pages of a slower device, the backing. The least
//! recently used page is evicted, and a dirty page is written back first. There are no erases and no garbage
//! collection, and one region serves reads and writes. A write is acknowledged when its data is in the PCM.
//! An error-correcting code covers a whole page. Before a partial write, the cache therefore reads the page
//! from its frame or from the backing.
//!
//! *Tables*: A page has an entry of 8 B in the hash table and an entry of 7 B in the page status table.
//! Hardware looks up pages through one port. A lookup occupies the port for the time `lookup`. The entry of a
//! page is updated when the page is written to its frame, when the controller copies the page, and when the
//! page leaves the cache. An update occupies the port for the time `update`, in parallel with the write of
//! the page. The tables are in the PCM, or in DRAM (`tables`). The record includes the sizes of the tables.
//! If the energies of lookups and updates are given, the record also includes the energy of the tables.
//!
//! *Timing*: Reading a frame takes the time `read`, and writing a frame takes the time `write`. Each of the
//! `banks` banks performs one operation at a time, in order of arrival. The page is encoded before the write
//! occupies the bank. One decoder decodes pages in the order of their reads.
//!
//! *Bit errors*: The bit error rate of a frame is proportional to its number of writes, raised to the power
//! `error_exponent`. When a frame reaches its endurance, its bit error rate is `bit_error_rate`. The
//! endurance of frames has a log-normal distribution. Bit errors are sampled when a page is written. The
//! affected bits are inverted in the data that is read.
//!
//! A page with more bit errors than its code corrects is never returned, even if the code detects no error. A
//! clean page is fetched from the backing again. The data of a dirty page is lost, and reads fail until the
//! whole page is written. A dirty page is also lost if the cache must evict the page while the backing
//! rejects or cannot store the data.
//!
//! *SLC mode*: With a programmable `controller`, a row of cells holds two pages in MLC mode (two bits per
//! cell) or one page in SLC mode. Initially, all rows are in MLC mode. The times, energies, and endurance
//! outside of the table `controller` apply to MLC mode. The controller uses the rules of `flash_disk_cache`:
//!
//! - When a page has been used `promotes_at` times, its row changes to SLC mode. When the page leaves the
//!   cache, the row returns to MLC mode.
//! - If a read finds at least as many bit errors as the code corrects, the controller has two options. From
//!   its next write on, the page can use a code that corrects one more bit. Alternatively, its row can change
//!   to SLC mode permanently. The controller selects the option with the lower cost.
//!
//! When a row changes to SLC mode, the second page in the row moves to a free frame. If no frame is free, the
//! cache evicts the least recently used page to free a frame. If the second page is the least recently used
//! page, it is evicted instead. The remaining page is rewritten in SLC mode. These copies use the banks in
//! the same way as requests. The row does not change if one of its pages is being fetched or written, or if
//! the evicted page would have to wait for its write-back. The controller tries again at the next use of the
//! page.
//!
//! The bit error rate of a page in SLC mode depends on the number of writes to both halves of the row and on
//! `slc_endurance`.
//!
//! *Concurrency*: A page that is being fetched or written is not evicted, and requests for it wait. A frame
//! is written by only one operation at a time.
//!
//! *Power loss*: A power loss affects only operations in progress. A page that is being written contains a
//! mixture of old and new data, in units of 64 B. A page that is being fetched is not in the cache. A page
//! whose write-back was interrupted is still in the cache and is written back again when the backing is
//! ready. If the backing reports that it lost data, the cache treats clean pages as dirty from then on. A
//! page that is copied or written back stays in the buffer of the controller until the operation is complete.
//! Tables in DRAM are rebuilt from the spare bytes of all frames, which takes the time to read all frames.
//!
//! *Counters*: The page counters balance: `pages.held` equals `pages.held_before` (at the start of
//! measurement) plus `fills` and `write_allocations`, minus `evictions`, `pages_given_up`, `pages_trimmed`,
//! and `pages_power_failed`. `write_allocations` counts writes of whole pages that were not cached.
//! `pages_given_up` counts pages that were dropped because a read found too many bit errors. Each page that
//! is read counts once, in `read_hits`, `read_merged`, `read_misses`, or `read_lost`. `pages_promoted` counts
//! rows that changed to SLC mode because of hits, and `density_lowered` counts rows that changed because of
//! bit errors. `pages_relocated` counts pages that moved out of these rows.
//!
//! # Not modeled
//! - Repair of a page after a power loss interrupted its write. Reads return the mixture of old and new data
//!   without correction.
//! - Resistance drift, and more than two bits per cell.
//! - Wear of the tables, and the space that the tables use in the PCM.
//! - The mode of worn cells. If wear leveling moves the pages of a row that changed to SLC mode because of
//!   bit errors, SLC mode moves with the pages. The worn cells then store other pages, in the mode of those
//!   pages.
//! - Retirement of frames. With an endurance of 10^10 writes, frames do not wear out during a run.
//!
//! # Sources
//! roberts-2009, section IV and figure 4: writes in place, no separate regions for reads and writes, metadata
//! and lookup in hardware, and weak codes. Reads are over 200 times and writes over 5 times faster than in
//! SLC flash. The paper gives latencies only for MLC mode. Table I: endurance. Sections II.B and IV: Mode
//! switching (SLC and MLC) and stronger codes can also be used with PCM. The paper gives no values for SLC
//! mode, so the defaults use the ratios between SLC and MLC mode of flash. The paper requires wear leveling
//! without naming a method. The usual method is start-gap (qureshi-2009).
//!
//! # Checks
//! - A plain LRU cache has the same hits. The latencies of hits equal their closed forms exactly.
//! - In every run, the counters of frame writes are consistent. The number of held pages equals the number of
//!   pages that entered the cache minus the number of pages that left it.
//! - Reads return the data of the last write, even after power losses at any time. Pages with more bit errors
//!   than their code corrects are never returned.
//! - With wear leveling, a frame moves after every `interval` writes, and all frames wear evenly.
//! - Times, energies, and capacity in SLC and MLC mode equal their closed forms. A naive model gives the same
//!   content, modes, and counters.
//! - The numbers of lookups and updates and the energy of the tables equal their closed forms, with tables in
//!   PCM and in DRAM.

mod controller;
mod pcm;
mod rows;
mod tables;
#[cfg(test)]
mod tests;

use crate::frames::{FrameCache, Settings};
use crate::programmable;
use controller::Controller;
use nacre_config::{Configuration, Descriptor, Model, Problems, Reader, Slot};
use nacre_controller::ecc::{EccFamily, Page};
use nacre_controller::wear_leveling::{self, Region, WearLevelingFamily};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event::Device;
use nacre_kernel::{BitArea, Bytes, Price, Time};
use nacre_media::charge::check_together;
use nacre_media::dual_mode_flash::ErrorModel;
use nacre_media::pcm::Cells;
use nacre_media::store::{Layout, Nothing};
use pcm::Pcm;
use rows::Rows;
use tables::Tables;

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
        doc = "Rated number of writes of a frame.",
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
    /// Time to update the entry of a page in the tables. Updates delay later lookups, but not the write of
    /// the page.
    #[config(default = "0 s", max = "1 s", source = "assumed: the memory has spare time between lookups")]
    pub update: Time,
    /// Location of the tables.
    #[config(default = "pcm", source = "paper: roberts-2009 section IV and figure 4")]
    pub tables: Tables,
    /// Error-correcting code of a page.
    pub ecc: Slot<EccFamily>,
    /// Bit errors as a function of wear.
    #[config(flatten)]
    #[config(with(bit_error_rate(
        doc = "Bit error rate at the rated number of writes of a frame.",
        source = "assumed: as for flash"
    )))]
    #[config(with(error_exponent(
        doc = "Exponent of the number of writes in the bit error rate.",
        source = "assumed: as for flash"
    )))]
    #[config(with(endurance_spread(
        doc = "Standard deviation of the logarithm of the endurance of frames.",
        source = "assumed: as for flash"
    )))]
    pub errors: ErrorModel,
    /// Programmable controller, which can switch rows of cells to SLC mode and use stronger codes. With a
    /// controller, all cells start in MLC mode. By default, there is one mode and one code.
    pub controller: Option<Controller>,
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
    check_controller(config, reader);
    if config.capacity.0 / config.page.0 > 1 << 30 {
        let remedy = "use larger pages, or a smaller capacity";
        reader.conflict("capacity", &config.capacity.to_string(), "it has more than 2^30 pages", remedy);
    }
}

fn check_controller(config: &Config, reader: &mut Reader<'_>) {
    let Some(controller) = &config.controller else { return };
    let frames = config.capacity.0 / config.page.0;
    if !frames.is_multiple_of(2) {
        let remedy = format!("use {}", Bytes((frames + 1) * config.page.0));
        let problem = format!("{frames} pages do not fill rows of two pages in MLC mode");
        reader.conflict("capacity", &config.capacity.to_string(), &problem, &remedy);
    }
    let energies = [
        ("read_energy", config.cells.read_energy),
        ("controller.slc_read_energy", controller.slc_read_energy),
        ("controller.slc_write_energy", controller.slc_write_energy),
    ];
    check_together(
        reader,
        energies.into_iter().map(|(name, energy)| (name, energy.map(|of| of.to_string()))),
    );
}

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "pcm_disk_cache",
        "a disk cache in phase-change memory, written in place",
        &["roberts-2009", "qureshi-2009"],
        10,
        include_str!("mod.rs"),
    ),
    build,
};

fn build(slot: &Slot<DeviceFamily>, builder: &mut (dyn Builder + '_)) -> Result<Box<dyn Device>, Problems> {
    let (id, path) = (builder.component(), slot.path().to_string());
    let config: Config = slot.config(builder.families());
    let page = Page { families: builder.families(), bytes: config.page };
    let controller = config.controller.as_ref().filter(|controller| controller.raises_strength);
    let strongest = controller.map(|controller| controller.strongest);
    let codes = programmable::codes(&config.ecc, page, strongest, config.spare);
    let frames = (config.capacity.0 / config.page.0) as u32;
    let rows = u64::from(frames >> config.row_shift());
    let region = Region { number: 0, rows, endurance: config.cells.endurance };
    let leveller = wear_leveling::build(&config.wear_leveling, region, builder);
    let backing = builder.device(&config.backing);
    let (codes, leveller, backing) = match (codes, leveller, backing) {
        (Ok(codes), Ok(leveller), Ok(backing)) => (codes, leveller, backing),
        (codes, leveller, backing) => {
            let mut problems = codes.err().unwrap_or_default();
            problems.0.extend(leveller.err().unwrap_or_default().0);
            problems.0.extend(backing.err().unwrap_or_default().0);
            return Err(problems);
        }
    };
    builder.take_memory(&path, u64::from(frames) * if config.controller.is_some() { 96 } else { 72 })?;
    let settings = Settings { page: config.page, frames, dirty_frames: frames };
    let layout = Layout {
        page_bytes: (config.page.0 + config.spare.0).next_power_of_two() as u32,
        pages_per_extent: 64,
        pages: leveller.physical_rows() << config.row_shift(),
    };
    let random = builder.random(&path);
    let rows = Rows::new(&config, leveller, codes, random);
    Ok(match builder.store(&path, layout) {
        Some(store) => Box::new(FrameCache::new(id, path, settings, Pcm::new(config, rows, store), backing)),
        None => Box::new(FrameCache::new(id, path, settings, Pcm::new(config, rows, Nothing), backing)),
    })
}
