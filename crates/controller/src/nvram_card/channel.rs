//! One channel and its controller: which commands an access takes, and when they are given.

use super::config::{Config, RowPolicy};
use crate::memory_scheduling::{Access, MemoryScheduler};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Ledger, Time};
use nacre_media::dram::{Channel, Command, Kind, Part, Place};
use std::collections::VecDeque;

/// How accesses went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Served {
    /// When the first burst moved.
    pub(super) begun: Time,
    /// When the last had.
    pub(super) done: Time,
    /// When all rows were closed, where they were.
    pub(super) closed: Time,
    /// What it takes where nothing is in the way.
    pub(super) alone: Time,
}

/// A channel with its controller.
#[derive(State)]
pub(super) struct MemoryChannel {
    channel: Channel,
    #[state(skip = "from the configuration")]
    scheduler: Box<dyn MemoryScheduler>,
    #[state(skip = "from the configuration")]
    rows: RowPolicy,
    #[state(skip = "from the configuration")]
    ahead: usize,
    #[state(skip = "from the configuration")]
    clocks: Clocks,
    /// Of each rank, when its next refresh is due.
    due: Vec<u64>,
    /// When accesses ask for their last burst and leave the scheduler's queue, the first first.
    leaving: VecDeque<u64>,
    /// When the latest access came.
    latest: u64,
    #[state(skip = "of no meaning between two requests")]
    places: Vec<Place>,
    /// When the last data is over the lines.
    busy_until: Time,
    pub(super) book: Book,
}

/// Spans of the part in clocks, for they are wanted at every access.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    /// Of a clock.
    ps: u64,
    activate_to_access: u64,
    precharge: u64,
    read_latency: u64,
    write_latency: u64,
    /// Of the data of a burst.
    data: u64,
}

impl Clocks {
    fn of(part: &Part) -> Clocks {
        Clocks {
            ps: part.clock.as_ps(),
            activate_to_access: part.constraint(part.activate_to_access),
            precharge: part.constraint(part.precharge),
            read_latency: part.read_latency,
            write_latency: part.write_latency,
            data: part.burst / 2,
        }
    }

    #[inline]
    fn time(&self, clocks: u64) -> Time {
        Time::from_ps(clocks * self.ps)
    }
}

/// What was done since measuring began.
#[derive(Clone, Debug, Default, nacre_kernel::state::Value)]
pub(super) struct Book {
    /// Of the data lines.
    pub(super) lines: Ledger,
    /// Accesses that found their row open.
    pub(super) row_hits: u64,
    /// Accesses that had to close another row.
    pub(super) row_conflicts: u64,
    /// Commands before, in the order of [`COUNTED`].
    before: [u64; 5],
}

/// Kinds of commands, and what they are called in records.
pub(super) const COUNTED: [(Kind, &str); 5] = [
    (Kind::Activate, "activates"),
    (Kind::Read, "bursts_read"),
    (Kind::Write, "bursts_written"),
    (Kind::Precharge, "precharges"),
    (Kind::Refresh, "refreshes"),
];

impl MemoryChannel {
    pub(super) fn new(config: &Config, scheduler: Box<dyn MemoryScheduler>) -> MemoryChannel {
        let channel = Channel::new(config.part.clone(), config.ranks);
        let interval = config.part.refreshing().map_or(u64::MAX, |(every, _)| config.part.clocks(every));
        MemoryChannel {
            channel,
            ahead: scheduler.ahead() as usize,
            scheduler,
            rows: config.rows,
            clocks: Clocks::of(&config.part),
            due: vec![interval; config.ranks as usize],
            leaving: VecDeque::new(),
            latest: 0,
            places: Vec::new(),
            busy_until: Time::ZERO,
            book: Book::default(),
        }
    }

    /// Reads or writes what came together at `from`.
    #[inline]
    pub(super) fn serve(&mut self, from: Time, accesses: &mut [Access], is_write: bool) -> Served {
        let channel = &self.channel;
        self.scheduler.order(accesses, &|place| channel.open_row(place) == Some(place.row));
        let from = self.channel.part().clocks(from);
        let mut served = Served { begun: Time::MAX, done: Time::ZERO, closed: Time::ZERO, alone: Time::ZERO };
        for (number, access) in accesses.iter().enumerate() {
            self.access(from, access, is_write, number == 0, &mut served);
        }
        let activity = if is_write { Activity::Write } else { Activity::Read };
        let bursts: u64 = accesses.iter().map(|access| access.bursts).sum();
        self.book.lines.charge(activity, self.clocks.time(self.clocks.data * bursts));
        self.busy_until = self.busy_until.max(served.closed).max(served.done);
        served
    }

    #[inline]
    fn access(&mut self, from: u64, access: &Access, is_write: bool, is_first: bool, served: &mut Served) {
        let from = self.enter(from);
        self.refresh(access.place.rank, from);
        let mut places = std::mem::take(&mut self.places);
        self.rows_of(access, &mut places);
        let mut opening = 0;
        for &place in &places {
            opening = self.open(place, from).max(opening);
        }
        let kind = if is_write { Kind::Write } else { Kind::Read };
        let (first, last) = self.channel.give_bursts(kind, &places, from, access.bursts);
        self.leave(last);
        let clocks = self.clocks;
        let latency = if is_write { clocks.write_latency } else { clocks.read_latency };
        let moving = clocks.time(clocks.data * access.bursts);
        // Of accesses to several rows, only the first has to wait for its own.
        served.alone += if is_first { clocks.time(opening + latency) + moving } else { moving };
        served.begun = served.begun.min(clocks.time(first + latency));
        served.done = served.done.max(clocks.time(last + latency + clocks.data));
        let closes = match self.rows {
            RowPolicy::Closed => true,
            RowPolicy::OpenForReads => is_write,
            RowPolicy::Open => false,
        };
        if closes {
            for &place in &places {
                let clock = self.channel.close_by_itself(place, first);
                served.closed = served.closed.max(clocks.time(clock + clocks.precharge));
            }
        }
        self.places = places;
    }

    /// When an access that comes at `from` has a place in the scheduler's queue: the first that leaves gives its own. One
    /// that comes before others that were served already, as those of a later line of a load, finds these not yet there.
    #[inline]
    fn enter(&mut self, from: u64) -> u64 {
        if from < self.latest {
            return from;
        }
        self.latest = from;
        let is_full = self.leaving.len() >= self.ahead;
        let first = if is_full { self.leaving.pop_front() } else { None };
        first.map_or(from, |first| from.max(first + 1))
    }

    /// The access that entered last leaves at `clock`.
    #[inline]
    fn leave(&mut self, clock: u64) {
        if self.leaving.len() >= self.ahead {
            return;
        }
        let later = self.leaving.iter().rev().take_while(|&&other| other > clock).count();
        if later == 0 {
            self.leaving.push_back(clock);
        } else {
            self.leaving.insert(self.leaving.len() - later, clock);
        }
    }

    /// The rows of `access`, in the order of their first bursts.
    #[inline]
    fn rows_of(&self, access: &Access, places: &mut Vec<Place>) {
        places.clear();
        if access.groups == 1 {
            return places.push(access.place);
        }
        let Place { bank, .. } = access.place;
        let (banks, all) = (self.channel.part().banks, self.channel.part().banks_in_all());
        places.extend(
            (0..access.groups).map(|turn| Place { bank: (bank + turn * banks) % all, ..access.place }),
        );
    }

    /// Opens the row of `place` where it is not open; gives the clocks that takes at least.
    #[inline]
    fn open(&mut self, place: Place, from: u64) -> u64 {
        let mut clocks = 0;
        match self.channel.open_row(place) {
            Some(row) if row == place.row => {
                self.book.row_hits += 1;
                return 0;
            }
            Some(_) => {
                self.book.row_conflicts += 1;
                self.channel.give(Command { kind: Kind::Precharge, place }, from);
                clocks += self.clocks.precharge;
            }
            None => {}
        }
        self.channel.give(Command { kind: Kind::Activate, place }, from);
        clocks + self.clocks.activate_to_access
    }

    /// Gives every refresh of `rank` that is due by `from`.
    #[inline]
    fn refresh(&mut self, rank: u32, from: u64) {
        if self.due[rank as usize] <= from {
            self.refresh_all(rank, from);
        }
    }

    #[cold]
    fn refresh_all(&mut self, rank: u32, from: u64) {
        let Some((every, _)) = self.channel.part().refreshing() else { return };
        let interval = self.channel.part().clocks(every);
        let mut due = self.due[rank as usize];
        while due <= from {
            for bank in 0..self.channel.part().banks_in_all() {
                let place = Place { rank, bank, row: 0 };
                if self.channel.open_row(place).is_some() {
                    self.channel.give(Command { kind: Kind::Precharge, place }, due);
                }
            }
            self.channel.give(Command { kind: Kind::Refresh, place: Place { rank, bank: 0, row: 0 } }, due);
            due += interval;
            // Of those that nobody waited for only the last one matters.
            let unseen = from.saturating_sub(due) / interval;
            if unseen > 1 {
                self.channel.count_refreshes(unseen - 1);
                due += (unseen - 1) * interval;
            }
        }
        self.due[rank as usize] = due;
    }

    /// Everything is lost that was under way, and the power is back at `at`.
    pub(super) fn clear(&mut self, at: Time) {
        self.channel.clear();
        self.leaving.clear();
        self.latest = 0;
        self.busy_until = Time::ZERO;
        let part = self.channel.part();
        if let Some((every, _)) = part.refreshing() {
            let due = part.clocks(at + every);
            self.due.fill(due);
        }
    }

    pub(super) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Commands of each kind of [`COUNTED`] since measuring began.
    pub(super) fn commands(&self) -> [u64; 5] {
        let mut counts = self.book.before;
        for (count, (kind, _)) in counts.iter_mut().zip(COUNTED) {
            *count = self.channel.given(kind) - *count;
        }
        counts
    }

    pub(super) fn restart(&mut self) {
        let before = COUNTED.map(|(kind, _)| self.channel.given(kind));
        self.book = Book { before, ..Book::default() };
    }
}
