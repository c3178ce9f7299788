//! One channel and its controller: which commands an access takes, and when they are given.

use super::config::{Config, RowPolicy};
use crate::memory_scheduling::{Access, MemoryScheduler};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, Ledger, Operations, Time, UnderWay};
use nacre_media::dram::{Channel, Command, Kind, Part, Place, Whole};
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
    /// How the first of them went.
    pub(super) first: First,
}

/// How the first of several accesses went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct First {
    /// When it had a place in the scheduler's queue.
    pub(super) entered: Time,
    /// Until when its rank was refreshed.
    pub(super) refreshed: Time,
    /// When another row of its bank was closed, and its own was opened; zero where that was so already.
    pub(super) precharged: Time,
    pub(super) opened: Time,
    /// When its data began to move.
    pub(super) begun: Time,
    /// What precharge, activation and the command take, and the data of all accesses.
    pub(super) precharge: Time,
    pub(super) activation: Time,
    pub(super) latency: Time,
    pub(super) moving: Time,
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
    /// Whether an access goes before an earlier one for which its row is to be closed.
    #[state(skip = "from the configuration")]
    passes: bool,
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
    #[state(skip = "whether there are bytes is not part of the state")]
    pub(super) carries_bytes: bool,
    /// Of the data lines: with so many bursts.
    under_way: UnderWay,
}

/// How a row was opened, in clocks; zero where it was open.
#[derive(Clone, Copy, Debug, Default)]
struct Opening {
    /// What closing another one takes, and when it was closed.
    precharge: u64,
    precharged: u64,
    /// What opening takes, and when it began.
    activation: u64,
    activated: u64,
}

/// Spans of the part in clocks, for they are wanted at every access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// Of a clock.
    ps: u64,
    pub(super) activate_to_access: u64,
    pub(super) precharge: u64,
    pub(super) read_latency: u64,
    pub(super) write_latency: u64,
    /// Of the data of a burst.
    pub(super) data: u64,
}

impl Clocks {
    pub(super) fn of(part: &Part) -> Clocks {
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
    pub(super) fn time(&self, clocks: u64) -> Time {
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
    /// Bursts read and written that a loss of power cancelled.
    pub(super) cancelled: [u64; 2],
    /// Commands before, in the order of [`COUNTED`].
    before: [u64; 5],
}

impl Book {
    /// Counts begin, with as many commands given before.
    pub(super) fn from(before: [u64; 5]) -> Book {
        Book { before, ..Book::default() }
    }

    /// Commands of each kind of [`COUNTED`] since measuring began, of which `given` says how many there were.
    pub(super) fn commands(&self, given: impl Fn(Kind) -> u64) -> [u64; 5] {
        let mut counts = self.before;
        for (count, (kind, _)) in counts.iter_mut().zip(COUNTED) {
            *count = given(kind) - *count;
        }
        counts
    }
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
            passes: scheduler.passes() && config.rows != RowPolicy::Closed,
            scheduler,
            rows: config.rows,
            clocks: Clocks::of(&config.part),
            due: vec![interval; config.ranks as usize],
            leaving: VecDeque::new(),
            latest: 0,
            places: Vec::new(),
            busy_until: Time::ZERO,
            book: Book::default(),
            carries_bytes: false,
            under_way: UnderWay::default(),
        }
    }

    /// Reads or writes what came together at `from`.
    #[inline]
    pub(super) fn serve(&mut self, from: Time, accesses: &mut [Access], is_write: bool) -> Served {
        if self.rows == RowPolicy::Closed {
            self.scheduler.order(accesses, &|_| false);
        } else {
            let channel = &self.channel;
            self.scheduler.order(accesses, &|place| channel.open_row(place) == Some(place.row));
        }
        let from = self.channel.part().clocks(from);
        let mut served = Served {
            begun: Time::MAX,
            done: Time::ZERO,
            closed: Time::ZERO,
            alone: Time::ZERO,
            first: First::default(),
        };
        for (number, access) in accesses.iter().enumerate() {
            self.access(from, access, is_write, number == 0, &mut served);
        }
        let activity = if is_write { Activity::Write } else { Activity::Read };
        let bursts: u64 = accesses.iter().map(|access| access.bursts).sum();
        served.first.moving = self.clocks.time(self.clocks.data * bursts);
        self.book.lines.charge(activity, served.first.moving);
        self.busy_until = self.busy_until.max(served.closed).max(served.done);
        if self.carries_bytes {
            let operations = Operations { kind: u32::from(is_write), count: bursts as u32 };
            self.under_way.add(activity, served.begun, served.done, operations);
        }
        served
    }

    #[inline]
    fn access(&mut self, from: u64, access: &Access, is_write: bool, is_first: bool, served: &mut Served) {
        let from = self.enter(from);
        self.refresh(access.place.rank, from);
        if access.groups == 1 {
            return self.access_rows(from, &[access.place], access.bursts, is_write, is_first, served);
        }
        let mut places = std::mem::take(&mut self.places);
        self.rows_of(access, &mut places);
        self.access_rows(from, &places, access.bursts, is_write, is_first, served);
        self.places = places;
    }

    /// Reads or writes so many `bursts` of the rows of `places` in turn.
    #[inline]
    fn access_rows(
        &mut self,
        from: u64,
        places: &[Place],
        bursts: u64,
        is_write: bool,
        is_first: bool,
        served: &mut Served,
    ) {
        let kind = if is_write { Kind::Write } else { Kind::Read };
        if is_first {
            let clocks = self.clocks;
            served.first.entered = clocks.time(from);
            served.first.refreshed = clocks.time(self.channel.refreshed(places[0].rank));
        }
        if let Some((first, last, closed)) = self.pass(kind, places, from, bursts) {
            self.moved(kind, [first, last], bursts, is_first.then_some(Opening::default()), served);
            if self.closes(is_write) {
                served.closed = served.closed.max(self.clocks.time(closed + self.clocks.precharge));
            }
            return;
        }
        if let &[place] = places
            && self.closes(is_write)
            && self.channel.open_row(place).is_none()
        {
            return self.access_whole(kind, place, from, bursts, is_first, served);
        }
        let mut opening = Opening::default();
        for &place in places {
            let one = self.open(place, from);
            opening = if one.activated >= opening.activated { one } else { opening };
        }
        let (first, last) = self.channel.give_bursts(kind, places, from, bursts);
        self.moved(kind, [first, last], bursts, is_first.then_some(opening), served);
        if self.closes(is_write) {
            for &place in places {
                let clock = self.channel.close_by_itself(place, first);
                served.closed = served.closed.max(self.clocks.time(clock + self.clocks.precharge));
            }
        }
    }

    /// Reads or writes a row of a bank without an open row, and has it closed.
    #[inline]
    fn access_whole(
        &mut self,
        kind: Kind,
        place: Place,
        from: u64,
        bursts: u64,
        is_first: bool,
        served: &mut Served,
    ) {
        let Whole { opened, first, last, closed } = self.channel.give_whole(kind, place, from, bursts);
        let activation = self.clocks.activate_to_access;
        let opening = Opening { activation, activated: opened, ..Opening::default() };
        self.moved(kind, [first, last], bursts, is_first.then_some(opening), served);
        served.closed = served.closed.max(self.clocks.time(closed + self.clocks.precharge));
    }

    /// Reads or writes a row before it is closed for an earlier access, where the scheduler wants that and there is time.
    #[inline]
    fn pass(&mut self, kind: Kind, places: &[Place], from: u64, bursts: u64) -> Option<(u64, u64, u64)> {
        let &[place] = places else { return None };
        if !self.passes || self.channel.open_row(place) == Some(place.row) {
            return None;
        }
        let found = self.channel.give_before_closing(kind, place, from, bursts);
        self.book.row_hits += u64::from(found.is_some());
        found
    }

    /// So many `bursts` were given from the `first` clock to the `last`. Only the first access of several waits for its row
    /// where nothing is in the way, which took it its `opening`.
    #[inline(always)]
    fn moved(
        &mut self,
        kind: Kind,
        [first, last]: [u64; 2],
        bursts: u64,
        opening: Option<Opening>,
        served: &mut Served,
    ) {
        self.leave(last);
        let clocks = self.clocks;
        let latency = if kind == Kind::Write { clocks.write_latency } else { clocks.read_latency };
        let moving = clocks.time(clocks.data * bursts);
        served.alone += moving;
        if let Some(Opening { precharge, precharged, activation, activated }) = opening {
            served.alone += clocks.time(precharge + activation + latency);
            served.first = First {
                precharged: clocks.time(precharged),
                opened: clocks.time(activated + activation),
                begun: clocks.time(first + latency),
                precharge: clocks.time(precharge),
                activation: clocks.time(activation),
                latency: clocks.time(latency),
                ..served.first
            };
        }
        served.begun = served.begun.min(clocks.time(first + latency));
        served.done = served.done.max(clocks.time(last + latency + clocks.data));
    }

    /// Whether the access closes its row.
    #[inline]
    fn closes(&self, is_write: bool) -> bool {
        match self.rows {
            RowPolicy::Closed => true,
            RowPolicy::OpenForReads => is_write,
            RowPolicy::Open => false,
        }
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
        if self.leaving.back().is_none_or(|&latest| latest <= clock) {
            return self.leaving.push_back(clock);
        }
        let later = self.leaving.iter().rev().take_while(|&&other| other > clock).count();
        self.leaving.insert(self.leaving.len() - later, clock);
    }

    /// The rows of `access` to several groups, in the order of their first bursts.
    #[inline]
    fn rows_of(&self, access: &Access, places: &mut Vec<Place>) {
        places.clear();
        let Place { bank, .. } = access.place;
        let (banks, all) = (self.channel.part().banks, self.channel.part().banks_in_all());
        places.extend(
            (0..access.groups).map(|turn| Place { bank: (bank + turn * banks) % all, ..access.place }),
        );
    }

    /// Opens the row of `place` where it is not open.
    #[inline]
    fn open(&mut self, place: Place, from: u64) -> Opening {
        let mut opening = Opening::default();
        match self.channel.open_row(place) {
            Some(row) if row == place.row => {
                self.book.row_hits += 1;
                return opening;
            }
            Some(_) => {
                self.book.row_conflicts += 1;
                let clock = self.channel.give(Command { kind: Kind::Precharge, place }, from);
                opening.precharge = self.clocks.precharge;
                opening.precharged = clock + opening.precharge;
            }
            None => {}
        }
        opening.activated = self.channel.give(Command { kind: Kind::Activate, place }, from);
        opening.activation = self.clocks.activate_to_access;
        opening
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

    /// No loss of power comes before `to`.
    pub(super) fn settle(&mut self, to: Time) {
        self.under_way.settle(to);
    }

    /// The power fails at `at`: bursts that have not moved do not move.
    pub(super) fn power_fail(&mut self, at: Time) {
        for cancelled in self.under_way.cancel(at) {
            let Operations { kind, count } = cancelled.operations;
            let moving = self.clocks.time(self.clocks.data * u64::from(count));
            self.book.lines.give_back(cancelled.activity, moving.min(cancelled.time));
            if cancelled.is_whole() {
                self.book.cancelled[kind as usize] += u64::from(count);
            }
        }
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
        self.book.commands(|kind| self.channel.given(kind))
    }

    pub(super) fn restart(&mut self) {
        let before = COUNTED.map(|(kind, _)| self.channel.given(kind));
        self.book = Book::from(before);
        self.under_way.clear();
    }
}
