//! The flash array: which unit of data is where, and which of its old places are free to be cleaned.
//!
//! It knows no time: what the flash has to do is told to a [`FlashOps`].
//!
//! The mapping table says where each logical unit is, four bytes and a bit whose each physical unit is. All arrays are
//! flat and zero until touched, so that memory follows what was written.

use crate::book::Programs;
use crate::ftl::mapping_cache::MappingCache;
use crate::ftl::parts::blocks::Blocks;
use crate::ftl::parts::frontier::{Frontier, NOBODY};
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
use nacre_controller::cleaning::{Cleaner, Partition, Place};
use nacre_kernel::state::State;
use nacre_media::flash::Flash;
use nacre_media::store::Store;

/// Units the host programs between two looks at what cleaning has to do.
const PACE: u32 = 64;
/// How the array is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The erased superblock with the fewest erases is filled first.
    pub(crate) youngest_first: bool,
    /// Difference of erases from which cold data moves; 0 is never.
    pub(crate) wear_spread: u32,
    /// Units of the host's data that stay in the write buffer of each of its frontiers to be changed there.
    pub(crate) held_units: u32,
    /// Erased superblocks up to which cleaning continues while the host is quiet; 0 if it does not.
    pub(crate) erased_while_idle: u32,
    /// Dies wait for their turn to erase: the superblock erased last is filled last.
    pub(crate) erases_in_turn: bool,
}

/// Superblocks of flash, and what is in them.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(crate) struct Array<S> {
    #[state(skip = "from the configuration")]
    pub(crate) geometry: Geometry,
    #[state(skip = "from the configuration")]
    pub(crate) rules: Rules,
    /// Whether superblocks lie over all dies.
    #[state(skip = "from the configuration")]
    pub(crate) is_striped: bool,
    pub(crate) flash: Flash<S>,
    /// Of logical units, those of the mapping table behind the host's.
    pub(crate) table: Table,
    /// By physical unit.
    #[state(sparse)]
    pub(crate) owners: Vec<u32>,
    /// Kept where there are bytes.
    pub(crate) spare: SpareArea,
    /// One bit for each physical unit.
    #[state(sparse)]
    pub(crate) live: Vec<u64>,
    /// The superblock in each place.
    pub(crate) order: Vec<u32>,
    pub(crate) place_of: Vec<u32>,
    pub(crate) places: Vec<Place>,
    pub(crate) partitions: Vec<Partition>,
    #[state(skip = "from the configuration")]
    pub(crate) partition_by_place: Vec<u32>,
    pub(crate) regions: Vec<Region>,
    /// Superblocks erased so far, those erased from the start included.
    pub(crate) erasures: u64,
    /// Those of the host come first; the last are those of wear leveling, one in each region.
    pub(crate) frontiers: Vec<Frontier>,
    #[state(skip = "from the configuration")]
    pub(crate) host_frontiers: usize,
    pub(crate) handles: Handles,
    /// By superblock: whether it is one of the frontiers.
    pub(crate) is_open: Vec<bool>,
    /// Units the host has programmed that cleaning has not kept pace with yet, where superblocks lie over all dies.
    unpaced: u32,
    /// Where pages of the host go that no superblock over all dies takes.
    pub(crate) allocation: PlaneAllocation,
    pub(crate) cleaner: Box<dyn Cleaner>,
    pub(crate) blocks: Blocks,
    pub(crate) slc: SlcCache,
    pub(crate) mapping: Option<Box<dyn MappingCache>>,
    pub(crate) programs: Programs,
    pub(crate) parity: OptionalPart<ParityUnits>,
    /// Too many blocks are worn out: nothing can be written any more.
    pub(crate) is_worn_out: bool,
}

impl<S: Store> Array<S> {
    /// An erased array under `cleaner`.
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
            live: vec![0; geometry.numbers() / 64],
            spare: SpareArea::new(if S::CARRIES_BYTES { geometry.numbers() } else { 0 }),
            order: vec![NOBODY; count],
            place_of: vec![NOBODY; geometry.superblocks as usize],
            places: vec![Place::default(); count],
            partition_by_place: (0..).zip(&partitions).flat_map(|(it, of)| vec![it; of.count]).collect(),
            regions: match geometry.is_by_plane() {
                true => partitions.iter().map(|of| Region::new(of.first..of.first + of.count)).collect(),
                false => vec![Region::new(0..count)],
            },
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
            is_striped: !geometry.is_by_plane(),
            rules,
            geometry,
        }
        .with_erased(&usable)
    }

    fn with_erased(mut self, superblocks: &[u32]) -> Array<S> {
        superblocks.iter().for_each(|&superblock| self.put_erased(superblock));
        self
    }

    /// The host writes `bytes` to unit `unit`; `false` where nothing can be written any more.
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
            // Making room may have moved it.
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

    /// The host has programmed one unit more, where superblocks lie over all dies.
    #[inline]
    fn count_pace<W: FlashOps>(&mut self, work: &mut W) {
        self.unpaced += 1;
        if self.unpaced == PACE {
            self.unpaced = 0;
            self.keep_pace(0, PACE, work);
        }
    }

    /// Where `operation` of `superblock` lies.
    #[inline]
    pub(crate) fn spot(&self, superblock: u32, operation: u32) -> Spot {
        Spot { cells: self.slc.cells(superblock), ..self.geometry.spot(operation) }
    }

    /// How the cells of `superblock` are used.
    #[inline]
    pub(crate) fn cells(&self, superblock: u32) -> Cells {
        self.slc.cells(superblock)
    }

    /// The host no longer needs unit `unit`.
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

    /// Page `page` of the mapping table is programmed anew, next to the host's data.
    pub(crate) fn write_mapping<W: FlashOps>(&mut self, page: u32, work: &mut W) {
        if self.mapping.as_ref().is_some_and(|mapping| mapping.merges()) {
            self.read_mapping(page, Cause::Mapping, work);
        }
        if self.geometry.is_by_plane() {
            return self.write_mapping_in_plane(page, work);
        }
        if self.room(0) == 0 && !self.next_superblock(0, work) {
            return;
        }
        self.append_mapping(page, 0, work);
        self.count_pace(work);
    }

    /// The same, into `frontier`, which has room.
    pub(crate) fn append_mapping<W: FlashOps>(&mut self, page: u32, frontier: usize, work: &mut W) {
        let unit = self.geometry.logical_units + page;
        let old = self.entry(unit);
        if old != 0 {
            self.invalidate(old - 1);
        }
        self.append(frontier, unit, Cause::Mapping, work);
        self.programs.mapping += 1;
    }

    /// The frontier of the region that takes `unit`.
    fn frontier_of<W: FlashOps>(&mut self, unit: u32, old: u32, work: &mut W) -> usize {
        let handle = self.handles.current();
        let region = self.region_for(handle, unit, old, work);
        self.frontier_in(handle, region)
    }

    /// The page of `unit`, counted from 1; 0 if it is nowhere.
    #[inline]
    pub(crate) fn entry(&self, unit: u32) -> u32 {
        self.table.get(unit, &self.owners)
    }

    /// `page`, just programmed, holds the newest version of `owner`.
    #[inline]
    pub(crate) fn own(&mut self, page: u32, owner: u32) {
        self.owners[page as usize] = owner;
        self.table.set(owner, page + 1, &self.owners);
        if S::CARRIES_BYTES {
            self.spare.program(page);
        }
    }

    /// So many pages of one superblock from `first` on, just programmed, hold newest versions.
    #[inline]
    pub(crate) fn enliven(&mut self, first: u32, count: u32) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let word = at / 64;
            let next = end.min((word + 1) * 64);
            self.live[word as usize] |= (u64::MAX >> (64 - (next - at))) << (at % 64);
            at = next;
        }
        self.count_live(first, count);
    }

    /// What is in `page` is not the newest version any more.
    #[inline]
    pub(crate) fn invalidate(&mut self, page: u32) {
        debug_assert!(self.is_live(page), "unit {page} was live");
        self.live[page as usize / 64] &= !(1 << (page % 64));
        self.count_live(page, u32::MAX);
    }

    /// So many live units more or, with -1, less, where `page` lies.
    #[inline]
    fn count_live(&mut self, page: u32, more: u32) {
        let place = self.place_of[self.flash.block_of(page) as usize] as usize;
        let state = &mut self.places[place];
        state.live = state.live.wrapping_add(more);
        let partition = &mut self.partitions[self.partition_by_place[place] as usize];
        partition.live = partition.live.wrapping_add_signed(i64::from(more.cast_signed()));
    }

    /// Whether `page` holds the newest version of something.
    #[inline]
    pub(crate) fn is_live(&self, page: u32) -> bool {
        self.live[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// Bytes that tables by unit take in the memory of the simulation once every unit was touched.
    #[cfg(test)]
    pub(crate) fn table_bytes(&self) -> u64 {
        let physical = self.geometry.physical_units();
        let places = self.places.len() * (size_of::<Place>() + 12);
        self.table.bytes() + physical * 4 + physical.div_ceil(8) + places as u64 + self.blocks.bytes()
    }

    /// Superblocks of a region that its data and the reserve take, with a unit in each that is not live.
    pub(crate) fn superblocks_needed(&self) -> u32 {
        let kept = self.geometry.reserve + self.geometry.open_for_handles;
        let units = self.geometry.units_of_region(self.table.len() as u32);
        kept + units.div_ceil(self.geometry.units_per_superblock - 1)
    }

    /// Whether the drive has room for all its data when the reserve is left alone.
    pub(crate) fn has_space(&self) -> bool {
        let needed = self.superblocks_needed();
        self.blocks.usable_counts().all(|usable| usable >= needed)
    }
}
