//! Relocation: valid units move out of a superblock, which is then erased.
//!
//! Garbage collection copies valid units at a rate that follows the host writes. When the host has
//! programmed as many units as the erase of the victim frees, all valid units of the victim have been
//! copied. Until its erase, the victim keeps its slot. Host data and relocated data fill separate
//! superblocks.

use crate::ftl::array::Array;
use crate::ftl::parts::regions::{Reading, Region, Relocation};
use crate::ops::{Cause, Copied, FlashOps};
use crate::superblocks::ABSENT;
use nacre_controller::cleaning::{self, Cleaner, Decision, Erased, SegmentState, View};
use nacre_media::store::Store;
use std::ops::Range;

/// Number of erased superblocks that the host may not use. The last one is reserved for garbage collection.
pub(crate) const LAST: usize = 1;

/// Number of units that wear leveling moves per unit that the host programs.
const WEAR_PACE: u32 = 4;

impl<S: Store> Array<S> {
    /// Closes the host frontier `frontier`, which is full, and opens another superblock for it. Returns
    /// `false` if the drive is worn out.
    #[inline(never)]
    pub(crate) fn next_superblock<W: FlashOps>(&mut self, frontier: usize, work: &mut W) -> bool {
        self.seal(frontier, Cause::Host, work);
        let region = self.region_of_frontier(frontier);
        while self.pool.erased_count(region) <= LAST && !self.is_worn_out {
            self.clean_on(region, work);
        }
        if !self.is_worn_out {
            self.open_next(frontier);
            self.choose_erased(region);
        }
        !self.is_worn_out
    }

    /// Returns the frontier for valid units of `superblock` when it is garbage-collected.
    #[inline]
    pub(crate) fn cleaning_frontier(&self, superblock: u32) -> usize {
        let handle = self.handles.cleaning_frontier(superblock);
        self.host_frontiers + self.frontier_in(handle, self.geometry.region_of(superblock))
    }

    /// Returns the frontier for the copies of `relocation`.
    #[inline]
    fn frontier_for(&self, relocation: &Relocation) -> usize {
        match relocation.cause {
            Cause::Wear => self.wear_frontier(self.geometry.region_of(relocation.superblock)),
            _ => self.cleaning_frontier(relocation.superblock),
        }
    }

    /// Opens an erased superblock in an empty slot for `frontier`.
    pub(crate) fn open_next(&mut self, frontier: usize) {
        let region = self.region_of_frontier(frontier);
        let superblock = match frontier >= self.wear_frontier(0) {
            true => self.pool.take_most_worn(region),
            false => self.pool.take_erased(region),
        };
        let place = self.regions[region].empty.pop();
        self.open(frontier, superblock, place.expect("an erased superblock has left its place") as usize);
    }

    /// Runs garbage collection after the host has programmed `units` units in `region`.
    #[inline(never)]
    pub(crate) fn keep_pace<W: FlashOps>(&mut self, region: usize, units: u32, work: &mut W) {
        let Region { relocation, kept_erased, .. } = &self.regions[region];
        let erased = self.pool.erased_count(region);
        let wanted = (*kept_erased).max(self.geometry.reserve) as usize;
        let has_reserve = erased >= wanted;
        // Garbage collection that started while the host was idle pauses until the host is idle again or too
        // few superblocks are erased.
        if has_reserve && (relocation.is_none() || self.rules.erased_while_idle > 0) {
            return;
        }
        if relocation.is_none() {
            // All invalid units may be in open superblocks. One of these is full before the host needs the
            // last erased superblock.
            if !self.can_gain(region) {
                return;
            }
            self.begin_cleaning(region);
        }
        // Each missing superblock beyond the one that is being reclaimed accelerates garbage collection by
        // the same amount.
        let lacking = (wanted - 1).saturating_sub(erased) as u64;
        let Some(relocation) = &mut self.regions[region].relocation else { return };
        // A victim without valid units is erased immediately.
        if self.places[relocation.place as usize].live == 0 {
            self.copy(region, u32::MAX, work);
            return;
        }
        relocation.credit += u64::from(units) * u64::from(relocation.live) * (1 + lacking);
        let gain = u64::from(relocation.gain.max(1));
        let due = relocation.credit / gain;
        relocation.credit -= due * gain;
        self.copy(region, due as u32, work);
    }

    /// Returns whether a full or closed superblock of `region` has an invalid unit.
    pub(crate) fn can_gain(&self, region: usize) -> bool {
        self.places_of(region).any(|place| self.places[place].programmed > self.places[place].live)
    }

    /// Immediately garbage-collects a superblock of `region`, or the rest of the victim in progress.
    fn clean_on<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        if self.regions[region].relocation.is_none() {
            self.begin_cleaning(region);
        }
        self.copy(region, u32::MAX, work);
    }

    /// Selects a victim in `region` if there is space for its valid units.
    pub(crate) fn begin_cleaning(&mut self, region: usize) {
        if self.is_worn_out {
            return;
        }
        let place = self.decide(region).victim;
        if self.pool.erased_count(region) == 0
            && self.room(self.cleaning_frontier(self.order[place])) < self.places[place].live
        {
            self.is_worn_out = true;
            return;
        }
        self.pool.programs.cleanings += 1;
        self.partitions[region].cleanings += 1;
        self.begin(place, Cause::Cleaning);
    }

    /// Starts the relocation of the superblock in slot `place`.
    pub(crate) fn begin(&mut self, place: usize, cause: Cause) {
        let superblock = self.order[place];
        let units = self.geometry.units_per_superblock;
        let word = ((superblock as usize) << self.geometry.shift) / 64;
        let live = self.places[place].live;
        self.regions[self.geometry.region_of(superblock)].relocation = Some(Relocation {
            cause,
            superblock,
            place: place as u32,
            word,
            end: word + (units as usize).div_ceil(64),
            live,
            gain: if cause == Cause::Wear { live.div_ceil(WEAR_PACE) } else { units - live },
            credit: 0,
            reading: Reading::new(superblock, self.cells(superblock), cause),
        });
    }

    fn decide(&mut self, partition: usize) -> Decision {
        let (view, cleaner) = self.view();
        cleaning::decide(cleaner, &view, partition)
    }

    /// Determines the number of superblocks of `region` that the policy keeps erased.
    fn choose_erased(&mut self, region: usize) {
        let erased = Erased {
            now: self.pool.erased_count(region) as u32,
            least: self.geometry.reserve,
            most: self.most_erased(region).max(self.geometry.reserve),
        };
        let (view, cleaner) = self.view();
        let chosen = cleaner.keeps_erased(&view, region, erased);
        assert!((erased.least..=erased.most).contains(&chosen), "{chosen} superblocks erased: {erased:?}");
        self.regions[region].kept_erased = chosen;
    }

    /// Returns the state that the garbage collection policy may read, and the policy.
    fn view(&mut self) -> (View<'_>, &mut dyn Cleaner) {
        let view = View {
            pages_per_segment: self.geometry.units_per_superblock,
            places: &self.places,
            partitions: &self.partitions,
            drained: self.pool.programs.host,
        };
        (view, &mut *self.cleaner)
    }

    /// Copies up to `limit` valid units of the victim of `region`. Erases the victim when no valid unit is
    /// left.
    pub(crate) fn copy<W: FlashOps>(&mut self, region: usize, limit: u32, work: &mut W) {
        let Some(mut relocation) = self.regions[region].relocation.take() else { return };
        let frontier = self.frontier_for(&relocation);
        let mut left = limit;
        while left > 0 && relocation.word < relocation.end {
            let bits = self.valid[relocation.word];
            if bits == 0 {
                relocation.word += 1;
                continue;
            }
            left -= self.copy_word(&mut relocation, bits, left, frontier, work);
        }
        self.regions[region].relocation = Some(relocation);
        if left > 0 {
            self.finish(region, work);
        }
    }

    /// Copies up to `limit` of the units whose `bits` are set in the current word of valid bits. Returns the
    /// number of copied units.
    #[inline]
    fn copy_word<W: FlashOps>(
        &mut self,
        relocation: &mut Relocation,
        bits: u64,
        limit: u32,
        frontier: usize,
        work: &mut W,
    ) -> u32 {
        let first = relocation.word * 64;
        let base = (relocation.superblock as usize) << self.geometry.shift;
        let lowest = bits.trailing_zeros();
        let (mut bits, mut copied) = (bits, 0);
        let is_followed = self.mapping.is_some() || self.handles.are_several();
        while bits != 0 && copied < limit {
            if self.room(frontier) == 0 {
                self.seal(frontier, relocation.cause, work);
                self.open_next(frontier);
            }
            let run = self.until_complete(frontier).min(limit - copied).min(bits.count_ones());
            let to = self.take(frontier, run);
            for page in to..to + u64::from(run) {
                let from = first + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let owner = self.owners.get(from);
                debug_assert_eq!(self.entry(owner) as usize, from + 1, "the place of unit {owner}");
                let place = self.geometry.operations_of((from - base) as u32).0;
                relocation.reading.copy(place, &self.geometry, work);
                let Reading { cells, cause, .. } = relocation.reading;
                work.copied(
                    &Copied { from: from as u64, to: page, owner, cells, cause },
                    self.pool.flash.blocks(),
                );
                self.own(page, owner);
                self.pool.flash.fill_from(page, from as u64);
                if is_followed {
                    self.note_moved(owner);
                    if owner < self.geometry.logical_units {
                        self.handles.count_moved(from as u64, page);
                    }
                }
            }
            if self.geometry.is_by_plane() && self.geometry.units_per_page == 1 {
                relocation.reading.end(&self.geometry, work);
            }
            self.issue_complete(frontier, relocation.cause, work);
            copied += run;
        }
        self.valid[relocation.word] = bits;
        if relocation.word + 1 < relocation.end {
            self.prefetch_entries(relocation.word + 1, lowest..bits.trailing_zeros());
        }
        self.places[relocation.place as usize].live -= copied;
        let partition = &mut self.partitions[self.partition_by_place[relocation.place as usize] as usize];
        partition.live -= u64::from(copied);
        partition.copied += u64::from(copied);
        self.count_copies(relocation.cause, copied);
        copied
    }

    pub(crate) fn count_copies(&mut self, cause: Cause, copied: u32) {
        match cause {
            Cause::Wear => self.pool.programs.leveled += u64::from(copied),
            _ => self.pool.programs.cleaned += u64::from(copied),
        }
    }

    /// Prefetches the mappings of the valid units of `word` at the positions `places`. Mappings are
    /// prefetched one word before they are copied, because a single copy is shorter than a prefetch.
    #[inline]
    fn prefetch_entries(&self, word: usize, places: Range<u32>) {
        let below = |place: u32| 1u64.checked_shl(place).unwrap_or(0).wrapping_sub(1);
        let mut bits = self.valid[word] & below(places.end) & !below(places.start);
        while bits != 0 {
            let unit = word * 64 + bits.trailing_zeros() as usize;
            self.table.prefetch(self.owners.get(unit) as usize);
            bits &= bits - 1;
        }
    }

    /// Erases the victim of `region`, which has no valid units.
    fn finish<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let mut relocation = self.regions[region].relocation.take().expect("a superblock is being emptied");
        relocation.reading.end(&self.geometry, work);
        if self.mapping.is_some() {
            self.write_moved(region, work);
        }
        let place = relocation.place as usize;
        assert_eq!(self.places[place].live, 0, "an erase would lose valid units of slot {place}");
        // The target superblock gets the age of its source, so that cold data stays cold.
        let written_at = self.places[place].written_at;
        let target = self.frontier_for(&relocation);
        if self.frontiers[target].superblock != ABSENT {
            let taking = self.place_of[self.frontiers[target].superblock as usize] as usize;
            self.places[taking].written_at = written_at;
        }
        self.places[place] = SegmentState::default();
        self.order[place] = ABSENT;
        self.regions[region].empty.push(relocation.place);
        self.erase(relocation.superblock, work);
        self.level_wear(region, work);
    }

    /// Erases `superblock`, which has no valid units. The superblock can be written again unless it is worn
    /// out.
    pub(crate) fn erase<W: FlashOps>(&mut self, superblock: u32, work: &mut W) {
        self.slc.erase(superblock);
        if S::CARRIES_BYTES {
            self.spare.erase(self.geometry.page_at(superblock, 0), self.geometry.units_per_superblock);
        }
        self.place_of[superblock as usize] = ABSENT;
        if self.pool.erase(superblock, work) {
            return;
        }
        // The number that the policy requested was based on the previous space.
        self.regions[self.geometry.region_of(superblock)].kept_erased = 0;
        if !self.has_space() {
            self.is_worn_out = true;
        }
    }

    /// Closes the superblock of `frontier`, although it is not full.
    pub(crate) fn close<W: FlashOps>(&mut self, frontier: usize, work: &mut W) {
        self.pad(frontier);
        self.seal(frontier, Cause::Wear, work);
    }
}
