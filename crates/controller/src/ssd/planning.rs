//! What a channel that chooses will carry, planned on from where the last plan ended.
//!
//! What comes only changes the plan from the first crossing on that it goes before, so that the plan is taken back to there.
//! Where no command waits and all else crosses in the order in which it came, as much crosses before a page as takes so
//! long, and nothing is planned one by one.

use super::arbiter::{Arbiter, Begun, Candidate};
use super::config::Arbitration;
use super::waiting_reads::{Crossing, Read};
use nacre_kernel::Time;
use nacre_kernel::state::{State, StateError, StateReader, StateWriter};
use std::collections::VecDeque;

/// When a read has what it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Planned {
    /// When its command begins to cross.
    pub(super) command: Time,
    pub(super) sensed: Time,
    /// When its page begins to cross.
    pub(super) page: Time,
}

/// A channel that chooses, and its plan.
pub(super) struct Planner {
    /// The channel after what is planned.
    arbiter: Arbiter,
    /// What is planned and may yet be taken back, in order.
    planned: VecDeque<Begun>,
    /// Crossings that were planned, taken back or passed over.
    #[cfg(test)]
    pub(super) steps: u64,
}

impl Planner {
    /// An idle channel with so many `dies`.
    pub(super) fn new(how: Arbitration, registers: Option<usize>, dies: u32) -> Planner {
        Planner {
            arbiter: Arbiter::new(how, registers, dies),
            planned: VecDeque::new(),
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Plans a read of `die`, asked for at `now`, whose command may be sent from `since` on.
    pub(super) fn read(&mut self, now: Time, die: usize, since: Time, read: Read) -> Planned {
        self.settle(now);
        if let Some(command) = self.arbiter.command(die, since) {
            self.make_way(&command);
        }
        let number = self.arbiter.add_read(die, since, read);
        let mut planned = Planned::default();
        loop {
            let begun = self.plan_next();
            if begun.number == number {
                if begun.crossing() == Crossing::Page {
                    (planned.sensed, planned.page) = (begun.since(), begun.start);
                    return planned;
                }
                planned.command = begun.start;
                planned.sensed = begun.start + read.command + read.sense;
            }
            let page = self.arbiter.candidate(Crossing::Page, planned.sensed, die);
            if let Some(start) = self.arbiter.start_in_order(&page) {
                return Planned { page: start, ..planned };
            }
        }
    }

    /// Plans another crossing, asked for at `now`, from `since` on; gives when it begins.
    pub(super) fn other(&mut self, now: Time, since: Time, duration: Time) -> Time {
        self.settle(now);
        let other = self.arbiter.candidate(Crossing::Other, since, 0);
        self.make_way(&other);
        let number = self.arbiter.add_other(since, duration);
        loop {
            if let Some(start) = self.arbiter.start_in_order(&other) {
                return start;
            }
            let begun = self.plan_next();
            if begun.number == number {
                return begun.start;
            }
        }
    }

    /// Nothing is asked for before `now` any more: what crosses before has its time for good.
    pub(super) fn settle(&mut self, now: Time) {
        while self.planned.front().is_some_and(|begun| begun.start < now) {
            self.planned.pop_front();
        }
        if self.planned.is_empty() {
            self.arbiter.settle(now);
        }
    }

    fn plan_next(&mut self) -> Begun {
        let begun = self.arbiter.begin_before(Time::MAX).expect("what waits for a channel crosses it");
        self.planned.push_back(begun);
        self.count_steps(1);
        begun
    }

    /// Takes back what is planned from the first on that `candidate` goes before.
    fn make_way(&mut self, candidate: &Candidate) {
        let from = self.planned.partition_point(|begun| begun.start < candidate.since);
        let before = self.planned.range(from..).take_while(|begun| begun.goes_before(candidate)).count();
        self.count_steps(self.planned.len() - from);
        self.take_back(from + before);
    }

    /// Takes back all that is planned but so many.
    fn take_back(&mut self, left: usize) {
        while self.planned.len() > left
            && let Some(begun) = self.planned.pop_back()
        {
            self.arbiter.take_back(&begun);
        }
    }

    #[cfg(test)]
    fn count_steps(&mut self, steps: usize) {
        self.steps += steps as u64;
    }

    #[cfg(not(test))]
    fn count_steps(&self, _: usize) {}

    /// As [`Arbiter::cancelled`].
    pub(super) fn cancelled(&mut self, at: Time, finishes: bool) -> (Time, Vec<Time>) {
        self.settle(at);
        self.take_back(0);
        self.arbiter.cancelled(at, finishes)
    }

    /// When all that was asked for has crossed.
    pub(super) fn free_from(&self) -> Time {
        self.arbiter.clone().free_from()
    }

    /// Nothing crosses any more, as after a loss of power.
    pub(super) fn clear(&mut self) {
        self.planned.clear();
        self.arbiter.clear();
    }

    /// Panics unless no die holds more pages than it can.
    pub(super) fn check_invariants(&self) {
        self.arbiter.check_invariants();
    }
}

/// The channel before all that may be taken back: the plan follows from it.
impl State for Planner {
    fn save(&self, state: &mut StateWriter) {
        let mut arbiter = self.arbiter.clone();
        self.planned.iter().rev().for_each(|begun| arbiter.take_back(begun));
        arbiter.save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        self.planned.clear();
        self.arbiter.restore(state)
    }
}
