//! A host-side cache of blocks before a slower device.
//!
//! # Models
//! Every request is cut into blocks, and a request is done when its last block is. A look-up costs
//! `lookup` per request. One to four levels of faster devices hold blocks; each level's capacity is that
//! of its device, and its policy decides which blocks stay. Blocks in a level are read from its device,
//! each with a request of its own for as much of the block as was asked for (the whole, if it moves to
//! another level). Adjacent blocks of one request
//! that are in no level are fetched from the backing with one request for the whole blocks.
//!
//! A block that is on its way has an arrival time. Another request for it waits until then and takes
//! it from memory, without asking the backing again (`merge`). With `fill = "background"` the request is
//! done when the data arrives, and the level's device is busy from then on with writing it; with
//! `"foreground"` the request waits for that too. Victims are chosen when the request comes.
//!
//! Exclusive levels: a block is in at most one. What is used comes into the first; its victim is read
//! from the first level and written to the second, whose victim goes to the third, and so on. Inclusive
//! levels: a lower level holds a copy of all that is above it. What is used is written into every
//! level above the one it was found in; what a level evicts leaves those above. A use of an upper
//! copy is not a use of the lower ones. Below a policy that refuses a block the next level is asked.
//!
//! Without `write_back`, writes go through: to the backing as they are, and beside it to every copy in the cache; the
//! slower of the two is the latency. With `write_allocate` whole blocks that are written come into the first level. A
//! block written only in part is updated where it is, or, if it is still on its way, together with its arrival; it
//! never comes in for a write. Trims take the blocks they touch out of all levels and go on to the backing; so do
//! flushes, since no level holds what the backing does not.
//!
//! With `write_back`, a write ends in the cache where it can: a whole block that comes in, or any part of a block
//! that is there, is written into its level only, and the block is dirty until it is written back. What misses in
//! part, what no level takes in, and what would make more than the share `dirty` of the cache dirty goes through as
//! above, neighbours with one request. A part of a block that is on its way goes through too, and into the
//! level after its arrival. A dirty block is read from its level as a whole and written to the backing as a
//! whole, neighbours with one request: in the background, the oldest `batch` of those above `clean_above` side by
//! side, and the next when the last of these is done; when the policy decides that it leaves, at once, while the
//! block that takes its place waits until that is done; and for a flush, all of them. The flush goes on to the
//! backing when the last is done. What is written while its block is written back makes it dirty again, and it is
//! written back a second time after the first. Cleaning in the background begins when it can, also between
//! requests, but what would begin after the last request of a run does not begin. A trim leaves dirty blocks
//! where they are: the backing may have older bytes than those that a trimmed block may still show.
//!
//! A dirty block that its level cannot return is lost: reads of it get the media error until it is written as a
//! whole, and so does the next flush. What the backing refuses stays dirty, and is tried again with later requests;
//! without a persistent table flushes fail meanwhile. So does what it takes and cannot flush. A block that has to leave
//! then is lost.
//! The copy of a clean block that a level cannot return is dropped, and the block is read from the backing. What a
//! level cannot take in, from the host, the backing or another level, is dropped too.
//!
//! Every block of a level has a place of its own on its device: place n modulo the capacity in blocks for block
//! n, so that neighbours stay neighbours, if it is free when the block comes in, and otherwise the lowest free
//! one. Where addresses change nothing in the device, none are told. Of a chain of victims the last moves first, out
//! of the place that the one above it may come into.
//!
//! It carries bytes if its backing and all levels do. A block is in memory while it is on its way; what is
//! written to it meanwhile is in its level when it arrives.
//!
//! Where writes go through, or with a `volatile` table, which block is where is known in DRAM: after a loss of power
//! all levels are empty, the policies know nothing, and how many blocks were forgotten is in the recovery. Writes
//! that go through leave what the backing promises. With `write_back`, dirty blocks are lost, which the recovery
//! counts in whole blocks, and a write survives from the next flush on. With a `persistent` table the entry of a
//! block lies beside its data in the one level, which keeps what it acknowledges: a block is dirty from the moment
//! its write is done there, and no longer from the moment the backing has it for good, for which a backing with a
//! volatile buffer is flushed after every batch. After a loss of power the table is read, 8 bytes for every block the
//! level can hold and 1 MiB at a time, the dirty blocks are in the cache again and everything clean is forgotten. A
//! flush then goes to the level and to the backing. No more is promised than by the weaker of the two, and no larger
//! atomic unit than a block.
//!
//! # Counters
//! In blocks, except where it says requests. The hit ratio of reads is (`read_hits` + `read_merged`) /
//! (`read_hits` + `read_merged` + `read_misses`): who waits for a block on its way does not ask the backing.
//! With one LRU level of more blocks than are on their way it is the hit ratio of LRU alone, however close
//! requests follow each other.
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_misses`, `read_merged` | blocks read that were in a level, in none, on their way |
//! | `write_hits`, `write_misses` | blocks written that were in a level, in none |
//! | `write_merged` | blocks written in part while on their way |
//! | `write_parts` | of `write_misses`, those that did not come in because only a part of the block was written |
//! | `trimmed` | blocks that trims took out |
//! | `fills` | blocks from the backing that were offered to the levels, those they refused included |
//! | `refusals` | blocks from the backing or the host that no level took in |
//! | `bypassed` | blocks from the backing that were not offered: too many were on their way |
//! | `promotions` | blocks found in a lower level that came into the first |
//! | `demotions` | victims of one level that a lower one took in |
//! | `evictions` | victims that left the cache |
//! | `back_invalidations` | blocks that left a level because one below evicted them |
//! | `recovered` | copies that a level could not return or could not take |
//! | `backing_reads`, `backing_writes` | requests to the backing |
//! | `dirtied`, `overwritten` | with `write_back`: writes of blocks that made them dirty, and of those that were to be written back anyway |
//! | `write_backs` | blocks written back: the sum of `cleaned` (in the background), `flushed` (for a flush) and `dirty_evictions` (since they left) |
//! | `write_back_requests` | requests to the backing that wrote back; they are among `backing_writes` |
//! | `dirty_lost` | dirty blocks that a loss of power or a failing level took |
//! | `lost_pages` | dirty blocks that had to leave and that the backing refused or could not save, or that a level could not return: reads of them fail |
//! | `levelN_read_hits`, `levelN_write_hits` | hits whose first copy was in level N, the fastest being 0 |
//! | `levelN_entries`, `levelN_evictions` | blocks that came into level N from wherever, its victims wherever they went |
//!
//! # Leaves out
//! Volumes: requests come from one address space, as volume 0; a workload places its volumes apart first. The memory
//! of the cache's tables. With a persistent table: the time to write an entry, which is that of its block, and clean
//! blocks that would be there after a loss of power. Dirty blocks are cleaned in order of age whatever the backing's
//! load is, and those at or below `clean_above` stay dirty for any time. A trim saves no write-back. Preconditioning
//! and wearing out are of the backing, which takes every write, also with `write_back`. A read of a block whose write
//! is not done yet takes the time of a hit. At most 65,536 blocks are on their way at one time; what misses then is
//! served by the backing alone (`bypassed`).
//!
//! # Sources
//! Kim, Seshadri, Dickey, Chiu, "Evaluating phase change memory for enterprise storage systems", FAST'14:
//! write-through, LRU, 4 KiB, one or two levels. Koller et al., "Write policies for host-side flash caches", FAST'13,
//! for write-back and what is lost with it; Linux, Documentation/admin-guide/bcache.rst, for its limits. Wong,
//! Wilkes, "My cache or yours?", USENIX ATC'02, for exclusive levels and demotion; Baer, Wang, "On the inclusion
//! properties for multi-level cache hierarchies", ISCA'88, for inclusive ones.
//!
//! # Checks
//! Every count and completion time equals a naive model's, one level and two, on random requests that overlap, and so
//! do the bytes read from and written to every level; what is written into a level is read from another level or the
//! backing or comes from the host; every block that became dirty is written back once, lost, or still dirty, and the
//! backing sees each dirty block once per flush; a full cache of dirty blocks takes a write in the time of one read,
//! one write-back and one write, and cleaning in the background gives the throughput of its closed form; with `dirty
//! = "0 %"` every time is that of write-through; mean read latency is h d + (1 - h) n; a PCM cache of a quarter of
//! the size beats eMLC exactly above .889 of its hit ratio; reads give what was written last, after losses of power
//! at any moment too; no two blocks share a place, and all other places are free; LRU under Zipf requests meets Che's
//! law; a larger LRU cache never hits less.

pub(crate) mod cache;
mod cleaning;
mod device;
mod dirty;
mod in_flight;
mod levels;
pub(crate) mod map;
mod moving;
pub(crate) mod parts;
pub(crate) mod places;
mod power;
mod reads;
mod report;
mod table;
#[cfg(test)]
mod tests;
mod transit;
mod visit;
pub(crate) mod write_back;
mod writes;

use crate::replacement::{self, Brought, Replacement, ReplacementContext, ReplacementFamily};
use cache::{Behaviour, ServerCache};
use levels::{Level, Levels};
use nacre_config::{
    Choice, Configuration, Descriptor, ErrorCode, Families, Family, Problem, Problems, Reader, Room, Slot,
    room_of,
};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::{Bytes, Device, Persistence, Ratio, Time};
use write_back::Settings;

/// Most levels one cache can have.
pub const LEVELS_MAX: usize = 4;

/// A host-side cache of blocks before a slower device.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// The unit of caching; a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "16 MiB",
        source = "paper: kim-2014 gives its latencies per 4 KiB"
    )]
    pub block: Bytes,
    /// Where a block may be, if there is more than one level.
    #[config(
        default = "exclusive",
        source = "assumed: kim-2014 does not say; more room for blocks at the same cost"
    )]
    pub inclusion: Inclusion,
    /// Whether whole blocks that are written come into the first level.
    #[config(
        default = true,
        source = "assumed: kim-2014 says write-through and LRU, and measures reads only"
    )]
    pub write_allocate: bool,
    /// Whether a read that missed waits until the cache holds its blocks.
    #[config(default = "background", source = "assumed: the data is in memory and can be returned")]
    pub fill: FillMode,
    /// Writes end in the cache, and the backing is written later; without it, writes go through.
    pub write_back: Option<WriteBackConfig>,
    /// Time to find out where the blocks of a request are.
    #[config(default = "0 s", source = "assumed: tables in memory, far below a microsecond")]
    pub lookup: Time,
    /// The levels, fastest first.
    pub level: Vec<LevelConfig>,
    /// What holds all blocks.
    pub backing: Slot<DeviceFamily>,
}

/// One level of a cache.
#[derive(Clone, Debug, Configuration)]
pub struct LevelConfig {
    /// What holds its blocks; its capacity is that of the level.
    pub device: Slot<DeviceFamily>,
    /// Which blocks stay.
    #[config(default = "lru", source = "paper: kim-2014")]
    pub policy: Slot<ReplacementFamily>,
}

/// How a cache writes back.
#[derive(Clone, Debug, Configuration)]
pub struct WriteBackConfig {
    /// Most blocks that the backing does not have yet, as a share of those the cache can hold. A write that would
    /// make one more goes through.
    #[config(
        default = "40 %",
        min = "0 %",
        max = "100 %",
        source = "assumed: bcache writes through above 40 % (its CUTOFF_WRITEBACK)"
    )]
    pub dirty: Ratio,
    /// Share of dirty blocks above which they are cleaned in the background, the oldest first.
    #[config(
        default = "10 %",
        min = "0 %",
        max = "100 %",
        source = "assumed: bcache aims at 10 % (its writeback_percent)"
    )]
    pub clean_above: Ratio,
    /// Blocks that are cleaned in the background side by side.
    #[config(default = 16, min = 1, max = 65536, source = "assumed: a few per arm or chip of the backing")]
    pub batch: u32,
    /// Where is kept which block is where.
    #[config(default = "volatile", source = "assumed: tables in memory, as for a cache that writes through")]
    pub table: TableKind,
}

/// Where a cache that writes back keeps which block is where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum TableKind {
    /// In DRAM: a loss of power empties the cache, and what was not flushed is lost.
    Volatile,
    /// In the one level, which keeps what it acknowledges: dirty blocks are there again after a loss of power.
    Persistent,
}

/// Where a block may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Inclusion {
    /// A block is in one level at most; victims go down a level.
    Exclusive,
    /// A lower level holds all that the levels above it hold.
    Inclusive,
}

/// When a read that missed is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum FillMode {
    /// When the data has arrived; the cache is filled afterwards.
    Background,
    /// When the cache is filled.
    Foreground,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let block = config.block.0;
    if !block.is_power_of_two() {
        let remedy = format!("the next one is {}", Bytes(block.next_power_of_two()));
        reader.conflict("block", &config.block.to_string(), "it is not a power of two", &remedy);
    }
    if let Some(write_back) = &config.write_back {
        check_write_back(write_back, config.level.len(), reader);
    }
    if config.level.len() > LEVELS_MAX {
        let remedy = format!("the most allowed is {LEVELS_MAX}");
        reader.conflict("level", &format!("{} levels", config.level.len()), "there are too many", &remedy);
    }
}

fn check_write_back(config: &WriteBackConfig, levels: usize, reader: &mut Reader<'_>) {
    let WriteBackConfig { dirty, clean_above, table, .. } = *config;
    if clean_above.0 > dirty.0 {
        let problem = "cleaning would begin above the most that may be dirty";
        let remedy = format!("give at most `dirty`, {dirty}");
        reader.conflict("write_back.clean_above", &clean_above.to_string(), problem, &remedy);
    }
    if table == TableKind::Persistent && levels > 1 {
        let problem = "blocks move between levels, and a persistent table is for one";
        reader.conflict("write_back.table", "persistent", problem, "use one level, or table = \"volatile\"");
    }
}

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "server_cache",
        "a host-side cache of blocks, write-through or write-back, one level or more",
        &["kim-2014", "wong-wilkes-2002", "baer-wang-1988"],
        7,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let id = builder.component();
        let config: Config = slot.config(builder.families());
        let mut problems = Vec::new();
        let mut levels = Vec::new();
        for level in &config.level {
            match build_level(level, &config, builder) {
                Ok(level) => levels.push(level),
                Err(mistakes) => problems.extend(mistakes.0),
            }
        }
        let backing = builder.device(&config.backing);
        if let (Ok(backing), Some(write_back)) = (&backing, &config.write_back) {
            problems.extend(promise_problems(write_back, &config, &levels, &**backing));
        }
        if problems.is_empty() && config.inclusion == Inclusion::Inclusive {
            problems.extend(inclusion_problem(&config, &levels));
        }
        match backing {
            Ok(backing) if problems.is_empty() => {
                let levels = Levels::new(levels, config.inclusion);
                let behaviour = Behaviour::of(&config, levels.room());
                Ok(Box::new(ServerCache::new(id, slot.path().to_string(), behaviour, levels, backing)))
            }
            backing => {
                problems.extend(backing.err().unwrap_or_default().0);
                Err(Problems(problems))
            }
        }
    },
};

fn build_level(level: &LevelConfig, config: &Config, builder: &mut dyn Builder) -> Result<Level, Problems> {
    let block = config.block;
    let device = builder.device(&level.device)?;
    let wrong = |code, problem: &str, remedy: String| {
        Problem::new(code, level.device.path(), None, problem).remedy(remedy)
    };
    let Some(capacity) = device.capacity() else {
        let problem = "a level of a cache needs a device with a capacity";
        return Err(wrong(
            ErrorCode::MissingSetting,
            problem,
            "give `capacity`, for example \"64 GiB\"".into(),
        )
        .into());
    };
    let blocks = capacity.0 / block.0;
    if blocks == 0 {
        let remedy = format!("the smallest allowed is one block, {block}");
        return Err(wrong(ErrorCode::OutOfRange, "it is too small", remedy).given(capacity).into());
    }
    let capacity = usize::try_from(blocks).unwrap_or(usize::MAX);
    let context = &mut PolicyContext { builder, capacity };
    let policy = (room_of(replacement::ROOMS, &level.policy).build)(&level.policy, context)?;
    Ok(Level::new(policy, device, config.write_back.is_some()))
}

/// What policies may ask for.
pub(crate) struct PolicyContext<'a> {
    pub(crate) builder: &'a mut dyn Builder,
    pub(crate) capacity: usize,
}

impl ReplacementContext for PolicyContext<'_> {
    fn families(&self) -> &dyn Families {
        self.builder.families()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Replacement>, Problems> {
        let brought = self.builder.external_policy(ReplacementFamily::NAME, path, name)?;
        let make: Box<Brought> = brought.downcast().expect("what is brought for a cache makes a policy");
        Ok(make(self.capacity))
    }
}

/// An inclusive level smaller than the one above it would hold that one down to its own size.
fn inclusion_problem(config: &Config, levels: &[Level]) -> Option<Problem> {
    let lower = (1..levels.len()).find(|&at| levels[at].blocks < levels[at - 1].blocks)?;
    let path = config.level[lower].device.path();
    let problem = Problem::new(
        ErrorCode::ConflictingSettings,
        path,
        None,
        "an inclusive level holds all that the one above it holds",
    );
    let above = Bytes(levels[lower - 1].blocks * config.block.0);
    let given = Bytes(levels[lower].blocks * config.block.0);
    Some(problem.given(given).remedy(format!("give at least {above}, or use inclusion = \"exclusive\"")))
}

/// What a cache that writes back can promise rests on what its devices promise.
fn promise_problems(
    write_back: &WriteBackConfig,
    config: &Config,
    levels: &[Level],
    backing: &dyn Device,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if backing.capabilities().persistence == Persistence::WithStoredEnergy {
        let problem = "a cache that writes back needs a backing that keeps what is flushed; this one keeps what its \
                       stored energy suffices for";
        problems.push(
            Problem::new(ErrorCode::ConflictingSettings, config.backing.path(), None, problem)
                .remedy("give it more energy, or let writes go through"),
        );
    }
    for (config, level) in config.level.iter().zip(levels) {
        let persistence = level.device.capabilities().persistence;
        if write_back.table == TableKind::Persistent && persistence != Persistence::OnAcknowledgement {
            let problem = "a persistent table needs a level that keeps every write it acknowledges; this one may lose \
                           some";
            let remedy = "use another device, or table = \"volatile\"";
            problems.push(
                Problem::new(ErrorCode::ConflictingSettings, config.device.path(), None, problem)
                    .remedy(remedy),
            );
        }
    }
    problems
}

impl Behaviour {
    /// Of a cache that holds at most `blocks` blocks.
    pub(crate) fn of(config: &Config, blocks: u64) -> Behaviour {
        let Config { block, lookup, write_allocate, fill, .. } = *config;
        let share = |of: Ratio| (of.0 * blocks as f64) as u64;
        let write_back = config.write_back.as_ref().map(|of| {
            let (most, clean_above) = (share(of.dirty), share(of.clean_above));
            let settings = Settings { most, clean_above, batch: of.batch.into() };
            (settings, of.table == TableKind::Persistent)
        });
        Behaviour { block, lookup, write_allocate, fill, write_back }
    }
}
