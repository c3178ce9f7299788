//! An SSD: flash memory with a page-mapped flash translation layer.
//!
//! # Model
//! The drive has `channels` channels with `ways` dies each. Each die has `planes` planes. The mapping table
//! maps *mapping units* (`unit`) of host data to flash. A flash page holds one or more units.
//!
//! ## Requests
//! - *Host side*: A request takes CPU time in the driver and crosses the link, which has its full rate in
//!   each direction. A processor of the drive then processes the request. If the driver runs the flash
//!   translation layer on the host, `translation` is its additional time per request. If `host` is set, e.g.
//!   to NVMe, the host interface replaces the driver and the link: it models commands, page-wise data
//!   transfers, completions, and interrupts.
//! - *Write*: A write completes when its data is in the DRAM buffer. A later write to a buffered unit
//!   overwrites the unit in the buffer. Full operations (one page of every plane, with multi-plane commands)
//!   are assigned to the dies round robin: each operation uses the next channel, and after all channels the
//!   next die of each channel. Buffer space is freed when the program of its data ends. A write waits while
//!   the buffer is full.
//! - *Read*: The command crosses the channel, the die senses the page, and the page crosses the channel.
//!   Units in the write buffer are read from the buffer.
//!
//! `scheduling` selects the next operation of a die when its array is free. `arbitration` selects the next
//! transfer when the channel is free. Decisions are never made in advance.
//!
//! ## Channels and dies
//! *Channels* carry read commands, pages that were read, and data to be programmed or copied. `arbitration`
//! selects the oldest transfer, or gives priority to commands, to pages, or to all transfers of reads.
//! Transfers are not preempted. If several transfers become ready at the same time, the transfer of the
//! oldest request is first.
//!
//! *Registers*: A die holds at most `registers` pages per plane, from the start of the command to the end of
//! the transfer. With one register, the die is idle until its page has crossed the channel. With two, it
//! senses the next page in the meantime (cached commands). While its array is busy, a die accepts the data of
//! its next program, unless the die has only one register.
//!
//! *Erases* of a superblock start on all its dies simultaneously. If `erases_at_once` is set, at most that
//! many dies erase, and the others continue to program. The most recently erased superblock is then written
//! last. If the drive must write to a die that is not erased yet, the erase starts immediately.
//! `buffer_places` determines when buffer space is freed: in the order of allocation ("ring") or as soon as a
//! program ends ("pool"). With a pool, writes continue while one die erases.
//!
//! *Programs* run on at most `programs_at_once` dies, which models a power budget (e.g. NVMe power states, or
//! the two modes of Intel's SSD 910). The data of further programs is transferred to the die and waits there
//! until another program ends. Programs of the host and of garbage collection start in issue order. A
//! multi-plane program counts as one program. Reads and erases are not limited.
//!
//! ## Garbage collection
//! Garbage collection (GC, `garbage_collection`) works on superblocks. A superblock has one block of every
//! plane of every die and is written in stripes. A stripe uses all dies at once, and one parity page can
//! cover it. One erase count and one list of valid units per superblock are sufficient for thousands of
//! blocks. The disadvantage is a coarser choice of victims.
//!
//! - The host and GC have separate write frontiers.
//! - If fewer than `reserve` superblocks are erased, a victim is chosen. GC waits while no full or closed
//!   superblock has an invalid unit. GC keeps pace with host writes: for every unit that the host programs,
//!   GC copies enough valid units of the victim. The victim is therefore empty when the host has used up the
//!   gained space.
//! - With `idle_reserve`, GC also runs while the host and the flash are idle, one stripe at a time, until
//!   that many superblocks beyond `reserve` are erased. A request stops GC. It resumes when the host is idle
//!   again or when fewer than `reserve` superblocks are erased.
//!
//! *Allocation* (`allocation`): by default, superblocks span all dies, with or without parity. Alternatively,
//! every plane has separate write frontiers and GC. The address of a page then determines its plane, or the
//! page is written to the die that is free first. With this allocation, all statements about superblocks on
//! this page apply to the blocks of a plane.
//!
//! *SLC cache* (`slc_cache`): while more than `reserve` superblocks are erased, host writes use SLC mode, up
//! to `size`. SLC mode programs and reads faster, but a block holds less data. Beyond `size`, and on a full
//! drive, host writes use all bits of a cell directly. GC moves data from SLC mode to superblocks with all
//! bits per cell. SLC superblocks hold little valid data relative to their size, so policies such as greedy
//! select them first.
//!
//! ## Flexible data placement
//! If `fdp` is set, the drive supports flexible data placement (FDP; NVMe TP4146):
//!
//! | specification | model |
//! |---|---|
//! | reclaim unit (RU) | a superblock: `reclaim_unit` blocks of every plane of the dies of its reclaim group. It is filled, garbage-collected, and erased as a whole |
//! | reclaim group (RG) | `reclaim_groups` of `allocation`: dies with consecutive numbers, an equal number for each group. Each group has separate write frontiers, GC, and wear leveling. GC and wear leveling move data within its group |
//! | reclaim unit handle (RUH) | a reference to an open superblock in each reclaim group. Writes through different handles fill different superblocks |
//! | placement identifier (PID; the DSPEC field of a write) | the volume of a request, which is the number of its tenant. With H handles and G groups, volume V selects handle V mod H and group (V / H) mod G |
//! | initially isolated | GC mixes the data of all handles of this type (`initially_isolated`, the first handles) |
//! | persistently isolated | GC keeps the data of each handle of this type separate (`persistently_isolated`, the last handles) |
//!
//! - Every handle keeps a superblock open in each group. GC keeps another one open for the data of all
//!   initially isolated handles, and one for each persistently isolated handle. All open superblocks reduce
//!   the over-provisioning. With allocation by plane, each of these superblocks takes one block of every
//!   plane.
//! - A write to a full group is redirected to the group with the least data (`units_redirected`). Pages of
//!   the mapping table are stored in the group given by their number.
//! - Blocks that do not fill a reclaim unit are spare blocks.
//!
//! The counters `host_bytes_with_metadata_written` (HBMW), `media_bytes_with_metadata_written` (MBMW), and
//! `media_bytes_erased` (MBE) are those of the FDP statistics log page. HBMW counts whole mapping units. MBMW
//! counts all programmed data: host data without overwrites in the buffer, data that GC and wear leveling
//! moved, pages of the mapping table, padding, and parity.
//!
//! FDP events are counted for each handle: `implicitly_modified` (81h: the drive changed the reclaim unit
//! that the handle references) and, as a subset, `not_fully_written` (0h: the former reclaim unit had space
//! left, e.g. because a refresh closed it). `units_moved` is the number of units of event 80h (media
//! reallocated).
//!
//! ## Mapping
//! The mapping table (`mapping`) is in DRAM, or in flash with an LRU cache of its pages or of single
//! mappings.
//!
//! ## Wear and lifetime
//! - *Dynamic wear leveling*: the erased superblock with the fewest erases is written first.
//! - *Static wear leveling* (`wear_spread` of `garbage_collection`): if a superblock has far fewer erases
//!   than the erased superblocks, its data moves to the most worn of them.
//! - *Endurance*: the number of erases that a block withstands is random, with mean `endurance`. A worn-out
//!   block is replaced by a spare block of its plane. If there is none, its superblock is retired, and its
//!   other blocks become spares. When the remaining superblocks cannot hold the data and the reserve, the
//!   drive becomes read-only.
//! - *Lifetime*: the time until the drive becomes read-only if wear continues as in the run. The estimate
//!   ignores the differences between superblocks that chance alone would cause in a Poisson process. With
//!   `wear_spread`, it assumes even wear. If the drive became read-only during the run, the lifetime is the
//!   time until then. Otherwise, the estimate is an upper bound, for two reasons. First, erases vary by about
//!   the square root of their mean, so the first superblocks wear out before the average: about 4 % earlier
//!   at 60 erases, and less than 1 % earlier at 3,000. Second, if many superblocks wear out at once, copies
//!   use up the reserve while no superblock is returned. The drive then becomes read-only before it runs out
//!   of space. For equal blocks under hot and cold data with 60 erases, this happens another 7 % earlier.
//!
//! ## Bit errors
//! The bit error rate of a page (`errors`) is the sum of four terms (kim-2019, equation 1):
//!
//! | term | bit error rate |
//! |---|---|
//! | fresh | `fresh_bit_error_rate` |
//! | cycling | `bit_error_rate (erases / cycles)^error_exponent` |
//! | retention | `bit_error_rate retention (erases / cycles)^retention_cycles_exponent days^retention_exponent` |
//! | read disturb | `read_disturb (erases / cycles)^disturb_exponent reads^disturb_reads_exponent`, with the reads of its block |
//!
//! The number of bit errors of a codeword follows a Poisson distribution. The mean is the bit error rate
//! times the size of the codeword. A quantile of this distribution is sampled once per codeword and program,
//! so errors persist and their number only increases.
//!
//! - The code (`ecc`) determines the number of read retries. Retries are sequential. Each retry uses the die,
//!   the channel, and the decoder like a normal read.
//! - GC decodes the pages that it copies. Copies inside a die (`copyback`) are not decoded: the copy has the
//!   bit errors of the page in addition to new ones. An uncorrectable page is detected when the host reads
//!   it.
//! - If a unit has more bit errors than the code corrects, its data is lost. Reads and partial writes of the
//!   unit fail until the whole unit is written or trimmed, even after it was copied. The first flush that
//!   ends after a loss fails, and so do all other flushes that are outstanding at that time.
//! - After `refresh_reads` reads of a block, all data of its superblock is moved at once. The copies wait for
//!   the reads in progress. They cross the channel because they must be corrected.
//!
//! ## Power loss
//! The model stores the data of every physical unit. Programs and copies transfer this data, and reads return
//! the last written data. A power loss clears the buffer and all DRAM.
//!
//! - With `power_protected`, capacitors supply power until the programs of all acknowledged writes are
//!   complete.
//! - Without `power_protected`, a unit whose program was interrupted keeps its previous data: the page is
//!   torn, and its error correction detects this.
//! - With `paired_page_loss`, the power loss also damages pages that were programmed earlier on the same word
//!   line, even if their data was flushed long ago (tseng-2011). Such a unit reads as zeros, and recovery
//!   counts its bytes as lost.
//!
//! Recovery rebuilds the mapping. The spare area of each page names its unit and has a sequence number. A
//! journal lists trims. Recovery repeats interrupted erases and reads the last checkpoint of the mapping. The
//! checkpoint has `mapping.entry` bytes for each unit, or for each page of a table in flash. Then it reads
//! the spare areas of the pages that were programmed since the checkpoint, on all dies in parallel. It ends
//! with a new checkpoint.
//!
//! ## Shares
//! *Share of a pool* (`capacity`): a share of a pool of drives is modeled as a drive with fewer blocks per
//! plane. Its utilization, garbage collection, and wear are those of a whole drive. Its price follows from
//! its capacity, and its idle power is proportional to the capacity. Dies, channels, buffer, and link are
//! those of a whole drive, because any drive of the pool may serve the requests. The record has a finding if
//! the share uses more than its proportion of the performance.
//!
//! *Queues of tenants* (`queue`): the drive has a limited number of outstanding requests. Further requests
//! wait in queues of the host. Each tenant can have a number of slots (`"by_tenant"`), or a submission queue.
//! Submission queues are served round robin (`"round_robin"`) or by priority class and weight
//! (`"weighted_round_robin"`), as in NVMe controllers. `places` of the workload `tenants` provides the same
//! in front of any stack.
//!
//! ## Results
//! The table `handles` lists the host writes, the units that GC moved, the write amplification, and the
//! events of each reclaim unit handle. A handle without writes has no write amplification.
//!
//! # Not modeled
//! - Zones: see `zns_ssd`.
//! - FDP: the command with which the host assigns an empty reclaim unit to a handle (I/O Management Send),
//!   the time limit of an open reclaim unit (event 1h), and resets that change handles (event 2h). After a
//!   power loss, a handle continues with its reclaim unit.
//! - A limit on the fraction of a reclaim group that one host fills. A group is full when it has no space
//!   left beyond its `reserve`. Writes are then redirected to the group with the least data
//!   (`units_redirected`), and the write amplification of the full group is high. Without tenants, all writes
//!   use group 0.
//! - Superblocks that always use SLC mode, and moves out of SLC mode while the host is idle (folding). A full
//!   SLC cache stays full until GC needs its space. It is used again only if more than `reserve` superblocks
//!   are erased.
//! - Different program times of worn cells. If all pages of a word line are programmed, each page takes its
//!   nominal time, in page order.
//! - The channel time of erase commands.
//! - The wait of a partial write for its read: a write that covers a part of a unit completes, and may be
//!   programmed, before the rest of the unit is read.
//! - Reads that delay an erase: a superblock may be erased while a read of one of its old pages still waits
//!   for the die.
//! - Exact dependencies of copies: a program or an erase that follows copies waits for all copies that were
//!   issued earlier, not only for those that it depends on. With allocation by plane, it waits for the copies
//!   of its die.
//! - Partial lookups: with a mapping table in flash, a read starts when all mappings of its request are
//!   known.
//! - Page registers that reads share with the data of a waiting program.
//!
//! Bit errors:
//!
//! - A page has the age of the first page of its superblock. All pages of a block have the same error rate.
//!   SLC mode and pages of the mapping table have no bit errors.
//! - The parity of the code takes no time on the channel, encoding takes no time, and decoders have no queue.
//! - Every read starts with the default thresholds, regardless of the thresholds of the last successful read.
//! - Copies cause no read disturb.
//! - Bit errors that are copied inside a die are added to those of the new page, although a few of them would
//!   affect the same bits. The number of consecutive copies inside a die is not limited.
//! - If the energy of the code is not given, it counts as zero, and the record reports this.
//! - Data that was written before the run has no bit errors from copies.
//! - If the drive stores data, a lost unit that is rewritten and then reverted to its previous version by a
//!   power loss may be readable again.
//!
//! Power loss:
//!
//! - Checkpoints and the journal of trims take no time and no flash during operation.
//! - A superblock may be erased before the programs that replace its data have ended. A real drive delays
//!   such an erase so that no previous version is lost. Nacre does not delay the erase, but it also loses no
//!   data, because it keeps the previous data in the newer page.
//! - A page whose program was interrupted counts as programmed, and copies in progress count as complete.
//! - Recovery reads are not included in the time and energy of any component.
//! - The amount of data that an unprotected drive loses is unknown if the drive does not store data.
//! - If a damaged page is the destination of a GC copy, its data is lost, even if the source page is not
//!   erased yet. Damaged pages of the mapping table are restored from spare areas at no cost.
//! - The energy of the capacitors, and their charging time, are not modeled.
//!
//! # Sources
//! gupta-2009 (DFTL); desnoyers-2012 (cost of garbage collection); tavakkol-2018 (MQSim; components of an SSD
//! simulator); wu-he-2012 (suspension of programs and erases); cobham-1954 (waiting times under priority);
//! tseng-2011 (power loss); mielke-2008, hetzler-2012 (bit errors by cycles and time), cai-2015 (by reads),
//! kim-2019 (by all three); nvme-2.1 (flexible data placement, power states); shadley-2011 (parity over dies,
//! with stripes of 7 + 1 and 15 + 1 pages); tomshardware-ssd910 (a limit of 25 W reduces writes to two thirds
//! of the rate).
//!
//! # Checks
//! - Write amplification equals the closed forms of FIFO and greedy garbage collection at five spare factors,
//!   with trimmed space, and for planes with separate garbage collection. With parity, it equals the closed
//!   forms for the remaining spare space.
//! - The bandwidth of a strided workload under each allocation, multi-plane programs, and the channel time of
//!   copies inside a die. Bandwidths equal those computed from the component rates, including SLC mode.
//! - Miss rate of the cached mapping.
//! - Waits of reads, programs, copies, and erases against the closed forms of non-preemptive priority and of
//!   suspension.
//! - Programs per second, and the end time of each program, when `programs_at_once` limits them.
//! - Waits for a channel under each arbitration policy against closed forms. Whole drives are compared with a
//!   step-by-step simulation of a channel and its dies.
//! - A die with independent plane reads against a step-by-step simulation, and its waits against the closed
//!   form of one server per plane.
//! - The longest write latency while dies erase; bursts after idle garbage collection.
//! - End of life at the time given by endurance, number of blocks, and write amplification.
//! - Tenants with separate handles have the write amplification of separate drives. Tenants with one handle
//!   have that of one drive.
//! - Flexible data placement: for data with two lifetimes, the write amplification of each handle equals its
//!   closed form under FIFO with either isolation. The write amplification of a log is 1. The statistics
//!   equal the programs and erases of the dies. A reclaim group has the write amplification of a separate
//!   drive with the same dies, and data never leaves its group.
//! - Read retries, their latency, and lost units against binomial tails, including parity and copies inside a
//!   die. The duration of a rebuild is exact.
//! - Bit errors follow their closed form, no lost unit is returned as valid, and the number of refreshes is
//!   the number of reads divided by the limit.
//! - Tenants with separate slots complete requests in proportion to their slots.
//! - Fetches by round robin and weighted round robin against a step-by-step simulation of the queues, request
//!   by request.
//! - The numbers of programs, erases, and valid units are conserved.
//! - After power losses at random times, every unit is compared with the versions that an independent auditor
//!   recorded. The recovery time equals its closed form, in which the dies read the pages in parallel.

mod book;
mod buffer;
mod config;
mod drive;
mod flash;
mod ftl;
mod host;
mod layout;
mod mapping_table;
mod ops;
mod optional_part;
mod recovery;
mod reliability;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod workbench;
pub mod zns_ssd;

pub use config::{
    Allocation, Arbitration, BufferPlaces, ByTenant, CachedTable, Drive, Dynamic, ErrorsConfig, FdpConfig,
    FlashScheduling, GarbageCollection, MappingTable, Order, PageMapping, Parity, Queue, ReadPriority,
    Shared, SlcCacheConfig, SsdConfig, Static, Superblock, Suspension, TableEntries, Unwritten,
    WeightedRoundRobin, ZnsSsdConfig, ZonesConfig,
};

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
use nacre_config::{Descriptor, ErrorCode, Problem, Problems, Room, Slot};
use nacre_controller::cleaning;
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event;
use nacre_media::store::{Layout, Nothing, Store};
use reliability::errors;

/// Settings for times, energy, and prices. They do not affect data placement: drives that differ only in
/// these settings have the same state after preconditioning.
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
    "slc_cache.read",
    "slc_cache.program",
    "read_energy",
    "program_energy",
    "erase_energy",
    "transfer_energy",
    "idle_power",
    "price",
];

/// Descriptor and constructor of the component.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<SsdConfig>(
        "ssd",
        "a flash SSD: channels, dies, page mapping, write buffer, garbage collection, wear-out",
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
            "shadley-2011",
            "tomshardware-ssd910",
        ],
        15,
        include_str!("lib.rs"),
    ),
    build: build_in_slot,
};

/// Devices of this crate.
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[ROOM, zns_ssd::ROOM];

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let config = Config::from(&slot.config::<SsdConfig>(builder.families()));
    // An enclosing scenario may have changed the drive to a fraction of a drive.
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

/// Storage layout of the drive's data, with one entry per physical unit.
pub(crate) fn layout(geometry: &Geometry) -> Layout {
    Layout {
        page_bytes: geometry.unit_bytes,
        pages_per_extent: 1 << geometry.shift,
        pages: geometry.numbers() as u64,
    }
}

/// Builds the drive in `slot` and stores its data in `store`.
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

/// Builds the page-mapped drive that `config` describes.
fn build_paged<S: Store>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: &Config,
) -> Result<Paged<S>, Problems> {
    let (geometry, mapping) = (Geometry::of(config), config.mapping());
    let collection = &mapping.garbage_collection;
    let spare_areas = if S::CARRIES_BYTES { 8 * geometry.numbers() as u64 } else { 0 };
    let at_once = geometry.memory_bytes_at_once(config.blocks, blocks_differ(config));
    let of_handles = if mapping.handles() > 1 { geometry.numbers() as u64 } else { 0 };
    let in_all = geometry.memory_bytes(config.blocks) + spare_areas + of_handles;
    builder.take_memory_as_touched(slot.path(), at_once, in_all.max(at_once))?;
    let cleaner = cleaning::build(&collection.policy, geometry.superblocks, builder)?;
    check_cleaner(collection.policy.path(), cleaner.partition_segments().is_some())?;
    let blocks = blocks(config, &geometry, slot, builder);
    let kept = config.buffer.0 as f64 * mapping.buffer_kept.0 / config.unit.0 as f64;
    let rules = Rules {
        youngest_first: config.youngest_first,
        wear_spread: collection.wear_spread,
        held_units: (kept / f64::from(mapping.handles() * geometry.regions)) as u32,
        erased_while_idle: collection.idle_reserve.map_or(0, |more| collection.reserve + more),
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

/// The cache of the mapping table; `None` if the whole table is in DRAM.
fn mapping_cache(config: &Config, geometry: &Geometry) -> Option<Box<dyn MappingCache>> {
    let each = geometry.mappings_per_unit;
    match &config.mapping().mapping {
        MappingTable::InDram(_) => None,
        MappingTable::CachedPages(table) => {
            let capacity = (table.size.0 / config.unit.0).min(u64::from(geometry.mapping_units));
            Some(Box::new(CachedPages::new(geometry.mapping_units, each, capacity as u32)))
        }
        MappingTable::CachedEntries(table) => {
            let capacity = (table.size.0 / table.entries.entry.0).max(1);
            let capacity = capacity.min(u64::from(geometry.logical_units)) as u32;
            Some(Box::new(CachedEntries::new(geometry.logical_units, each, capacity)))
        }
    }
}

/// Whether blocks have different endurance, or superblocks do not consist of blocks in their initial order.
fn blocks_differ(config: &Config) -> bool {
    config.nand.endurance.is_some() || config.factory_bad.0 > 0.0 || config.spare_blocks > 0
}

/// Creates the blocks of the drive in `slot`.
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

/// Errors: the garbage collection policy at `path` controls data placement, which the drive does
/// itself.
fn check_cleaner(path: &str, has_partitions: bool) -> Result<(), Problems> {
    if !has_partitions {
        return Ok(());
    }
    let problem = "a policy with partitions decides itself where data lies, as in `envy`";
    let problem = Problem::new(ErrorCode::ConflictingSettings, path, None, problem);
    Err(problem.remedy("use a policy without partitions, such as \"greedy\"").into())
}
