//! Settings of page-mapped drives.

use super::{Allocation, ErrorsConfig, MappingTable};
use nacre_config::{Configuration, Slot};
use nacre_controller::cleaning::CleaningFamily;
use nacre_kernel::{Bytes, Ratio, Time};

/// Garbage collection: when it runs, which victim it chooses, and static wear leveling.
#[derive(Clone, Debug, Configuration)]
#[config(short = "policy")]
pub struct GarbageCollection {
    /// Policy that selects the victim.
    #[config(default = "greedy", source = "assumed: the usual default of SSD simulators")]
    pub policy: Slot<CleaningFamily>,
    /// Number of erased superblocks below which garbage collection starts.
    #[config(
        default = 4,
        min = 4,
        max = 4096,
        source = "assumed: one each for the host, garbage collection, and wear leveling, and one spare"
    )]
    pub reserve: u32,
    /// Number of erased superblocks that garbage collection adds to `reserve` while the host is idle. A
    /// request stops this garbage collection. By default, garbage collection does not run while the
    /// host is idle.
    #[config(min = 1, max = 1048576)]
    pub idle_reserve: Option<u32>,
    /// Difference in erases above which cold data moves to worn superblocks (static wear leveling). By
    /// default, data never moves for this reason.
    #[config(min = 1, max = 4294967295)]
    pub wear_spread: Option<u32>,
}

/// Flexible data placement: reclaim unit handles, through which the host separates its data.
///
/// The handles that are initially isolated come first. The tenants of a workload are assigned to the handles
/// cyclically.
#[derive(Clone, Debug, Configuration)]
pub struct FdpConfig {
    /// Number of initially isolated handles. Garbage collection mixes the data of these handles.
    #[config(default = 0, max = 128, source = "standard: a configuration lists its handles")]
    pub initially_isolated: u32,
    /// Number of persistently isolated handles. Garbage collection keeps the data of each of these handles
    /// separate.
    #[config(default = 0, max = 128, source = "standard: a configuration lists its handles")]
    pub persistently_isolated: u32,
}

/// SLC cache: blocks that host writes use in SLC mode.
#[derive(Clone, Debug, Configuration)]
pub struct SlcCacheConfig {
    /// Maximum amount of data in SLC mode.
    #[config(min = "512 B", max = "1 PiB")]
    pub size: Bytes,
    /// Bits per cell outside of SLC mode. In SLC mode, the capacity of a block is divided by this number.
    #[config(
        default = 3,
        min = 2,
        max = 5,
        source = "assumed: TLC, the usual flash of drives with such a cache"
    )]
    pub bits: u32,
    /// Time to read a page in SLC mode.
    #[config(min = "1 ps", max = "1 s")]
    pub read: Time,
    /// Time to program a page in SLC mode.
    #[config(min = "1 ps", max = "1 s")]
    pub program: Time,
}

/// Settings of a page-mapped drive.
#[derive(Clone, Debug, Configuration)]
pub struct PageMapping {
    /// Placement of host data in the flash. With allocation by plane, settings for superblocks apply to the
    /// blocks of each plane.
    #[config(default = "superblock", source = "assumed: typical of server drives")]
    pub allocation: Allocation,
    /// Garbage collection: its policy, when it runs, and static wear leveling.
    #[config(default = "greedy", source = "assumed: the usual default of SSD simulators")]
    pub garbage_collection: GarbageCollection,
    /// Location of the mapping table.
    #[config(default = "in_dram", source = "assumed: typical of server drives")]
    pub mapping: MappingTable,
    /// Usable capacity of the device if it models a share of a drive in a pool. The share has the necessary
    /// blocks per plane and a proportional part of `spare_blocks`, `mapping.size`, `slc_cache`, and
    /// `idle_power`. The default is the whole drive.
    #[config(min = "512 B")]
    pub capacity: Option<Bytes>,
    /// SLC cache. Host writes use SLC mode while enough superblocks are erased. By default, there is no SLC
    /// cache.
    pub slc_cache: Option<SlcCacheConfig>,
    /// Share of the buffer in which data waits for overwrites. Data beyond this share is programmed
    /// immediately.
    #[config(default = "0 %", max = "90 %", source = "assumed: drives program as soon as they can")]
    pub buffer_kept: Ratio,
    /// Whether the data in the buffer survives a power loss. If it does not, a flush programs the buffered
    /// data.
    #[config(default = true, source = "assumed: typical of server drives")]
    pub power_protected: bool,
    /// Whether an interrupted program damages earlier pages of its word line. A word line has one page per
    /// entry of `program`. If earlier pages are not damaged, the drive keeps copies of them until the word
    /// line is full.
    #[config(default = false, source = "assumed: drives that guarantee flushed data keep copies")]
    pub paired_page_loss: bool,
    /// Flexible data placement (FDP). Writes through different reclaim unit handles go to different
    /// superblocks. By default, the drive does not support FDP.
    pub fdp: Option<FdpConfig>,
    /// Bit errors and their correction; by default, there are no bit errors.
    pub errors: Option<ErrorsConfig>,
}

impl PageMapping {
    /// Returns the number of reclaim unit handles, or 1 without flexible data placement.
    pub(crate) fn handles(&self) -> u32 {
        self.fdp.as_ref().map_or(1, |fdp| fdp.initially_isolated + fdp.persistently_isolated)
    }

    /// Returns the number of parts of the data that garbage collection keeps separate. The data of all
    /// initially isolated handles is one part, and the data of each other handle is another part.
    pub(crate) fn isolated_parts(&self) -> u32 {
        self.fdp.as_ref().map_or(1, |fdp| fdp.initially_isolated.min(1) + fdp.persistently_isolated)
    }

    /// Returns the number, from 0, of the separate part that contains the data of `handle`.
    pub(crate) fn part_of_handle(&self, handle: u32) -> u32 {
        let mixed = self.fdp.as_ref().map_or(1, |fdp| fdp.initially_isolated);
        handle.saturating_sub(mixed.saturating_sub(1))
    }
}
