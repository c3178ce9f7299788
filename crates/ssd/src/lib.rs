//! An SSD: flash behind a page-mapped flash translation layer, or behind zones.
//!
//! # Models
//! `channels` with `ways` dies each, of `planes` planes. The host's driver takes CPU time for a request, data crosses
//! the link (each way has its own), a processor of the drive works on it. Translation runs on either. With a `host`,
//! such as NVMe, that is its driver and its link: commands, data page by page, completions and interrupts. The mapping
//! knows *mapping units* of the host's data (`unit`, for short); a page of flash holds some. A write is done when it is
//! in the DRAM buffer; what the buffer holds of a unit is changed there. Full operations (a page of every plane, with
//! multi-plane commands) go to the dies in turn, over channel, then die; the buffer's place is free when they are
//! programmed, and a write that finds none waits for one. A read is a command that crosses the channel, a sense, and a
//! page that crosses the channel; what is still in the buffer is read from there. A read goes before everything that
//! waits for the die, and may suspend a program or an erase, so many times; otherwise it waits for the end of what the
//! die has begun. It is suspended when the read comes, and resumed when no read waits any more. Everything else waits
//! at its die in the order in which it was issued; what waits for something else lets others go first, but commands of
//! one superblock keep their order. Nothing is decided before it has to be: what a die does next when its array is
//! free, what crosses a channel next when the channel is free.
//!
//! *Planes* of a die read one after the other, or, with `independent_plane_reads`, each by itself: a plane senses while
//! others do. Programs, erases and copies have the whole die; what suspends one suspends it for all planes, and it is
//! resumed when none of them reads any more.
//!
//! *Channels* choose among commands of reads, pages that were read, and data to be programmed or copied
//! (`arbitration`): what waited longest, or commands, pages or all of reads first. What crosses is not interrupted. Of
//! what is ready at the same moment the older request goes first. A die holds as many pages as it has `registers`, from
//! the beginning of their commands to the end of their transfers: with one it begins nothing before its page is across,
//! with two it senses the next page meanwhile. It takes the data of its next program in while its array works, unless
//! it has no cached commands (`cached`).
//!
//! *Erases* of a superblock begin on all its dies at once, or on no more than `erases_at_once` of them, and the others
//! go on programming. The superblock erased last is filled last; a die whose turn has not come when it is to be filled
//! erases at once. Places of a full buffer are given back in the order in which they were taken, or, as a pool
//! (`buffer_places`), as soon as programs end: so writes go on while one die erases.
//!
//! *Programs* are under way on no more than `programs_at_once` dies, as a budget of power has it (the power states of
//! NVMe; the two modes of Intel's 910): data crosses to its die, and waits there until one of the others has ended.
//! Programs whose data is on their dies take their turns in the order in which they were issued, whoever they are for. Pages of several planes of a die are one of them. Reads and erases
//! are not counted.
//!
//! *Cleaning* works on superblocks: one block of every plane of every die, filled in stripes. Drives do so because a
//! stripe uses all dies at once, one parity covers it, and one erase count and one list of what is live stand for
//! thousands of blocks; the price is a coarser choice of victims. The host and the cleaner fill superblocks of their
//! own, and cleaning keeps pace: when fewer than `reserve` superblocks are erased a victim is chosen, and for every
//! unit the host programs so many of its units are copied that it is empty when the space it gains is used up. With
//! `idle_cleaning` so many superblocks are erased while the host is quiet and the flash has nothing else to do, a
//! stripe at a time; a request stops that, and what was begun waits until it is quiet again or fewer than the reserve
//! are erased.
//!
//! *Allocation* by plane (`allocation`): each plane is filled and cleaned by itself, with erased blocks, victims and
//! wear levelling of its own, and what is said of superblocks holds for its blocks. With "static" the address of a page
//! says its plane, in the order of `allocation_order`, as in MQSim: requests that meet on one die wait there while
//! others have nothing to do. With "dynamic" a page goes to the die that is free first, to its planes in turn. A page
//! is programmed when its units are there; with `multi_plane` pages of the same number of other
//! planes that wait for the die are programmed with it, if nothing has to be done before them. With `copyback` pages that move
//! stay in their die: their commands alone cross the channel, and nothing corrects them.
//!
//! *Shares* of a drive (`capacity`): a share of a pool of drives is a drive with fewer blocks of each plane, so that it is
//! filled, cleaned and worn as the whole is. It pays for its capacity and takes its part of the idle power. Dies,
//! channels, buffer and link are those of one whole drive, since a pool serves a share with any of its drives: the record
//! has a finding where a share works more than its part of a drive can.
//!
//! *Cells with one bit* (`slc_cache`): while more superblocks are erased than the reserve, the host fills them with one
//! bit to a cell, up to a size; they are programmed and read faster and hold less. Beyond it, and on a full drive,
//! data goes to full cells at once. Cleaning moves what they hold to full cells; since little is live in so much flash
//! a policy such as greedy chooses them first.
//!
//! *Placement handles* (`placement_handles`; the reclaim unit handles of flexible data placement, FDP): what the host
//! writes through each of them fills superblocks of its own; a request's volume, which is its tenant's number, modulo
//! the handles is the one it goes through. What cleaning moves fills superblocks together whatever handle it came
//! through (`isolation` "initial"), or apart ("persistent"). The table `handles` has what was written through each,
//! what of it was moved, and its write amplification, which a handle without writes does not have. Every handle keeps a
//! superblock open, and cleaning one more, or one more for each: so much less of the spare space is free. By plane that
//! is a block of every plane.
//!
//! *Zones* (`zones`; NVMe's zoned namespaces, ZNS) stand in place of the page mapping: the host writes each zone in
//! order and resets it as a whole. A zone is so many superblocks, taken from the erased ones when it is first written,
//! the youngest first. A write elsewhere than at the write pointer, to a full zone, beyond the end of its zone, to an
//! empty zone while `active` others are written in part, or not of whole units is refused, and counted by its reason. A
//! trim of a whole zone resets it: its superblocks are erased at once. A trim from the write pointer to the end
//! finishes it: what is left of its last operation is padded. Other trims do nothing. Beyond `open` zones the one
//! written longest ago is closed, and opened again when it is written. The drive cleans nothing and programs every unit
//! once. Its table has a mapping for each superblock of a zone. Writes of one zone are taken in one after the other. In
//! preconditioning, which has no trims, a write to the first unit of a zone that holds something resets it.
//!
//! *Shares of the queue* (`queue_shares`): each tenant has so many of the requests that the drive works on at one time
//! (`queue_depth`), and one that sends more waits for its own. Classes of priority among tenants are `places` of the
//! workload: a drive says when a request is done as soon as it comes, so that nothing that comes later could go before
//! it.
//!
//! *Mapping*: all in DRAM, or in flash with the pages used last cached (DFTL). A miss reads a page of the table, one
//! that was changed is programmed when it leaves; the pages that cleaning changed are programmed once for each victim.
//! They lie among the data and are cleaned with it. By plane they go where data behind the host's would: to the plane
//! that their number says, or to the die that is free first; those that cleaning changed stay in their plane.
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
//! *Wrong bits* (`errors`): the share of wrong bits of a page is the sum of four parts: `fresh_bit_error_rate`; with
//! erases `bit_error_rate (erases / cycles)^error_exponent`; with lying `bit_error_rate retention (erases /
//! cycles)^retention_cycles_exponent days^retention_exponent`; and with reads of its block `read_disturb (erases /
//! cycles)^disturb_exponent reads^disturb_reads_exponent` (kim-2019, equation 1). How many of a codeword are wrong is the
//! quantile of the Poisson distribution with that mean at a place that is drawn
//! once for each codeword and program: what is wrong stays wrong, and becomes more. The code (`ecc`) says how often the
//! page is sensed again, each time behind the one before: it takes the die and the channel like any read, then the
//! decoder its time. Copies are decoded too. Copies inside a die (`copyback`) are not: what is wrong of a page then is
//! wrong in its copy, with what the copy makes wrong of its own beside, and what is beyond the code by then is found
//! when the host reads it. Of a unit with more wrong bits than are put right the data is lost: reads of it fail until
//! it is written or trimmed, also after it was copied, and a flush of an unprotected drive fails once after a loss.
//!
//! *Parity* (`parity`; Micron's RAIN, SandForce's RAISE): of `stripe` operations that follow each other in a superblock, on
//! a die each, one programs parity over the others, unit by unit. It moves on by a die with every row of dies. A share of
//! 1 / `stripe` of the flash is parity, and taken from over-provisioning. The parity of a stripe is programmed behind the
//! last data of it, with time, energy and wear, and counts in write amplification; until then the drive keeps it in memory
//! of its own, which capacitors protect with the buffer. A superblock that is closed early ends with a shorter stripe. A
//! unit beyond the code is rebuilt: the units in its place of the stripe's other operations are read on their dies at
//! once, sensed again where they need it, and decoded; what the drive still has of them need not be read. If one of these
//! is beyond the code too, the unit is lost. Copies are rebuilt as reads of the host are. Counters tell units of parity,
//! units that were rebuilt, reads for that, and the units that are lost all the same. Without `power_protected` the parity
//! of stripes that are not full is found again in recovery from their pages.
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
//! the pages programmed since, on all dies side by side; it ends with a checkpoint. With zones it reads the table of
//! zones instead, and finds the write pointer of each active zone by halves among its operations.
//!
//! # Leaves out
//! Zone append, since a request cannot be told an address; zones that are opened and closed by command, whose resources
//! nothing else tells apart; zones of some of the dies, with a capacity below their size, or with a queue of their own.
//! Capacitors save operations that are not full to flash that is not modelled; a drive with zones has them. Allocation
//! of channels or ways alone by address, and of zones by plane. Planes of one die that are filled by themselves are
//! read for copies, and erased, one after the other. What a copy inside a die holds in its register is not kept from
//! reads that come between. Reclaim units of another size than a superblock, and reclaim groups; directives that name a
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
//! Of wrong bits: a page is as old as the first one of its superblock; all pages of a block are equally strong; cells
//! with one bit and pages of the mapping table have none. Parity crosses the channel in no time and encoding takes
//! none; decoders are not waited for. Every read begins with the first sense, whatever the page needed last. Copies
//! disturb nothing. Bits that came with copies inside a die count beside those of the page itself, though a few are the
//! same ones, and any number of such copies may follow each other. Energy of the code that is not given counts as
//! nothing, and the record names it. What the drive was filled with before the run was copied without wrong bits. With
//! bytes, a lost unit that is written and falls back to before that in a loss of power may be found again.
//!
//! Of parity: over zones, and over planes that are filled by themselves, of which one is erased while the others of a
//! stripe still need it; stripes longer than there are dies, and more than one page of parity in one; dies and blocks
//! that fail as a whole. What was rebuilt stays where it is, so that the next read rebuilds it again, until it is
//! written or cleaned; units of one page are rebuilt each by itself. To compute parity takes no time, and its memory is
//! no part of `buffer`. Where cleaning copies a unit that is rebuilt, the others are read beside it and not behind it.
//! After a loss of power of a drive without capacitors stripes of which a program was cut count as whole, and pages
//! that it damaged are not rebuilt.
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
//! mielke-2008, hetzler-2012 (errors by cycles and time), cai-2015 (by reads), kim-2019 (by all three); shadley-2011
//! (parity over dies, which moves on, of 7 + 1 and 15 + 1 pages); nvme-2.1 (flexible data placement, power states);
//! tomshardware-ssd910 (writes at two thirds of the rate within 25 W); nvme-zns-1.1 and bjorling-2021 (zones).
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
//! they share a handle; zones are written at the speed of their dies, every unit once, and wear all superblocks alike;
//! reads that are sensed again, their latency, and units that are lost, against binomial tails, also of stripes with
//! parity and of copies inside a die; the time of a rebuilt read; write amplification with parity against the closed
//! forms at the spare space it leaves; wrong bits against their law, and no lost unit is given as good; refreshes are
//! reads over their limit; tenants with shares of the queue get requests done by their places; programs, erases and live
//! units conserved; every unit after losses of power at random moments, against an auditor that knows its versions; time
//! of recovery as pages over dies.

mod book;
mod buffer;
mod config;
mod drive;
mod flash;
mod ftl;
mod host;
mod layout;
mod ops;
mod optional_part;
mod recovery;
mod reliability;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod workbench;
mod zones;

pub use config::{
    Allocation, Arbitration, BufferPlaces, Cached, Config, ErrorsConfig, Isolation, MappingCacheConfig,
    ParityConfig, SlcCacheConfig, Translator, Unwritten, ZonesConfig,
};

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
use nacre_device::{Builder, DeviceFamily, EventRoom};
use nacre_kernel::event;
use nacre_media::store::{Layout, Nothing, Store};
use reliability::errors;
use zones::{ZoneTable, Zones};

/// Settings that say how long parts of a drive take, what energy and what money. What they are has no part in where data
/// lies: preconditioning leaves drives that differ in them alone in one state.
pub const TAKES: &[&str] = &[
    "read",
    "program",
    "erase",
    "bus",
    "command",
    "suspend",
    "resume",
    "suspensions",
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
    descriptor: Descriptor::of::<Config>(
        "ssd",
        "a flash SSD: channels and dies, page mapping or zones, write buffer, cleaning, wear to its end",
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
            "shadley-2011",
            "nvme-2.1",
            "tomshardware-ssd910",
            "nvme-zns-1.1",
            "bjorling-2021",
        ],
        13,
        include_str!("lib.rs"),
    ),
    build: |_, _| unreachable!("flash drives are built in the event contract"),
};

/// The devices of this crate.
pub static DEVICES: &nacre_config::Table<DeviceFamily> = &[ROOM];

/// The same in the event contract.
pub static EVENTS: &[EventRoom] = &[EventRoom { kind: "ssd", build: build_in_slot }];

fn build_in_slot(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
) -> Result<Box<dyn event::Device>, Problems> {
    let config = slot.config::<Config>(builder.families());
    // What lies over it may have made it a share.
    if let (Some((problem, remedy)), Some(capacity)) = (config::share_problem(&config), config.capacity) {
        let path = format!("{}.capacity", slot.path());
        let problem = Problem::new(ErrorCode::ConflictingSettings, &path, None, problem);
        return Err(problem.given(capacity).remedy(remedy).into());
    }
    let geometry = Geometry::of(&config.of_share());
    let layout = Layout {
        page_bytes: geometry.unit_bytes,
        pages_per_extent: 1 << geometry.shift,
        pages: geometry.numbers() as u64,
    };
    Ok(match builder.store(slot.path(), layout) {
        Some(store) => build(slot, builder, store)?,
        None => build(slot, builder, Nothing)?,
    })
}

/// The drive in `slot`, over `store`.
fn build<S: Store + 'static>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
) -> Result<Box<dyn event::Device>, Problems> {
    let id = builder.component();
    let config: Config = slot.config(builder.families());
    let share = config.share();
    let config = config.of_share();
    let geometry = Geometry::of(&config);
    let errors = errors::build(&config, &geometry, slot.path(), builder)?;
    let path = slot.path().to_string();
    let host = Host::new(&config, builder.families());
    match config.zones.clone() {
        Some(zones) => {
            let layer = build_zones(slot, builder, store, &config, &zones)?;
            Ok(Box::new(Ssd::new(id, path, config, layer, host)))
        }
        None => {
            let layer = build_paged(slot, builder, store, &config)?;
            let mut drive = Ssd::new(id, path, config, layer, host).with_errors(errors);
            drive.share = share;
            Ok(Box::new(drive))
        }
    }
}

/// The zones of the drive that `config` describes.
fn build_zones<S: Store>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: &Config,
    zones: &ZonesConfig,
) -> Result<Zones<S>, Problems> {
    let geometry = Geometry::of(config);
    let at_once = geometry.memory_bytes_at_once(config.blocks, blocks_differ(config));
    builder.take_memory_as_touched(slot.path(), at_once, at_once)?;
    let table = ZoneTable::new(config, zones, geometry, store, blocks(config, &geometry, slot, builder));
    if !table.has_space() {
        return Err(too_many_bad(slot));
    }
    Ok(Zones::new(config.clone(), table))
}

/// The page mapping of the drive that `config` describes.
fn build_paged<S: Store>(
    slot: &Slot<DeviceFamily>,
    builder: &mut dyn Builder,
    store: S,
    config: &Config,
) -> Result<Paged<S>, Problems> {
    let geometry = Geometry::of(config);
    let spare_areas = if S::CARRIES_BYTES { 8 * geometry.numbers() as u64 } else { 0 };
    let at_once = geometry.memory_bytes_at_once(config.blocks, blocks_differ(config));
    let of_handles = if config.placement_handles > 1 { u64::from(geometry.logical_units) } else { 0 };
    let in_all = geometry.memory_bytes(config.blocks) + spare_areas + of_handles;
    builder.take_memory_as_touched(slot.path(), at_once, in_all.max(at_once))?;
    let cleaner = cleaning::build(&config.cleaning, geometry.superblocks, builder)?;
    check_cleaner(slot.path(), cleaner.partition_segments().is_some())?;
    let blocks = blocks(config, &geometry, slot, builder);
    let kept = config.buffer.0 as f64 * config.buffer_kept.0 / config.unit.0 as f64;
    let rules = Rules {
        youngest_first: config.youngest_first,
        wear_spread: config.wear_spread,
        held_units: (kept / f64::from(config.placement_handles * geometry.regions)) as u32,
        erased_while_idle: config.idle_cleaning.unwrap_or(0),
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
    let cache = config.mapping_cache.as_ref()?;
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
