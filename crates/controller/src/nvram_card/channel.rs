//! One channel and its controller: which commands an access takes, and when they are given.

use super::config::{Config, RowPolicy};
use crate::memory_scheduling::{Access, MemoryScheduler};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Ledger, Time};
use nacre_media::dram::{Channel, Command, Kind, Place};
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
    /// Of each rank, when its next refresh is due.
    due: Vec<u64>,
    /// When the latest accesses had asked for their last burst, the oldest first.
    asked: VecDeque<u64>,
    /// When the last data is over the lines.
    busy_until: Time,
    pub(super) book: Book,
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
            scheduler,
            rows: config.rows,
            due: vec![interval; config.ranks as usize],
            asked: VecDeque::new(),
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
        self.busy_until = self.busy_until.max(served.closed).max(served.done);
        served
    }

    #[inline]
    fn access(&mut self, from: u64, access: &Access, is_write: bool, is_first: bool, served: &mut Served) {
        let is_full = self.asked.len() >= self.scheduler.ahead() as usize;
        let before = if is_full { self.asked.pop_front() } else { None };
        let from = before.map_or(from, |before| from.max(before + 1));
        self.refresh(access.place.rank, from);
        let place = access.place;
        let opening = self.open(place, from);
        let kind = if is_write { Kind::Write } else { Kind::Read };
        let (first, last) = self.channel.give_bursts(Command { kind, place }, from, access.bursts);
        self.asked.push_back(last);
        let part = self.channel.part();
        let (latency, data) = match is_write {
            true => (part.write_latency, part.burst / 2),
            false => (part.read_latency, part.burst / 2),
        };
        let time = |clocks: u64| Time::from_ps(clocks * part.clock.as_ps());
        let moving = time(data * access.bursts);
        let activity = if is_write { Activity::Write } else { Activity::Read };
        self.book.lines.charge(activity, moving);
        // Of accesses to several rows, only the first has to wait for its own.
        served.alone += if is_first { time(opening + latency) + moving } else { moving };
        served.begun = served.begun.min(time(first + latency));
        served.done = served.done.max(time(last + latency + data));
        let precharge = part.precharge;
        let closed = match self.rows {
            RowPolicy::Closed => true,
            RowPolicy::OpenForReads => is_write,
            RowPolicy::Open => false,
        };
        if closed {
            let clock = self.channel.close_by_itself(place, last);
            let clock = Time::from_ps(clock * self.channel.part().clock.as_ps());
            served.closed = served.closed.max(clock + precharge);
        }
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
                clocks += self.channel.part().clocks(self.channel.part().precharge);
            }
            None => {}
        }
        self.channel.give(Command { kind: Kind::Activate, place }, from);
        clocks + self.channel.part().clocks(self.channel.part().activate_to_access)
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
        self.asked.clear();
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
