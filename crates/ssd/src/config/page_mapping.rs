//! Settings of page-mapped drives: allocation and garbage collection.

use super::{Allocation, ErrorsConfig, FdpConfig, MappingCacheConfig};
use nacre_config::{Configuration, Slot};
use nacre_controller::cleaning::CleaningFamily;
use nacre_kernel::{Bytes, Ratio, Time};

/// SLC cache: blocks that host writes use in SLC mode.
#[derive(Clone, Debug, Configuration)]
pub struct SlcCacheConfig {
    /// Maximum data in SLC mode.
    #[config(min = "512 B", max = "1 PiB")]
    pub size: Bytes,
    /// Bits per cell outside of SLC mode; SLC mode holds this factor less data.
    #[config(
        default = 3,
        min = 2,
        max = 5,
        source = "assumed: TLC, the usual flash of drives with such a cache"
    )]
    pub bits: u32,
    /// Time to read a page.
    #[config(min = "1 ps", max = "1 s")]
    pub read: Time,
    /// Time to program a page.
    #[config(min = "1 ps", max = "1 s")]
    pub program: Time,
}

/// Settings of a page-mapped drive.
#[derive(Clone, Debug, Configuration)]
pub struct PageMapping {
    /// Placement of host data in the flash. With allocation by plane, settings for superblocks apply to the
    /// blocks of each plane.
    #[config(default = "superblock", source = "assumed: usual in drives for servers")]
    pub allocation: Allocation,
    /// Usable capacity, if less than the whole drive: a share of a pool of such drives, with the necessary
    /// blocks per plane and its part of `spare_blocks`, `mapping_cache`, `slc_cache`, and `idle_power`.
    /// Absent means the whole drive.
    #[config(min = "512 B")]
    pub capacity: Option<Bytes>,
    /// Number of erased superblocks below which garbage collection starts.
    #[config(
        default = 4,
        min = 4,
        max = 4096,
        source = "assumed: one each for the host, garbage collection, and wear leveling, and one spare"
    )]
    pub reserve: u32,
    /// Erased superblocks beyond `reserve` that garbage collection adds while the host is idle; a request stops
    /// it. Absent means no garbage collection while idle.
    #[config(min = 1, max = 1048576)]
    pub idle_reserve: Option<u32>,
    /// Garbage collection policy: selects the victim.
    #[config(default = "greedy", source = "assumed: the usual default of SSD simulators")]
    pub cleaning: Slot<CleaningFamily>,
    /// Difference in erases at which cold data moves to worn superblocks (static wear leveling); 0 means
    /// never.
    #[config(default = 0, max = 4294967295, source = "assumed: off by default")]
    pub wear_spread: u32,
    /// SLC cache: host writes use SLC mode while enough superblocks are erased; absent means none.
    pub slc_cache: Option<SlcCacheConfig>,
    /// Share of the buffer that holds data back for overwrites; data beyond it is programmed immediately.
    #[config(default = "0 %", max = "90 %", source = "assumed: drives program as soon as they can")]
    pub buffer_kept: Ratio,
    /// Whether the buffer survives a power loss. If not, a flush programs it.
    #[config(default = true, source = "assumed: usual in drives for servers")]
    pub power_protected: bool,
    /// Whether an interrupted program damages earlier pages of its word line, which has one page per entry of
    /// `program`. If not, the drive keeps copies of these pages until the word line is full.
    #[config(default = false, source = "assumed: drives that guarantee flushed data keep copies")]
    pub paired_page_loss: bool,
    /// Data programmed between two checkpoints of the mapping. After a power loss, later data is found by
    /// reading spare areas.
    #[config(
        default = "1 GiB",
        min = "512 B",
        max = "1 PiB",
        source = "assumed: a scan of the writes of a few seconds; drives are ready within a second or two"
    )]
    pub checkpoint_every: Bytes,
    /// Mapping table in flash with a cache in DRAM (DFTL); absent means that the whole table is in DRAM.
    pub mapping_cache: Option<MappingCacheConfig>,
    /// Flexible data placement (FDP): writes through different reclaim unit handles go to different
    /// superblocks. Absent means a drive without it.
    pub fdp: Option<FdpConfig>,
    /// Bit errors and their correction; absent means no bit errors.
    pub errors: Option<ErrorsConfig>,
}

impl PageMapping {
    /// Reclaim unit handles; 1 without flexible data placement.
    pub(crate) fn handles(&self) -> u32 {
        self.fdp.as_ref().map_or(1, |fdp| fdp.initially_isolated + fdp.persistently_isolated)
    }

    /// Parts of the data that garbage collection keeps separate: that of all initially isolated handles, and that of each
    /// other handle.
    pub(crate) fn isolated_parts(&self) -> u32 {
        self.fdp.as_ref().map_or(1, |fdp| fdp.initially_isolated.min(1) + fdp.persistently_isolated)
    }

    /// The part of the data that a handle writes.
    pub(crate) fn part_of_handle(&self, handle: u32) -> u32 {
        let mixed = self.fdp.as_ref().map_or(1, |fdp| fdp.initially_isolated);
        handle.saturating_sub(mixed.saturating_sub(1))
    }
}
