//! The flash array: the mapping of logical units, and valid and invalid pages.
//!
//! The array does not model time. It reports its operations to a [`FlashOps`].
//!
//! The mapping table has four bytes per logical unit. Each physical unit has four bytes for its owner, and a
//! valid bit. All tables are flat arrays of zeros until they are used, so the memory in use grows with the
//! amount of data written.

use crate::book::Programs;
use crate::ftl::mapping_cache::MappingCache;
use crate::ftl::parts::blocks::Blocks;
use crate::ftl::parts::frontier::{ABSENT, Frontier};
use crate::ftl::parts::handles::Handles;
use crate::ftl::parts::plane_allocation::PlaneAllocation;
use crate::ftl::parts::regions::{Region, partitions_by_region};
use crate::ftl::parts::slc_cache::SlcCache;
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::layout::stripes::ParityUnits;
use crate::mapping_table::Table;
use crate::ops::{Cause, FlashOps};
use crate::optional_part::OptionalPart;
use crate::recovery::spare_area::SpareArea;
use nacre_controller::cleaning::{Cleaner, Partition, SegmentState};
use nacre_kernel::state::State;
use nacre_media::flash::Flash;
use nacre_media::store::Store;

/// Number of units that the host programs between two runs of garbage collection.
const PACE: u32 = 64;
/// Policies of the array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether the erased superblock with the lowest erase count is written first.
    pub(crate) youngest_first: bool,
    /// Difference of erases at which cold data moves; `None` means never.
    pub(crate) wear_spread: Option<u32>,
    /// Host units that the write buffer holds back per frontier, so that they can be overwritten there.
    pub(crate) held_units: u32,
    /// Target number of erased superblocks for garbage collection while the host is idle; 0 disables idle
    /// garbage collection.
    pub(crate) erased_while_idle: u32,
    /// Whether the number of dies that erase simultaneously is limited. If so, the most recently erased
    /// superblock is written last.
    pub(crate) erases_in_turn: bool,
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
    /// Whether superblocks span all dies.
    #[state(skip = "from the configuration")]
    pub(crate) is_striped: bool,
    pub(crate) flash: Flash<S>,
    /// Mapping of logical units. Units of the mapping table follow those of the host.
    pub(crate) table: Table,
    /// Logical unit that owns each physical unit.
    #[state(sparse)]
    pub(crate) owners: Vec<u32>,
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
    /// Total number of superblock erases, including the initially erased superblocks.
    pub(crate) erasures: u64,
    /// Write frontiers: first those of the host, then those of garbage collection, then one wear leveling
    /// frontier per region.
    pub(crate) frontiers: Vec<Frontier>,
    #[state(skip = "from the configuration")]
    pub(crate) host_frontiers: usize,
    pub(crate) handles: Handles,
    /// Whether each superblock is open.
    pub(crate) is_open: Vec<bool>,
    /// Number of units that the host programmed since the last run of garbage collection, with superblocks
    /// that span all dies.
    unpaced: u32,
    /// Allocation of host pages to planes, if superblocks do not span all dies.
    pub(crate) allocation: PlaneAllocation,
    pub(crate) cleaner: Box<dyn Cleaner>,
    pub(crate) blocks: Blocks,
    pub(crate) slc: SlcCache,
    pub(crate) mapping: Option<Box<dyn MappingCache>>,
    pub(crate) programs: Programs,
    pub(crate) parity: OptionalPart<ParityUnits>,
    /// Whether the drive is read-only because too many blocks are worn out.
    pub(crate) is_worn_out: bool,
}

impl<S: Store> Array<S> {
    /// Creates an erased array with the garbage collection policy `cleaner`.
    pub(crate) fn new(
        geometry: Geometry,
        rules: Rules,
        store: S,
        cleaner: Box<dyn Cleaner>,
        blocks: Blocks,
        mapping: Option<Box<dyn MappingCache>>,
        (handles, allocation): (Handles, PlaneAllocation),
    ) -> Array<S> {
        let usable = blocks.usable();
        let partitions = partitions_by_region(&usable, &geometry);
        let count = partitions.iter().map(|partition| partition.count).sum();
        let by_region = geometry.regions as usize;
        let host_frontiers = handles.host_frontiers() * by_region;
        let of_cleaning = handles.cleaning_frontiers() * by_region;
        Array {
            flash: Flash::new(geometry.superblocks, geometry.units_per_superblock, store),
            table: Table::new(geometry.logical_units as usize + geometry.mapping_units as usize),
            owners: vec![0; geometry.numbers()],
            valid: vec![0; geometry.numbers() / 64],
            spare: SpareArea::new(if S::CARRIES_BYTES { geometry.numbers() } else { 0 }),
            order: vec![ABSENT; count],
            place_of: vec![ABSENT; geometry.superblocks as usize],
            places: vec![SegmentState::default(); count],
            partition_by_place: (0..).zip(&partitions).flat_map(|(it, of)| vec![it; of.count]).collect(),
            regions: partitions.iter().map(|of| Region::new(of.first..of.first + of.count)).collect(),
            partitions,
            erasures: 0,
            frontiers: vec![Frontier::NONE; host_frontiers + of_cleaning + by_region],
            host_frontiers,
            handles,
            is_open: vec![false; geometry.superblocks as usize],
            unpaced: 0,
            allocation,
            cleaner,
            blocks,
            slc: SlcCache::none(),
            mapping,
            programs: Programs::default(),
            parity: OptionalPart(geometry.stripes.map(|_| Box::default())),
            is_worn_out: false,
            is_striped: !geometry.has_regions(),
            rules,
            geometry,
        }
        .with_erased(&usable)
    }

    fn with_erased(mut self, superblocks: &[u32]) -> Array<S> {
        superblocks.iter().for_each(|&superblock| self.put_erased(superblock));
        self
    }

    /// Writes `bytes` of the host to `unit`. Returns `false` if the drive is read-only.
    #[inline]
    pub(crate) fn write<W: FlashOps>(&mut self, unit: u32, bytes: &[u8], work: &mut W) -> bool {
        let mut old = self.entry(unit);
        let frontier =
            if self.is_striped { self.handles.current() } else { self.frontier_of(unit, old, work) };
        if old != 0 && self.frontiers[frontier].holds(old - 1) {
            self.programs.coalesced += 1;
            self.flash.fill(old - 1, bytes);
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
        self.flash.fill(page, bytes);
        self.programs.host += 1;
        self.handles.count_written(page);
        if self.is_striped {
            self.partitions[0].drained += 1;
            self.count_pace(work);
        } else {
            let region = self.region_of_frontier(frontier);
            self.partitions[region].drained += 1;
            self.count_pace_of_plane(region, work);
        }
        true
    }

    /// Counts a unit that the host programmed, with superblocks that span all dies. Runs garbage collection
    /// if it is due.
    #[inline]
    fn count_pace<W: FlashOps>(&mut self, work: &mut W) {
        self.unpaced += 1;
        if self.unpaced == PACE {
            self.unpaced = 0;
            self.keep_pace(0, PACE, work);
        }
    }

    /// Location of `operation` of `superblock`.
    #[inline]
    pub(crate) fn spot(&self, superblock: u32, operation: u32) -> Spot {
        Spot { cells: self.slc.cells(superblock), ..self.geometry.spot(operation) }
    }

    /// Cell mode of `superblock`.
    #[inline]
    pub(crate) fn cells(&self, superblock: u32) -> Cells {
        self.slc.cells(superblock)
    }

    /// Unmaps `unit`.
    pub(crate) fn trim(&mut self, unit: u32) {
        let old = self.entry(unit);
        self.table.set(unit, 0, &self.owners);
        if S::CARRIES_BYTES {
            self.spare.trim(unit);
        }
        if old != 0 {
            self.invalidate(old - 1);
        }
    }

    /// Programs the changed page `page` of the mapping table, among the host data.
    pub(crate) fn write_mapping<W: FlashOps>(&mut self, page: u32, work: &mut W) {
        if self.mapping.as_ref().is_some_and(|mapping| mapping.merges()) {
            self.read_mapping(page, Cause::Mapping, work);
        }
        if self.geometry.has_regions() {
            return self.write_mapping_in_plane(page, work);
        }
        if self.room(0) == 0 && !self.next_superblock(0, work) {
            return;
        }
        self.append_mapping(page, 0, work);
        self.count_pace(work);
    }

    /// Programs page `page` of the mapping table in `frontier`, which has space.
    pub(crate) fn append_mapping<W: FlashOps>(&mut self, page: u32, frontier: usize, work: &mut W) {
        let unit = self.geometry.logical_units + page;
        let old = self.entry(unit);
        if old != 0 {
            self.invalidate(old - 1);
        }
        self.append(frontier, unit, Cause::Mapping, work);
        self.programs.mapping += 1;
    }

    /// The frontier for `unit`.
    fn frontier_of<W: FlashOps>(&mut self, unit: u32, old: u32, work: &mut W) -> usize {
        let handle = self.handles.current();
        let region = self.region_for(handle, unit, old, work);
        self.frontier_in(handle, region)
    }

    /// The page of `unit`, counted from 1, or 0 if the unit is unmapped.
    #[inline]
    pub(crate) fn entry(&self, unit: u32) -> u32 {
        self.table.get(unit, &self.owners)
    }

    /// Maps `owner` to `page`, which was just programmed.
    #[inline]
    pub(crate) fn own(&mut self, page: u32, owner: u32) {
        self.owners[page as usize] = owner;
        self.table.set(owner, page + 1, &self.owners);
        if S::CARRIES_BYTES {
            self.spare.program(page);
        }
    }

    /// Marks `count` pages of one superblock as valid, starting with `first`.
    #[inline]
    pub(crate) fn mark_valid(&mut self, first: u32, count: u32) {
        let (mut at, end) = (first, first + count);
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
    pub(crate) fn invalidate(&mut self, page: u32) {
        debug_assert!(self.is_valid(page), "unit {page} was valid");
        self.valid[page as usize / 64] &= !(1 << (page % 64));
        self.count_valid(page, u32::MAX);
    }

    /// Adds `more`, which may be -1, to the number of valid units in the superblock of `page`.
    #[inline]
    fn count_valid(&mut self, page: u32, more: u32) {
        let place = self.place_of[self.flash.block_of(page) as usize] as usize;
        let state = &mut self.places[place];
        state.live = state.live.wrapping_add(more);
        let partition = &mut self.partitions[self.partition_by_place[place] as usize];
        partition.live = partition.live.wrapping_add_signed(i64::from(more.cast_signed()));
    }

    /// Whether `page` is valid.
    #[inline]
    pub(crate) fn is_valid(&self, page: u32) -> bool {
        self.valid[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// Memory of all tables with one entry per unit after every unit was used, in bytes.
    #[cfg(test)]
    pub(crate) fn table_bytes(&self) -> u64 {
        let physical = self.geometry.physical_units();
        let places = self.places.len() * (size_of::<SegmentState>() + 12);
        self.table.bytes() + physical * 4 + physical.div_ceil(8) + places as u64 + self.blocks.bytes()
    }

    /// Number of superblocks per region that are needed for its data, the reserve, and one invalid unit per
    /// superblock.
    pub(crate) fn superblocks_needed(&self) -> u32 {
        let kept = self.geometry.reserve + self.geometry.open_for_handles;
        let units = self.geometry.units_of_region(self.table.len() as u32);
        kept + units.div_ceil(self.geometry.units_per_superblock - 1)
    }

    /// Whether the drive can store all its data without using the reserve.
    pub(crate) fn has_space(&self) -> bool {
        let needed = self.superblocks_needed();
        self.blocks.usable_counts().all(|usable| usable >= needed)
    }
}
