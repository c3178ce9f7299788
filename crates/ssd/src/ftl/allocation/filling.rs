//! Programming of open superblocks.

use crate::ftl::array::Array;
use crate::ftl::parts::regions::Frontier;
use crate::layout::geometry::Cells;
use crate::ops::{Cause, FlashOps, Untimed};
use crate::superblocks::ABSENT;
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Returns the number of free units in `frontier`.
    #[inline]
    pub(crate) fn room(&self, frontier: usize) -> u32 {
        let open = &self.frontiers[frontier];
        open.units - open.taken
    }

    /// Returns whether the unit in `page` is in the write buffer and has not been issued to the flash.
    #[inline]
    pub(crate) fn is_held(&self, page: u64) -> bool {
        self.is_open[self.pool.flash.block_of(page) as usize] && self.is_in_frontier(page)
    }

    #[inline(never)]
    fn is_in_frontier(&self, page: u64) -> bool {
        self.frontiers.iter().any(|frontier| frontier.holds(page))
    }

    /// Allocates a unit of `frontier` to `owner` and returns its page number. The frontier must have space.
    #[inline]
    pub(crate) fn append<W: FlashOps>(
        &mut self,
        frontier: usize,
        owner: u64,
        cause: Cause,
        work: &mut W,
    ) -> u64 {
        let page = self.take(frontier, 1);
        self.own(page, owner);
        self.issue_complete(frontier, cause, work);
        page
    }

    /// Returns the number of units until the open operation of `frontier` is full. The frontier must have
    /// space.
    #[inline]
    pub(crate) fn until_complete(&self, frontier: usize) -> u32 {
        let open = &self.frontiers[frontier];
        open.operation_end - open.taken
    }

    /// Allocates up to `count` units of `frontier`, but not beyond the end of the open operation. Returns
    /// the number of the first unit. The caller then sets the owners with [`Array::own`] and calls
    /// [`Array::issue_complete`].
    #[inline]
    pub(crate) fn take(&mut self, frontier: usize, count: u32) -> u64 {
        let open = &mut self.frontiers[frontier];
        open.taken += count;
        let first = self.pool.flash.program_run(open.superblock, count);
        self.mark_valid(first, count);
        first
    }

    /// Ends the open operation of `frontier` if it is full. Issues the operation unless the buffer holds it
    /// back for overwrites.
    #[inline]
    pub(crate) fn issue_complete<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let open = &mut self.frontiers[frontier];
        if open.taken == open.operation_end {
            open.operation_end += self.geometry.operation_units;
            self.issue_beyond(frontier, self.held_units(frontier), cause, work);
        }
    }

    /// Issues full operations of `frontier`, oldest first, while the buffer holds more than `held` of its
    /// units. If an operation completes its stripe, the parity of the stripe is issued next.
    #[inline]
    fn issue_beyond<W: FlashOps>(&mut self, frontier: usize, held: u32, cause: Cause, work: &mut W) {
        let (units, step) = (self.geometry.operation_units, self.geometry.operation_step);
        let is_mixed = frontier < self.host_frontiers;
        loop {
            let open = &mut self.frontiers[frontier];
            if open.issued + units > open.taken || open.taken - open.issued <= held {
                return;
            }
            let open = *open;
            let omitted = if is_mixed { self.omitted(&open) } else { 0 };
            work.program(open.superblock, open.next_operation, open.cells, cause, is_mixed, omitted);
            let open = &mut self.frontiers[frontier];
            open.issued += units;
            open.next_operation = match step {
                0 => self.geometry.operation_of(open.superblock, open.issued),
                step => open.next_operation + step,
            };
            if self.geometry.stripes.is_some() {
                self.end_stripe(frontier, cause, work);
            }
        }
    }

    /// Returns the number of bytes of the next operation of `open` that were never written. Copies and units
    /// that are no longer valid count as completely written.
    #[inline]
    fn omitted(&self, open: &Frontier) -> u64 {
        if self.partial.is_empty() {
            return 0;
        }
        let first = open.base + u64::from(open.issued);
        let valid =
            (first..first + u64::from(self.geometry.operation_units)).filter(|&page| self.is_valid(page));
        valid.map(|page| u64::from(self.partial.unwritten(self.owners.get(page as usize)))).sum()
    }

    /// Returns the number of units of `frontier` that the buffer holds back.
    #[inline]
    pub(crate) fn held_units(&self, frontier: usize) -> u32 {
        if frontier < self.host_frontiers { self.rules.held_units } else { 0 }
    }

    /// Closes the superblock of `frontier`, and issues its buffered units to the flash.
    pub(crate) fn seal<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let open = self.frontiers[frontier];
        if open.superblock == ABSENT {
            return;
        }
        self.issue_beyond(frontier, 0, cause, work);
        self.seal_stripe(frontier, cause, work);
        let place = self.place_of[open.superblock as usize] as usize;
        let erases = self.pool.flash.blocks()[open.superblock as usize].erases;
        let state = &mut self.places[place];
        // The erase recovers the space that SLC mode or an early close left unused.
        (state.programmed, state.erases) = (self.geometry.units_per_superblock, erases);
        state.cleaned_at = self.pool.programs.host;
        if frontier < self.host_frontiers {
            state.written_at = self.pool.programs.host;
            self.handles.count_changed(frontier, open.taken == open.units);
        }
        self.frontiers[frontier] = Frontier::NONE;
        self.is_open[open.superblock as usize] = false;
    }

    /// Issues the host data in the buffer. A partial operation is padded.
    pub(crate) fn flush<W: FlashOps>(&mut self, work: &mut W) {
        for frontier in 0..self.host_frontiers {
            self.pad(frontier);
            self.issue_beyond(frontier, 0, Cause::Host, work);
        }
    }

    /// Discards the buffer after a power loss. Each frontier continues with a new operation.
    pub(crate) fn empty_buffer(&mut self) {
        for frontier in 0..self.frontiers.len() {
            self.pad(frontier);
            self.issue_beyond(frontier, 0, Cause::Host, &mut Untimed);
        }
    }

    /// Returns the number of full or partial operations in the buffer.
    pub(crate) fn held_operations(&self) -> u64 {
        let held = |open: &Frontier| (open.taken - open.issued).div_ceil(self.geometry.operation_units);
        self.frontiers.iter().map(|open| u64::from(held(open))).sum()
    }

    /// Returns the largest number of buffered operations, including parity, on a single die.
    pub(crate) fn held_rounds(&self) -> u64 {
        let dies = self.geometry.dies_of_superblock();
        let mut of_dies = vec![0; (self.geometry.dies / dies) as usize];
        for (number, open) in self.frontiers.iter().enumerate() {
            let first = self.geometry.die_of(self.region_of_frontier(number));
            let held = (open.taken - open.issued).div_ceil(self.geometry.operation_units);
            of_dies[(first / dies) as usize] += u64::from(held) + self.held_parities_of(open);
        }
        of_dies.into_iter().max().unwrap_or(0).div_ceil(u64::from(dies))
    }

    /// Pads the partial operation of `frontier`.
    pub(crate) fn pad(&mut self, frontier: usize) {
        let units = self.geometry.operation_units;
        let open = &mut self.frontiers[frontier];
        if open.superblock == ABSENT {
            return;
        }
        while !open.taken.is_multiple_of(units) {
            open.taken += 1;
            self.pool.flash.program(open.superblock);
            self.pool.programs.padding += 1;
        }
        open.operation_end = open.taken + units;
    }

    /// Opens the erased `superblock` in slot `place` for `frontier`.
    pub(crate) fn open(&mut self, frontier: usize, superblock: u32, place: usize) {
        self.order[place] = superblock;
        self.place_of[superblock as usize] = place as u32;
        self.places[place].programmed = 0;
        self.is_open[superblock as usize] = true;
        self.handles.open(frontier, self.frontiers.len(), superblock);
        // While enough superblocks are erased, host data may use a superblock in SLC mode.
        let is_cached = frontier < self.host_frontiers
            && self.slc.has_room()
            && self.pool.erased_count(self.region_of_frontier(frontier)) > self.geometry.reserve as usize;
        let (units, cells) = match is_cached {
            true => (self.slc.open(superblock), Cells::Single),
            false => (self.geometry.units_per_superblock, Cells::Full),
        };
        self.frontiers[frontier] = Frontier::at(superblock, units, cells, &self.geometry);
        if frontier < self.host_frontiers {
            self.partitions[self.partition_by_place[place] as usize].active = place;
        }
    }
}
