//! The flash array: the mapping of logical units, and the valid and invalid pages.
//!
//! The array does not model time. It reports its operations to a [`FlashOps`].
//!
//! The mapping table has four bytes per logical unit. Each physical unit has four bytes for its owner, and
//! a valid bit. If the drive has more than 2^32 physical units, these numbers take 4.25 bytes instead of
//! four. All tables are flat arrays of zeros until they are used, so the memory use grows with the amount
//! of data written.

use crate::config::Config;
use crate::ftl::mapping_cache::{self, MappingCache};
use crate::ftl::parts::handles::Handles;
use crate::ftl::parts::partial_units::PartialUnits;
use crate::ftl::parts::plane_allocation::PlaneAllocation;
use crate::ftl::parts::regions::{Frontier, Region, partitions_by_region};
use crate::ftl::parts::slc_cache::SlcCache;
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::layout::numbers::Numbers;
use crate::mapping_table::Table;
use crate::ops::{Cause, FlashOps};
use crate::recovery::spare_area::SpareArea;
use crate::superblocks::{ABSENT, Superblocks};
use nacre_controller::cleaning::{Cleaner, Partition, SegmentState};
use nacre_kernel::state::State;
use nacre_media::store::Store;

/// Policies of the array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Difference in erase counts above which static wear leveling moves cold data. `None` disables static
    /// wear leveling.
    pub(crate) wear_spread: Option<u32>,
    /// Number of host units per frontier that the write buffer holds back, so that they can be overwritten
    /// in the buffer.
    pub(crate) held_units: u32,
    /// Target number of erased superblocks for garbage collection while the host is idle; 0 disables idle
    /// garbage collection.
    pub(crate) erased_while_idle: u32,
}

impl Rules {
    fn of(config: &Config, geometry: &Geometry) -> Rules {
        let mapping = config.mapping();
        let collection = &mapping.garbage_collection;
        let kept = config.buffer.0 as f64 * mapping.buffer_kept.0 / config.unit.0 as f64;
        Rules {
            wear_spread: collection.wear_spread,
            held_units: (kept / f64::from(mapping.handles() * geometry.regions)) as u32,
            erased_while_idle: collection.idle_reserve.map_or(0, |more| collection.reserve + more),
        }
    }
}

/// Superblocks of the flash and their contents.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(crate) struct Array<S> {
    #[state(skip = "from the configuration")]
    pub(crate) geometry: Geometry,
    #[state(skip = "from the configuration")]
    pub(crate) rules: Rules,
    pub(crate) pool: Superblocks<S>,
    /// Mapping of logical units. Units of the mapping table follow those of the host.
    pub(crate) table: Table,
    /// Logical unit that owns each physical unit.
    pub(crate) owners: Numbers,
    /// Spare areas; empty if the drive does not store data.
    pub(crate) spare: SpareArea,
    /// Valid bit of each physical unit.
    #[state(sparse)]
    pub(crate) valid: Vec<u64>,
    /// Superblock in each slot.
    pub(crate) order: Vec<u32>,
    pub(crate) place_of: Vec<u32>,
    pub(crate) places: Vec<SegmentState>,
    pub(crate) partitions: Vec<Partition>,
    #[state(skip = "from the configuration")]
    pub(crate) partition_by_place: Vec<u32>,
    pub(crate) regions: Vec<Region>,
    /// Write frontiers: first those of the host, then those of garbage collection, then one wear leveling
    /// frontier per region.
    pub(crate) frontiers: Vec<Frontier>,
    #[state(skip = "from the configuration")]
    pub(crate) host_frontiers: usize,
    pub(crate) handles: Handles,
    /// Whether each superblock is open.
    pub(crate) is_open: Vec<bool>,
    /// Allocation of host pages to planes, if superblocks do not span all dies.
    pub(crate) allocation: PlaneAllocation,
    pub(crate) cleaner: Box<dyn Cleaner>,
    pub(crate) slc: SlcCache,
    pub(crate) partial: PartialUnits,
    pub(crate) mapping: Option<Box<dyn MappingCache>>,
    /// Whether the drive is read-only because too many blocks are worn out.
    pub(crate) is_worn_out: bool,
}

impl<S: Store> Array<S> {
    /// Creates the array for the validated configuration `config`, with the garbage collection policy
    /// `cleaner`.
    pub(crate) fn new(config: &Config, pool: Superblocks<S>, cleaner: Box<dyn Cleaner>) -> Array<S> {
        let geometry = Geometry::of(config);
        let partitions = partitions_by_region(&pool.blocks.usable(), &geometry);
        let count = partitions.iter().map(|partition| partition.count).sum();
        let by_region = geometry.regions as usize;
        let handles = Handles::new(config, &geometry);
        let host_frontiers = handles.host_frontiers() * by_region;
        let of_cleaning = handles.cleaning_frontiers() * by_region;
        Array {
            rules: Rules::of(config, &geometry),
            pool,
            table: Table::new(geometry.table_units() as usize, geometry.numbers() as u64),
            owners: Numbers::new(geometry.numbers(), geometry.numbers() as u64),
            valid: vec![0; geometry.numbers() / 64],
            spare: SpareArea::new(if S::CARRIES_BYTES { geometry.numbers() } else { 0 }),
            order: vec![ABSENT; count],
            place_of: vec![ABSENT; geometry.superblocks as usize],
            places: vec![SegmentState::default(); count],
            partition_by_place: (0..).zip(&partitions).flat_map(|(it, of)| vec![it; of.count]).collect(),
            regions: partitions.iter().map(|of| Region::new(of.first..of.first + of.count)).collect(),
            partitions,
            frontiers: vec![Frontier::NONE; host_frontiers + of_cleaning + by_region],
            host_frontiers,
            handles,
            is_open: vec![false; geometry.superblocks as usize],
            allocation: PlaneAllocation::new(config, &geometry),
            cleaner,
            slc: SlcCache::new(config, &geometry),
            partial: PartialUnits::new(config),
            mapping: mapping_cache::build(config, &geometry),
            is_worn_out: false,
            geometry,
        }
    }

    /// Writes `bytes` of the host to `unit`. Returns `false` if the drive is read-only.
    #[inline]
    pub(crate) fn write<W: FlashOps>(&mut self, unit: u64, bytes: &[u8], work: &mut W) -> bool {
        let mut old = self.entry(unit);
        let handle = self.handles.current();
        let region = self.region_for(handle, unit, old, work);
        let frontier = self.frontier_in(handle, region);
        if old != 0 && self.frontiers[frontier].holds(old - 1) {
            self.pool.programs.coalesced += 1;
            self.pool.flash.fill(old - 1, bytes);
            return true;
        }
        if self.room(frontier) == 0 {
            if !self.next_superblock(frontier, work) {
                return false;
            }
            // Garbage collection may have moved the unit.
            old = self.entry(unit);
        }
        if old != 0 {
            self.invalidate(old - 1);
        }
        let page = self.append(frontier, unit, Cause::Host, work);
        self.pool.flash.fill(page, bytes);
        self.pool.programs.host += 1;
        self.handles.count_written(page);
        self.partitions[region].drained += 1;
        self.count_pace(region, work);
        true
    }

    /// Counts one unit of host data or of the mapping table that was programmed in `region`. Runs garbage
    /// collection if it is due.
    #[inline]
    pub(crate) fn count_pace<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let pace = self.geometry.pace;
        let unpaced = &mut self.regions[region].unpaced;
        *unpaced += 1;
        if *unpaced == pace {
            *unpaced = 0;
            self.keep_pace(region, pace, work);
        }
    }

    /// Returns the location of `operation` of `superblock`.
    #[inline]
    pub(crate) fn spot(&self, superblock: u32, operation: u32) -> Spot {
        Spot { cells: self.slc.cells(superblock), ..self.geometry.spot(operation) }
    }

    /// Returns the cell mode of `superblock`.
    #[inline]
    pub(crate) fn cells(&self, superblock: u32) -> Cells {
        self.slc.cells(superblock)
    }

    /// Unmaps `unit`.
    pub(crate) fn trim(&mut self, unit: u64) {
        let old = self.entry(unit);
        self.table.set(unit, 0, &self.owners);
        self.partial.forget(unit);
        if S::CARRIES_BYTES {
            self.spare.trim(unit);
        }
        if old != 0 {
            self.invalidate(old - 1);
        }
    }

    /// Returns the superblock and the operation of `page`.
    #[inline]
    pub(crate) fn locate(&self, page: u64) -> (u32, u32) {
        let (superblock, index) = self.geometry.place_at(page);
        (superblock, self.geometry.operation_of(superblock, index))
    }

    /// Returns the page of `unit`, counted from 1, or 0 if the unit is unmapped.
    #[inline]
    pub(crate) fn entry(&self, unit: u64) -> u64 {
        self.table.get(unit, &self.owners)
    }

    /// Maps `owner` to `page`, which was just programmed.
    #[inline]
    pub(crate) fn own(&mut self, page: u64, owner: u64) {
        self.owners.set(page as usize, owner);
        self.table.set(owner, page + 1, &self.owners);
        if S::CARRIES_BYTES {
            self.spare.program(page);
        }
    }

    /// Marks `count` pages of one superblock as valid, starting with `first`.
    #[inline]
    pub(crate) fn mark_valid(&mut self, first: u64, count: u32) {
        let (mut at, end) = (first, first + u64::from(count));
        while at < end {
            let word = at / 64;
            let next = end.min((word + 1) * 64);
            self.valid[word as usize] |= (u64::MAX >> (64 - (next - at))) << (at % 64);
            at = next;
        }
        self.count_valid(first, count);
    }

    /// Marks `page` as invalid.
    #[inline]
    pub(crate) fn invalidate(&mut self, page: u64) {
        debug_assert!(self.is_valid(page), "unit {page} was valid");
        self.valid[page as usize / 64] &= !(1 << (page % 64));
        self.count_valid(page, u32::MAX);
    }

    /// Adds `more`, which may be -1, to the number of valid units in the superblock of `page`.
    #[inline]
    fn count_valid(&mut self, page: u64, more: u32) {
        let place = self.place_of[self.pool.flash.block_of(page) as usize] as usize;
        let state = &mut self.places[place];
        state.live = state.live.wrapping_add(more);
        let partition = &mut self.partitions[self.partition_by_place[place] as usize];
        partition.live = partition.live.wrapping_add_signed(i64::from(more.cast_signed()));
    }

    /// Returns whether `page` is valid.
    #[inline]
    pub(crate) fn is_valid(&self, page: u64) -> bool {
        self.valid[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// Returns the memory in bytes that the tables with an entry per unit or block take after every unit
    /// was used.
    #[cfg(test)]
    pub(crate) fn table_bytes(&self) -> u64 {
        let physical = self.geometry.physical_units();
        let places = self.places.len() * (size_of::<SegmentState>() + 12);
        self.table.bytes() + physical * 4 + physical.div_ceil(8) + places as u64 + self.pool.blocks.bytes()
    }

    /// Returns the number of superblocks that a region needs for its data, the reserve, and one invalid
    /// unit per superblock.
    pub(crate) fn superblocks_needed(&self) -> u32 {
        let kept = self.geometry.reserve + self.geometry.open_for_handles;
        let units = self.geometry.units_of_region(self.table.len() as u64);
        kept + units.div_ceil(u64::from(self.geometry.units_per_superblock - 1)) as u32
    }

    /// Returns whether the drive can store all its data without using the reserve.
    pub(crate) fn has_space(&self) -> bool {
        let needed = self.superblocks_needed();
        self.pool.blocks.usable_counts().all(|usable| usable >= needed)
    }
}
