//! A disk cache in phase change memory: pages that are written in place, with their tables next to them.
//!
//! # Models
//! Pages of a slower device in frames of phase change memory; the page used longest ago leaves, and a dirty one
//! goes back first. Nothing is erased and nothing collected, and one region serves reads and writes. The tables
//! are in the memory too: hardware looks a page up, which takes `lookup` of one port. What is written is
//! acknowledged when it is in the memory. A code covers a page: where a part of one is written, the page is read first,
//! from its frame or the backing.
//!
//! A frame is read in `read` and written in `write`, one at a time for each of `banks`, in the order in which they come. A
//! page is encoded before it needs its bank; one decoder decodes pages in the order of their reads. A
//! frame's share of wrong bits is `bit_error_rate` after as many writes as it is made for (log-normal over the
//! frames), and a power law of its writes; they are drawn when a page is written and inverted in the bytes that are
//! read. A page with more than its code corrects is not returned, also where the code notices nothing: a clean one comes from the backing again, of a
//! dirty one the data is lost, and reads end with an error until all of it is written. So it is with a dirty page that
//! has to leave and that the backing refuses or cannot save.
//! Frames are taken by the pages that come in as others leave, which spreads wear over all of them but for pages
//! that are written again and again. The `wear_levelling` moves these: a frame more is read and written, behind the
//! write that brought it about, with the time, energy and wear of that; its tables move with it.
//!
//! A page that is on its way into a frame or being written does not leave, and who wants it waits. A frame is written by one
//! write at a time.
//!
//! A power loss takes nothing but what is under way: a page being written is a mixture of old and new, in
//! units of 64 B; a page that comes in is not there; a page that was on its way back is still here, and goes back
//! again when the backing is ready. Where the backing says that it has lost bytes, clean pages count as dirty from then on.
//!
//! Every page comes in and leaves in one way that is counted: `pages.held` is `pages.held_before`, those when measuring
//! began, with `fills` and `write_allocations` (pages written in whole that had no frame), and without `evictions`,
//! `pages_given_up` (with too many bit errors where they were read), `pages_trimmed` and `pages_power_failed`. A page that is
//! read is one of `read_hits`, `read_merged`, `read_misses` and `read_lost`.
//!
//! # Leaves out
//! How the code of a
//! page is made to fit one that a power loss left half written: the mixture is read as it is. More than one bit
//! in a cell, drift of resistance; the energy of tables, and their wear; frames that are given up: at 10^10 writes a run
//! comes nowhere near.
//!
//! # Sources
//! roberts-2009 section IV and figure 4: in place, no split, metadata and look-up in hardware, light codes; reads
//! over 200 times and writes over 5 times faster than SLC flash; table I for endurance. Wear
//! leveling is necessary there and not named; start-gap of qureshi-2009 is the usual one.
//!
//! # Checks
//! Hits against a plain LRU; times of hits; writes of frames conserved; pages held are those that came in less those that
//! left, in every run; reads give what was written last, also after
//! power losses at any moment; pages beyond their code are never returned; one write in `interval` moves a frame, and
//! wear is level then.

mod pcm;
#[cfg(test)]
mod tests;

use crate::frames::{FrameCache, Settings};
use nacre_config::{Configuration, Descriptor, ErrorCode, Problem, Problems, Reader, Room, Slot};
use nacre_controller::ecc::{self, EccFamily, Page};
use nacre_controller::wear_levelling::{self, Region, WearLevellingFamily};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event::Device;
use nacre_kernel::{BitArea, Bytes, Price, Time};
use nacre_media::dual_mode_flash::ErrorLaw;
use nacre_media::pcm::Cells;
use nacre_media::store::{Layout, Nothing};
use pcm::Pcm;

/// A disk cache in phase change memory.
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
        max = "8 KiB",
        source = "paper: roberts-2009 section IV: a 2 KB page"
    )]
    pub page: Bytes,
    /// Bytes stored next to a page.
    #[config(default = "64 B", min = "1 B", max = "1 KiB", source = "assumed: as flash has")]
    pub spare: Bytes,
    /// Pages that are read or written at one time.
    #[config(default = 4, min = 1, max = 1024, source = "assumed: as many banks as the flash has dies")]
    pub banks: u32,
    /// Latency and endurance of its cells.
    #[config(flatten)]
    #[config(with(read(
        doc = "Reading a page.",
        default = "125 ns",
        source = "paper: roberts-2009 section II: over 200 times faster than 25 us"
    )))]
    #[config(with(program(
        name = "write",
        doc = "Writing a page.",
        default = "50 us",
        source = "paper: roberts-2009 section II: over 5 times faster than 250 us"
    )))]
    #[config(with(endurance(
        doc = "Writes that a frame is made for.",
        default = 10_000_000_000,
        max = 1_000_000_000_000_000,
        source = "paper: roberts-2009 table I, 2009",
        after = "ecc"
    )))]
    #[config(with(read_energy(doc = "Energy to read a page.", after = "wear_levelling")))]
    #[config(with(program_energy(
        name = "write_energy",
        doc = "Energy to write a page.",
        after = "read_energy"
    )))]
    #[config(with(idle_power(doc = "Power of all of it at rest.", after = "write_energy")))]
    pub cells: Cells,
    /// Looking a page up in the tables.
    #[config(default = "125 ns", max = "1 s", source = "assumed: one read of the memory")]
    pub lookup: Time,
    /// The code of a page.
    pub ecc: Slot<EccFamily>,
    /// Bit errors as a function of wear.
    #[config(flatten)]
    #[config(with(bit_error_rate(
        doc = "Share of bits that are wrong after as many writes as a frame is made for.",
        source = "assumed: as for flash"
    )))]
    #[config(with(error_exponent(
        doc = "The power of the writes with which that share grows.",
        source = "assumed: as for flash"
    )))]
    #[config(with(endurance_spread(
        doc = "Standard deviation of the logarithm of the writes that frames take.",
        source = "assumed: as for flash"
    )))]
    pub errors: ErrorLaw,
    /// How wear is spread over the frames.
    #[config(
        default = "start_gap",
        source = "assumed: roberts-2009 section IV finds leveling necessary and does not say which"
    )]
    pub wear_levelling: Slot<WearLevellingFamily>,
    /// Area per bit of its cells, without spare bytes.
    pub area: Option<BitArea>,
    /// Price per capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023"; prices in different currencies are not added.
    pub price_basis: Option<String>,
    /// Device that holds all pages.
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

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "pcm_disk_cache",
        "a disk cache in phase change memory, written in place, with its tables next to its pages",
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
    let leveller = wear_levelling::build(&config.wear_levelling, region, builder);
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
