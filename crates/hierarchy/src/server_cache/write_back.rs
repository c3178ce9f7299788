//! What a cache knows that writes back: which blocks are dirty, and when they are cleaned. Moves no byte.

use super::dirty::Dirty;
use super::levels::Spot;
use super::table::Table;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Blocks on their way into a level that are kept before those that have come are looked for.
const ARRIVING: usize = 64;

/// What a cache that writes back knows beside what every cache does.
#[derive(State)]
pub(super) struct WriteBack {
    #[state(skip = "from the configuration")]
    pub(super) settings: Settings,
    pub(super) dirty: Dirty,
    /// Which dirty block lies where, if that outlives a loss of power.
    pub(super) table: Option<Table>,
    /// When the blocks that are cleaned in the background are clean.
    pub(super) cleaner_free: Time,
    /// Since when there are more dirty blocks than cleaning leaves.
    pub(super) above_since: Time,
    /// Places of dirty blocks that left, and until when they are read there.
    #[state(varies)]
    pub(super) leaving: BTreeMap<Spot, Time>,
    /// Blocks that came into a level, and when it holds all of them, where a table asks and a loss of power may come before.
    #[state(varies)]
    pub(super) arriving: BTreeMap<u64, Time>,
    /// When it has read its table after a loss of power.
    pub(super) ready: Time,
    /// Whether a dirty block was lost since the last flush.
    pub(super) has_lost: bool,
    /// Blocks that are lost until the backing takes them anew: it refused them when they had to leave, or their level
    /// could not give them.
    #[state(varies)]
    refused: BTreeSet<u64>,
    /// Blocks that were so and that the backing took, and from when on no loss of power takes that.
    #[state(varies)]
    taken: BTreeMap<u64, Time>,
    /// Blocks that the last loss of power took though they had been written.
    pub(super) blocks_lost: u64,
    pub(super) counts: Counts,
}

/// What is left of the configuration, in blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Most dirty blocks.
    pub(crate) most: u64,
    /// Dirty blocks that cleaning in the background leaves.
    pub(crate) clean_above: u64,
    /// Blocks written back side by side.
    pub(crate) batch: u64,
}

/// What happened, in blocks, except where it says requests.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Counts {
    /// Blocks that a write left to be written back.
    pub(crate) dirtied: u64,
    /// Writes of blocks that were to be written back anyway.
    pub(crate) overwritten: u64,
    /// Written back in the background.
    pub(crate) cleaned: u64,
    /// Written back for a flush of the host.
    pub(crate) flushed: u64,
    /// Written back since they had to leave.
    pub(crate) dirty_evictions: u64,
    /// Blocks whose data was lost before they were written back.
    pub(crate) lost: u64,
    /// Of these, and of those that had to leave and that the backing refused, each time.
    pub(crate) refused: u64,
    /// Requests that write back.
    pub(crate) requests: u64,
    /// Dirty blocks when counting began.
    pub(crate) at_first: u64,
}

impl WriteBack {
    pub(super) fn new(settings: Settings, outlives_power: bool) -> WriteBack {
        WriteBack {
            settings,
            dirty: Dirty::new(),
            table: outlives_power.then(Table::default),
            cleaner_free: Time::ZERO,
            above_since: Time::ZERO,
            leaving: BTreeMap::new(),
            arriving: BTreeMap::new(),
            ready: Time::ZERO,
            has_lost: false,
            refused: BTreeSet::new(),
            taken: BTreeMap::new(),
            blocks_lost: 0,
            counts: Counts::default(),
        }
    }

    /// When the place of a block is free for another one that comes at `now`.
    pub(super) fn free_from(&self, spot: Spot, now: Time) -> Time {
        self.leaving.get(&spot).map_or(now, |&until| now.max(until))
    }

    /// `block`, all or a part of it, was written into its level at `done`, and the backing does not have it. When no loss
    /// of power takes the write any more.
    ///
    /// A level may end writes in another order than they came. A table that outlives a loss of power has the block from
    /// the first write that is done while the level holds all of it, and a part is nothing before that.
    pub(super) fn mark(&mut self, block: u64, place: u64, is_whole: bool, done: Time, floor: Time) -> Time {
        let came = self.arriving.get(&block).copied();
        let is_known = self.dirty.contains(block);
        let whole_from = match is_whole {
            true => done,
            false if is_known => Time::MAX,
            false => came.unwrap_or(Time::ZERO),
        };
        let is_new = self.dirty.mark(block, whole_from);
        if is_new {
            self.counts.dirtied += 1;
        } else {
            self.counts.overwritten += 1;
        }
        if is_new && self.dirty.waiting() == self.settings.clean_above + 1 {
            self.above_since = done;
        }
        let Some(table) = &mut self.table else { return done };
        let safe = if is_whole { done } else { done.max(self.dirty.whole_from(block)) };
        table.note(block, Some(place), safe, floor);
        safe
    }

    /// `block` is in a level as a whole at `done`. No loss of power comes before `floor`.
    #[inline]
    pub(super) fn arrives(&mut self, block: u64, done: Time, floor: Time) {
        if self.table.is_none() {
            return;
        }
        if self.arriving.len() >= ARRIVING {
            self.arriving.retain(|_, &mut at| at > floor);
        }
        self.arriving.insert(block, done);
    }

    /// The next blocks that are cleaned in the background, and when, if that is not after `now`.
    pub(super) fn next_batch(&self, now: Time) -> Option<(Time, Vec<u64>)> {
        let start = self.cleans_from()?;
        let count = (self.dirty.waiting() - self.settings.clean_above).min(self.settings.batch);
        (start <= now).then(|| (start, self.dirty.oldest(count)))
    }

    /// When blocks are cleaned in the background next, as things are.
    pub(super) fn cleans_from(&self) -> Option<Time> {
        let is_above = self.dirty.waiting() > self.settings.clean_above;
        is_above.then_some(self.cleaner_free.max(self.above_since))
    }

    /// A block is taken out without having been written back. Whether it was dirty.
    fn forget(&mut self, block: u64, floor: Time) -> bool {
        let Some(entry) = self.dirty.take(block) else { return false };
        self.counts.lost += u64::from(entry.waits);
        if let Some(table) = &mut self.table {
            table.note(block, None, Time::ZERO, floor);
        }
        true
    }

    /// A dirty block is taken out since its level cannot give it: until the backing takes it anew it is lost. Whether it
    /// was dirty.
    #[cold]
    pub(super) fn lose(&mut self, block: u64, floor: Time) -> bool {
        let was_dirty = self.forget(block, floor);
        if was_dirty {
            self.refuse(block);
        }
        was_dirty
    }

    /// The backing refused `block`, which nobody holds any more.
    #[cold]
    pub(super) fn refuse(&mut self, block: u64) {
        self.refused.insert(block);
        self.counts.refused += 1;
        self.has_lost = true;
    }

    /// Whether the backing refused one of these blocks when it was written last.
    #[inline]
    pub(super) fn has_refused(&self, mut blocks: Range<u64>) -> bool {
        !self.refused.is_empty() && blocks.any(|block| self.refused.contains(&block))
    }

    /// The backing took a part of `block`, or all of it, and no loss of power takes that from `safe` on.
    #[inline]
    pub(super) fn took(&mut self, block: u64, is_whole: bool, safe: Time) {
        if self.refused.contains(&block) {
            match is_whole {
                true => self.take_anew(block, safe),
                false => self.refuse(block),
            }
        }
    }

    #[cold]
    fn take_anew(&mut self, block: u64, safe: Time) {
        self.refused.remove(&block);
        self.taken.insert(block, safe);
    }

    /// No loss of power comes before `floor`.
    pub(super) fn settle(&mut self, floor: Time) {
        if !self.taken.is_empty() {
            self.taken.retain(|_, &mut safe| safe > floor);
        }
    }

    /// The power failed at `at`: what the backing was still taking anew is lost as before.
    pub(super) fn refuse_again(&mut self, at: Time) {
        let undone = std::mem::take(&mut self.taken).into_iter().filter(|&(_, safe)| safe > at);
        self.refused.extend(undone.map(|(block, _)| block));
    }

    /// The power failed at `at`, and which blocks were dirty or refused is not known any more. How many of them the backing
    /// does not have.
    pub(super) fn forget_all(&mut self, at: Time) -> u64 {
        let mut lost = self.dirty.missing(at);
        lost.append(&mut self.refused);
        lost.len() as u64
    }

    /// Counting begins now.
    pub(super) fn restart_counts(&mut self) {
        self.counts = Counts { at_first: self.dirty.waiting(), ..Counts::default() };
    }

    /// Panics unless every block that was dirtied is written back, lost or still waits.
    pub(super) fn check_invariants(&self) {
        let Counts { dirtied, cleaned, flushed, dirty_evictions, lost, at_first, .. } = self.counts;
        let gone = cleaned + flushed + dirty_evictions + lost;
        assert_eq!(at_first + dirtied, gone + self.dirty.waiting(), "a dirty block is unaccounted for");
        // A loss of power may leave a block dirty that had left.
        let is_bounded = self.dirty.len() <= self.settings.most || self.table.is_some();
        assert!(is_bounded, "{} dirty blocks", self.dirty.len());
    }
}
