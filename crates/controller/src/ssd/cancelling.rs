//! What a loss of power keeps channels and dies from doing, and gives back to the books.
//!
//! Time and operations are charged when they are asked for. An operation that had begun counts, for the time that
//! it had come to; one that had not is neither counted nor charged. The mapping and what is counted with it stay: units that
//! were to be programmed have their pages.

use super::fetching::Fetch;
use super::line::Task;
use super::schedule::Schedule;
use nacre_kernel::{Activity, Cancelled, Operations, Time};
use nacre_media::flash::Operation;

impl Schedule {
    /// A die and its channel are busy with a read of the host.
    #[inline(never)]
    pub(super) fn note_fetch(&mut self, activity: Activity, fetch: Fetch, read: Time, pages: u32) {
        let Fetch { turn, sensed, transfer, done } = fetch;
        let none = Operations::default();
        if self.pace.read_priority || !self.arbiters.is_empty() {
            let operations = Operations { kind: Operation::Read as u32, count: 1 };
            self.under_way.add(activity, sensed - read, sensed, operations);
        }
        if turn.has_suspended {
            let (suspends, resumed) = (sensed - read - turn.suspending, sensed + self.pace.suspending.resume);
            self.under_way.add(Activity::Suspend, suspends, sensed - read, none);
            self.under_way.add(Activity::Suspend, sensed, resumed, none);
        }
        self.note_crossing(Operation::Read, transfer, done - transfer, pages);
    }

    /// Pages that are to be programmed, or were read, cross a channel from `begin` on.
    pub(super) fn note_crossing(&mut self, of: Operation, begin: Time, takes: Time, pages: u32) {
        if self.arbiters.is_empty() {
            let operations = Operations { kind: of as u32, count: pages };
            self.under_way.add(Activity::Transfer, begin, begin + takes, operations);
        }
    }

    /// The power fails at `at`, while the buffer holds so many operations that were not issued, which end so many stripes
    /// with parity. `finishing` is what each of them takes where the drive is protected: all that is to be programmed is
    /// programmed then.
    pub(super) fn cancel(&mut self, at: Time, (held, parities): (u64, u64), finishing: Option<Time>) {
        let is_protected = finishing.is_some();
        self.cancel_crossings(at, is_protected);
        let mut dies = std::mem::take(&mut self.dies);
        for die in &mut dies {
            for (task, cancelled) in die.cancelled(at) {
                if !(is_protected && task.program.is_some()) {
                    self.cancel_on_die(&task, &cancelled);
                }
            }
        }
        self.dies = dies;
        let waiting = self.erase_turns.waiting();
        self.die_charges.give_back(Activity::Erase, self.pace.erase * waiting);
        let blocks = waiting * u64::from(self.geometry.blocks_per_die());
        self.die_charges.give_back_count(Operation::Erase as usize, Activity::Erase, blocks);
        self.end_held(Activity::Drain, held, finishing);
        self.end_held(Activity::Correct, parities, finishing);
    }

    /// So many operations that were not issued are programmed, each in that time, or never will be.
    fn end_held(&mut self, activity: Activity, held: u64, finishing: Option<Time>) {
        let pages = held * u64::from(self.geometry.operation_units / self.geometry.units_per_page);
        if let Some(each) = finishing {
            self.die_charges.charge(activity, each * held);
            self.counts.programs += held;
            self.channel_charges.count(Operation::Transfer as usize, Activity::Transfer, pages);
        } else {
            self.counts.unprogrammed[activity as usize] += pages;
        }
    }

    /// Recovery erases again from `at` on: so many dies side by side, the one that has most `most` times.
    pub(super) fn erase_again(&mut self, at: Time, all: u64, most: u64) {
        self.die_charges.charge(Activity::Erase, self.pace.erase * all);
        let blocks = self.geometry.blocks_per_die();
        self.die_charges.count(Operation::Erase as usize, Activity::Erase, all * u64::from(blocks));
        if !self.carries_bytes {
            return;
        }
        let operations = Operations { kind: Operation::Erase as u32, count: blocks };
        let mut left = all;
        for round in 0..most {
            let begin = at + self.pace.erase * round;
            let side_by_side = left.div_ceil(most - round);
            for _ in 0..side_by_side {
                self.under_way.add(Activity::Erase, begin, begin + self.pace.erase, operations);
            }
            left -= side_by_side;
        }
    }

    fn cancel_crossings(&mut self, at: Time, is_protected: bool) {
        for cancelled in self.under_way.cancel(at) {
            let Operations { kind, count } = cancelled.operations;
            match cancelled.activity {
                Activity::Transfer if is_protected && kind == Operation::Program as u32 => {}
                Activity::Transfer => {
                    let pages = if cancelled.is_whole() { u64::from(count) } else { 0 };
                    self.give_back_crossing(cancelled.time, pages);
                }
                activity => {
                    let task = match activity {
                        Activity::Erase => Task::erase(count),
                        _ => Task::read(activity, count),
                    };
                    self.cancel_on_die(&task, &cancelled);
                }
            }
        }
        let mut arbiters = std::mem::take(&mut self.arbiters);
        for arbiter in &mut arbiters {
            let (time, whole) = arbiter.cancelled(at, is_protected);
            let pages = whole.into_iter().map(|takes| self.pages_crossing(takes)).sum();
            self.give_back_crossing(time, pages);
        }
        self.arbiters = arbiters;
    }

    /// Pages that take so long to cross a channel with their commands, the last of them perhaps in part.
    fn pages_crossing(&self, takes: Time) -> u64 {
        let page = self.pace.command + self.pace.unit_transfer * u64::from(self.geometry.units_per_page);
        // Bandwidths do not divide evenly: whole pages together may take a little longer than each alone.
        let takes = takes.saturating_sub(Time::from_ps(self.pace.unit_transfer.as_ps() / 2));
        takes.as_ps().div_ceil(page.as_ps().max(1))
    }

    fn cancel_on_die(&mut self, task: &Task, cancelled: &Cancelled) {
        let Cancelled { activity, time, .. } = *cancelled;
        self.die_charges.give_back(activity, time);
        if !cancelled.is_whole() {
            return;
        }
        let pages = u64::from(task.count);
        let (kind, activity, count) = match activity {
            _ if task.program.is_some() => {
                self.counts.programs = self.counts.programs.saturating_sub(1);
                self.counts.unprogrammed[activity as usize] += pages;
                return;
            }
            Activity::Suspend => return,
            Activity::Erase => (Operation::Erase, activity, pages),
            Activity::Read | Activity::Translate => (Operation::Read, activity, 1),
            _ => {
                self.counts.copy_reads = self.counts.copy_reads.saturating_sub(1);
                (Operation::Read, Activity::Clean, pages)
            }
        };
        self.die_charges.give_back_count(kind as usize, activity, count);
    }

    fn give_back_crossing(&mut self, time: Time, pages: u64) {
        self.channel_charges.give_back(Activity::Transfer, time);
        self.channel_charges.give_back_count(Operation::Transfer as usize, Activity::Transfer, pages);
    }
}
