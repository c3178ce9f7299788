//! What fills the frontiers.

use crate::ftl::array::Array;
use crate::ftl::parts::frontier::{Frontier, NOBODY};
use crate::layout::geometry::Cells;
use crate::ops::{Cause, FlashOps, Untimed};
use nacre_media::store::Store;

impl<S: Store> Array<S> {
    /// Units that `frontier` can still take.
    #[inline]
    pub(crate) fn room(&self, frontier: usize) -> u32 {
        let open = &self.frontiers[frontier];
        open.units - open.taken
    }

    /// Whether what is in `page` is in the write buffer: taken, but not on its way to the flash.
    #[inline]
    pub(crate) fn is_held(&self, page: u32) -> bool {
        self.is_open[self.flash.block_of(page) as usize] && self.is_in_frontier(page)
    }

    #[inline(never)]
    fn is_in_frontier(&self, page: u32) -> bool {
        self.frontiers.iter().any(|frontier| frontier.holds(page))
    }

    /// The next unit of `frontier`, which has room, is to hold `owner`; gives its number.
    #[inline]
    pub(crate) fn append<W: FlashOps>(
        &mut self,
        frontier: usize,
        owner: u32,
        cause: Cause,
        work: &mut W,
    ) -> u32 {
        let page = self.take(frontier, 1);
        self.own(page, owner);
        self.issue_complete(frontier, cause, work);
        page
    }

    /// Units that `frontier`, which has room, takes until the operation that is being filled is full.
    #[inline]
    pub(crate) fn until_complete(&self, frontier: usize) -> u32 {
        let open = &self.frontiers[frontier];
        open.operation_end - open.taken
    }

    /// Takes the next units of `frontier`, no more than until an operation is full; gives the number of the first.
    /// [`Array::own`] says whose each is, and then [`Array::issue_complete`] is to be called.
    #[inline]
    pub(crate) fn take(&mut self, frontier: usize, count: u32) -> u32 {
        let open = &mut self.frontiers[frontier];
        open.taken += count;
        let first = self.flash.program_run(open.superblock, count);
        self.enliven(first, count);
        first
    }

    /// An operation of `frontier` that is full is issued, as far as the buffer does not hold it.
    #[inline]
    pub(crate) fn issue_complete<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let open = &self.frontiers[frontier];
        if open.taken == open.operation_end {
            self.complete_operation(frontier, cause, work);
        }
    }

    /// An operation of `frontier` is full: it, or one before it that the buffer held until now, goes to the
    /// flash.
    #[inline]
    fn complete_operation<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        if self.geometry.stripes.is_some() {
            return self.complete_in_stripe(frontier, cause, work);
        }
        let (units, step) = (self.geometry.operation_units, self.geometry.operation_step);
        let is_mixed = frontier < self.host_frontiers;
        let held = self.held_units(frontier);
        let open = &mut self.frontiers[frontier];
        open.operation_end += units;
        while open.issued + units <= open.taken && open.taken - open.issued > held {
            work.program(open.superblock, open.next_operation, open.cells, cause, is_mixed);
            open.issued += units;
            open.next_operation += step;
        }
    }

    /// Units that the buffer keeps back of what `frontier` takes.
    #[inline]
    pub(crate) fn held_units(&self, frontier: usize) -> u32 {
        if frontier < self.host_frontiers { self.rules.held_units } else { 0 }
    }

    /// The superblock of `frontier` takes no more: what the buffer holds of it goes to the flash.
    pub(crate) fn seal<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let open = self.frontiers[frontier];
        if open.superblock == NOBODY {
            return;
        }
        self.issue_all(frontier, cause, work);
        if self.geometry.stripes.is_some() {
            self.seal_stripe(frontier, cause, work);
        }
        let place = self.place_of[open.superblock as usize] as usize;
        let erases = self.flash.blocks()[open.superblock as usize].erases;
        let state = &mut self.places[place];
        // What cells of one bit do not hold, or what was left empty, is gained when it is erased.
        (state.programmed, state.erases) = (self.geometry.units_per_superblock, erases);
        state.cleaned_at = self.programs.host;
        if frontier < self.host_frontiers {
            state.written_at = self.programs.host;
        }
        self.frontiers[frontier] = Frontier::NONE;
        self.is_open[open.superblock as usize] = false;
    }

    /// Every full operation of `frontier` goes to the flash.
    fn issue_all<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        if self.geometry.stripes.is_some() {
            return self.issue_stripes(frontier, 0, cause, work);
        }
        let (units, step) = (self.geometry.operation_units, self.geometry.operation_step);
        let is_mixed = frontier < self.host_frontiers;
        let open = &mut self.frontiers[frontier];
        while open.issued + units <= open.taken {
            work.program(open.superblock, open.next_operation, open.cells, cause, is_mixed);
            open.issued += units;
            open.next_operation += step;
        }
    }

    /// What the buffer holds of the host's data goes to the flash; an operation that is not full is padded.
    pub(crate) fn flush<W: FlashOps>(&mut self, work: &mut W) {
        for frontier in 0..self.host_frontiers {
            self.pad(frontier);
            self.issue_all(frontier, Cause::Host, work);
        }
    }

    /// The power is gone: the buffer holds nothing any more, and what is filled next is a new operation.
    pub(crate) fn empty_buffer(&mut self) {
        for frontier in 0..self.frontiers.len() {
            self.pad(frontier);
            self.issue_all(frontier, Cause::Host, &mut Untimed);
        }
    }

    /// Operations, full or not, that the buffer holds.
    pub(crate) fn held_operations(&self) -> u64 {
        let held = |open: &Frontier| (open.taken - open.issued).div_ceil(self.geometry.operation_units);
        self.frontiers.iter().map(|open| u64::from(held(open))).sum()
    }

    /// How often the die that has most of them programs one of the operations that the buffer holds.
    pub(crate) fn held_rounds(&self) -> u64 {
        if !self.geometry.is_by_plane() {
            return (self.held_operations() + self.held_parities()).div_ceil(u64::from(self.geometry.dies));
        }
        let mut of_die = vec![0; self.geometry.dies as usize];
        for (number, open) in self.frontiers.iter().enumerate() {
            let die = self.geometry.die_of(self.region_of_frontier(number));
            of_die[die as usize] +=
                u64::from((open.taken - open.issued).div_ceil(self.geometry.operation_units));
        }
        of_die.into_iter().max().unwrap_or(0)
    }

    /// Pads the operation that is being filled in `frontier`.
    pub(crate) fn pad(&mut self, frontier: usize) {
        let units = self.geometry.operation_units;
        let open = &mut self.frontiers[frontier];
        if open.superblock == NOBODY {
            return;
        }
        while !open.taken.is_multiple_of(units) {
            open.taken += 1;
            self.flash.program(open.superblock);
            self.programs.padding += 1;
        }
        open.operation_end = open.taken + units;
    }

    /// Opens superblock `superblock`, which is erased, in `place` for `frontier`.
    pub(crate) fn open(&mut self, frontier: usize, superblock: u32, place: usize) {
        self.order[place] = superblock;
        self.place_of[superblock as usize] = place as u32;
        self.places[place].programmed = 0;
        self.is_open[superblock as usize] = true;
        self.handles.open(frontier, self.frontiers.len(), superblock);
        // While erased superblocks abound the host may fill one with a bit to a cell.
        let is_cached = frontier < self.host_frontiers
            && self.slc.has_room()
            && self.regions[self.region_of_frontier(frontier)].erased.len() > self.geometry.reserve as usize;
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
