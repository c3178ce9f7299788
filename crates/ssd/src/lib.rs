//! An SSD: flash behind a page-mapped flash translation layer.
//!
//! # Models
//! `channels` with `ways` dies each, of `planes` planes. The host's driver takes CPU time for a request, data crosses
//! the link (each way has its own), a processor of the drive works on it. Translation runs on either. With a `host`,
//! such as NVMe, that is its driver and its link: commands, data page by page, completions and interrupts. The mapping
//! knows *mapping units* of the host's data (`unit`, for short); a page of flash holds some. A write is done when it is
//! in the DRAM buffer; what the buffer holds of a unit is changed there. Full operations (a page of every plane, with
//! multi-plane commands) go to the dies in turn, over channel, then die; the buffer's place is free when they are
//! programmed, and a write that finds none waits for one. A read is a command that crosses the channel, a sense, and a
//! page that crosses the channel; what is still in the buffer is read from there. What a die
//! does next is its `scheduling`. Nothing is decided before it has to be: what a die does next when its array is
//! free, what crosses a channel next when the channel is free.
//!
//! *Channels* choose among commands of reads, pages that were read, and data to be programmed or copied
//! (`arbitration`): what waited longest, or commands, pages or all of reads first. What crosses is not interrupted. Of
//! what is ready at the same moment the older request goes first. A die holds as many pages as it has `registers`, from
//! the beginning of their commands to the end of their transfers: with one it begins nothing before its page is across,
//! with two it senses the next page meanwhile. It takes the data of its next program in while its array works, unless
//! it has one register, and so no cached commands.
//!
//! *Erases* of a superblock start on all its dies at once, or on at most `erases_at_once` of them while the others
//! continue to program. The superblock that was erased last is written last; if a die has not been erased when its
//! turn to be written comes, it is erased at once. Space in a full buffer is freed in the order of allocation, or,
//! as a pool (`buffer_places`), whenever a program ends, so that writes continue while one die erases.
//!
//! *Programs* run on at most `programs_at_once` dies, as a power budget requires (the power states of NVMe; the two
//! modes of Intel's 910): data crosses to its die and waits there until another program ends. Programs whose data
//! is on their dies start in issue order, for the host or for garbage collection. Pages of several planes of a die
//! count as one. Reads and erases do not count.
//!
//! *Garbage collection* (cleaning) works on superblocks: one block of every plane of every die, written in stripes.
//! Drives do so because a stripe uses all dies at once, one parity covers it, and one erase count and one list of
//! valid units cover thousands of blocks; the price is a coarser choice of victims. The host and the cleaner have
//! separate write frontiers, and cleaning keeps pace: if fewer than `reserve` superblocks are erased, a victim is
//! chosen, and for every unit the host programs, enough units are copied that the victim is empty when the space it
//! gains is used up. With `idle_cleaning`, superblocks are cleaned up to that number while the host and the flash
//! are idle, one stripe at a time; a request stops this, and it resumes when the host is idle again or fewer than
//! `reserve` superblocks are erased.
//!
//! *Allocation* (`allocation`): superblocks over all dies, with or without parity, or planes that are filled and cleaned by
//! themselves, by address or free first; what is said of superblocks holds for the blocks of such a plane.
//!
//! *Shares* of a drive (`capacity`): a share of a pool of drives is modeled as a drive with fewer blocks per plane,
//! so that it fills, is cleaned, and wears like the whole drive. It pays for its capacity and takes its part of the
//! idle power. Dies, channels, buffer, and link are those of one whole drive, since any drive of the pool may serve
//! the share: the record has a finding if the share uses more than its part of the performance.
//!
//! *SLC cache* (`slc_cache`): while more superblocks are erased than the reserve, host writes use SLC mode, up to a
//! size; programs and reads are faster, and a block holds less. Beyond that size, and on a full drive, data is
//! written with all bits per cell. Cleaning moves data out of SLC mode; since SLC superblocks hold little valid
//! data for their size, policies such as greedy choose them first.
//!
//! *Placement handles* (`placement_handles`; the reclaim unit handles of flexible data placement, FDP): host writes
//! through different handles go to different superblocks; the handle of a request is its volume, which is the
//! number of its tenant, modulo the number of handles. Cleaning mixes the data of all handles (`isolation`
//! "initial") or keeps it separate ("persistent"). The table `handles` has the writes through each handle, the
//! units moved of them, and the write amplification, which is missing for a handle without writes. Every handle
//! keeps a superblock open, and cleaning keeps one more, or one per handle; this space is taken from the spare
//! space. With allocation by plane, it is one block of every plane.
//!
//! *Shares of the queue* (`queue_shares`): each tenant has so many of the requests that the drive works on at one time
//! (`queue_depth`), and one that sends more waits for its own. Classes of priority among tenants are `places` of the
//! workload: a drive says when a request is done as soon as it comes, so that nothing that comes later could go before
//! it.
//!
//! *Mapping*: the table is in DRAM, or in flash with an LRU cache of its pages (DFTL). A miss reads a page of the
//! table; a changed page is programmed when it is evicted, and pages that cleaning changed are programmed once per
//! victim. Table pages are stored among the data and are cleaned with it. With allocation by plane, they are placed
//! like host data: in the plane given by their number, or on the die that is free first; pages that cleaning
//! changed stay in their plane.
//!
//! *Wear*: the youngest erased superblock is filled first (dynamic); data in a superblock far younger than the
//! erased ones moves to the most worn of these (static). A block takes `endurance` erases, drawn anew for each.
//! A worn block is replaced by a spare one of its plane; without one its superblock is given up and its other
//! blocks become spares. When what is left does not hold the data and the reserve, the drive is read-only.
//! The *lifetime* is the time until then, if superblocks wear on as they did so far, less what chance alone makes in a
//! Poisson process; with `wear_spread` they wear alike. Once the drive is read-only, it is the time that this took. Before, it
//! is an upper bound. Chance sets erases apart by about their root, so the first superblocks wear out before the mean: about
//! 4 % before at 60 erases, less than 1 % at 3,000. If many wear out at once, copies use up the reserve while none comes back, and
//! the drive is read-only before it lacks space: another 7 % before, of equal blocks under hot and cold data with 60 erases.
//!
//! *Bit errors* (`errors`): the bit error rate of a page is the sum of four terms: `fresh_bit_error_rate`; cycling,
//! `bit_error_rate (erases / cycles)^error_exponent`; retention, `bit_error_rate retention (erases /
//! cycles)^retention_cycles_exponent days^retention_exponent`; and reads of its block, `read_disturb (erases /
//! cycles)^disturb_exponent reads^disturb_reads_exponent` (kim-2019, equation 1). The number of bit errors of a
//! codeword is a quantile of the Poisson distribution with that mean; the quantile is sampled once per codeword and
//! program, so that errors persist and only increase. The code (`ecc`) determines the number of read retries, one
//! after the other: each takes the die and the channel like any read, then the decoder. Copies are decoded, too.
//! Copies inside a die (`copyback`) are not: the bit errors of the page are copied, those of the copy are added,
//! and an uncorrectable page is found when the host reads it. If a unit has more bit errors than the code corrects,
//! its data is lost: reads of it fail until it is written or trimmed, even after it was copied, and a flush of an
//! unprotected drive fails once after a loss.
//!
//! After `refresh_reads` reads of a block all data of its superblock moves at once, behind the reads that are there, and
//! over the channel, since it has to be put right.
//!
//! *Bytes* lie in the flash by physical unit, and programs and copies carry them; reads see what was written last. *A
//! loss of power* empties the buffer and all DRAM. With `power_protected` capacitors finish every program of what was
//! acknowledged. Without it a unit whose program had not ended is what it was before: the page is torn, and its error
//! correction shows it. With `paired_page_loss` it damages the pages that were programmed before it on the same word
//! line (Tseng, Grupp and Swanson 2011), also data that was flushed long ago: the unit reads as zeroes, and recovery
//! counts its bytes as lost. The mapping is found again: spare areas name the unit of each page, with a sequence
//! number, and a journal has what was trimmed. Recovery does interrupted erases again, reads the last checkpoint of the
//! mapping, `mapping_entry` for each unit (with `mapping_cache`: for each page of the table), and the spare areas of
//! the pages programmed since, on all dies side by side; it ends with a checkpoint.
//!
//! # Leaves out
//! Zones, which `zns_ssd` has. Reclaim units of another size than a superblock, and reclaim groups; directives that name a
//! handle with every write. Superblocks that always have one bit to a cell, and folding while the host is idle: a cache
//! that was filled stays so until cleaning needs its space, and comes back only where more than the reserve is erased.
//! Programs of worn cells that take another time. Programs of all pages of a word line take their own times, in the
//! order of the pages. Erase commands take no time on the channel. A write of a part of a unit completes, and may be
//! programmed, before the rest of the unit is read. A superblock may be erased while a read of a page that it held
//! still waits for its die. A program, or an erase, that follows copies waits for all copies issued before it (on its
//! die, where planes are cleaned by themselves), not only for those it needs. With a mapping table in flash a read
//! begins when all mappings of its request are known. Page registers are not shared between the data of a program that
//! waits in its die and reads.
//!
//! Bit errors: a page has the age of the first page of its superblock; all pages of a block are equally strong; SLC
//! mode and pages of the mapping table have no bit errors. Parity crosses the channel in no time, encoding takes no
//! time, and decoders have no queue. Every read starts with the default thresholds, whatever the page needed last.
//! Copies do not disturb. Bit errors that came with copies inside a die are added to those of the page itself,
//! although a few coincide, and such copies may be repeated without limit. If the energy of the code is not given,
//! it counts as zero, and the record says so. Data written before the run was copied without bit errors. With data,
//! a lost unit that is written and falls back to its previous version in a power loss may be found again.
//!
//! Of a loss of power: checkpoints and the journal of trims take no time and no flash while the drive works. A
//! superblock may be erased before the programs that replace its data have ended; a drive that holds such an erase back
//! loses no older version, and none is lost here: it stands in the newer page then, and the erase is not later for it.
//! A page whose program was cut counts as programmed, and copies under way count as done. Reads of a recovery are in
//! nobody's time and energy. Without
//! bytes, how much an unprotected drive loses is not known. A damaged page that cleaning copied is lost, also where the
//! page it was copied from is not erased yet; damaged pages of the mapping table are found again from spare areas at no
//! cost. Energy of the capacitors; time until they are charged again.
//!
//! # Sources
//! gupta-2009 (DFTL); desnoyers-2012 (cost of cleaning); tavakkol-2018 (MQSim) for what an SSD simulator has;
//! wu-he-2012 (suspension of programs and erases); cobham-1954 (waits under priority); tseng-2011 (losses of power);
//! mielke-2008, hetzler-2012 (errors by cycles and time), cai-2015 (by reads), kim-2019 (by all three); nvme-2.1 (flexible data placement, power states);
//! tomshardware-ssd910 (writes at two thirds of the rate within 25 W).
//!
//! # Checks
//! Write amplification against the closed forms of FIFO and greedy cleaning at five spare factors, with trimmed space
//! too, also of planes that are cleaned by themselves; the bandwidth of a stride under each allocation; pages of two
//! planes that are programmed together; time of a channel that copies do not cross; bandwidths as products of the
//! parts, also of cells with one bit; misses of the cached mapping; waits of reads, programs, copies and erases under
//! priority without preemption; programs a second, and the end of each, where so many dies program at once; waits for a
//! channel under each arbitration, and whole drives against a channel and dies that are stepped; a die whose planes read
//! by themselves against one that is stepped, and waits there against one server for each plane; the law of suspension;
//! the longest write while dies erase; bursts after cleaning in quiet; end of life where endurance, blocks and write
//! amplification put it; tenants behind handles of their own amplify as drives of their own, and together as one where
//! they share a handle; reads that are sensed again, their latency, and units that are lost, against binomial tails, also of stripes with
//! parity and of copies inside a die; the time of a rebuilt read; write amplification with parity against the closed
//! forms at the spare space it leaves; wrong bits against their law, and no lost unit is given as good; refreshes are
//! reads over their limit; tenants with shares of the queue get requests done by their places; programs, erases and live
//! units conserved; every unit after losses of power at random moments, against an auditor that knows its versions; time
//! of recovery as pages over dies.

pub mod allocation;
mod book;
mod buffer;
mod config;
mod drive;
mod flash;
mod ftl;
mod host;
mod kind;
mod layout;
mod ops;
mod optional_part;
mod recovery;
mod reliability;
pub mod scheduling;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod workbench;
pub mod zns_ssd;

pub use kind::NoRooms;

pub use config::{
    Arbitration, BufferPlaces, Cached, Drive, ErrorsConfig, Isolation, MappingCacheConfig, PageMapping,
    SlcCacheConfig, SsdConfig, Translator, Unwritten, ZnsSsdConfig, ZonesConfig,
};

use allocation::AllocationFamily;
use config::Config;
use drive::Ssd;
use ftl::array::{Array, Rules};
use ftl::mapping_cache::{CachedEntries, CachedPages, MappingCache};
use ftl::paged::Paged;
use ftl::parts::blocks::{Blocks, Durability};
use ftl::parts::handles::Handles;
use ftl::parts::plane_allocation::PlaneAllocation;
use ftl::parts::slc_cache::SlcCache;
use host::Host;
use layout::geometry::Geometry;
use nacre_config::{Descriptor, ErrorCode, Family, Problem, Problems, Room, Slot};
use nacre_controller::cleaning;
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event;
use nacre_media::store::{Layout, Nothing, Store};
use reliability::errors;
use scheduling::FlashSchedulingFamily;

/// Settings that say how long parts of a drive take, what energy and what money. What they are has no part in where data
/// lies: preconditioning leaves drives that differ in them alone in one state.
pub const TAKES: &[&str] = &[
    "read",
    "program",
    "erase",
    "bus",
    "command",
    "scheduling.suspend",
    "scheduling.resume",
    "scheduling.suspensions",
    "link",
    "driver",
    "firmware",
    "translation",
    "translation_unit",
    "slc_cache.read",
    "slc_cache.program",
    "read_energy",
    "program_energy",
    "erase_energy",
    "transfer_energy",
    "idle_power",
    "price",
];

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<SsdConfig>(
        "ssd",
        "a flash SSD: channels and dies, page mapping, write buffer, cleaning, wear to its end",
        &[
            "gupta-2009",
            "desnoyers-2012",
            "tavakkol-2018",
            "wu-he-2012",
            "cobham-1954",
            "tseng-2011",
            "mielke-2008",
            "hetzler-2012",
            "cai-2015",
            "kim-2019",
            "nvme-2.1",
            "tomshardware-ssd910",
        ],
        13,
        include_str!("lib.rs"),
    ),
    build: build_in_slot,
};

/// The devices of this crate.
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[ROOM, zns_ssd::ROOM];

/// The rooms of a family, as they describe themselves.
pub type Rooms = fn() -> Vec<&'static Descriptor>;

/// Families of what drives are set up with, beside those of other crates: their names, what their rooms decide, and these.
pub static FAMILIES: &[(&str, &str, Rooms)] = &[
    (AllocationFamily::NAME, "allocation of pages to dies and planes", || descriptors(allocation::ROOMS)),
    (FlashSchedulingFamily::NAME, "scheduling of flash operations on a die", || {
        descriptors(scheduling::ROOMS)
    }),
];

fn descriptors<F: Family>(rooms: &'static nacre_config::Table<F>) -> Vec<&'static Descriptor> {
    rooms.iter().map(|room| &room.descriptor).collect()
}

/// The rooms of the family called `name`, if it is one of [`FAMILIES`].
pub fn rooms_of(name: &str) -> Vec<&'static Descriptor> {
    FAMILIES.iter().filter(|(known, ..)| *known == name).flat_map(|(.., rooms)| rooms()).collect()
}

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let config = Config::from(&slot.config::<SsdConfig>(builder.families()));
    // What lies over it may have made it a share.
    if let (Some((problem, remedy)), Some(capacity)) =
        (config::share_problem(&config), config.mapping().capacity)
    {
        let path = format!("{}.capacity", slot.path());
        let problem = Problem::new(ErrorCode::ConflictingSettings, &path, None, problem);
        return Err(problem.given(capacity).remedy(remedy).into());
    }
    let (share, config) = (config.share(), config.of_share());
    Ok(match builder.store(slot.path(), layout(&Geometry::of(&config))) {
        Some(store) => build(slot, builder, store, config, share)?,
        None => build(slot, builder, Nothing, config, share)?,
    })
}

/// How a store holds the bytes of a drive: by physical unit.
pub(crate) fn layout(geometry: &Geometry) -> Layout {
    Layout {
        page_bytes: geometry.unit_bytes,
        pages_per_extent: 1 << geometry.shift,
        pages: geometry.numbers() as u64,
    }
}

/// The drive in `slot`, over `store`.
fn build<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: Config,
    share: Option<f64>,
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let errors = errors::build(&config, &Geometry::of(&config), slot.path(), builder)?;
    let host = Host::new(&config, builder.families());
    let layer = build_paged(slot, builder, store, &config)?;
    let mut drive = Ssd::new(id, slot.path().to_string(), config, layer, host).with_errors(errors);
    drive.share = share;
    Ok(Box::new(drive))
}

/// The page mapping of the drive that `config` describes.
fn build_paged<S: Store>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: &Config,
) -> Result<Paged<S>, Problems> {
    let (geometry, mapping) = (Geometry::of(config), config.mapping());
    let spare_areas = if S::CARRIES_BYTES { 8 * geometry.numbers() as u64 } else { 0 };
    let at_once = geometry.memory_bytes_at_once(config.blocks, blocks_differ(config));
    let of_handles = if mapping.placement_handles > 1 { u64::from(geometry.logical_units) } else { 0 };
    let in_all = geometry.memory_bytes(config.blocks) + spare_areas + of_handles;
    builder.take_memory_as_touched(slot.path(), at_once, in_all.max(at_once))?;
    let cleaner = cleaning::build(&mapping.cleaning, geometry.superblocks, builder)?;
    check_cleaner(slot.path(), cleaner.partition_segments().is_some())?;
    let blocks = blocks(config, &geometry, slot, builder);
    let kept = config.buffer.0 as f64 * mapping.buffer_kept.0 / config.unit.0 as f64;
    let rules = Rules {
        youngest_first: config.youngest_first,
        wear_spread: mapping.wear_spread,
        held_units: (kept / f64::from(mapping.placement_handles * geometry.regions)) as u32,
        erased_while_idle: mapping.idle_cleaning.unwrap_or(0),
        erases_in_turn: config.erases_at_once.is_some(),
    };
    let handles = Handles::new(config, &geometry);
    let allocation = PlaneAllocation::new(config, &geometry);
    let mut array = Array::new(
        geometry,
        rules,
        store,
        cleaner,
        blocks,
        mapping_cache(config, &geometry),
        (handles, allocation),
    );
    array.slc = SlcCache::new(config, &geometry);
    if !array.has_space() {
        return Err(too_many_bad(slot));
    }
    Ok(Paged::new(config.clone(), array))
}

/// The part of the mapping table that is cached, if it lies in flash.
fn mapping_cache(config: &Config, geometry: &Geometry) -> Option<Box<dyn MappingCache>> {
    let cache = config.mapping().mapping_cache.as_ref()?;
    let each = geometry.mappings_per_unit;
    Some(match cache.cached {
        Cached::Pages => {
            let capacity = (cache.size.0 / config.unit.0) as u32;
            Box::new(CachedPages::new(geometry.mapping_units, each, capacity))
        }
        Cached::Entries => {
            let capacity = (cache.size.0 / config.mapping_entry.0).max(1);
            let capacity = capacity.min(u64::from(geometry.logical_units)) as u32;
            Box::new(CachedEntries::new(geometry.logical_units, each, capacity))
        }
    })
}

/// Whether blocks do not all last as long, or stand elsewhere than in their order.
fn blocks_differ(config: &Config) -> bool {
    config.nand.endurance.is_some() || config.factory_bad.0 > 0.0 || config.spare_blocks > 0
}

/// The blocks of the drive in `slot`.
fn blocks(
    config: &Config,
    geometry: &Geometry,
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
) -> Blocks {
    let durability = Durability {
        endurance: config.nand.endurance,
        spread: config.nand.endurance_spread.0,
        bad: config.factory_bad.0,
    };
    let random = builder.random(&format!("{}.blocks", slot.path()));
    Blocks::new(geometry, config.blocks, durability, random)
}

fn too_many_bad(slot: &Slot<DeviceFamily>) -> Problems {
    let problem = "too many blocks are bad from the start for the data and the reserve";
    let problem =
        Problem::new(ErrorCode::ConflictingSettings, &format!("{}.factory_bad", slot.path()), None, problem);
    problem.remedy("lower it, or give more spare_blocks or over_provisioning").into()
}

/// Errors: the cleaning policy of the drive at `path` decides where data lies, which the drive does itself.
fn check_cleaner(path: &str, has_partitions: bool) -> Result<(), Problems> {
    if !has_partitions {
        return Ok(());
    }
    let problem = "a policy with partitions decides itself where data lies, as in `envy`";
    let problem = Problem::new(ErrorCode::ConflictingSettings, &format!("{path}.cleaning"), None, problem);
    Err(problem.remedy("use a policy without partitions, such as \"greedy\"").into())
}
