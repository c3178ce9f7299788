//! Erases in turn: where only some dies may erase at one time, the others of a superblock wait for theirs.

use super::config::Config;
use super::die::Die;
use super::geometry::Geometry;
use super::line::Task;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

/// An erase whose turn has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) struct Waiting {
    pub(super) superblock: u32,
    pub(super) die: u32,
    /// It begins no earlier.
    ready: Time,
}

/// Which dies erase, and which wait until they may.
#[derive(State)]
pub(super) struct EraseTurns {
    /// Dies that erase at one time; `None` where as many do as there are.
    #[state(skip = "from the configuration")]
    most: Option<usize>,
    #[state(skip = "from the configuration")]
    duration: Time,
    /// Blocks of a superblock on a die.
    #[state(skip = "from the configuration")]
    blocks: u32,
    /// In the order in which they begin; no more than a superblock for each that is erased.
    waiting: VecDeque<Waiting>,
    /// The die, and the end on its clock; no more than `most`.
    #[state(varies)]
    under_way: Vec<(u32, Time)>,
}

impl EraseTurns {
    /// The turns of `config`, where an erase takes `duration`.
    pub(super) fn new(config: &Config, geometry: &Geometry, duration: Time) -> EraseTurns {
        EraseTurns {
            most: config.erases_at_once.map(|most| most as usize),
            duration,
            blocks: geometry.blocks_per_die(),
            waiting: VecDeque::new(),
            under_way: Vec::new(),
        }
    }

    /// Whether there are turns at all.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.most.is_some()
    }

    /// Whether nobody waits.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// These dies are to erase their blocks of `superblock`, from `ready` on.
    pub(super) fn add(&mut self, superblock: u32, ready: Time, dies: Range<u32>) {
        self.waiting.extend(dies.map(|die| Waiting { superblock, die, ready }));
    }

    /// Dies whose turn comes by `now` erase.
    pub(super) fn begin(&mut self, now: Time, dies: &mut [Die]) {
        while self.waiting.front().is_some_and(|next| self.turn_of(next, dies) <= now) {
            self.begin_next(now, dies);
        }
    }

    /// `superblock` is to be programmed on `die` next: where it is not erased there yet, that is not put off any more.
    pub(super) fn begin_for(&mut self, now: Time, superblock: u32, die: u32, dies: &mut [Die]) {
        let is_it = |next: &Waiting| (next.superblock, next.die) == (superblock, die);
        let place = self.waiting.iter().position(is_it);
        if let Some(next) = place.and_then(|place| self.waiting.remove(place)) {
            dies[die as usize].work(now, next.ready.max(now), self.duration, Task::erase(self.blocks));
        }
    }

    /// When `next` may begin.
    fn turn_of(&self, next: &Waiting, dies: &[Die]) -> Time {
        let most = self.most.unwrap_or(usize::MAX);
        if self.under_way.len() < most {
            return next.ready;
        }
        self.under_way
            .iter()
            .map(|&(die, end)| dies[die as usize].time_of(end))
            .fold(Time::MAX, Time::min)
            .max(next.ready)
    }

    fn begin_next(&mut self, now: Time, dies: &mut [Die]) {
        let Some(next) = self.waiting.pop_front() else { return };
        let turn = self.turn_of(&next, dies);
        if Some(self.under_way.len()) == self.most {
            let ends = self.under_way.iter().map(|&(die, end)| dies[die as usize].time_of(end));
            let (first, _) = ends.enumerate().min_by_key(|&(_, end)| end).expect("some dies erase");
            self.under_way.swap_remove(first);
        }
        let end = dies[next.die as usize].work(now, turn, self.duration, Task::erase(self.blocks));
        self.under_way.push((next.die, end));
    }

    /// How many erases wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Erases of `die` that wait.
    pub(super) fn waiting_of(&self, die: u32) -> u64 {
        self.waiting.iter().filter(|waiting| waiting.die == die).count() as u64
    }

    /// When the last of those that wait is over, if nothing comes between.
    pub(super) fn busy_until(&self, dies: &[Die]) -> Time {
        let ends = self.under_way.iter().map(|&(die, end)| Reverse(dies[die as usize].time_of(end)));
        let mut ends: BinaryHeap<Reverse<Time>> = ends.collect();
        let (mut free, mut last) = (BTreeMap::new(), Time::ZERO);
        for next in &self.waiting {
            let first = if Some(ends.len()) == self.most { ends.pop() } else { None };
            let turn = first.map_or(next.ready, |Reverse(end)| end.max(next.ready));
            // What the die has to do already may come before it.
            let free = free.entry(next.die).or_insert_with(|| dies[next.die as usize].over_from());
            *free = turn.max(*free) + self.duration;
            ends.push(Reverse(*free));
            last = last.max(*free);
        }
        last
    }

    /// Nothing is under way any more.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.under_way.clear();
    }
}
