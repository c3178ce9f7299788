//! An SSD: flash behind a page-mapped flash translation layer.
//!
//! # Model
//! The drive has `channels` channels with `ways` dies each, and each die has `planes` planes. The mapping table
//! maps *mapping units* (`unit`) of host data to flash. A flash page holds one or more units.
//!
//! ## Requests
//! - *Host side*: A request takes CPU time in the driver and crosses the link, which has the full rate in each
//!   direction. Then a processor of the drive works on it. `translation` is the time of a driver that runs the
//!   flash translation layer. If `host` is set, e.g. to NVMe, the host interface replaces the driver and the
//!   link: it models commands, page-wise data transfers, completions, and interrupts.
//! - *Write*: A write completes when its data is in the DRAM buffer. A later write to a buffered unit overwrites
//!   it there. Full operations (one page of every plane, with multi-plane commands) go to the dies round robin:
//!   to the next channel each time, and to the next die of each channel after all channels. Buffer space is freed
//!   when its program ends. A write that finds the buffer full waits.
//! - *Read*: The command crosses the channel, the die senses the page, and the page crosses the channel. Buffered
//!   units are read from the buffer.
//!
//! `scheduling` selects the next operation of a die when its array is free. `arbitration` selects the next
//! transfer when the channel is free. No decision is made earlier.
//!
//! ## Channels and dies
//! *Channels* carry read commands, pages that were read, and data to be programmed or copied. `arbitration`
//! serves the oldest first, or gives priority to commands, to pages, or to all transfers of reads. Transfers are
//! not interrupted. If several are ready at the same instant, the transfer of the oldest request is first.
//!
//! *Registers*: A die holds at most `registers` pages per plane, from the start of the command to the end of the
//! transfer. With one register, the die is idle until its page has crossed the channel. With two, it senses the
//! next page in the meantime (cached commands). While its array works, a die accepts the data of its next
//! program, unless it has only one register.
//!
//! *Erases* of a superblock start on all its dies at once. If `erases_at_once` is set, at most that many dies
//! erase, and the others continue to program. The superblock that was erased last is written last. If a die still
//! has to be erased when its turn to be written comes, its erase starts at once. Space in a full buffer is freed
//! in the order of allocation (`buffer_places` "ring"), or whenever a program ends ("pool"). With a pool, writes
//! continue while one die erases.
//!
//! *Programs* run on at most `programs_at_once` dies, as a power budget requires (the power states of NVMe, the
//! two modes of Intel's SSD 910). Data crosses to its die and waits there until another program ends. Programs of
//! the host and of garbage collection start in issue order. A multi-plane program counts as one. Reads and erases
//! do not count.
//!
//! ## Garbage collection
//! Garbage collection (GC, `garbage_collection`) works on superblocks: one block of every plane of every die, written in
//! stripes. A stripe uses all dies at once, one parity page covers it, and one erase count and one list of valid
//! units serve thousands of blocks. The disadvantage is a coarser choice of victims.
//!
//! - The host and GC have separate write frontiers.
//! - If fewer than `reserve` superblocks are erased, a victim is chosen. GC waits while no full or closed superblock
//!   has an invalid unit. GC keeps pace with host writes: for
//!   every unit that the host programs, it copies enough units that the victim is empty when the gained space is
//!   used up.
//! - With its `idle_reserve`, GC also runs while the host and the flash are idle, one stripe at a time, until that
//!   many superblocks beyond `reserve` are erased. A request stops it. It resumes when the host is idle again or fewer than
//!   `reserve` superblocks are erased.
//!
//! *Allocation* (`allocation`): superblocks span all dies, with or without parity. Alternatively, every plane has
//! its own write frontiers and GC, and a page goes to the plane given by its address or to the die that is free
//! first. In that case, everything that this page says about superblocks holds for the blocks of a plane.
//!
//! *SLC cache* (`slc_cache`): while more than `reserve` superblocks are erased, host writes use SLC mode, up to
//! `size`. SLC mode programs and reads faster, and a block holds less data. Beyond `size`, and on a full drive,
//! host writes use all bits of a cell at once. GC moves data out of SLC mode. SLC superblocks hold little valid
//! data for their size, so policies such as greedy choose them first.
//!
//! ## Flexible data placement
//! With `fdp`, the drive has flexible data placement (FDP; NVMe TP4146):
//!
//! | specification | model |
//! |---|---|
//! | reclaim unit (RU) | a superblock: `reclaim_unit` blocks of every plane of the dies of its reclaim group. It is filled, garbage-collected, and erased as a whole |
//! | reclaim group (RG) | `reclaim_groups` of `allocation`: an equal share of the dies with consecutive numbers. Each has its own write frontiers, GC, and wear leveling, and data that moves stays in it |
//! | reclaim unit handle (RUH) | references an open superblock in each reclaim group; writes through different handles go to different superblocks |
//! | placement identifier (PID; the DSPEC field of a write) | the volume of a request, which is the number of its tenant. With H handles and G groups, volume V names handle V mod H and group (V / H) mod G |
//! | initially isolated | GC mixes the data of all handles of this type (`initially_isolated`, the first handles) |
//! | persistently isolated | GC keeps the data of each handle of this type separate (`persistently_isolated`, the last handles) |
//!
//! - Every handle keeps a superblock open in each group. GC keeps another one open for the data of all initially
//!   isolated handles, and one for each persistently isolated handle. All of them take space from
//!   over-provisioning. With allocation by plane, each of them is one block of every plane.
//! - A write to a group that is full goes to the group with the least data (`units_redirected`). Pages of the
//!   mapping table lie in the group given by their number.
//! - Blocks that do not fill a reclaim unit are spare blocks.
//!
//! The counters `host_bytes_with_metadata_written` (HBMW), `media_bytes_with_metadata_written` (MBMW), and
//! `media_bytes_erased` (MBE) are those of the log page of FDP statistics. HBMW counts whole mapping units. MBMW
//! has what the host wrote, less what changed in the buffer, and everything that was moved or added: data that GC
//! and wear leveling moved, pages of the mapping table, padding, and parity.
//!
//! FDP events are counted for each handle: `implicitly_modified` (81h: the drive had the handle reference another
//! reclaim unit) and, of these, `not_fully_written` (0h: the former one had space left, e.g. because a refresh
//! closed it). `units_moved` are the units of event 80h (media reallocated).
//!
//! ## Mapping
//! The mapping table (`mapping`) is in DRAM, or in flash with an LRU cache of its pages or of single mappings.
//!
//! ## Wear and lifetime
//! - *Dynamic wear leveling*: the erased superblock with the fewest erases is written first.
//! - *Static wear leveling* (`wear_spread` of `garbage_collection`): if a superblock has far fewer erases than
//!   the erased ones, its data moves to the most worn of these.
//! - *Endurance*: the number of erases that a block withstands is random, with mean `endurance`. A worn-out block
//!   is replaced by a spare block of its plane. If there is none, its superblock is retired, and its other blocks
//!   become spares. When the remaining superblocks cannot hold the data and the reserve, the drive becomes
//!   read-only.
//! - *Lifetime*: the time until the drive becomes read-only if wear continues as in the run. The estimate removes
//!   the differences between superblocks that chance alone makes in a Poisson process; with `wear_spread`, it
//!   assumes even wear. For a drive that is read-only, it is the time that this took. Otherwise, it is an upper
//!   bound, for two reasons. Erases vary by about the square root of their mean, so the first superblocks wear
//!   out before the average: about 4 % earlier at 60 erases, and less than 1 % at 3,000. If many wear out at
//!   once, copies use up the reserve while no superblock returns. The drive is then read-only before it runs out
//!   of space: another 7 % earlier for equal blocks under hot and cold data with 60 erases.
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
//! The number of bit errors of a codeword is a quantile of the Poisson distribution with that mean. The quantile
//! is sampled once per codeword and program, so errors persist and only increase.
//!
//! - The code (`ecc`) determines the number of read retries. Retries follow one another; each takes the die and
//!   the channel like any read, then the decoder.
//! - GC decodes the pages that it copies. Copies inside a die (`copyback`) are not decoded: the bit errors of the
//!   page are copied, and those of the copy are added. An uncorrectable page is found when the host reads it.
//! - If a unit has more bit errors than the code corrects, its data is lost. Reads of it, and writes of a part of
//!   it, fail until all of it is written or trimmed, even after it was copied. A flush fails once after a loss.
//! - After `refresh_reads` reads of a block, all data of its superblock moves at once. The copies wait for the
//!   reads in progress and cross the channel, since they must be corrected.
//!
//! ## Power loss
//! Data is stored in flash by physical unit; programs and copies carry it. Reads return the data that was written
//! last. A power loss clears the buffer and all DRAM.
//!
//! - With `power_protected`, capacitors finish the programs of all acknowledged writes.
//! - Without it, a unit whose program had not ended keeps its previous data: the page is torn, and its error
//!   correction detects this.
//! - With `paired_page_loss`, the power loss also damages pages that were programmed earlier on the same word
//!   line, even if their data was flushed long ago (tseng-2011). Such a unit reads as zeros, and recovery counts
//!   its bytes as lost.
//!
//! Recovery rebuilds the mapping. Spare areas name the unit of each page, with a sequence number, and a journal
//! lists trims. Recovery repeats interrupted erases and reads the last checkpoint of the mapping: `mapping.entry`
//! bytes for each unit, or for each page of a table in flash. Then it reads the spare areas of the pages that were
//! programmed since the checkpoint, on all dies in parallel. It ends with a new checkpoint.
//!
//! ## Shares
//! *Share of a drive* (`capacity`): a share of a pool of drives is modeled as a drive with fewer blocks per
//! plane. It fills, is garbage-collected, and wears like the whole drive. It pays for its capacity and takes its
//! part of the idle power. Dies, channels, buffer, and link are those of a whole drive, since any drive of the
//! pool may serve the share. The record has a finding if the share uses more than its part of the performance.
//!
//! *Queues of tenants* (`queue`): the drive works on a limited number of requests at one time, and the others wait
//! in queues of the host. Each tenant may have its own part of the slots (`"by_tenant"`), or a submission queue from
//! which free slots fetch in turn (`"round_robin"`) or by priority class and weight (`"weighted_round_robin"`), as
//! NVMe controllers do. `places` of the workload `tenants` does the same in front of any stack.
//!
//! ## Results
//! The table `handles` lists, for each reclaim unit handle, the host writes, the units that GC moved, the write
//! amplification, and the events. A handle without writes has no write amplification.
//!
//! # Not modeled
//! - Zones: see `zns_ssd`.
//! - FDP: commands by which the host has a handle reference an empty reclaim unit (I/O Management Send), the time
//!   limit of an open reclaim unit (event 1h), and resets that change handles (event 2h): after a power loss, a
//!   handle continues with its reclaim unit.
//! - A limit on the share of a reclaim group that one host fills. A group is full when it has no space left beyond
//!   its `reserve`; writes then go to the group with the least data (`units_redirected`), and the write
//!   amplification of the full group is high. Without tenants, all writes name group 0.
//! - Superblocks that always use SLC mode, and folding while the host is idle. A full SLC cache stays full until
//!   GC needs its space, and is used again only if more than `reserve` superblocks are erased.
//! - Slower or faster programs of worn cells. If all pages of a word line are programmed, each takes its own
//!   time, in page order.
//! - Erase commands take no time on the channel.
//! - If a write covers a part of a unit, it completes, and may be programmed, before the rest of the unit is
//!   read.
//! - A superblock may be erased while a read of a page that it held still waits for its die.
//! - A program or an erase that follows copies waits for all copies that were issued before it, not only for
//!   those it needs. With allocation by plane, it waits for those on its die.
//! - With a mapping table in flash, a read starts when all mappings of its request are known.
//! - Reads do not share page registers with the data of a program that waits in its die.
//!
//! Bit errors:
//!
//! - A page has the age of the first page of its superblock. All pages of a block are equally strong. SLC mode
//!   and pages of the mapping table have no bit errors.
//! - Parity of the code takes no time on the channel, encoding takes no time, and decoders have no queue.
//! - Every read starts with the default thresholds, whatever the page needed last.
//! - Copies cause no read disturb.
//! - Bit errors that came with copies inside a die are added to those of the page, although a few coincide. Such
//!   copies may be repeated without limit.
//! - If the energy of the code is not given, it counts as zero, and the record says so.
//! - Data that was written before the run was copied without bit errors.
//! - With data, a lost unit that is written and falls back to its previous version in a power loss may be
//!   readable again.
//!
//! Power loss:
//!
//! - Checkpoints and the journal of trims take no time and no flash during operation.
//! - A superblock may be erased before the programs that replace its data have ended. A drive that delays such an
//!   erase loses no previous version. Nacre loses none either: the previous data is then kept in the newer page,
//!   and the erase is not delayed.
//! - A page whose program was interrupted counts as programmed, and copies in progress count as done.
//! - Reads of recovery are not included in the time and energy of any component.
//! - Without data, the amount that an unprotected drive loses is not known.
//! - A damaged page that GC copied is lost, even if the page it was copied from is not erased yet. Damaged pages
//!   of the mapping table are restored from spare areas at no cost.
//! - The energy of the capacitors, and the time until they are charged again.
//!
//! # Sources
//! gupta-2009 (DFTL); desnoyers-2012 (cost of garbage collection); tavakkol-2018 (MQSim; components of an SSD
//! simulator); wu-he-2012 (suspension of programs and erases); cobham-1954 (waiting times under priority);
//! tseng-2011 (power loss); mielke-2008, hetzler-2012 (bit errors by cycles and time), cai-2015 (by reads),
//! kim-2019 (by all three); nvme-2.1 (flexible data placement, power states); shadley-2011 (parity over dies, of
//! 7 + 1 and 15 + 1 pages); tomshardware-ssd910 (writes at two
//! thirds of the rate within 25 W).
//!
//! # Checks
//! - Write amplification equals the closed forms of FIFO and greedy garbage collection at five spare factors,
//!   also with trimmed space, and for planes with their own garbage collection. With parity, it equals the closed
//!   forms at the remaining spare space.
//! - Bandwidth of a strided workload under each allocation; multi-plane programs; channel time of copies that do
//!   not cross it; bandwidths as products of the parts, also in SLC mode.
//! - Misses of the cached mapping.
//! - Waits of reads, programs, copies, and erases under non-preemptive priority; the law of suspension.
//! - Programs per second, and the end of each, when `programs_at_once` limits them.
//! - Waits for a channel under each arbitration; whole drives against a step-by-step simulation of a channel and
//!   dies.
//! - A die with independent plane reads against a step-by-step simulation; its waits against one server per
//!   plane.
//! - The longest write while dies erase; bursts after idle garbage collection.
//! - End of life at the time given by endurance, blocks, and write amplification.
//! - Tenants with separate handles have the write amplification of separate drives; tenants with one handle have
//!   that of one drive.
//! - Flexible data placement: the write amplification of each handle of two lifetimes equals its closed form under
//!   FIFO, whatever the isolation; that of a log is 1. Statistics equal the programs and erases of the dies.
//!   A reclaim group amplifies as a drive of its dies, and its data never leaves it.
//! - Read retries, their latency, and lost units against binomial tails, also with parity and with copies inside
//!   a die; the time of a rebuilt read.
//! - Bit errors follow their law, no lost unit is returned as good, and refreshes are reads over their limit.
//! - Tenants with queue shares complete requests in proportion to their slots.
//! - Fetches by round robin and weighted round robin against a step-by-step simulation of the queues, request by
//!   request.
//! - Programs, erases, and valid units are conserved.
//! - Every unit after power losses at random times, against an auditor that knows its versions; recovery time as
//!   pages over dies.

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

/// Settings for times, energy, and prices. They do not affect where data is stored: preconditioning leaves
/// drives that differ only in these settings in the same state.
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

/// The component's descriptor and constructor.
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

/// The devices of this crate.
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[ROOM, zns_ssd::ROOM];

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let config = Config::from(&slot.config::<SsdConfig>(builder.families()));
    // Settings of an enclosing scenario may have made the drive a share.
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

/// Storage of the drive's data by physical unit.
pub(crate) fn layout(geometry: &Geometry) -> Layout {
    Layout {
        page_bytes: geometry.unit_bytes,
        pages_per_extent: 1 << geometry.shift,
        pages: geometry.numbers() as u64,
    }
}

/// Builds the drive in `slot`, with its data in `store`.
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

/// Whether the endurance of blocks varies, or blocks are not in their initial order.
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
