//! Changes that may not have landed.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Ranges, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// A change of a medium, which takes its time.
pub trait Change: Value {
    /// What says when it ends where that may still move; `()` where the change itself knows.
    type Ends: ?Sized;

    /// What it changes, by number: bytes, pages or blocks.
    fn place(&self) -> Range<u64>;

    /// From when on no loss of power takes it.
    fn landed_at(&self, ends: &Self::Ends) -> Time;

    /// Errors: it is none that could have been made.
    fn check(&self) -> Result<(), String>;
}

/// Changes in the order in which they were asked for. Those that have landed leave from the front: behind one that
/// may still be taken away they stay, since of what both change the newer one holds.
#[derive(Clone, Debug, State)]
#[state(after = "Self::check", bound = "C: Change")]
pub struct Pending<C> {
    entries: VecDeque<Entry<C>>,
    /// How many have left.
    left: u64,
}

#[derive(Clone, Debug, Value)]
#[state(bound = "C: Change")]
struct Entry<C> {
    change: C,
    /// When the host is told that it is done; [`Time::MAX`] until [`Pending::acknowledge`].
    acknowledged: Time,
}

/// What a loss of power takes of a change.
#[derive(Clone, Debug)]
pub struct Lost<C> {
    /// The change.
    pub change: C,
    /// When the host was or would have been told that it is done.
    pub acknowledged: Time,
    /// What of its place is as before, in order.
    pub parts: Vec<Range<u64>>,
}

impl<C> Default for Pending<C> {
    fn default() -> Pending<C> {
        Pending { entries: VecDeque::new(), left: 0 }
    }
}

impl<C: Change> Pending<C> {
    /// One more change, the newest; gives its number.
    pub fn push(&mut self, change: C, acknowledged: Time) -> u64 {
        self.entries.push_back(Entry { change, acknowledged });
        self.left + self.entries.len() as u64 - 1
    }

    /// The newest changes, those that were pushed with [`Time::MAX`], are acknowledged at `done`.
    #[inline]
    pub fn acknowledge(&mut self, done: Time) {
        let open = self.entries.iter_mut().rev().take_while(|entry| entry.acknowledged == Time::MAX);
        open.for_each(|entry| entry.acknowledged = done);
    }

    /// No loss of power comes before `time`: what has landed by then stays.
    pub fn settle(&mut self, time: Time, ends: &C::Ends) {
        while self.entries.front().is_some_and(|entry| entry.change.landed_at(ends) <= time) {
            self.entries.pop_front();
            self.left += 1;
        }
    }

    /// The power fails at `at`. Gives `take_back` what is lost of each change, the newest first: of what several
    /// changed the last one says what is left. A part that a newer change holds which has landed is not lost. Nothing
    /// is pending afterwards.
    pub fn fail(&mut self, at: Time, ends: &C::Ends, take_back: impl FnMut(Lost<C>)) {
        let missing = |entry: &Entry<C>| match entry.change.landed_at(ends) <= at {
            true => Vec::new(),
            false => vec![entry.change.place()],
        };
        let missing = self.entries.iter().map(missing).collect();
        self.take_back(missing, take_back);
    }

    /// The same, where of every change that is `missing` which is not on the medium, in order.
    pub(super) fn take_back(
        &mut self,
        mut missing: Vec<Vec<Range<u64>>>,
        mut take_back: impl FnMut(Lost<C>),
    ) {
        self.left += self.entries.len() as u64;
        let mut landed = Ranges::default();
        while let (Some(Entry { change, acknowledged }), Some(missing)) =
            (self.entries.pop_back(), missing.pop())
        {
            let place = change.place();
            let parts: Vec<_> = missing.iter().flat_map(|part| landed.gaps(part.clone())).collect();
            let mut there = place.start;
            for part in missing {
                landed.insert(there..part.start);
                there = part.end;
            }
            landed.insert(there..place.end);
            if !parts.is_empty() {
                take_back(Lost { change, acknowledged, parts });
            }
        }
    }

    /// Whether everything has landed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many changes are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The numbers of those that are kept.
    pub fn numbers(&self) -> Range<u64> {
        self.left..self.left.saturating_add(self.entries.len() as u64)
    }

    /// The change of a number that is kept.
    pub fn get_mut(&mut self, number: u64) -> &mut C {
        &mut self.entries[(number - self.left) as usize].change
    }

    /// Those that are kept, with when they are acknowledged, the oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&C, Time)> {
        self.entries.iter().map(|entry| (&entry.change, entry.acknowledged))
    }

    /// Those that are kept, the oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut C> {
        self.entries.iter_mut().map(|entry| &mut entry.change)
    }

    fn check(&mut self) -> Result<(), String> {
        self.entries.iter().try_for_each(|entry| entry.change.check())
    }
}
