//! An SSD: flash memory with a page-mapped flash translation layer.
//!
//! # Model
//! The drive has `channels` channels with `ways` dies each. Each die has `planes` planes. The flash
//! translation layer maps host addresses to flash in *mapping units* of `unit` bytes. A flash page holds one
//! or more mapping units, which this page also calls *units*.
//!
//! ## Requests
//! - *Host side*: A request takes CPU time in the host driver and then crosses the link to the drive. The
//!   link provides its full bandwidth in each direction. A processor of the drive then processes the request.
//!   If the flash translation layer runs in the host driver, `translation` is its CPU time per request. If
//!   `host` is set, e.g. to NVMe, a host interface replaces the driver and the link. The host interface
//!   models commands, page-wise data transfers, completions, and interrupts.
//! - *Write*: A write completes when its data is in the DRAM buffer. While the buffer is full, writes wait. A
//!   later write to a buffered unit overwrites the unit in the buffer. The drive groups buffered data into
//!   program operations. With multi-plane commands, an operation programs one page of every plane of a die.
//!   When an operation has all its data, the drive sends it to a die. Consecutive operations use consecutive
//!   channels. After each round over the channels, the drive continues with the next die of every channel.
//!   After the program, the drive frees the buffer space of the data.
//! - *Read*: The command crosses the channel, the die senses the page, and the page crosses the channel. If a
//!   unit is still in the write buffer, the drive reads the unit from the buffer.
//!
//! When the cell array of a die becomes free, the drive selects the next operation of the die according to
//! `scheduling`. When a channel becomes free, the drive selects the next transfer according to `arbitration`.
//! The drive never makes these decisions earlier.
//!
//! ## Channels and dies
//! *Channels* carry read commands, the pages that reads return, and the data of programs and copies.
//! According to `arbitration`, the drive selects the oldest transfer, or gives priority to commands, to
//! pages, or to all transfers for reads. Transfers are not preempted. If several transfers become ready at
//! the same time, the transfer of the oldest request goes first.
//!
//! *Registers*: A die has `registers` page registers per plane. A read holds a register from the start of its
//! command to the end of its transfer. With one register, the die is idle after it has sensed a page until
//! the page has crossed the channel. With two registers, the die senses the next page during the transfer
//! (cached commands). A die with more than one register per plane accepts the data of its next program while
//! its cell array is busy.
//!
//! *Parts of units* (`transfer`): By default, units cross the channel as a whole. With `transfer`, a read
//! transfers only the requested parts of a unit. A program omits the parts of host data that were never
//! written, and these parts take no buffer space. A write of a part of a unit reads only those written parts
//! that it does not replace. For each unit, the spare area of its page records one range of written parts.
//!
//! *Erases*: All dies of a superblock start to erase at the same time. With `erases_at_once`, at most this
//! number of dies erase at once, and the other dies continue to program. With this setting, the drive writes
//! to the most recently erased superblock only if no other erased superblock is left. If the drive must write
//! to a block whose erase has not started, this erase starts immediately.
//!
//! *Buffer space* (`buffer_places`): With `ring`, the drive frees buffer space in the order of allocation.
//! With `pool`, the drive frees the buffer space of a program as soon as this program ends, so writes
//! continue while one die erases.
//!
//! *Programs*: At most `programs_at_once` dies program at the same time. This limit models a power budget,
//! e.g. NVMe power states or the two modes of Intel's SSD 910. When the limit is reached, the data of the
//! next program crosses the channel to its die and waits there until another program ends. Programs of the
//! host and of garbage collection start in issue order. A multi-plane program counts as one program. The
//! limit does not apply to reads and erases.
//!
//! ## Garbage collection
//! Garbage collection (GC, `garbage_collection`) works on superblocks. A superblock consists of one block of
//! every plane of every die. The drive writes a superblock in stripes. By default, each stripe uses all dies
//! at once. One page of a stripe can hold parity. A superblock can have thousands of blocks, but the drive
//! stores only one erase count and one list of valid units for all of them. The disadvantage is that GC can
//! select only whole superblocks as victims.
//!
//! - Data from the host and data that GC moves go to different open superblocks.
//! - When fewer than `reserve` superblocks are erased, GC selects a victim. If no full or closed superblock
//!   has an invalid unit, GC waits. GC copies the valid units of the victim in step with host writes. It
//!   copies the last unit when the host has written as much data as the erase of the victim will free.
//! - With `idle_reserve`, GC also runs while the host and the flash are idle. Idle GC works one stripe at a
//!   time until `idle_reserve` superblocks are erased in addition to `reserve`. A host request stops idle GC.
//!   GC resumes when the host is idle again or when fewer than `reserve` superblocks are erased.
//!
//! *Allocation* (`allocation`): By default, superblocks span all dies, with or without parity. Alternatively,
//! every plane has separate write frontiers and separate GC (allocation by plane). With static allocation,
//! the address of a page determines its plane. With dynamic allocation, a page goes to the die that is free
//! first. If the allocation is by plane, all statements about superblocks on this page apply to the blocks of
//! a plane.
//!
//! *SLC cache* (`slc_cache`): While more than `reserve` superblocks are erased, host writes use SLC mode for
//! up to `size` bytes of data. In SLC mode, programs and reads are faster, but a block holds less data. All
//! other host writes directly program all bits of a cell. GC moves data from SLC mode to superblocks that use
//! all bits of a cell. An SLC superblock holds less data than other superblocks, so policies such as greedy
//! select it first.
//!
//! ## Flexible data placement
//! If `fdp` is set, the drive supports flexible data placement (FDP; NVMe TP4146). The model represents the
//! terms of the specification as follows:
//!
//! | specification | model |
//! |---|---|
//! | reclaim unit (RU) | a superblock: `reclaim_unit` blocks of every plane in its reclaim group. The drive fills, garbage-collects, and erases complete reclaim units |
//! | reclaim group (RG) | an equal share of the dies, with consecutive numbers. `reclaim_groups` of `allocation` is the number of groups. Each group has separate write frontiers, GC, and wear leveling, which move data only within the group |
//! | reclaim unit handle (RUH) | a reference to an open superblock in each reclaim group. Writes through different handles fill different superblocks |
//! | placement identifier (PID; the DSPEC field of a write) | the volume of a request, which is the number of its tenant. With H handles and G groups, volume V selects handle V mod H and group (V / H) mod G |
//! | initially isolated | GC mixes the data of all handles of this type. The first `initially_isolated` handles have this type |
//! | persistently isolated | GC keeps the data of each handle of this type separate. The last `persistently_isolated` handles have this type |
//!
//! - Every handle has an open superblock in each group. GC has one more open superblock for the data of all
//!   initially isolated handles, and one more for each persistently isolated handle. All open superblocks
//!   reduce the over-provisioning. With allocation by plane, each open superblock takes one block of every
//!   plane.
//! - A group is full when it has no space left beyond its `reserve`. A write to a full group goes to the
//!   group with the least data, and `units_redirected` counts the units of such writes. The page number of a
//!   mapping table page determines its group.
//! - Blocks of a plane that are left over after the division into reclaim units become spare blocks.
//!
//! Three counters correspond to the FDP statistics log page of NVMe: `host_bytes_with_metadata_written`
//! (HBMW), `media_bytes_with_metadata_written` (MBMW), and `media_bytes_erased` (MBE). HBMW counts whole
//! mapping units. MBMW counts all programmed data: host data, data moved by GC and wear leveling, mapping
//! table pages, padding, and parity. Host data that was overwritten in the buffer is not programmed and not
//! counted.
//!
//! The drive counts FDP events for each handle. `implicitly_modified` (event 81h) counts how often the drive
//! changed the reclaim unit of the handle. `not_fully_written` (event 0h) counts the changes in which the
//! former reclaim unit had space left, e.g. because a refresh closed it. `units_moved` is the number of units
//! that the drive moved. In NVMe, event 80h (media reallocated) reports such moves.
//!
//! ## Mapping
//! The mapping table (`mapping`) is in DRAM or in flash. If it is in flash, DRAM holds an LRU cache of table
//! pages or of single mappings. A drive can have up to 2^34 - 1 units of flash, i.e. 140 TB of flash with
//! units of 8 KiB. The simulator takes about ten bytes of memory for each unit that was written.
//!
//! ## Wear and lifetime
//! - *Dynamic wear leveling*: Among the erased superblocks, the drive first writes to the one with the fewest
//!   erases.
//! - *Static wear leveling* (`wear_spread` of `garbage_collection`): If a superblock with data has far fewer
//!   erases than an erased superblock, the data of the less worn superblock moves to the most worn erased
//!   superblock.
//! - *Endurance*: Each block withstands a random number of erases, with mean `endurance`. A spare block of
//!   the same plane replaces a worn-out block. If the plane has no spare block left, the drive retires the
//!   superblock, and the other blocks of the superblock become spare blocks. When the remaining superblocks
//!   cannot hold the data and the reserve, the drive becomes read-only.
//! - *Lifetime*: The lifetime is the time until the drive becomes read-only if wear continues as in the run.
//!   If the drive became read-only during the run, the lifetime is the time until then. If the drive is still
//!   writable at the end of the run, the lifetime is an estimate. The estimate ignores differences in erase
//!   counts that are within the random variation of a Poisson process. With `wear_spread`, the estimate
//!   assumes that all superblocks wear equally.
//!
//! The lifetime estimate is an upper bound, for two reasons:
//!
//! - Erase counts vary by about the square root of their mean. With an endurance of 60 erases, the first
//!   superblocks therefore wear out about 4 % earlier than the average superblock. With an endurance of 3,000
//!   erases, the difference is less than 1 %.
//! - If many superblocks wear out at once, copies use up the reserve while GC frees no superblock. The drive
//!   then becomes read-only before it runs out of space. In a test with hot and cold data, all blocks have an
//!   endurance of 60 erases. In this test, simultaneous wear-out reduces the lifetime by another 7 %.
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
//! times the size of the codeword. When a codeword is programmed, the model samples one quantile of this
//! distribution for the codeword. Bit errors therefore persist, and their number only increases.
//!
//! - The error-correcting code (`ecc`) determines the number of read retries. Retries run one after another.
//!   Each retry uses the die, the channel, and the decoder like a normal read.
//! - GC decodes the pages that it copies. Copies inside a die (`copyback`) are not decoded. A copy inside a
//!   die has the bit errors of its source page in addition to new bit errors. The drive detects an
//!   uncorrectable copy only when the host reads it.
//! - If a unit has more bit errors than the code corrects, its data is lost. Reads and partial writes of the
//!   unit then fail until the host writes or trims the whole unit, even if GC has copied the unit. The first
//!   flush that completes after the loss fails. All other flushes that are outstanding at that time also
//!   fail.
//! - After `refresh_reads` reads of a block, the drive moves all data of the superblock that contains the
//!   block. The copies wait for the reads in progress. They cross the channel because their data must be
//!   corrected.
//!
//! ## Power loss
//! The model stores the data of every physical unit. Programs and copies move this data, and a read returns
//! the data that was last written. A power loss clears the buffer and all DRAM.
//!
//! - With `power_protected`, capacitors supply power until the programs of all acknowledged writes are
//!   complete.
//! - Without `power_protected`, a power loss can interrupt the program of a page. The new page is then torn,
//!   and error correction detects the torn page. The units that it would have stored keep their previous data.
//! - With `paired_page_loss`, the power loss also damages earlier pages of the same word line, even if their
//!   data was flushed long ago (tseng-2011). A unit in a damaged page reads as zeros, and recovery counts its
//!   bytes as lost.
//!
//! Recovery rebuilds the mapping from three sources: the last checkpoint of the mapping, the spare area of
//! each page, and a journal of trims. The spare area of a page contains the logical address and a sequence
//! number of each unit in the page. Recovery first repeats interrupted erases and reads the last checkpoint.
//! The size of the checkpoint is `mapping.entry` bytes for each unit. If the mapping table is in flash, the
//! size is `mapping.entry` bytes for each page of the table. Recovery then reads the spare areas of the pages
//! that were programmed after the checkpoint, on all dies in parallel. Finally, recovery writes a new
//! checkpoint.
//!
//! ## Shares
//! *Share of a pool* (`capacity`): A share of a pool of drives is modeled as a drive with fewer blocks per
//! plane. The share has the same utilization, garbage collection, and wear as a whole drive. Price and idle
//! power are proportional to the capacity. The share has all dies and channels and the full buffer and link
//! of a whole drive, because any drive of the pool may serve the requests. If the share uses more than its
//! proportional part of the drive's performance, the record has a finding.
//!
//! *Queues of tenants* (`queue`): `queue` limits the number of outstanding requests of the drive. By default,
//! the number is not limited. Requests beyond the limit wait in queues of the host. Each tenant can have a
//! fixed number of slots (`"by_tenant"`) or a submission queue. The drive serves submission queues round
//! robin (`"round_robin"`) or by priority class and weight (`"weighted_round_robin"`), as NVMe controllers
//! do. The setting `places` of the workload `tenants` provides the same queues in front of any stack.
//!
//! ## Results
//! The table `handles` has one row per reclaim unit handle. The row lists the host writes, the units that GC
//! moved, the write amplification, and the events of the handle. If a handle has no host writes, its write
//! amplification is empty.
//!
//! # Not modeled
//! - Zones: use `zns_ssd` instead.
//! - FDP: assignment of an empty reclaim unit to a handle by command (I/O Management Send).
//! - FDP: the time limit of an open reclaim unit (event 1h), and resets that change handles (event 2h). After
//!   a power loss, a handle continues with its reclaim unit.
//! - A limit on the share of a reclaim group that one host can fill. A host can fill its group completely.
//!   Further writes then go to another group (`units_redirected`), and the write amplification of the full
//!   group is high. Without tenants, all writes use group 0.
//! - Superblocks that always use SLC mode, and folding, which moves data out of SLC mode while the host is
//!   idle. A full SLC cache stays full until GC needs its space. Host writes use the cache again when more
//!   than `reserve` superblocks are erased.
//! - The effect of wear on program times. The pages of a word line are programmed in order, and each program
//!   takes its nominal time.
//! - The channel time of erase commands.
//! - The order of the read and the program in a partial write. A write of a part of a unit completes before
//!   the drive has read the rest of the unit. The drive may also program the unit before this read ends.
//! - The order of reads and erases. The drive may erase a superblock while a read of one of its old pages
//!   still waits for the die.
//! - Copies of parts of units. With `transfer`, copies still transfer whole units. With `errors`, a write of a
//!   part of a unit reads the whole unit.
//! - Exact dependencies of copies. A program or an erase waits for all copies that were issued earlier, even
//!   for copies on which it does not depend. With allocation by plane, it waits only for the copies of its
//!   die.
//! - Partial lookups. With a mapping table in flash, a read starts only when all mappings of its request are
//!   known.
//! - Page registers that are shared by reads and the data of a waiting program.
//!
//! Bit errors:
//!
//! - In the retention term, all pages of a superblock have the age of its first page. All pages of a block
//!   have the same error rate. Pages in SLC mode and pages of the mapping table have no bit errors.
//! - Encoding takes no time, and the transfer of the parity of the code takes no channel time. Decoders have
//!   no queue.
//! - Every read starts with the default read thresholds, even if the last successful read used other
//!   thresholds.
//! - Copies cause no read disturb.
//! - For a copy inside a die, the numbers of bit errors of the source page and of the new page are added. In
//!   a real page, a few of these errors would affect the same bits. The number of consecutive copies inside a
//!   die is not limited.
//! - If the scenario does not set the energy of the error-correcting code, this energy counts as zero, and
//!   the record reports this.
//! - Data that was written before the run has no bit errors from copies.
//! - In a drive that stores data, a lost unit may become readable again. This happens if a power loss undoes
//!   a rewrite of the unit.
//!
//! Power loss:
//!
//! - During operation, checkpoints and the journal of trims take no time and no flash space.
//! - A superblock may be erased before the programs that replace its data have ended. A real drive delays
//!   such an erase so that no previous version is lost. Nacre does not delay the erase, but it keeps the
//!   previous data in the newer page, so no data is lost.
//! - After a power loss, a page counts as programmed if its program was interrupted, and copies in progress
//!   count as complete.
//! - The busy time and the energy in the record do not include the reads of recovery.
//! - If the drive does not store data, Nacre does not know how much data the drive loses without
//!   `power_protected`.
//! - If a damaged page is the destination of a GC copy, its data is lost, even if the source page is not
//!   erased yet. Damaged pages of the mapping table are restored from spare areas at no cost.
//! - The energy and the charging time of the capacitors.
//!
//! # Sources
//! - gupta-2009: DFTL.
//! - desnoyers-2012: cost of garbage collection.
//! - tavakkol-2018: the components of the SSD simulator MQSim.
//! - wu-he-2012: suspension of programs and erases.
//! - cobham-1954: waiting times in queues with priorities.
//! - tseng-2011: power loss.
//! - mielke-2008, hetzler-2012: bit errors that depend on cycles and time.
//! - cai-2015: bit errors that depend on reads.
//! - kim-2019: bit errors that depend on cycles, time, and reads.
//! - nvme-2.1: flexible data placement, power states.
//! - shadley-2011: parity over dies, with stripes of 7 + 1 and 15 + 1 pages.
//! - tomshardware-ssd910: a limit of 25 W reduces the write rate to two thirds.
//!
//! # Checks
//! - Write amplification equals the closed forms for FIFO and greedy garbage collection at five spare
//!   factors. The tests include drives with trimmed space and planes with separate garbage collection. With
//!   parity, write amplification equals the same closed forms for the spare space that remains.
//! - Read and write bandwidths equal the values computed from the rates of channels and dies. The tests cover
//!   writes in SLC mode, a strided workload under each allocation, multi-plane programs, and the channel time
//!   of copies inside a die.
//! - The miss ratio of the mapping cache equals its closed form.
//! - Waiting times of reads, programs, copies, and erases equal the closed forms for queues with
//!   non-preemptive priority and with suspension.
//! - With `transfer`, the latency of a read, and the time from a write to the end of a flush, equal the
//!   closed forms of their parts.
//! - With `programs_at_once`, tests check the number of programs per second and the end time of each program.
//! - The times that transfers wait for a channel equal closed forms, for each arbitration policy. Whole
//!   drives are compared with a step-by-step simulation of a channel and its dies.
//! - A step-by-step simulation of a die with independent plane reads gives the same completion times as the
//!   model. The waiting times of these reads equal the closed form for a queue with one server per plane.
//! - If dies erase one at a time and the buffer space is a pool, no write waits for an erase. Otherwise, the
//!   longest write latency is about the time of an erase.
//! - Tests check that a burst of writes after idle garbage collection is as fast as on an empty drive.
//! - The drive reaches its end of life at the time that follows from the endurance, the number of blocks, and
//!   the write amplification.
//! - Tenants with separate handles have the same write amplification as tenants on separate drives. Tenants
//!   that share a handle have the same write amplification as one tenant on the whole drive.
//! - If FDP separates data with two different lifetimes, the write amplification of each handle equals the
//!   closed form for FIFO garbage collection. The test covers both types of isolation. If a log has a
//!   separate handle, the write amplification of this handle is 1.
//! - The FDP statistics agree with the numbers of programs and erases of the dies. A reclaim group has the
//!   same write amplification as a separate drive with these dies, and data never leaves its group.
//! - The numbers of read retries and lost units, and the retry latency, agree with the tail probabilities of
//!   a binomial distribution. The tests include parity and copies inside a die. On an idle drive, the latency
//!   of a read with a rebuild equals the sum of the times of its commands, senses, transfers, and decodings.
//! - The numbers of bit errors equal their closed form, and reads never return a lost unit as valid data. The
//!   number of refreshes is the number of reads divided by `refresh_reads`.
//! - Tenants with separate slots complete requests in proportion to their slots.
//! - With round robin and weighted round robin, the drive fetches requests in the same order as a
//!   step-by-step simulation of the queues.
//! - In every test run, the counts of programs, erases, and valid units are consistent.
//! - After power losses at random times, every unit is compared with an independent record of the written
//!   versions. The recovery time equals its closed form for dies that read in parallel.

mod buffer;
mod config;
mod counts;
mod drive;
mod errors;
mod flash;
mod ftl;
mod host;
mod layout;
mod mapping_table;
mod ops;
mod recovery;
mod superblocks;
mod table_memory;
#[cfg(test)]
mod tests;
pub mod zns_ssd;

pub use config::{
    Allocation, Arbitration, BufferPlaces, ByTenant, CachedTable, Drive, Dynamic, ErrorsConfig, FdpConfig,
    FlashScheduling, GarbageCollection, MappingTable, Order, PageMapping, Parity, Queue, ReadPriority,
    Shared, SlcCacheConfig, SsdConfig, Static, Superblock, Suspension, TableEntries, Unwritten,
    WeightedRoundRobin, ZnsSsdConfig, ZonesConfig,
};

use config::{Config, Layer};
use drive::Ssd;
use ftl::array::Array;
use ftl::paged::Paged;
use host::Host;
use layout::geometry::Geometry;
use nacre_config::{Descriptor, ErrorCode, Model, Problem, Problems, Slot};
use nacre_controller::cleaning;
use nacre_device::{Builder, DeviceFamily, TableMemory};
use nacre_kernel::{Bytes, event};
use nacre_media::store::{Layout, Nothing, Store};
use superblocks::Superblocks;
use zns_ssd::Zones;

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
pub const MODEL: Model<DeviceFamily> = Model {
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
        16,
        include_str!("lib.rs"),
    ),
    build: build_in_slot,
};

/// Devices of this crate.
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[MODEL, zns_ssd::MODEL];

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn event::Device>, Problems> {
    let config = Config::from(&slot.config::<SsdConfig>(builder.families()));
    // An enclosing scenario may have changed the drive to a fraction of a drive.
    if let (Some((problem, remedy)), Some(capacity)) =
        (config::share_problem(&config), config.mapping().capacity)
    {
        return Err(conflict(slot, "capacity", &problem).given(capacity).remedy(remedy).into());
    }
    let share = config.share();
    build_drive(slot, builder, config.of_share(), share)
}

/// Builds the drive in `slot`. `share` is the fraction of a physical drive that is modeled; `None` for a
/// whole drive.
fn build_drive(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    config: Config,
    share: Option<f64>,
) -> Result<Box<dyn event::Device>, Problems> {
    let geometry = Geometry::of(&config);
    let layout = Layout {
        page_bytes: geometry.unit_bytes,
        pages_per_extent: 1 << geometry.shift,
        pages: geometry.numbers() as u64,
    };
    match builder.store(slot.path(), layout) {
        Some(store) => build_over(slot, builder, store, config, share),
        None => build_over(slot, builder, Nothing, config, share),
    }
}

/// Builds the drive in `slot`. The drive stores its data in `store`.
fn build_over<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: Config,
    share: Option<f64>,
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let path = slot.path().to_string();
    let host = Host::new(&config, builder.families());
    match &config.layer {
        Layer::Pages(mapping) => {
            let geometry = Geometry::of(&config);
            let errors = errors::build(&config, &geometry, slot.path(), builder)?;
            let unit = Bytes(geometry.unit_bytes.into());
            let units = builder.units_in_run(slot.path(), unit, Bytes(geometry.capacity()));
            let of_spare_areas = if S::CARRIES_BYTES { 8 } else { 0 };
            let tables = table_memory::tables(&config, &geometry, of_spare_areas, units);
            let pool = superblocks(slot, builder, store, &config, tables)?;
            let policy = &mapping.garbage_collection.policy;
            let cleaner = cleaning::build(policy, pool.count(), builder)?;
            check_cleaner(policy.path(), cleaner.partition_segments().is_some())?;
            let array = Array::new(&config, pool, cleaner);
            check_space(slot, array.has_space())?;
            let layer = Paged::new(config.clone(), array);
            Ok(Box::new(Ssd::new(id, path, config, layer, host).with(errors, share)))
        }
        Layer::Zones(zones) => {
            let at_once = table_memory::at_once(&config, &Geometry::of(&config));
            let tables = TableMemory { at_once, in_all: at_once, in_run: at_once };
            let pool = superblocks(slot, builder, store, &config, tables)?;
            let layer = Zones::new(&config, zones, pool);
            check_space(slot, layer.has_space())?;
            Ok(Box::new(Ssd::new(id, path, config, layer, host)))
        }
    }
}

/// Creates the superblocks of the drive in `slot`. `tables` is the memory that all tables of the drive
/// take.
fn superblocks<S: Store>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: &Config,
    tables: TableMemory,
) -> Result<Superblocks<S>, Problems> {
    builder.take_memory_as_touched(slot.path(), tables)?;
    let random = builder.random(&format!("{}.blocks", slot.path()));
    Ok(Superblocks::new(config, Geometry::of(config), store, random))
}

/// Returns an error if the drive has no space for its data and the reserve.
fn check_space(slot: &Slot<DeviceFamily>, has_space: bool) -> Result<(), Problems> {
    if has_space {
        return Ok(());
    }
    let problem = "too many blocks are bad from the start for the data and the reserve";
    let remedy = "lower it, or give more spare_blocks or over_provisioning";
    Err(conflict(slot, "factory_bad", problem).remedy(remedy).into())
}

/// Returns an error for the setting `name` of the drive in `slot`.
fn conflict(slot: &Slot<DeviceFamily>, name: &str, problem: &str) -> Problem {
    Problem::new(ErrorCode::ConflictingSettings, &format!("{}.{name}", slot.path()), None, problem)
}

/// Returns an error if the garbage collection policy at `path` controls data placement. The drive places
/// data itself.
fn check_cleaner(path: &str, has_partitions: bool) -> Result<(), Problems> {
    if !has_partitions {
        return Ok(());
    }
    let problem = "a policy with partitions decides itself where data lies, as in `envy`";
    let problem = Problem::new(ErrorCode::ConflictingSettings, path, None, problem);
    Err(problem.remedy("use a policy without partitions, such as \"greedy\"").into())
}
