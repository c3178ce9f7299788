//! The flash array: positions of segments, their valid pages, and relocation.
//!
//! The array has no notion of time. A *segment* is an erase block across all chips of a bank. Segments have
//! positions, and positions form partitions: see [`crate::cleaning`]. Erased segments are spares.

use super::geometry::Geometry;
use super::page_table::{Location, PageTable};
use crate::cleaning::{Cleaner, Partition, SegmentState};
use nacre_kernel::state::{State, Value};
use nacre_media::flash::Flash;
use nacre_media::store::Store;
use prefetch_index::prefetch_index;
use std::collections::BTreeMap;

/// Logical page number and valid bit of each page of a segment.
pub(super) struct Owners {
    /// Logical page numbers, which are undefined for pages that are not programmed.
    pub(super) lpns: Box<[u32]>,
    /// Valid bits, one per page.
    pub(super) live: Box<[u64]>,
}

/// Numbers of programmed pages (by cause), cleanings, and wear swaps over the lifetime of the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Programs {
    pub(super) drained: u64,
    pub(super) cleaned: u64,
    pub(super) leveled: u64,
    pub(super) cleanings: u64,
    pub(super) swaps: u64,
    /// Number of programs that power losses interrupted.
    pub(super) lost: u64,
}

/// Role of a segment in its latest exchange. The value is the number of erases of the segment at the time of
/// the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Exchange {
    /// The segment was never exchanged.
    Never,
    /// The segment was more worn and received the data of the less worn segment.
    Rests(u32),
    /// The segment was less worn and received the data of the more worn segment.
    Rises(u32),
}

/// The flash array: segments, their positions, and the page table.
#[derive(State)]
#[state(after = "Self::rebuild")]
#[state(bound = "S: Store")]
pub(super) struct Array<S> {
    #[state(skip = "from the configuration")]
    pub(super) geometry: Geometry,
    pub(super) flash: Flash<S>,
    pub(super) table: PageTable,
    /// Owner tables by segment, or `None` for segments that were never programmed.
    #[state(skip = "they follow from the page table")]
    pub(super) owners: Vec<Option<Owners>>,
    /// Owner tables of erased segments. They are stored for reuse.
    #[state(skip = "memory to be used again")]
    pub(super) spare_owners: Vec<Owners>,
    /// Number of valid pages by segment.
    #[state(skip = "it follows from the page table")]
    pub(super) live: Vec<u32>,
    /// The segment at each position.
    pub(super) order: Vec<u32>,
    /// The position of each segment; for a segment being relocated, the position that it leaves.
    pub(super) position_of: Vec<u32>,
    pub(super) positions: Vec<SegmentState>,
    pub(super) partitions: Vec<Partition>,
    #[state(skip = "from the configuration")]
    partition_by_position: Vec<u32>,
    /// Erased segments. The last element is used next.
    #[state(varies)]
    pub(super) standby: Vec<u32>,
    /// Positions whose segment still receives the pages of its predecessor. The erased pages of the segment
    /// are reserved for these pages.
    #[state(varies)]
    pub(super) filling: Vec<u32>,
    /// Locations of the page versions from before the open transaction, by logical page.
    pub(super) shadows: BTreeMap<u32, Location>,
    pub(super) cleaner: Box<dyn Cleaner>,
    pub(super) programs: Programs,
    /// Number of pages programmed by the initial layout. These programs do not count as wear.
    pub(super) laid_out: u64,
    /// Latest exchange of each segment. See `wear_swap`.
    pub(super) exchanges: Vec<Exchange>,
}

impl<S: Store> Array<S> {
    /// An erased array that `cleaner` divides into partitions.
    pub(super) fn new(geometry: Geometry, store: S, cleaner: Box<dyn Cleaner>) -> Array<S> {
        let segments = geometry.segments;
        let count = (segments - geometry.spare_segments) as usize;
        let size = cleaner.partition_segments().map_or(count, |size| size as usize);
        let partitions: Vec<Partition> = (0..count)
            .step_by(size)
            .map(|first| Partition {
                first,
                count: size.min(count - first),
                active: first,
                ..Partition::default()
            })
            .collect();
        Array {
            flash: Flash::new(segments, geometry.pages_per_segment, store),
            table: PageTable::new(geometry.logical_pages, geometry.flash_pages()),
            owners: (0..segments).map(|_| None).collect(),
            spare_owners: Vec::new(),
            live: vec![0; segments as usize],
            order: (0..count as u32).collect(),
            position_of: (0..segments).collect(),
            positions: vec![SegmentState::default(); count],
            partition_by_position: (0..count).map(|position| (position / size) as u32).collect(),
            partitions,
            standby: (count as u32..segments).rev().collect(),
            filling: Vec::new(),
            shadows: BTreeMap::new(),
            cleaner,
            programs: Programs::default(),
            laid_out: 0,
            exchanges: vec![Exchange::Never; segments as usize],
            geometry,
        }
    }

    /// Programs the first `pages` logical pages in order, evenly over all positions.
    pub(super) fn lay_out(&mut self, pages: u64) {
        let count = self.positions.len() as u64;
        let mut lpn = 0;
        for position in 0..count {
            let end = pages * (position + 1) / count;
            let segment = self.order[position as usize];
            while lpn < end {
                let page = self.take_page_in(position as usize);
                debug_assert_eq!(self.flash.block_of(page), segment, "the segment of position {position}");
                self.settle(lpn as u32, page, position as usize);
                lpn += 1;
            }
        }
        self.laid_out = pages;
    }

    /// Partition to which page `lpn` belongs when all pages are in the order of their addresses.
    #[inline]
    pub(super) fn home_of(&self, lpn: u32) -> u32 {
        let position = u64::from(lpn) * self.positions.len() as u64 / self.geometry.logical_pages;
        self.partition_of(position as usize) as u32
    }

    /// The partition that contains `position`.
    #[inline]
    pub(super) fn partition_of(&self, position: usize) -> usize {
        self.partition_by_position[position] as usize
    }

    /// Number of erased pages in the active segment of `partition` that are available for drained pages.
    #[inline]
    pub(super) fn room(&self, partition: usize) -> u32 {
        let active = self.partitions[partition].active;
        if self.is_filling(active) {
            return 0;
        }
        self.geometry.pages_per_segment - self.positions[active].programmed
    }

    #[inline]
    pub(super) fn is_filling(&self, position: usize) -> bool {
        !self.filling.is_empty() && self.filling.contains(&(position as u32))
    }

    /// Destination partition of a page that belongs to `partition`. If all pages of `partition` are valid,
    /// cleaning it would gain no space. In this case, the destination is the nearest partition with an
    /// invalid or erased page.
    #[inline]
    pub(super) fn with_space(&self, partition: usize) -> usize {
        if self.has_space(partition) { partition } else { self.nearest_with_space(partition) }
    }

    #[inline]
    fn has_space(&self, partition: usize) -> bool {
        let Partition { count, live, .. } = self.partitions[partition];
        live < (count as u64) << self.geometry.page_shift()
    }

    #[cold]
    fn nearest_with_space(&self, partition: usize) -> usize {
        let with_space = (0..self.partitions.len()).filter(|&other| self.has_space(other));
        let nearest = with_space.min_by_key(|&other| other.abs_diff(partition));
        nearest.expect("less is live than the data segments hold")
    }

    /// If the active segment of `partition` is full, makes a segment with erased pages active. Returns false
    /// if the partition has no such segment, or if the active segment is the destination of a relocation.
    pub(super) fn find_room(&mut self, partition: usize) -> bool {
        if self.room(partition) > 0 {
            return true;
        }
        let Partition { first, count, active, .. } = self.partitions[partition];
        if self.is_filling(active) {
            return false;
        }
        let full = self.geometry.pages_per_segment;
        // Segments are filled in the order of their positions. The search resumes after the active segment.
        let behind = (active + 1..first + count).chain(first..active);
        let has_room =
            |&position: &usize| self.positions[position].programmed < full && !self.is_filling(position);
        let found = behind.into_iter().find(has_room);
        found.inspect(|&position| self.partitions[partition].active = position).is_some()
    }

    /// Reserves the next page of the active segment of `partition` for a program that starts now.
    #[inline]
    pub(super) fn take_page(&mut self, partition: usize) -> u32 {
        let position = self.partitions[partition].active;
        self.positions[position].programmed += 1;
        self.flash.program(self.order[position]) as u32
    }

    /// Maps logical page `lpn` to flash page `page`, which was just programmed.
    #[inline]
    pub(super) fn settle(&mut self, lpn: u32, page: u32, position: usize) {
        self.keep(lpn, page, position);
        self.table.set(lpn, Location::Flash(page));
    }

    /// Registers flash page `page`, which was just programmed, as a version of `lpn` that must be
    /// preserved.
    #[inline]
    pub(super) fn keep(&mut self, lpn: u32, page: u32, position: usize) {
        let segment = self.flash.block_of(page);
        self.own(segment, page, lpn);
        self.live[segment as usize] += 1;
        self.positions[position].live += 1;
        let partition = self.partition_of(position);
        self.partitions[partition].live += 1;
    }

    /// Marks page `page` of `segment` as a valid version of `lpn`.
    #[inline]
    pub(super) fn own(&mut self, segment: u32, page: u32, lpn: u32) {
        if self.owners[segment as usize].is_none() {
            self.owners[segment as usize] = Some(self.take_owners(segment));
        }
        let owners = self.owners[segment as usize].as_mut().expect("just made");
        let index = page as usize & (self.geometry.pages_per_segment as usize - 1);
        owners.lpns[index] = lpn;
        owners.live[index / 64] |= 1 << (index % 64);
    }

    /// Removes and returns the owners of `segment`. If the segment has no owners, the result has no valid
    /// page.
    #[inline]
    pub(super) fn take_owners(&mut self, segment: u32) -> Owners {
        let pages = self.geometry.pages_per_segment as usize;
        let owners = self.owners[segment as usize].take().or_else(|| self.spare_owners.pop());
        owners.unwrap_or_else(|| Owners {
            lpns: vec![0; pages].into(),
            live: vec![0; pages.div_ceil(64)].into(),
        })
    }

    /// Marks the version in physical page `page` as invalid.
    #[inline]
    pub(super) fn disown(&mut self, page: u32) {
        let segment = self.flash.block_of(page) as usize;
        let owners = self.owners[segment].as_mut().expect("a valid page has an owner");
        let index = page as usize & (self.geometry.pages_per_segment as usize - 1);
        debug_assert!(owners.live[index / 64] >> (index % 64) & 1 == 1, "page {page} was live");
        owners.live[index / 64] &= !(1 << (index % 64));
        self.live[segment] -= 1;
    }

    /// Marks the version in `page` as invalid.
    #[inline]
    pub(super) fn invalidate(&mut self, page: u32) {
        self.disown(page);
        let position = self.position_of[self.flash.block_of(page) as usize] as usize;
        self.positions[position].live -= 1;
        let partition = self.partition_of(position);
        self.partitions[partition].live -= 1;
    }

    /// The logical page with a valid version in `page`, if any.
    #[inline]
    pub(super) fn owner(&self, page: u32) -> Option<u32> {
        let owners = self.owners[self.flash.block_of(page) as usize].as_ref()?;
        let index = page as usize & (self.geometry.pages_per_segment as usize - 1);
        (owners.live[index / 64] >> (index % 64) & 1 == 1).then(|| owners.lpns[index])
    }

    /// Prefetches the owner of `page`.
    #[inline]
    pub(super) fn prefetch_owner(&self, page: u32) {
        if let Some(owners) = &self.owners[self.flash.block_of(page) as usize] {
            let index = page as usize & (self.geometry.pages_per_segment as usize - 1);
            prefetch_index(&owners.live, index / 64);
            prefetch_index(&owners.lpns, index);
        }
    }

    /// Partition that contains flash page `page`. If the page is copied into the write buffer, it is drained
    /// to this partition again.
    #[inline]
    pub(super) fn origin_of(&self, page: u32) -> u32 {
        let position = self.position_of[self.flash.block_of(page) as usize];
        self.partition_of(position as usize) as u32
    }

    /// Host memory used by the page tables, in bytes.
    #[cfg(test)]
    pub(super) fn table_bytes(&self) -> usize {
        let owners = self.owners.iter().flatten().chain(&self.spare_owners);
        let owners: usize = owners.map(|owners| owners.lpns.len() * 4 + owners.live.len() * 8).sum();
        self.table.bytes()
            + owners
            + self.positions.len() * size_of::<SegmentState>()
            + self.owners.len() * 48
    }

    /// Panics if the state is inconsistent.
    pub(super) fn check_invariants(&self) {
        let mut by_position = vec![0_u32; self.positions.len()];
        for (segment, owners) in self.owners.iter().enumerate() {
            let live =
                owners.as_ref().map_or(0, |owners| owners.live.iter().map(|word| word.count_ones()).sum());
            assert_eq!(live, self.live[segment], "valid pages of segment {segment}");
            if live > 0 {
                by_position[self.position_of[segment] as usize] += live;
            }
        }
        for (position, state) in self.positions.iter().enumerate() {
            assert_eq!(state.live, by_position[position], "valid pages in position {position}");
            let segment = self.order[position] as usize;
            assert_eq!(state.programmed, self.flash.blocks()[segment].programmed, "position {position}");
            assert_eq!(self.position_of[segment] as usize, position, "the segment in position {position}");
        }
        for (index, partition) in self.partitions.iter().enumerate() {
            let positions = partition.first..partition.first + partition.count;
            let live: u64 =
                self.positions[positions.clone()].iter().map(|position| u64::from(position.live)).sum();
            assert_eq!(live, partition.live, "valid pages in partition {index}");
            assert!(positions.contains(&partition.active), "the active segment of partition {index}");
        }
        let (mut mapped, mut shadowed) = (0_u64, 0_u64);
        for (lpn, location) in self.table.mapped() {
            if let Location::Flash(page) = location {
                assert_eq!(self.owner(page), Some(lpn), "the owner of page {page}");
                mapped += 1;
            }
        }
        for (&lpn, &location) in &self.shadows {
            if let Location::Flash(page) = location {
                assert_eq!(self.owner(page), Some(lpn), "the owner of the shadow in page {page}");
                shadowed += 1;
            }
        }
        let live: u64 = self.live.iter().map(|&live| u64::from(live)).sum();
        assert_eq!(live, mapped + shadowed, "every valid page is mapped or a shadow");
        for &segment in &self.standby {
            assert_eq!(self.flash.blocks()[segment as usize].programmed, 0, "segment {segment} stands by");
        }
    }
}
