//! A channel that chooses what crosses it next, with the reads of its dies.
//!
//! A read is told at once when it is done, as if nothing came after it. The plan itself stays exact: what comes later and
//! goes first delays what was planned before, and so all that comes behind it.

use super::config::Arbitration;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// What crosses a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Crossing {
    /// The command of a read.
    Command,
    /// What was read for the host.
    Page,
    /// What is programmed, with its command, or was read to be copied.
    Other,
}

/// A read of the host: what it takes.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Read {
    pub(super) command: Time,
    pub(super) sense: Time,
    pub(super) page: Time,
}

/// When a read has what it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Planned {
    /// When its command begins to cross.
    pub(super) command: Time,
    pub(super) sensed: Time,
    /// When its page begins to cross.
    pub(super) page: Time,
}

/// Something with its number in the order in which it was asked for, and since when it waits.
#[derive(Clone, Copy, Debug, Value)]
struct Waiting<T: Value> {
    number: u64,
    since: Time,
    what: T,
}

/// A die's reads.
#[derive(Clone, Debug, Default, Value)]
struct Reads {
    /// Those whose command has not crossed. The first may be sent no earlier than its `since`.
    queue: VecDeque<Waiting<Read>>,
    /// The one that is sensed, or whose command crosses, until `since`.
    sensing: Option<Waiting<Read>>,
    /// Pages that wait to cross, since they were sensed.
    pages: VecDeque<Waiting<Read>>,
    /// From when on a register is free and nothing is sensed.
    open_since: Time,
}

/// Who may cross next: what it is, and since when it waits. `die` has no meaning for others than reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    since: Time,
    crossing: Crossing,
    die: usize,
}

/// A crossing that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) crossing: Crossing,
    pub(super) number: u64,
    pub(super) since: Time,
    pub(super) start: Time,
}

/// One channel with its dies.
#[derive(Clone, State)]
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
        }
    }

    /// Plans a read of `die`, asked for at `now`, whose command may be sent from `since` on.
    pub(super) fn read(&mut self, now: Time, die: usize, since: Time, read: Read) -> Planned {
        self.settle(now);
        let number = self.add_read(die, since, read);
        let mut planned = Planned::default();
        let mut ahead = self.clone();
        while let Some(begun) = ahead.begin_before(Time::MAX) {
            match begun.crossing {
                Crossing::Command if begun.number == number => planned.command = begun.start,
                Crossing::Page if begun.number == number => {
                    (planned.sensed, planned.page) = (begun.since, begun.start);
                    break;
                }
                _ => {}
            }
        }
        planned
    }

    /// Plans another crossing, asked for at `now`, from `since` on; gives when it begins.
    pub(super) fn other(&mut self, now: Time, since: Time, duration: Time) -> Time {
        self.settle(now);
        let number = self.add_other(since, duration);
        let mut ahead = self.clone();
        while let Some(begun) = ahead.begin_before(Time::MAX) {
            if begun.number == number {
                return begun.start;
            }
        }
        unreachable!("what waits for a channel crosses it")
    }

    /// Adds a read; gives its number.
    pub(super) fn add_read(&mut self, die: usize, since: Time, read: Read) -> u64 {
        self.count += 1;
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
        let Candidate { crossing, die, since, .. } =
            self.candidates().filter(|candidate| candidate.since <= start).min()?;
        let (number, duration) = match crossing {
            Crossing::Command => self.dies[die].send_command(start)?,
            Crossing::Page => self.dies[die].send_page(start, self.registers)?,
            Crossing::Other => self.others.pop_front().map(|other| (other.number, other.what))?,
        };
        self.busy_until = start + duration;
        Some(Begun { crossing, number, since, start })
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
        all.map(|(crossing, since, die)| Candidate { rank: self.rank(crossing), since, crossing, die })
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
            let sent = reads.sensing.iter().chain(&reads.pages).map(|read| (Time::ZERO, read.what));
            for (command, read) in asked.chain(sent) {
                time += command + read.page;
                whole.push(read.command + read.page);
            }
        }
        (time, whole)
    }

    /// When all that was asked for has crossed.
    pub(super) fn free_from(&self) -> Time {
        let mut ahead = self.clone();
        ahead.settle(Time::MAX);
        ahead.busy_until
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

impl Reads {
    /// Since when the first read in the queue waits for the channel to send its command.
    fn wants_command(&self, registers: usize) -> Option<Time> {
        let first = self.queue.front()?;
        let is_open = self.pages.len() + usize::from(self.sensing.is_some()) < registers;
        let sensed = self.sensing.as_ref().map_or(Time::ZERO, |read| read.since);
        is_open.then(|| first.since.max(self.open_since).max(sensed))
    }

    /// Since when a page waits for the channel.
    fn wants_page(&self) -> Option<Time> {
        self.pages.front().or(self.sensing.as_ref()).map(|page| page.since)
    }

    /// The command of the first read begins to cross at `start`: gives the read's number, and how long it crosses.
    fn send_command(&mut self, start: Time) -> Option<(u64, Time)> {
        let Waiting { number, what: read, .. } = self.queue.pop_front()?;
        self.note_sensed();
        let sensed = start + read.command + read.sense;
        self.sensing = Some(Waiting { number, since: sensed, what: read });
        Some((number, read.command))
    }

    /// The same of its first page, which leaves a register when it has crossed.
    fn send_page(&mut self, start: Time, registers: usize) -> Option<(u64, Time)> {
        if self.pages.is_empty() {
            self.note_sensed();
        }
        let held = self.pages.len() + usize::from(self.sensing.is_some());
        let Waiting { number, what: read, .. } = self.pages.pop_front()?;
        if held == registers {
            self.open_since = self.open_since.max(start + read.page);
        }
        Some((number, read.page))
    }

    fn note_sensed(&mut self) {
        if let Some(read) = self.sensing.take() {
            self.open_since = self.open_since.max(read.since);
            self.pages.push_back(read);
        }
    }
}
