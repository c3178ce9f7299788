//! Settings of flash drives: settings of all drives, of page mapping, and of zones.

mod allocation;
mod check_sizes;
mod checks;
mod drive;
mod errors;
mod mapping_table;
mod page_mapping;
mod queue;
mod scheduling;
mod share;
mod zones;

pub use allocation::{Allocation, Dynamic, Order, Parity, Static, Superblock};
pub(crate) use check_sizes::UNITS_MAX;
pub use drive::{Arbitration, BufferPlaces, Drive, Unwritten};
pub use errors::ErrorsConfig;
pub use mapping_table::{CachedTable, MappingTable, TableEntries};
pub use page_mapping::{FdpConfig, GarbageCollection, PageMapping, SlcCacheConfig};
pub use queue::{ByTenant, Queue, Shared, WeightedRoundRobin};
pub use scheduling::{FlashScheduling, ReadPriority, Suspension};
pub(crate) use share::{percent, share_problem};
pub use zones::ZonesConfig;

use nacre_config::Configuration;
use std::ops::Deref;

/// A page-mapped flash SSD.
#[derive(Clone, Debug, Configuration)]
#[config(check = "crate::config::checks::check")]
pub struct SsdConfig {
    /// Settings of every flash drive.
    #[config(flatten)]
    pub drive: Drive,
    /// Settings of the page mapping.
    #[config(flatten)]
    pub mapping: PageMapping,
}

/// A zoned (ZNS) flash SSD.
#[derive(Clone, Debug, Configuration)]
#[config(check = "crate::config::zones::check")]
pub struct ZnsSsdConfig {
    /// Settings of every flash drive.
    #[config(flatten)]
    pub drive: Drive,
    /// Settings of the zones.
    #[config(flatten)]
    pub zones: ZonesConfig,
}

/// Configuration of a drive: the settings of all drives, and those of its translation layer.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) drive: Drive,
    pub(crate) layer: Layer,
}

/// Translation layer of a drive.
#[derive(Clone, Debug)]
pub(crate) enum Layer {
    /// Page mapping: a table of all mapping units.
    Pages(Box<PageMapping>),
    /// Zones.
    Zones(ZonesConfig),
}

impl From<&SsdConfig> for Config {
    fn from(config: &SsdConfig) -> Config {
        let SsdConfig { drive, mapping } = config.clone();
        Config { drive, layer: Layer::Pages(Box::new(mapping)) }
    }
}

impl From<&ZnsSsdConfig> for Config {
    fn from(config: &ZnsSsdConfig) -> Config {
        let ZnsSsdConfig { drive, zones } = config.clone();
        Config { drive, layer: Layer::Zones(zones) }
    }
}

impl Deref for Config {
    type Target = Drive;

    fn deref(&self) -> &Drive {
        &self.drive
    }
}

impl Config {
    /// Returns the settings of page mapping, or `None` for a zoned drive.
    pub(crate) fn pages(&self) -> Option<&PageMapping> {
        match &self.layer {
            Layer::Pages(mapping) => Some(mapping),
            Layer::Zones(_) => None,
        }
    }

    /// Returns the settings of page mapping.
    ///
    /// # Panics
    /// If the drive is zoned.
    pub(crate) fn mapping(&self) -> &PageMapping {
        self.pages().expect("the drive is page-mapped")
    }

    /// Returns whether each plane has separate write frontiers and garbage collection.
    pub(crate) fn is_by_plane(&self) -> bool {
        self.pages().is_some_and(|mapping| mapping.allocation.is_by_plane())
    }

    /// Returns the number of regions. Each region has separate write frontiers and garbage collection, or
    /// separate zones.
    pub(crate) fn regions(&self) -> u64 {
        match &self.layer {
            Layer::Zones(ZonesConfig { zone_dies: Some(dies), .. }) => self.dies_in_all() / u64::from(*dies),
            Layer::Zones(_) => 1,
            Layer::Pages(mapping) if mapping.allocation.is_by_plane() => {
                self.dies_in_all() * u64::from(self.planes)
            }
            Layer::Pages(mapping) => u64::from(mapping.allocation.reclaim_groups()),
        }
    }

    /// Returns the number of dies that a superblock spans.
    pub(crate) fn dies_of_superblock(&self) -> u64 {
        if self.is_by_plane() { 1 } else { self.dies_in_all() / self.regions() }
    }

    /// Returns the number of operations in a stripe, including parity, or `None` without parity.
    pub(crate) fn stripe(&self) -> Option<u32> {
        self.pages()?.allocation.stripe(self.dies_of_superblock() as u32)
    }

    /// Returns the number of pages of a block in SLC mode. Without an SLC cache, returns the number of all
    /// pages of a block.
    pub(crate) fn single_pages(&self) -> u32 {
        let cache = self.pages().and_then(|mapping| mapping.slc_cache.as_ref());
        cache.map_or(self.pages, |cache| (self.pages / cache.bits).max(1))
    }

    /// Returns the number of blocks of a superblock in each of its planes.
    pub(crate) fn blocks_of_plane(&self) -> u32 {
        self.pages().map_or(1, |mapping| mapping.allocation.reclaim_unit())
    }

    /// Returns the number of superblocks of a region. The remaining blocks are spare blocks.
    pub(crate) fn superblocks(&self) -> u32 {
        self.blocks.saturating_sub(self.spare_blocks) / self.blocks_of_plane()
    }

    /// Returns the number of data units of a superblock, without parity. A superblock has blocks of every
    /// plane of the dies of a region, or of one plane.
    pub(crate) fn units_per_superblock(&self) -> u64 {
        let blocks = self.dies_in_all() * u64::from(self.planes) / self.regions();
        let of_data = self.stripe().map_or(blocks, |size| blocks / u64::from(size) * u64::from(size - 1));
        let pages = u64::from(self.blocks_of_plane()) * u64::from(self.pages);
        of_data * pages * (self.page.0 / self.unit.0)
    }

    /// Returns the usable capacity in units. The capacity of a zoned drive consists of whole zones.
    pub(crate) fn logical_units(&self) -> u64 {
        match self.pages().and_then(|mapping| mapping.capacity) {
            Some(capacity) => capacity.0 / self.unit.0,
            None => self.whole_units(),
        }
    }

    /// Returns the usable capacity of the whole drive in units. The setting `capacity` is ignored.
    fn whole_units(&self) -> u64 {
        let units = (self.raw_bytes() as f64 / (1.0 + self.over_provisioning.0)) as u64 / self.unit.0;
        units - units % self.zone_units().unwrap_or(1)
    }

    /// Returns the number of units of the mapping table in flash, or 0 if the whole table is in DRAM.
    pub(crate) fn mapping_units(&self) -> u64 {
        let is_cached = self.pages().is_some_and(|mapping| mapping.mapping.cached().is_some());
        if is_cached { self.logical_units().div_ceil(self.mappings_per_unit()) } else { 0 }
    }

    /// Returns the number of mappings in one unit of the mapping table, or 1 without a table.
    pub(crate) fn mappings_per_unit(&self) -> u64 {
        self.pages().map_or(1, |mapping| self.unit.0 / mapping.mapping.entries().entry.0)
    }

    /// Returns the number of units of a zone, or `None` without zones.
    pub(crate) fn zone_units(&self) -> Option<u64> {
        match &self.layer {
            Layer::Pages(_) => None,
            Layer::Zones(zones) => Some(u64::from(zones.zone_superblocks) * self.units_per_superblock()),
        }
    }

    /// Returns whether the buffer survives a power loss. The buffer of a zoned drive always does, because a
    /// flush cannot program a part of an operation and the rest later.
    pub(crate) fn is_power_protected(&self) -> bool {
        self.pages().is_none_or(|mapping| mapping.power_protected)
    }

    /// Returns whether a power loss damages pages that were programmed earlier.
    pub(crate) fn loses_paired_pages(&self) -> bool {
        let is_lossy = |mapping: &PageMapping| mapping.paired_page_loss && !mapping.power_protected;
        self.pages().is_some_and(is_lossy) && self.nand.program().len() > 1
    }

    /// Returns the number of superblocks that remain open for the placement handles and for garbage
    /// collection of their data, or 0 for a single handle.
    pub(crate) fn superblocks_of_handles(&self) -> u32 {
        let Some(mapping) = self.pages() else { return 0 };
        match mapping.handles() {
            1 => 0,
            handles => handles + mapping.isolated_parts(),
        }
    }

    /// Returns the size of one operation in bytes.
    pub(crate) fn operation_bytes(&self) -> u64 {
        self.page.0 * if self.multi_plane && !self.is_by_plane() { u64::from(self.planes) } else { 1 }
    }

    /// Returns the maximum number of open operations. The buffer reserves space for each of them.
    pub(crate) fn operations_filled(&self) -> u64 {
        let mapping = match &self.layer {
            Layer::Pages(mapping) => mapping,
            Layer::Zones(zones) => return u64::from(zones.active_zones),
        };
        let handles = u64::from(mapping.handles());
        match &mapping.allocation {
            Allocation::Superblock(_) => handles * self.regions(),
            // A page with a single unit is programmed immediately.
            _ if self.unit.0 == self.page.0 => 1,
            Allocation::Static(_) => handles * self.regions(),
            Allocation::Dynamic(_) => handles,
        }
    }
}

/// Maximum number of open superblocks of a region with a single handle: one each for host data, garbage
/// collection, and wear leveling.
pub(crate) const OPEN: u32 = 3;
