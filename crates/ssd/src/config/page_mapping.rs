//! Settings of drives that are written anywhere: page mapping, allocation, cleaning.

use super::{ErrorsConfig, MappingCacheConfig};
use crate::allocation::Allocation;
use nacre_config::{Choice, Configuration, Slot};
use nacre_controller::cleaning::CleaningFamily;
use nacre_kernel::{Bytes, Ratio, Time};

/// Whose data fills a superblock together when cleaning moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Isolation {
    /// That of all placement handles: they are apart until they are moved.
    Initial,
    /// That of one placement handle.
    Persistent,
}

/// Cells that the host fills with one bit each.
#[derive(Clone, Debug, Configuration)]
pub struct SlcCacheConfig {
    /// The most data that lies in such cells.
    #[config(min = "512 B", max = "1 PiB")]
    pub size: Bytes,
    /// Bits that a cell holds otherwise: so much less data fits.
    #[config(
        default = 3,
        min = 2,
        max = 5,
        source = "assumed: TLC, the usual flash of drives with such a cache"
    )]
    pub bits: u32,
    /// Reading a page.
    #[config(min = "1 ps", max = "1 s")]
    pub read: Time,
    /// Programming a page.
    #[config(min = "1 ps", max = "1 s")]
    pub program: Time,
}

/// Settings of a page mapping.
#[derive(Clone, Debug, Configuration)]
pub struct PageMapping {
    /// Where a page of the host's data goes. By plane, what is said of superblocks holds for the blocks of each plane.
    #[config(default = "superblock", source = "assumed: usual in drives for servers")]
    pub allocation: Allocation,
    /// Bytes that the host sees, if that is less than the whole drive: a share of a pool of such drives, with as many blocks
    /// of each plane as it takes, and its part of `spare_blocks`, `mapping_cache`, `slc_cache` and `idle_power`.
    /// Absent means the whole drive.
    #[config(min = "512 B")]
    pub capacity: Option<Bytes>,
    /// Erased superblocks (a block of every plane) below which cleaning begins.
    #[config(
        default = 4,
        min = 4,
        max = 4096,
        source = "assumed: one for the host, one for cleaning, one for wear levelling, one in hand"
    )]
    pub reserve: u32,
    /// Erased superblocks up to which cleaning goes on while the host is quiet; a request stops it, and it keeps pace with
    /// writes only below `reserve`. Absent means there is no cleaning without writes.
    #[config(min = 5, max = 1048576)]
    pub idle_cleaning: Option<u32>,
    /// What is cleaned.
    #[config(default = "greedy", source = "assumed: what simulators of SSDs do where nothing else is said")]
    pub cleaning: Slot<CleaningFamily>,
    /// Difference of erases from which cold data moves to worn superblocks; 0 is never.
    #[config(default = 0, max = 4294967295, source = "assumed: off unless told otherwise")]
    pub wear_spread: u32,
    /// Cells that the host fills with one bit each while erased superblocks abound; absent means none.
    pub slc_cache: Option<SlcCacheConfig>,
    /// Share of the buffer that is kept back to be changed there; beyond it data is programmed at once.
    #[config(default = "0 %", max = "90 %", source = "assumed: drives program as soon as they can")]
    pub buffer_kept: Ratio,
    /// Whether the buffer survives a power failure. Where not, a flush programs it.
    #[config(default = true, source = "assumed: usual in drives for servers")]
    pub power_protected: bool,
    /// Whether a program that loses its power damages the pages before it on its word line, which has as many pages as
    /// `program` has times. Where not, the drive keeps copies of them until the word line is full.
    #[config(default = false, source = "assumed: drives that promise to keep what was flushed keep copies")]
    pub paired_page_loss: bool,
    /// Data that is programmed between two checkpoints of the mapping: after a loss of power what was programmed
    /// since is found by its spare areas.
    #[config(
        default = "1 GiB",
        min = "512 B",
        max = "1 PiB",
        source = "assumed: a scan of some seconds' writes, as drives are ready within a second or two"
    )]
    pub checkpoint_every: Bytes,
    /// A mapping table in flash, a part of which is in DRAM; absent means all of it is in DRAM.
    pub mapping_cache: Option<MappingCacheConfig>,
    /// Placement handles, as the reclaim unit handles of NVMe's flexible data placement: what is written through one fills
    /// superblocks of its own. The tenants of a workload take them in their order, round and round.
    #[config(default = 1, min = 1, max = 128, source = "assumed: a drive without placement by the host")]
    pub placement_handles: u32,
    /// Whose data fills a superblock together when cleaning moves it.
    #[config(
        default = "initial",
        source = "assumed: the lesser promise, which every drive with handles keeps"
    )]
    pub isolation: Isolation,
    /// Bits that go wrong, and what puts them right; absent means none do.
    pub errors: Option<ErrorsConfig>,
}
