//! Relocation: live data leaves a superblock, which is then erased.
//!
//! Cleaning keeps pace with the host: for every unit the host programs, so many units are copied that the victim is
//! erased when the host has used up what cleaning it gains. The victim keeps its place until then. Data of the host and
//! data that moves fill superblocks of their own.

use crate::ftl::array::Array;
use crate::ftl::parts::emptying::{Reading, Relocation};
use crate::ftl::parts::frontier::NOBODY;
use crate::ftl::parts::regions::Region;
use crate::ops::{Cause, Copied, FlashOps};
use nacre_controller::cleaning::{self, Cleaner, Decision, Erased, Place, View};
use nacre_media::store::Store;
use std::ops::Range;

/// Erased superblocks without which the host gets none: the last one is the cleaner's.
pub(crate) const LAST: usize = 1;

/// Units that wear leveling moves for each that the host programs meanwhile.
const WEAR_PACE: u32 = 4;

impl<S: Store> Array<S> {
    /// Closes `frontier` of the host, which has no room, and opens the next superblock for it. Returns `false` if too many
    /// blocks are worn out.
    #[inline(never)]
    pub(crate) fn next_superblock<W: FlashOps>(&mut self, frontier: usize, work: &mut W) -> bool {
        self.seal(frontier, Cause::Host, work);
        let region = self.region_of_frontier(frontier);
        while self.regions[region].erased.len() <= LAST && !self.is_worn_out {
            self.clean_on(region, work);
        }
        if !self.is_worn_out {
            self.open_next(frontier);
            self.choose_erased(region);
        }
        !self.is_worn_out
    }

    /// The frontier that takes the live data of `superblock` when it is cleaned.
    #[inline]
    pub(crate) fn cleaning_frontier(&self, superblock: u32) -> usize {
        let handle = self.handles.cleaning_frontier(superblock);
        if self.geometry.is_by_plane() {
            return self.host_frontiers + self.frontier_in(handle, self.geometry.region_of(superblock));
        }
        self.host_frontiers + handle
    }

    /// The frontier that takes what `relocation` copies.
    #[inline]
    fn frontier_for(&self, relocation: &Relocation) -> usize {
        match relocation.cause {
            Cause::Wear => self.wear_frontier(self.geometry.region_of(relocation.superblock)),
            _ => self.cleaning_frontier(relocation.superblock),
        }
    }

    /// An erased superblock in a place that was empty, for `frontier`.
    pub(crate) fn open_next(&mut self, frontier: usize) {
        let region = self.region_of_frontier(frontier);
        let is_wear = frontier >= self.wear_frontier(0);
        let superblock = self.take_erased(region, is_wear);
        let place = self.regions[region].empty.pop();
        self.open(frontier, superblock, place.expect("an erased superblock has left its place") as usize);
    }

    /// The erased superblock of `region` that is to be filled next: the youngest, or the one with the most erases.
    pub(crate) fn take_erased(&mut self, region: usize, most_worn: bool) -> u32 {
        let taken = if most_worn {
            let erases = |superblock: u32| self.flash.blocks()[superblock as usize].erases;
            let erased = &mut self.regions[region].erased;
            let worn = erased.iter().max_by_key(|&&(_, superblock)| erases(superblock)).copied();
            worn.and_then(|worn| erased.take(&worn))
        } else {
            self.pop_erased(region)
        };
        taken.expect("one superblock is always erased").1
    }

    /// Takes out the first of the erased superblocks; where dies erase in turn not the last one, if there are others.
    fn pop_erased(&mut self, region: usize) -> Option<(u64, u32)> {
        let Region { erased, last_erased, .. } = &mut self.regions[region];
        if !self.rules.erases_in_turn {
            return erased.pop_first();
        }
        let is_over = |&&(_, superblock): &&(u64, u32)| superblock != *last_erased;
        let first = erased.iter().find(is_over).or(erased.first()).copied()?;
        erased.take(&first)
    }

    /// `superblock` is erased and waits to be filled.
    pub(crate) fn put_erased(&mut self, superblock: u32) {
        self.erasures += 1;
        let erases = u64::from(self.flash.blocks()[superblock as usize].erases);
        let key = if self.rules.youngest_first { erases } else { self.erasures };
        self.regions[self.geometry.region_of(superblock)].erased.insert((key, superblock));
    }

    /// The host has programmed so many `units` in `region`: cleaning keeps pace.
    #[inline(never)]
    pub(crate) fn keep_pace<W: FlashOps>(&mut self, region: usize, units: u32, work: &mut W) {
        let Region { erased, relocation, kept_erased, .. } = &self.regions[region];
        let erased = erased.len();
        let wanted = (*kept_erased).max(self.geometry.reserve) as usize;
        let has_reserve = erased >= wanted;
        // What was begun while the host was quiet waits until it is quiet again, or too little is erased.
        if has_reserve && (relocation.is_none() || self.rules.erased_while_idle > 0) {
            return;
        }
        if relocation.is_none() {
            // What is not live may all lie in superblocks that are being filled: one of them is full before the host needs
            // the last that is erased.
            if !self.can_gain(region) {
                return;
            }
            self.begin_cleaning(region);
        }
        // Each superblock that is lacking next to the one being gained makes cleaning that much faster.
        let lacking = (wanted - 1).saturating_sub(erased) as u64;
        let Some(relocation) = &mut self.regions[region].relocation else { return };
        // Where nothing is left to be copied it is erased at once.
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

    /// Whether a superblock of `region` that takes no more has a unit that is not live.
    pub(crate) fn can_gain(&self, region: usize) -> bool {
        self.places_of(region).any(|place| self.places[place].programmed > self.places[place].live)
    }

    /// Cleans a superblock of `region`, or what is left of the one being cleaned, at once.
    fn clean_on<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        if self.regions[region].relocation.is_none() {
            self.begin_cleaning(region);
        }
        self.copy(region, u32::MAX, work);
    }

    /// Chooses a superblock of `region` to be cleaned, if its live data finds room.
    pub(crate) fn begin_cleaning(&mut self, region: usize) {
        if self.is_worn_out {
            return;
        }
        let place = self.decide(region).victim;
        if self.regions[region].erased.is_empty()
            && self.room(self.cleaning_frontier(self.order[place])) < self.places[place].live
        {
            self.is_worn_out = true;
            return;
        }
        self.programs.cleanings += 1;
        self.partitions[region].cleanings += 1;
        self.begin(place, Cause::Cleaning);
    }

    /// The superblock in `place` is to be emptied.
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

    /// Asks the cleaning policy how many superblocks of `region` are to be kept erased.
    fn choose_erased(&mut self, region: usize) {
        let erased = Erased {
            now: self.regions[region].erased.len() as u32,
            least: self.geometry.reserve,
            most: self.most_erased(region).max(self.geometry.reserve),
        };
        let (view, cleaner) = self.view();
        let chosen = cleaner.keeps_erased(&view, region, erased);
        assert!((erased.least..=erased.most).contains(&chosen), "{chosen} superblocks erased: {erased:?}");
        self.regions[region].kept_erased = chosen;
    }

    /// What the cleaning policy sees, and the policy.
    fn view(&mut self) -> (View<'_>, &mut dyn Cleaner) {
        let view = View {
            pages_per_segment: self.geometry.units_per_superblock,
            places: &self.places,
            partitions: &self.partitions,
            drained: self.programs.host,
        };
        (view, &mut *self.cleaner)
    }

    /// Copies up to `limit` live units of the superblock of `region` that is being emptied; erases it when none is left.
    pub(crate) fn copy<W: FlashOps>(&mut self, region: usize, limit: u32, work: &mut W) {
        let Some(mut relocation) = self.regions[region].relocation.take() else { return };
        let frontier = self.frontier_for(&relocation);
        let mut left = limit;
        while left > 0 && relocation.word < relocation.end {
            let bits = self.live[relocation.word];
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

    /// Copies up to `limit` of the units whose `bits` are set in the word at hand; gives how many.
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
            for page in to..to + run {
                let from = first + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let owner = self.owners[from];
                debug_assert_eq!(self.entry(owner) as usize, from + 1, "the place of unit {owner}");
                let place = self.geometry.operations_of((from - base) as u32).0;
                relocation.reading.copy(place, &self.geometry, work);
                let Reading { cells, cause, .. } = relocation.reading;
                work.copied(
                    &Copied { from: from as u32, to: page, owner, cells, cause },
                    self.flash.blocks(),
                );
                self.own(page, owner);
                self.flash.fill_from(page, from as u32);
                if is_followed {
                    self.note_moved(owner);
                    if owner < self.geometry.logical_units {
                        self.handles.count_moved(from as u32, page);
                    }
                }
            }
            if self.geometry.is_by_plane() && self.geometry.units_per_page == 1 {
                relocation.reading.end(&self.geometry, work);
            }
            self.issue_complete(frontier, relocation.cause, work);
            copied += run;
        }
        self.live[relocation.word] = bits;
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
            Cause::Wear => self.programs.leveled += u64::from(copied),
            _ => self.programs.cleaned += u64::from(copied),
        }
    }

    /// Asks for the mappings of the live units in these places of `word`, so that changing them finds them in the
    /// processor's caches. They are asked for as many copies ahead as a word has, for a copy is short.
    #[inline]
    fn prefetch_entries(&self, word: usize, places: Range<u32>) {
        let below = |place: u32| 1u64.checked_shl(place).unwrap_or(0).wrapping_sub(1);
        let mut bits = self.live[word] & below(places.end) & !below(places.start);
        while bits != 0 {
            let unit = word * 64 + bits.trailing_zeros() as usize;
            self.table.prefetch(self.owners[unit] as usize);
            bits &= bits - 1;
        }
    }

    /// Nothing in the superblock is live any more: it is erased.
    fn finish<W: FlashOps>(&mut self, region: usize, work: &mut W) {
        let mut relocation = self.regions[region].relocation.take().expect("a superblock is being emptied");
        relocation.reading.end(&self.geometry, work);
        if self.mapping.is_some() {
            self.write_moved(region, work);
        }
        let place = relocation.place as usize;
        assert_eq!(self.places[place].live, 0, "an erase would lose live data of place {place}");
        // Cold data stays cold: what took it is as old as what it left.
        let written_at = self.places[place].written_at;
        let target = self.frontier_for(&relocation);
        if self.frontiers[target].superblock != NOBODY {
            let taking = self.place_of[self.frontiers[target].superblock as usize] as usize;
            self.places[taking].written_at = written_at;
        }
        self.places[place] = Place::default();
        self.order[place] = NOBODY;
        self.regions[region].empty.push(relocation.place);
        self.erase(relocation.superblock, work);
        self.level_wear(region, work);
    }

    /// Erases `superblock`, in which nothing is live; it waits to be filled unless too much of it is worn out.
    pub(crate) fn erase<W: FlashOps>(&mut self, superblock: u32, work: &mut W) {
        self.flash.erase(superblock);
        self.slc.erase(superblock);
        if S::CARRIES_BYTES {
            self.spare.erase(superblock << self.geometry.shift, self.geometry.units_per_superblock);
        }
        self.regions[self.geometry.region_of(superblock)].last_erased = superblock;
        work.erase(superblock);
        self.place_of[superblock as usize] = NOBODY;
        if self.blocks.erase(superblock) {
            self.put_erased(superblock);
            return;
        }
        // What was wanted was as much as there was space for.
        self.regions[self.geometry.region_of(superblock)].kept_erased = 0;
        if !self.has_space() {
            self.is_worn_out = true;
        }
    }

    /// Nothing more goes into the superblock of `frontier`, which stays as full as it is.
    pub(crate) fn close<W: FlashOps>(&mut self, frontier: usize, work: &mut W) {
        self.pad(frontier);
        self.seal(frontier, Cause::Wear, work);
    }
}
