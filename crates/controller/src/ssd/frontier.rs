//! Frontiers: the superblocks that are being filled, and what fills them.

use super::array::{Array, NOBODY};
use super::geometry::Geometry;
use super::slc_cache::Cells;
use nacre_kernel::state::Value;
use nacre_media::store::Store;

/// Why a page is programmed or read by the drive itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Cause {
    /// Data of the host.
    Host,
    /// Live data moves to make erased space.
    Cleaning,
    /// Data moves so that blocks wear evenly.
    Wear,
    /// A page of the mapping table.
    Mapping,
}

/// What the flash has to do for a change of state. The array knows no time; whoever keeps it listens here.
pub(super) trait FlashOps {
    /// An operation is programmed; `cause` is that of its last unit, and others of it may be the host's where it
    /// `is_mixed`.
    fn program(&mut self, superblock: u32, operation: u32, cells: Cells, cause: Cause, is_mixed: bool);

    /// So many units of one operation are read, to be copied or looked into.
    fn read(&mut self, operation: u32, cells: Cells, units: u32, cause: Cause);

    /// Every block of `superblock` is erased.
    fn erase(&mut self, superblock: u32);
}

/// Nobody listens: state changes in no time.
pub(super) struct Untimed;

impl FlashOps for Untimed {
    #[inline]
    fn program(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _cause: Cause, _is_mixed: bool) {}

    #[inline]
    fn read(&mut self, _operation: u32, _cells: Cells, _units: u32, _cause: Cause) {}

    fn erase(&mut self, _superblock: u32) {}
}

/// A superblock that is being filled.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Frontier {
    pub(super) superblock: u32,
    /// Number of its first unit.
    pub(super) base: u32,
    /// Units it can take.
    pub(super) units: u32,
    cells: Cells,
    /// Units taken.
    pub(super) taken: u32,
    /// Units of operations that went to the flash; those behind are in the write buffer.
    pub(super) issued: u32,
    /// Where the operation that is being filled ends.
    operation_end: u32,
    /// The operation that goes to the flash next.
    next_operation: u32,
}

impl Frontier {
    /// Nothing is open.
    pub(super) const NONE: Frontier = Frontier {
        superblock: NOBODY,
        base: 0,
        units: 0,
        cells: Cells::Full,
        taken: 0,
        issued: 0,
        operation_end: 0,
        next_operation: 0,
    };

    fn at(superblock: u32, units: u32, cells: Cells, geometry: &Geometry) -> Frontier {
        Frontier {
            superblock,
            base: superblock << geometry.shift,
            units,
            cells,
            taken: 0,
            issued: 0,
            operation_end: geometry.operation_units,
            next_operation: 0,
        }
    }

    /// Whether `page` is taken and still in the write buffer.
    #[inline]
    pub(super) fn holds(&self, page: u32) -> bool {
        page.wrapping_sub(self.base + self.issued) < self.taken - self.issued
    }
}

impl<S: Store> Array<S> {
    /// Units that `frontier` can still take.
    #[inline]
    pub(super) fn room(&self, frontier: usize) -> u32 {
        let open = &self.frontiers[frontier];
        open.units - open.taken
    }

    /// Whether what is in `page` is in the write buffer: taken, but not on its way to the flash.
    #[inline]
    pub(super) fn is_held(&self, page: u32) -> bool {
        self.is_open[self.flash.block_of(page) as usize] && self.is_in_frontier(page)
    }

    #[inline(never)]
    fn is_in_frontier(&self, page: u32) -> bool {
        self.frontiers.iter().any(|frontier| frontier.holds(page))
    }

    /// The next unit of `frontier`, which has room, is to hold `owner`; gives its number.
    #[inline]
    pub(super) fn append<W: FlashOps>(
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
    pub(super) fn until_complete(&self, frontier: usize) -> u32 {
        let open = &self.frontiers[frontier];
        open.operation_end - open.taken
    }

    /// Takes the next units of `frontier`, no more than until an operation is full; gives the number of the first.
    /// [`Array::own`] says whose each is, and then [`Array::issue_complete`] is to be called.
    #[inline]
    pub(super) fn take(&mut self, frontier: usize, count: u32) -> u32 {
        let open = &mut self.frontiers[frontier];
        open.taken += count;
        let first = self.flash.program_run(open.superblock, count);
        self.enliven(first, count);
        first
    }

    /// An operation of `frontier` that is full is issued, as far as the buffer does not hold it.
    #[inline]
    pub(super) fn issue_complete<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let open = &self.frontiers[frontier];
        if open.taken == open.operation_end {
            self.complete_operation(frontier, cause, work);
        }
    }

    /// An operation of `frontier` is full: it, or one before it that the buffer held until now, goes to the
    /// flash.
    #[inline]
    fn complete_operation<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let units = self.geometry.operation_units;
        let is_mixed = frontier < self.host_frontiers;
        let held = if is_mixed { self.rules.held_units } else { 0 };
        let open = &mut self.frontiers[frontier];
        open.operation_end += units;
        while open.issued + units <= open.taken && open.taken - open.issued > held {
            work.program(open.superblock, open.next_operation, open.cells, cause, is_mixed);
            open.issued += units;
            open.next_operation += 1;
        }
    }

    /// The superblock of `frontier` is full: what the buffer holds of it goes to the flash.
    pub(super) fn seal<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let open = self.frontiers[frontier];
        if open.superblock == NOBODY {
            return;
        }
        self.issue_all(frontier, cause, work);
        let place = self.place_of[open.superblock as usize] as usize;
        // What cells of one bit do not hold is gained when they are erased.
        let programmed = match open.cells {
            Cells::Full => open.taken,
            Cells::Single => self.geometry.units_per_superblock,
        };
        let erases = self.flash.blocks()[open.superblock as usize].erases;
        let state = &mut self.places[place];
        (state.programmed, state.erases) = (programmed, erases);
        state.cleaned_at = self.programs.host;
        if frontier < self.host_frontiers {
            state.written_at = self.programs.host;
        }
        self.frontiers[frontier] = Frontier::NONE;
        self.is_open[open.superblock as usize] = false;
    }

    /// Every full operation of `frontier` goes to the flash.
    fn issue_all<W: FlashOps>(&mut self, frontier: usize, cause: Cause, work: &mut W) {
        let units = self.geometry.operation_units;
        let is_mixed = frontier < self.host_frontiers;
        let open = &mut self.frontiers[frontier];
        while open.issued + units <= open.taken {
            work.program(open.superblock, open.next_operation, open.cells, cause, is_mixed);
            open.issued += units;
            open.next_operation += 1;
        }
    }

    /// What the buffer holds of the host's data goes to the flash; an operation that is not full is padded.
    pub(super) fn flush<W: FlashOps>(&mut self, work: &mut W) {
        for frontier in 0..self.host_frontiers {
            self.pad(frontier);
            self.issue_all(frontier, Cause::Host, work);
        }
    }

    /// The power is gone: the buffer holds nothing any more, and what is filled next is a new operation.
    pub(super) fn empty_buffer(&mut self) {
        for frontier in 0..self.frontiers.len() {
            self.pad(frontier);
            self.issue_all(frontier, Cause::Host, &mut Untimed);
        }
    }

    /// Operations, full or not, that the buffer holds.
    pub(super) fn held_operations(&self) -> u64 {
        let held = |open: &Frontier| (open.taken - open.issued).div_ceil(self.geometry.operation_units);
        self.frontiers.iter().map(|open| u64::from(held(open))).sum()
    }

    /// Pads the operation that is being filled in `frontier`.
    pub(super) fn pad(&mut self, frontier: usize) {
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
    pub(super) fn open(&mut self, frontier: usize, superblock: u32, place: usize) {
        self.order[place] = superblock;
        self.place_of[superblock as usize] = place as u32;
        self.places[place].programmed = 0;
        self.is_open[superblock as usize] = true;
        // While erased superblocks abound the host may fill one with a bit to a cell.
        let is_cached = self.rules.separate
            && frontier < self.host_frontiers
            && self.slc.has_room()
            && self.erased.len() > self.geometry.reserve as usize;
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
