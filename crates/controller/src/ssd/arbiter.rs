//! A channel that chooses what crosses it next, with the reads of its dies.
//!
//! A read is told at once when it is done, as if nothing came after it. The plan itself stays exact: what comes later and
//! goes first delays what was planned before, and so all that comes behind it.

use super::config::Arbitration;
use super::waiting_reads::{Crossing, Read, Reads, Waiting};
use nacre_kernel::Time;
use nacre_kernel::state::State;
use std::collections::VecDeque;

/// Who may cross next: what it is, and since when it waits. `die` has no meaning for others than reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    rank: u32,
    pub(super) since: Time,
    crossing: Crossing,
    die: usize,
}

/// A crossing that has begun, and what taking it back needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    candidate: Candidate,
    pub(super) number: u64,
    pub(super) start: Time,
    what: What,
    /// When what crossed before had crossed.
    pub(super) busy_before: Time,
    /// Of its die: from when on it was open, and whether it is only now that a page is no longer sensed.
    open_before: Time,
    has_sensed: bool,
}

/// What crosses, as it waited.
#[derive(Clone, Copy, Debug)]
enum What {
    Read(Waiting<Read>),
    Other(Waiting<Time>),
}

impl Begun {
    pub(super) fn crossing(&self) -> Crossing {
        self.candidate.crossing
    }

    /// Since when it waited.
    pub(super) fn since(&self) -> Time {
        self.candidate.since
    }

    /// Whether it would begin then just the same if `other` waited, too.
    pub(super) fn goes_before(&self, other: &Candidate) -> bool {
        let has_waited = self.start == self.busy_before || other.since >= self.start;
        has_waited && self.candidate <= *other
    }
}

/// One channel with its dies.
#[derive(Clone, State)]
#[state(after = "Arbiter::count_waiting")]
pub(super) struct Arbiter {
    #[state(skip = "from the configuration")]
    how: Arbitration,
    /// Pages a die holds at one time.
    #[state(skip = "from the configuration")]
    registers: usize,
    dies: Vec<Reads>,
    /// In the order in which they may cross.
    others: VecDeque<Waiting<Time>>,
    /// When what crosses has crossed.
    busy_until: Time,
    /// What was asked for so far.
    count: u64,
    /// Reads whose command has not crossed.
    #[state(skip = "follows from the queues")]
    asked: usize,
    /// What the pages take that were asked for by commands that crossed.
    #[state(skip = "follows from the queues")]
    pages: Time,
}

impl Arbiter {
    /// An idle channel with so many `dies`.
    pub(super) fn new(how: Arbitration, registers: Option<usize>, dies: u32) -> Arbiter {
        Arbiter {
            how,
            registers: registers.unwrap_or(usize::MAX),
            dies: vec![Reads::default(); dies as usize],
            others: VecDeque::new(),
            busy_until: Time::ZERO,
            count: 0,
            asked: 0,
            pages: Time::ZERO,
        }
    }

    fn count_waiting(&mut self) -> Result<(), String> {
        self.asked = self.dies.iter().map(|reads| reads.queue.len()).sum();
        self.pages =
            self.dies.iter().flat_map(Reads::sent).fold(Time::ZERO, |sum, read| sum + read.what.page);
        Ok(())
    }

    /// Adds a read; gives its number.
    pub(super) fn add_read(&mut self, die: usize, since: Time, read: Read) -> u64 {
        self.count += 1;
        self.asked += 1;
        self.dies[die].queue.push_back(Waiting { number: self.count, since, what: read });
        self.count
    }

    /// Adds another crossing; gives its number.
    pub(super) fn add_other(&mut self, since: Time, duration: Time) -> u64 {
        self.count += 1;
        let place = self.others.partition_point(|other| other.since <= since);
        self.others.insert(place, Waiting { number: self.count, since, what: duration });
        self.count
    }

    /// Nothing is asked for before `now` any more: what crosses before has its time for good.
    pub(super) fn settle(&mut self, now: Time) {
        while self.begin_before(now).is_some() {}
    }

    /// Lets the next crossing begin, if it does so before `limit`.
    pub(super) fn begin_before(&mut self, limit: Time) -> Option<Begun> {
        let earliest = self.candidates().map(|candidate| candidate.since).min()?;
        let start = self.busy_until.max(earliest);
        if start >= limit {
            return None;
        }
        let candidate = self.candidates().filter(|candidate| candidate.since <= start).min()?;
        let Candidate { crossing, die, .. } = candidate;
        let busy_before = self.busy_until;
        let reads = &self.dies[die];
        let (open_before, has_sensed) = (reads.open_since, reads.is_sensed_for(crossing));
        let what = match crossing {
            Crossing::Command => What::Read(self.dies[die].send_command(start)?),
            Crossing::Page => What::Read(self.dies[die].send_page(start, self.registers)?),
            Crossing::Other => What::Other(self.others.pop_front()?),
        };
        let (number, duration) = match (crossing, what) {
            (_, What::Other(other)) => (other.number, other.what),
            (Crossing::Command, What::Read(read)) => {
                self.asked -= 1;
                self.pages += read.what.page;
                (read.number, read.what.command)
            }
            (_, What::Read(read)) => {
                self.pages = self.pages - read.what.page;
                (read.number, read.what.page)
            }
        };
        self.busy_until = start + duration;
        Some(Begun { candidate, number, start, what, busy_before, open_before, has_sensed })
    }

    /// Takes back what began last.
    pub(super) fn take_back(&mut self, begun: &Begun) {
        let Begun { candidate: Candidate { crossing, die, .. }, open_before, has_sensed, .. } = *begun;
        self.busy_until = begun.busy_before;
        let read = match begun.what {
            What::Other(other) => return self.others.push_front(other),
            What::Read(read) => read,
        };
        self.dies[die].take_back(crossing, read, (open_before, has_sensed));
        if crossing == Crossing::Command {
            self.asked += 1;
            self.pages = self.pages - read.what.page;
        } else {
            self.pages += read.what.page;
        }
    }

    /// The command of a read of `die` that is asked for now and may be sent from `since` on, as it competes with what has
    /// begun since the last command of that die. `None`: it will not before more has begun.
    pub(super) fn command(&self, die: usize, since: Time) -> Option<Candidate> {
        let reads = &self.dies[die];
        let is_next = reads.queue.is_empty() && reads.is_open(self.registers);
        is_next.then(|| self.candidate(Crossing::Command, reads.open_from(since), die))
    }

    /// What waits for the channel since then, of that die.
    pub(super) fn candidate(&self, crossing: Crossing, since: Time, die: usize) -> Candidate {
        Candidate { rank: self.rank(crossing), since, crossing, die }
    }

    /// When `next` begins to cross, where no command waits and pages and all else cross in the order in which they came.
    pub(super) fn start_in_order(&self, next: &Candidate) -> Option<Time> {
        if self.asked > 0 || self.rank(Crossing::Page) != self.rank(Crossing::Other) {
            return None;
        }
        let goes_before = |other: &Waiting<Time>| self.candidate(Crossing::Other, other.since, 0) <= *next;
        // It is behind itself.
        let own = usize::from(next.crossing == Crossing::Other);
        let others = self.others.partition_point(goes_before) - own;
        // Planning them one by one is no longer, and the plan stays.
        if others > self.dies.iter().map(|reads| reads.pages.len()).sum() {
            return None;
        }
        let busy = self.busy_until;
        // Pages that wait when the channel is free, and those that come later.
        let (mut waiting, mut later) = (self.pages, Vec::new());
        for (die, reads) in self.dies.iter().enumerate() {
            for read in reads.sent().rev() {
                let page = self.candidate(Crossing::Page, read.since, die);
                let goes_before = page < *next;
                if goes_before && read.since <= busy {
                    break;
                }
                waiting = waiting - read.what.page;
                if goes_before {
                    later.push((page, read.what.page));
                }
            }
        }
        let ready = self.others.partition_point(|other| other.since <= busy).min(others);
        waiting = self.others.range(..ready).fold(waiting, |sum, other| sum + other.what);
        let others = self.others.range(ready..others);
        later.extend(others.map(|other| (self.candidate(Crossing::Other, other.since, 0), other.what)));
        later.sort_unstable();
        let free = later.iter().fold(busy + waiting, |free, (one, takes)| free.max(one.since) + *takes);
        Some(free.max(next.since))
    }

    fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let of_die = |(die, reads): (usize, &Reads)| {
            let crossings = [
                reads.wants_command(self.registers).map(|since| (Crossing::Command, since)),
                reads.wants_page().map(|since| (Crossing::Page, since)),
            ];
            crossings.into_iter().flatten().map(move |(crossing, since)| (crossing, since, die))
        };
        let others = self.others.front().map(|other| (Crossing::Other, other.since, 0));
        let all = self.dies.iter().enumerate().flat_map(of_die).chain(others);
        all.map(|(crossing, since, die)| self.candidate(crossing, since, die))
    }

    /// The lowest of those that wait crosses next.
    fn rank(&self, crossing: Crossing) -> u32 {
        let is_first = match self.how {
            Arbitration::CommandsFirst => crossing == Crossing::Command,
            Arbitration::PagesFirst => crossing == Crossing::Page,
            Arbitration::ReadsFirst => crossing != Crossing::Other,
            Arbitration::FirstCome | Arbitration::FirstFit => true,
        };
        u32::from(!is_first)
    }

    /// What has not crossed at `at`, where the power fails: its time, and how long each took in all whose data had not
    /// begun to cross. What is programmed crosses where that `finishes`.
    pub(super) fn cancelled(&mut self, at: Time, finishes: bool) -> (Time, Vec<Time>) {
        self.settle(at);
        let mut time = self.busy_until.saturating_sub(at);
        let mut whole = Vec::new();
        for other in self.others.iter().filter(|_| !finishes) {
            time += other.what;
            whole.push(other.what);
        }
        for reads in &self.dies {
            let asked = reads.queue.iter().map(|read| (read.what.command, read.what));
            let sent = reads.sent().map(|read| (Time::ZERO, read.what));
            for (command, read) in asked.chain(sent) {
                time += command + read.page;
                whole.push(read.command + read.page);
            }
        }
        (time, whole)
    }

    /// When all that was asked for has crossed.
    pub(super) fn free_from(mut self) -> Time {
        self.settle(Time::MAX);
        self.busy_until
    }

    /// Nothing crosses any more, as after a loss of power.
    pub(super) fn clear(&mut self) {
        let dies = self.dies.len() as u32;
        *self = Arbiter { registers: self.registers, ..Arbiter::new(self.how, None, dies) };
    }

    /// Panics unless no die holds more pages than it can.
    pub(super) fn check_invariants(&self) {
        for reads in &self.dies {
            let held = reads.pages.len() + usize::from(reads.sensing.is_some());
            assert!(held <= self.registers, "a die holds {held} pages in {} registers", self.registers);
        }
    }
}
