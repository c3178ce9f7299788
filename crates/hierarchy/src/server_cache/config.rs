//! The configuration of a server cache.

use crate::replacement::ReplacementFamily;
use nacre_config::{Choice, Configuration, Reader, Slot};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bytes, Ratio, Time};

/// Maximum number of levels.
pub const LEVELS_MAX: usize = 4;

/// A host-side block cache in front of a slower device.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Size of a block, the unit of caching. The size must be a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "16 MiB",
        source = "paper: kim-2014 gives its latencies per 4 KiB"
    )]
    pub block: Bytes,
    /// Inclusion policy for blocks in several levels.
    #[config(
        default = "exclusive",
        source = "assumed: kim-2014 does not state it; more blocks at the same cost"
    )]
    pub inclusion: Inclusion,
    /// Whether a write of a whole block places the block in the first level.
    #[config(
        default = true,
        source = "assumed: kim-2014 says write-through and LRU, and measures reads only"
    )]
    pub write_allocate: bool,
    /// Whether a read miss waits until the cache has stored its blocks.
    #[config(default = "background", source = "assumed: the data is in memory and can be returned")]
    pub fill: FillMode,
    /// Write-back settings. With write-back, writes complete in the cache, and the cache writes the data to
    /// the backing later. The default is write-through.
    pub write_back: Option<WriteBackConfig>,
    /// Time after which a read without a reply from its level is also sent to the backing. A read is hedged
    /// only if the backing has the current data of the block. The first reply counts, and the other read is
    /// canceled. By default, reads are not hedged.
    #[config(min = "1 ps", max = "1 h")]
    pub hedge_after: Option<Time>,
    /// Time to look up the blocks of a request.
    #[config(default = "0 s", source = "assumed: tables in memory, far below a microsecond")]
    pub lookup: Time,
    /// Levels of the cache, fastest first.
    pub level: Vec<LevelConfig>,
    /// Device that stores all blocks.
    pub backing: Slot<DeviceFamily>,
}

/// One level of a cache.
#[derive(Clone, Debug, Configuration)]
pub struct LevelConfig {
    /// Device that stores the blocks of the level. The level has the capacity of this device.
    pub device: Slot<DeviceFamily>,
    /// Replacement policy.
    #[config(default = "lru", source = "paper: kim-2014")]
    pub policy: Slot<ReplacementFamily>,
}

/// Settings of write-back.
#[derive(Clone, Debug, Configuration)]
pub struct WriteBackConfig {
    /// Maximum number of dirty blocks, as a share of the capacity of the cache. A write that would exceed
    /// this share is written through.
    #[config(
        default = "40 %",
        min = "0 %",
        max = "100 %",
        source = "assumed: bcache writes through above 40 % (its CUTOFF_WRITEBACK)"
    )]
    pub dirty: Ratio,
    /// Share of dirty blocks above which the cache writes the oldest dirty blocks back in the background.
    #[config(
        default = "10 %",
        min = "0 %",
        max = "100 %",
        source = "assumed: bcache aims at 10 % (its writeback_percent)"
    )]
    pub clean_above: Ratio,
    /// Number of blocks written back in parallel in the background.
    #[config(default = 16, min = 1, max = 65536, source = "assumed: a few per arm or chip of the backing")]
    pub batch: u32,
    /// Location of the block table.
    #[config(default = "volatile", source = "assumed: tables in memory, as for a write-through cache")]
    pub table: TableKind,
}

/// Location of the block table of a write-back cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum TableKind {
    /// The table is in DRAM. A power loss empties the cache, and unflushed data is lost.
    Volatile,
    /// The table is in the first level, which must be the only level and must preserve acknowledged writes.
    /// Dirty blocks survive a power loss.
    Persistent,
}

/// Whether a block may be in several levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Inclusion {
    /// A block is in at most one level. Victims move down one level.
    Exclusive,
    /// A lower level holds all blocks of the levels above it.
    Inclusive,
}

/// Time at which a read miss completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum FillMode {
    /// A read miss completes when the data has arrived. The cache is filled afterwards.
    Background,
    /// A read miss completes when the cache is filled.
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
        let problem = "cleaning would start above the dirty limit";
        let remedy = format!("give at most `dirty`, {dirty}");
        reader.conflict("write_back.clean_above", &clean_above.to_string(), problem, &remedy);
    }
    if table == TableKind::Persistent && levels > 1 {
        let problem = "blocks move between levels, and a persistent table is for one";
        reader.conflict("write_back.table", "persistent", problem, "use one level, or table = \"volatile\"");
    }
}

/// Behavior of a cache, i.e. its configuration without the devices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behavior {
    pub(super) block: Bytes,
    pub(super) lookup: Time,
    pub(super) write_allocate: bool,
    pub(super) fill: FillMode,
    /// Write-back settings, and whether the block table survives a power loss; `None` for a write-through
    /// cache.
    pub(super) write_back: Option<(Settings, bool)>,
    pub(super) hedge_after: Option<Time>,
}

/// Write-back settings, in blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Maximum number of dirty blocks.
    pub(super) most: u64,
    /// Number of dirty blocks above which background write-back starts.
    pub(super) clean_above: u64,
    /// Number of parallel write-backs.
    pub(super) batch: u64,
}

impl Behavior {
    /// Converts the configuration of a cache with space for `blocks` blocks to its behavior.
    pub(super) fn of(config: &Config, blocks: u64) -> Behavior {
        let Config { block, lookup, write_allocate, fill, hedge_after, .. } = *config;
        let share = |of: Ratio| (of.0 * blocks as f64) as u64;
        let write_back = config.write_back.as_ref().map(|of| {
            let (most, clean_above) = (share(of.dirty), share(of.clean_above));
            let settings = Settings { most, clean_above, batch: of.batch.into() };
            (settings, of.table == TableKind::Persistent)
        });
        Behavior { block, lookup, write_allocate, fill, write_back, hedge_after }
    }
}
