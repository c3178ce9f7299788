//! The memory controller of one channel: selects the next command for the waiting accesses, and the clock
//! at which it is issued.

use super::clocks::{COUNTED, Clocks, Counters};
use super::config::{Config, RowPolicy};
use crate::memory_scheduling::{Access, MemoryScheduler};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Time};
use nacre_media::dram::{InOrder, Kind, Location};
use std::collections::VecDeque;

/// A channel and its queue. The scheduler decides in whole clocks of the channel.
///
/// The scheduler considers the oldest accesses, up to the size of its queue (the window), and issues the
/// command that can be issued first. If several commands can be issued at the same clock, their order is: a
/// due refresh, the read or write of the oldest access whose rows are open, and the command that opens or
/// closes a row for the oldest access. A row is not closed while it is needed by an older access, or by an
/// access in the window whose rows are all open. Otherwise, two accesses could wait forever, because each
/// needs a row to be closed that the other access needs open. The bursts of an access are consecutive, and
/// the last burst frees the queue slot of the access.
#[derive(Debug, State)]
pub(super) struct Scheduler {
    channel: InOrder,
    #[state(skip = "from the configuration")]
    locations: usize,
    #[state(skip = "from the configuration")]
    rows: RowPolicy,
    #[state(skip = "from the configuration")]
    clocks: Clocks,
    /// Number of clocks between refreshes of a rank.
    #[state(skip = "from the configuration")]
    interval: u64,
    /// Clock of the next refresh of each rank.
    due: Vec<u64>,
    /// Waiting accesses, oldest first.
    #[state(varies)]
    waiting: VecDeque<Waiting>,
    /// Earliest clock at which the next command may be issued.
    from: u64,
    /// Clock until which the latest access occupies its queue slot.
    held: u64,
    /// The next command, unless another access arrives before its clock.
    #[state(varies)]
    next: Option<Next>,
    /// Data transfers that may be in progress, oldest first.
    #[state(varies)]
    moving: VecDeque<Moving>,
    /// Banks with an open row that an access needs, as a bit mask.
    #[state(skip = "scratch")]
    wanted: Vec<u64>,
    pub(super) counts: Counters,
    /// Numbers of bursts to read and to write that were requested but not yet issued.
    outstanding: [u64; 2],
    /// Numbers of requested read and write bursts that a power loss dropped.
    dropped: [u64; 2],
    /// Numbers of read and write bursts requested since the start of the run.
    asked: [u64; 2],
}

/// A waiting access. If a command is not needed, its clock is zero.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Waiting {
    access: Access,
    is_write: bool,
    /// The piece of a request to which the access belongs.
    piece: u32,
    /// Clock at which the access entered the scheduler's window. `None` before that.
    seen: Option<u64>,
    /// Clock at which another row was closed for this access.
    precharged: u64,
    /// Clock at which the row of this access was opened.
    activated: u64,
}

/// A command to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
struct Next {
    clock: u64,
    choice: Choice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
enum Choice {
    /// Closes an open row of a rank whose refresh is due, or refreshes the rank.
    Close(Location),
    Refresh(u32),
    /// Reads or writes the data of the access at this position in the queue.
    Burst(u32),
    /// Opens or closes a row for the access at this position in the queue.
    Activate(u32, Location),
    Precharge(u32, Location),
}

/// A transfer of bursts on the data lines.
#[derive(Clone, Copy, Debug, Value)]
struct Moving {
    begin: Time,
    end: Time,
    is_write: bool,
    bursts: u64,
}

/// A completed access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) piece: u32,
    /// Start of the access's data transfer.
    pub(super) begun: Time,
    /// End of the access's data transfer.
    pub(super) done: Time,
    /// Time at which the rows are closed, if the access closes them.
    pub(super) closed: Time,
    /// Time at which the access entered the window, or zero if it did not wait.
    pub(super) seen: Time,
    /// Time at which the rank was refreshed, or zero if the access did not wait for a refresh.
    pub(super) refreshed: Time,
    /// Time at which the bank had no open row, or zero if the access did not wait for this.
    pub(super) precharged: Time,
    /// Time at which the row was open, or zero if the access did not wait for this.
    pub(super) opened: Time,
    /// Time to close a row, without contention.
    pub(super) precharge: Time,
    /// Time to open a row, without contention.
    pub(super) activation: Time,
    /// Time to issue the command, without contention.
    pub(super) latency: Time,
    /// Time to transfer the data, without contention.
    pub(super) moving: Time,
}

impl Scheduler {
    pub(super) fn new(config: &Config, scheduler: &dyn MemoryScheduler) -> Scheduler {
        let channel = InOrder::new(config.part.clone(), config.ranks);
        let interval = config.part.refreshing().map_or(u64::MAX, |(every, _)| config.part.clocks(every));
        Scheduler {
            wanted: vec![0; channel.banks().div_ceil(64)],
            channel,
            locations: scheduler.ahead() as usize,
            rows: config.rows,
            clocks: Clocks::of(&config.part),
            interval,
            due: vec![interval; config.ranks as usize],
            waiting: VecDeque::new(),
            from: 0,
            held: 0,
            next: None,
            moving: VecDeque::new(),
            counts: Counters::default(),
            outstanding: [0; 2],
            dropped: [0; 2],
            asked: [0; 2],
        }
    }

    /// Adds an access of `piece` that arrives at `now`. The caller then calls [`Scheduler::choose`].
    pub(super) fn arrive(&mut self, now: Time, access: Access, is_write: bool, piece: u32) {
        let rank = access.location.rank;
        if self.waiting.iter().all(|waiting| waiting.access.location.rank != rank) {
            self.refresh_idle(rank, self.channel.part().clocks(now));
        }
        self.outstanding[usize::from(is_write)] += access.bursts;
        self.asked[usize::from(is_write)] += access.bursts;
        self.waiting.push_back(Waiting { access, is_write, piece, ..Waiting::default() });
    }

    /// Selects the next command according to the state at `now`.
    pub(super) fn choose(&mut self, now: Time) {
        self.from = self.from.max(self.channel.part().clocks(now));
        self.next = self.find();
    }

    /// Time of the next command, or [`Time::MAX`] if no access waits.
    #[inline]
    pub(super) fn next_event(&self) -> Time {
        self.next.map_or(Time::MAX, |next| self.clocks.time(next.clock))
    }

    /// Issues the next command, and selects the command after it. Returns the access that the command
    /// completes, if any.
    pub(super) fn step(&mut self) -> Option<Moved> {
        let Next { clock, choice } = self.next.take().expect("a command is due");
        let moved = self.perform(clock, choice);
        self.from = clock + 1;
        self.next = self.find();
        moved
    }

    fn find(&mut self) -> Option<Next> {
        let is_held = self.from < self.held;
        let seen = if is_held { self.locations - 1 } else { self.locations };
        let found = self.scan(seen.min(self.waiting.len()), self.from);
        // The window grows when the last burst of the previous access is issued.
        let is_later = found.is_none_or(|next| next.clock >= self.held);
        if is_held && is_later && self.waiting.len() > seen {
            return self.scan(self.locations.min(self.waiting.len()), self.held);
        }
        found
    }

    /// Returns the command that can be issued first, at clock `from` or later, for the `seen` oldest
    /// accesses. Returns `None` if there are no accesses.
    fn scan(&mut self, seen: usize, from: u64) -> Option<Next> {
        self.mark_wanted(seen, from);
        let mut best: Option<(u64, u8, Choice)> = None;
        let mut offer = |clock: u64, class: u8, choice| {
            if best.is_none_or(|(first, least, _)| (clock, class) < (first, least)) {
                best = Some((clock, class, choice));
            }
        };
        for rank in 0..self.due.len() as u32 {
            self.offer_refresh(rank, seen, from, &mut offer);
        }
        for number in 0..seen {
            self.offer_access(number as u32, from, &mut offer);
            // Later accesses must not close the open rows of this access.
            self.mark_wanted_by(number);
        }
        best.map(|(clock, _, choice)| Next { clock, choice })
    }

    /// Marks banks with an open row that is needed by an access whose rows are all open.
    fn mark_wanted(&mut self, seen: usize, from: u64) {
        self.wanted.fill(0);
        for number in 0..seen {
            self.waiting[number].seen.get_or_insert(from);
            let access = self.waiting[number].access;
            let is_open = |location: Location| self.channel.open_row(location) == Some(location.row);
            if self.locations_of(access).all(is_open) {
                self.mark_wanted_by(number);
            }
        }
    }

    /// Marks banks with an open row that the access at `number` needs.
    fn mark_wanted_by(&mut self, number: usize) {
        for location in self.locations_of(self.waiting[number].access) {
            if self.channel.open_row(location) == Some(location.row) {
                let bank = self.channel.bank_number(location);
                self.wanted[bank / 64] |= 1 << (bank % 64);
            }
        }
    }

    fn is_wanted(&self, location: Location) -> bool {
        let bank = self.channel.bank_number(location);
        self.wanted[bank / 64] >> (bank % 64) & 1 == 1
    }

    /// Calls `offer` with the next command for a rank whose refresh is due, if an access in the window
    /// would wait for the refresh.
    fn offer_refresh(&self, rank: u32, seen: usize, from: u64, offer: &mut impl FnMut(u64, u8, Choice)) {
        if self.interval == u64::MAX {
            return;
        }
        if self.waiting.iter().take(seen).all(|waiting| waiting.access.location.rank != rank) {
            return;
        }
        let from = from.max(self.due[rank as usize]);
        let mut rows = self.channel.open_rows(rank).peekable();
        if rows.peek().is_none() {
            let location = Location { rank, bank: 0, row: 0 };
            offer(self.channel.allowed(Kind::Refresh, location, from), 0, Choice::Refresh(rank));
        }
        for location in rows {
            offer(self.channel.allowed(Kind::Precharge, location, from), 0, Choice::Close(location));
        }
    }

    /// Calls `offer` with the command that the access at `number` needs next.
    fn offer_access(&self, number: u32, from: u64, offer: &mut impl FnMut(u64, u8, Choice)) {
        let Waiting { access, is_write, .. } = self.waiting[number as usize];
        let due = self.due[access.location.rank as usize];
        let kind = if is_write { Kind::Write } else { Kind::Read };
        let (mut is_hit, mut burst) = (true, from);
        for location in self.locations_of(access) {
            let open = self.channel.open_row(location);
            if open == Some(location.row) {
                burst = burst.max(self.channel.allowed(kind, location, from));
                continue;
            }
            is_hit = false;
            let (clock, choice) = match open {
                None => {
                    (self.channel.allowed(Kind::Activate, location, from), Choice::Activate(number, location))
                }
                Some(_) if self.is_wanted(location) => continue,
                Some(row) => {
                    let location = Location { row, ..location };
                    (
                        self.channel.allowed(Kind::Precharge, location, from),
                        Choice::Precharge(number, location),
                    )
                }
            };
            // A command whose clock is that of a refresh is issued after the refresh.
            if clock < due {
                offer(clock, 2, choice);
            }
        }
        if is_hit && burst < due {
            offer(burst, 1, Choice::Burst(number));
        }
    }

    /// The rows of `access`, in the order of their first bursts.
    #[inline]
    fn locations_of(&self, access: Access) -> impl Iterator<Item = Location> + use<> {
        let part = self.channel.part();
        let (banks, all) = (part.banks, part.banks_in_all());
        let Location { bank, .. } = access.location;
        (0..access.groups).map(move |turn| Location { bank: (bank + turn * banks) % all, ..access.location })
    }

    fn perform(&mut self, clock: u64, choice: Choice) -> Option<Moved> {
        match choice {
            Choice::Close(location) => self.channel.give(Kind::Precharge, location, clock),
            Choice::Refresh(rank) => {
                self.channel.give(Kind::Refresh, Location { rank, bank: 0, row: 0 }, clock);
                self.due[rank as usize] += self.interval;
            }
            Choice::Activate(number, location) => {
                self.channel.give(Kind::Activate, location, clock);
                self.waiting[number as usize].activated = clock + self.clocks.activate_to_access;
            }
            Choice::Precharge(number, location) => {
                self.channel.give(Kind::Precharge, location, clock);
                self.counts.row_conflicts += 1;
                self.waiting[number as usize].precharged = clock + self.clocks.precharge;
            }
            Choice::Burst(number) => return Some(self.burst(clock, number as usize)),
        }
        None
    }

    /// Reads or writes the data of the access at position `number`. Returns the completed access.
    fn burst(&mut self, clock: u64, number: usize) -> Moved {
        let Waiting { access, is_write, piece, seen, precharged, activated } =
            self.waiting.remove(number).expect("it waits");
        let Access { location, bursts, .. } = access;
        let clocks = self.clocks;
        let locations: Vec<Location> =
            if access.groups > 1 { self.locations_of(access).collect() } else { Vec::new() };
        let locations = if access.groups > 1 { &locations[..] } else { &[location] };
        let kind = if is_write { Kind::Write } else { Kind::Read };
        let last = self.channel.give_bursts(kind, locations, clock, bursts);
        self.held = last + 1;
        self.outstanding[usize::from(is_write)] -= bursts;
        self.counts.row_hits += u64::from(activated == 0);
        let refreshed = self.channel.refreshed(location.rank);
        let closes = match self.rows {
            RowPolicy::Closed => true,
            RowPolicy::OpenForReads => is_write,
            RowPolicy::Open => false,
        };
        let mut closed = 0;
        if closes {
            for &location in locations {
                closed = closed.max(self.channel.close_by_itself(location) + clocks.precharge);
            }
        }
        let latency = if is_write { clocks.write_latency } else { clocks.read_latency };
        let moving = clocks.time(clocks.data * bursts);
        let (begun, done) = (clocks.time(clock + latency), clocks.time(last + latency + clocks.data));
        self.note_moving(clocks.time(clock), Moving { begin: begun, end: done, is_write, bursts });
        let took = |needed: bool, span: u64| clocks.time(if needed { span } else { 0 });
        Moved {
            piece,
            begun,
            done,
            closed: clocks.time(closed),
            seen: clocks.time(seen.unwrap_or(clock)),
            refreshed: clocks.time(refreshed.min(clock)),
            precharged: clocks.time(precharged),
            opened: clocks.time(activated),
            precharge: took(precharged > 0, clocks.precharge),
            activation: took(activated > 0, clocks.activate_to_access),
            latency: clocks.time(latency),
            moving,
        }
    }

    fn note_moving(&mut self, now: Time, moving: Moving) {
        while self.moving.front().is_some_and(|moved| moved.end <= now) {
            self.moving.pop_front();
        }
        let activity = if moving.is_write { Activity::Write } else { Activity::Read };
        self.counts.lines.charge(activity, self.clocks.time(self.clocks.data * moving.bursts));
        self.moving.push_back(moving);
    }

    /// Refreshes an idle rank for every refresh that was due before clock `to`.
    fn refresh_idle(&mut self, rank: u32, to: u64) {
        let mut due = self.due[rank as usize];
        while due < to {
            let open: Vec<Location> = self.channel.open_rows(rank).collect();
            for location in open {
                self.channel.give(
                    Kind::Precharge,
                    location,
                    self.channel.allowed(Kind::Precharge, location, due),
                );
            }
            let location = Location { rank, bank: 0, row: 0 };
            self.channel.give(Kind::Refresh, location, self.channel.allowed(Kind::Refresh, location, due));
            due += self.interval;
            // Only the last refresh of an idle rank affects later commands.
            let unseen = to.saturating_sub(due) / self.interval;
            if unseen > 1 {
                self.channel.count_refreshes(unseen - 1);
                due += (unseen - 1) * self.interval;
            }
        }
        self.due[rank as usize] = due;
    }

    /// Handles a power loss at `at`. The queue and all bursts whose transfer has not ended are dropped.
    pub(super) fn power_fail(&mut self, at: Time) {
        for Moving { begin, end, is_write, bursts } in std::mem::take(&mut self.moving) {
            let activity = if is_write { Activity::Write } else { Activity::Read };
            let moving = self.clocks.time(self.clocks.data * bursts);
            self.counts.lines.give_back(activity, moving.min(end.saturating_sub(at)));
            if begin >= at {
                self.counts.canceled[usize::from(is_write)] += bursts;
            }
        }
        for (dropped, outstanding) in self.dropped.iter_mut().zip(&mut self.outstanding) {
            *dropped += std::mem::take(outstanding);
        }
        self.waiting.clear();
        self.next = None;
    }

    /// Restores power. The memory is ready at `at`.
    pub(super) fn clear(&mut self, at: Time) {
        self.channel.clear();
        (self.from, self.held) = (0, 0);
        if let Some((every, _)) = self.channel.part().refreshing() {
            let due = self.channel.part().clocks(at + every);
            self.due.fill(due);
        }
    }

    /// Number of commands of each kind in [`COUNTED`] since measurement started.
    pub(super) fn commands(&self) -> [u64; 5] {
        self.counts.commands(|kind| self.channel.given(kind))
    }

    /// Starts measurement.
    pub(super) fn restart(&mut self) {
        let before = COUNTED.map(|(kind, _)| self.channel.given(kind));
        self.counts = Counters::from(before);
    }

    /// Panics unless every requested burst was issued, is waiting, or was dropped by a power loss.
    pub(super) fn check_invariants(&self) {
        for (number, kind) in [Kind::Read, Kind::Write].into_iter().enumerate() {
            let accounted = self.channel.given(kind) + self.outstanding[number] + self.dropped[number];
            assert_eq!(accounted, self.asked[number], "{kind:?}: a burst is lost");
        }
        assert_eq!(self.next.is_some(), !self.waiting.is_empty(), "an access waits for nothing");
    }
}
