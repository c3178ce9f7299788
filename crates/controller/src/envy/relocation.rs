//! Relocation: the valid pages of a segment are copied to an erased segment, which takes over the position.

use super::array::Array;
use super::page_table::Location;
use crate::cleaning::{self, Decision, Partition, View};
use nacre_kernel::state::Value;
use nacre_media::store::Store;

/// Reason for relocating pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Cause {
    /// Cleaning, which reclaims invalid pages.
    Cleaning,
    /// Wear leveling.
    Wear,
}

/// A relocation in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Relocation {
    pub(super) cause: Cause,
    /// The segment whose pages are relocated.
    pub(super) from: u32,
    /// Position of `from`. The segment that receives the pages already occupies this position.
    pub(super) position: u32,
    /// The next page of `from` to examine.
    pub(super) cursor: u32,
    /// Number of pages that were copied or are being copied.
    pub(super) copied: u32,
    /// Number of pages at the end of `from` that move to the previous partition.
    pub(super) to_lower: u32,
    /// Number of pages that still have to move to the next partition.
    pub(super) to_higher: u32,
    /// Pages that the receiving segment takes from the previous and the next partition, after the valid
    /// pages of `from` have been copied.
    pub(super) takes: [Taken; 2],
}

/// Pages that a relocation takes from the segment at another position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) struct Taken {
    /// The position of the segment from which the pages are taken.
    pub(super) position: u32,
    /// The next page of the segment to examine. If the segment is examined from its end, `cursor` is one
    /// page after the next page.
    pub(super) cursor: u32,
    /// Number of pages that remain to be taken.
    pub(super) left: u32,
    /// Whether the pages come from the end of the segment instead of its head.
    pub(super) from_end: bool,
}

impl<S: Store> Array<S> {
    /// Asks the policy for a victim in `partition`, whose segments are all full. Starts to clean the
    /// victim, and returns the relocation.
    pub(super) fn begin_cleaning(&mut self, partition: usize) -> Relocation {
        let decision = self.decide(partition);
        let position = decision.victim;
        let takes = self.takes(partition, &decision);
        self.programs.cleanings += 1;
        self.partitions[partition].cleanings += 1;
        self.partitions[partition].active = position;
        let to = self.standby.pop().expect("one segment is always erased");
        let relocation =
            self.relocate(position, to, Cause::Cleaning, (decision.to_lower, decision.to_higher));
        Relocation { takes, ..relocation }
    }

    fn decide(&mut self, partition: usize) -> Decision {
        let view = View {
            pages_per_segment: self.geometry.pages_per_segment,
            places: &self.positions,
            partitions: &self.partitions,
            drained: self.programs.drained,
        };
        cleaning::decide(&mut *self.cleaner, &view, partition)
    }

    /// Sources of the pages that `decision` moves into `partition`.
    fn takes(&self, partition: usize, decision: &Decision) -> [Taken; 2] {
        let mut takes = [Taken::default(); 2];
        if decision.from_lower > 0 && partition > 0 {
            let Partition { first, count, .. } = self.partitions[partition - 1];
            let oldest = (first..first + count).min_by_key(|&position| self.positions[position].cleaned_at);
            let position = oldest.expect("a partition has positions") as u32;
            takes[0] = Taken { position, cursor: 0, left: decision.from_lower, from_end: false };
        }
        if decision.from_higher > 0 && partition + 1 < self.partitions.len() {
            let position = self.partitions[partition + 1].active;
            let (cursor, left) = (self.geometry.pages_per_segment, decision.from_higher);
            takes[1] = Taken { position: position as u32, cursor, left, from_end: true };
        }
        takes
    }

    /// Assigns the erased segment `to` to `position`. [`Array::next_live`] then returns the pages to
    /// copy.
    pub(super) fn relocate(
        &mut self,
        position: usize,
        to: u32,
        cause: Cause,
        (to_lower, to_higher): (u32, u32),
    ) -> Relocation {
        let from = self.order[position];
        let erases = self.flash.blocks()[to as usize].erases;
        self.filling.push(position as u32);
        self.order[position] = to;
        self.position_of[to as usize] = position as u32;
        let state = &mut self.positions[position];
        (state.programmed, state.erases) = (0, erases);
        if cause == Cause::Cleaning {
            state.cleaned_at = self.programs.drained;
        }
        let takes = [Taken::default(); 2];
        Relocation {
            cause,
            from,
            position: position as u32,
            cursor: 0,
            copied: 0,
            to_lower,
            to_higher,
            takes,
        }
    }

    /// Returns the next valid page to move and the position to which it moves. Returns `None` if all pages
    /// have moved, or if no position has an erased page.
    #[inline]
    pub(super) fn next_live(&mut self, relocation: &mut Relocation) -> Option<(u32, usize)> {
        let Some(index) = self.find_live(relocation.from, relocation.cursor) else {
            return self.next_taken(relocation);
        };
        let position = self.destination(relocation)?;
        relocation.cursor = index + 1;
        relocation.copied += 1;
        Some(((relocation.from << self.geometry.page_shift()) + index, position))
    }

    /// Index of the first valid page of `segment` at or after `cursor`, if any.
    #[inline]
    pub(super) fn find_live(&self, segment: u32, cursor: u32) -> Option<u32> {
        let live = &self.owners[segment as usize].as_ref()?.live;
        let mut word = cursor as usize / 64;
        let mut bits = *live.get(word)? & (u64::MAX << (cursor % 64));
        while bits == 0 {
            word += 1;
            bits = *live.get(word)?;
        }
        Some(word as u32 * 64 + bits.trailing_zeros())
    }

    /// Returns the next page to take from another partition, and its destination, if any. The valid pages
    /// of the relocated segment are copied first. Therefore, no page has been taken yet when a relocation
    /// is restarted after a power loss.
    fn next_taken(&self, relocation: &mut Relocation) -> Option<(u32, usize)> {
        let position = relocation.position as usize;
        // A full position would be cleaned again immediately and without gain.
        let is_full = self.positions[position].programmed + 1 >= self.geometry.pages_per_segment;
        if is_full || self.live[relocation.from as usize] > 0 {
            return None;
        }
        let mut takes = relocation.takes.iter_mut().filter(|taken| taken.left > 0);
        let page = takes.find_map(|taken| {
            let found = self.find_taken(taken);
            taken.left = if found.is_some() { taken.left - 1 } else { 0 };
            found
        })?;
        relocation.copied += 1;
        Some((page, position))
    }

    /// Next valid page to take from a segment. `None` if no valid page is left, or if that segment still
    /// receives pages.
    fn find_taken(&self, taken: &mut Taken) -> Option<u32> {
        if self.is_filling(taken.position as usize) {
            return None;
        }
        let segment = self.order[taken.position as usize];
        let index = if taken.from_end {
            self.find_live_before(segment, taken.cursor)?
        } else {
            self.find_live(segment, taken.cursor)?
        };
        taken.cursor = if taken.from_end { index } else { index + 1 };
        Some((segment << self.geometry.page_shift()) + index)
    }

    /// Index of the last valid page of `segment` before `end`, if any.
    fn find_live_before(&self, segment: u32, end: u32) -> Option<u32> {
        let live = &self.owners[segment as usize].as_ref()?.live;
        (0..end).rev().find(|&index| live[index as usize / 64] >> (index % 64) & 1 == 1)
    }

    /// Destination position of the page that was just found. Most pages stay at their position. Pages at
    /// the ends of the segment may move to neighboring partitions. `None` if no erased page is left.
    #[inline]
    fn destination(&mut self, relocation: &mut Relocation) -> Option<usize> {
        let position = relocation.position as usize;
        if self.positions[position].programmed == self.geometry.pages_per_segment {
            return self.elsewhere(position);
        }
        if relocation.to_higher == 0 && relocation.to_lower == 0 {
            return Some(position);
        }
        let partition = self.partition_of(position);
        if relocation.to_higher > 0 {
            relocation.to_higher -= 1;
            if partition + 1 < self.partitions.len() && self.room(partition + 1) > 0 {
                return Some(self.partitions[partition + 1].active);
            }
        } else if self.live[relocation.from as usize] <= relocation.to_lower
            && partition > 0
            && self.room(partition - 1) > 0
        {
            return Some(self.partitions[partition - 1].active);
        }
        Some(position)
    }

    /// A position with an erased page in the nearest partition, for a page whose position is full. A position
    /// can be full because interrupted programs have used up erased pages. The relocated segment then has
    /// more valid pages to move than the position has erased pages.
    #[cold]
    fn elsewhere(&mut self, position: usize) -> Option<usize> {
        let own = self.partition_of(position);
        let mut others: Vec<usize> = (0..self.partitions.len()).collect();
        others.sort_unstable_by_key(|&other| other.abs_diff(own));
        let found = others.into_iter().find(|&other| self.find_room(other));
        found.map(|other| self.partitions[other].active)
    }

    /// Copies up to `limit` pages that stay at their position, without advancing time. Returns the number
    /// of copied pages. [`Array::next_live`] returns all other pages: shadows, and pages that move to other
    /// partitions.
    pub(super) fn copy_run(&mut self, relocation: &mut Relocation, limit: u64) -> u64 {
        let from = relocation.from as usize;
        let stay = self.live[from].saturating_sub(relocation.to_lower);
        let room = self.geometry.pages_per_segment - self.positions[relocation.position as usize].programmed;
        let limit = limit.min(u64::from(stay.min(room))) as u32;
        if limit == 0 || relocation.to_higher > 0 || !self.shadows.is_empty() {
            return 0;
        }
        let position = relocation.position as usize;
        let to = self.order[position] as usize;
        let mut source = self.owners[from].take().expect("it has valid pages");
        let mut target = self.take_owners(to as u32);
        let first_source = (from as u32) << self.geometry.page_shift();
        let first_target = (to as u32) << self.geometry.page_shift();
        let (mut copied, mut word) = (0, relocation.cursor as usize / 64);
        while copied < limit {
            let mut bits = source.live[word];
            let before = bits;
            // Prefetches the entries of the pages in the next word, which the next iteration copies.
            if let Some(&next) = source.live.get(word + 1) {
                self.prefetch_entries(&source.lpns[(word + 1) * 64..], next);
            }
            while bits != 0 && copied < limit {
                let index = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let lpn = source.lpns[index];
                let page = self.flash.program(to as u32) as u32;
                self.flash.fill_from(page, first_source + index as u32);
                let slot = (page - first_target) as usize;
                target.lpns[slot] = lpn;
                target.live[slot / 64] |= 1 << (slot % 64);
                debug_assert_eq!(self.table.get(lpn), Location::Flash(first_source + index as u32));
                self.table.set(lpn, Location::Flash(page));
                copied += 1;
                relocation.cursor = index as u32 + 1;
            }
            debug_assert!(before != 0 || copied < limit, "valid pages are counted");
            source.live[word] = bits;
            word += 1;
        }
        relocation.copied += copied;
        self.owners[from] = Some(source);
        self.owners[to] = Some(target);
        self.live[from] -= copied;
        self.live[to] += copied;
        self.positions[position].programmed += copied;
        let partition = self.partition_of(position);
        self.count_copies(relocation.cause, partition, u64::from(copied));
        u64::from(copied)
    }

    /// Prefetches the table entries of all pages in `bits` so that updates hit the processor's caches.
    #[inline]
    fn prefetch_entries(&self, lpns: &[u32], bits: u64) {
        let mut bits = bits;
        while bits != 0 {
            self.table.prefetch(lpns[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
    }

    #[inline]
    fn count_copies(&mut self, cause: Cause, partition: usize, copies: u64) {
        match cause {
            Cause::Cleaning => self.programs.cleaned += copies,
            Cause::Wear => self.programs.leveled += copies,
        }
        self.partitions[partition].copied += copies;
    }

    /// Reserves the next page of the segment at `position` for a copy that starts now.
    #[inline]
    pub(super) fn take_page_in(&mut self, position: usize) -> u32 {
        self.positions[position].programmed += 1;
        self.flash.program(self.order[position]) as u32
    }

    /// Records that the copy of page `from` in page `to` at `position` is complete.
    #[inline]
    pub(super) fn moved(&mut self, relocation: &Relocation, from: u32, to: u32, position: usize) {
        let cleaned = self.partition_of(relocation.position as usize);
        self.count_copies(relocation.cause, cleaned, 1);
        // The host may have overwritten the page during the copy. In that case, the copy is invalid.
        let Some(lpn) = self.owner(from) else { return };
        self.flash.fill_from(to, from);
        self.disown(from);
        let left = self.position_of[self.flash.block_of(from) as usize] as usize;
        let segment = self.flash.block_of(to);
        self.own(segment, to, lpn);
        self.live[segment as usize] += 1;
        if position != left {
            self.positions[left].live -= 1;
            self.positions[position].live += 1;
            let (before, partition) = (self.partition_of(left), self.partition_of(position));
            self.partitions[before].live -= 1;
            self.partitions[partition].live += 1;
            self.partitions[partition].moved_in += 1;
        }
        self.point_to(lpn, from, to);
    }

    /// Makes flash page `to` the location of `lpn` instead of page `from`. The location is in the page table,
    /// or in the shadows of an open transaction, which cleaning must preserve.
    #[inline]
    pub(super) fn point_to(&mut self, lpn: u32, from: u32, to: u32) {
        if !self.shadows.is_empty() && self.table.get(lpn) != Location::Flash(from) {
            let shadow = self.shadows.get_mut(&lpn).expect("a valid page is mapped or a shadow");
            debug_assert_eq!(*shadow, Location::Flash(from), "the shadow of page {lpn}");
            *shadow = Location::Flash(to);
            return;
        }
        debug_assert_eq!(self.table.get(lpn), Location::Flash(from), "page {lpn}");
        self.table.set(lpn, Location::Flash(to));
    }

    /// Ends a relocation, after which the receiving segment accepts other pages, too.
    pub(super) fn filled(&mut self, position: u32) {
        self.filling.retain(|&filling| filling != position);
    }

    /// Records the erase of `segment`, whose valid pages have all moved.
    pub(super) fn erased(&mut self, segment: u32) {
        assert_eq!(self.live[segment as usize], 0, "an erase would lose valid pages of segment {segment}");
        self.flash.erase(segment);
        if let Some(mut owners) = self.owners[segment as usize].take() {
            owners.live.fill(0);
            self.spare_owners.push(owners);
        }
    }
}
