//! A channel: its open rows, and the earliest clocks of commands.

use super::bank::{Bank, Shifts, Spot};
use super::command::{Command, Location};
use super::holds::{Earliest, Holds, KINDS, NEVER_BINDS};
use super::kind::Kind;
use super::latest::Latest;
use super::moved::{ALL_GROUPS, Moved, Train};
use super::opened::Opened;
use super::part::Part;
use super::rules::rules;
use super::slots::Slots;
use nacre_kernel::state::State;
use std::array::from_fn;

/// Reason why a command is not possible at any clock in the current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unready {
    /// The command opens a row while a row is open.
    RowIsOpen,
    /// The command reads or writes a row that is not open.
    RowIsClosed,
    /// The command refreshes a rank with open rows.
    RankHasOpenRows,
    /// The part needs no refresh.
    NeedsNoRefresh,
}

/// Clocks of the commands to a row that was opened, accessed, and closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Clock at which the row was opened.
    pub opened: u64,
    /// Clock of the first read or write.
    pub first: u64,
    /// Clock of the last read or write.
    pub last: u64,
    /// Clock of the auto-precharge.
    pub closed: u64,
}

/// A channel with equal ranks.
///
/// Commands to a bank are issued in clock order. A refresh of a rank follows all earlier commands of the
/// rank. Other commands may be inserted before commands that were already issued, if the clocks of the
/// issued commands do not change. A row can therefore be opened and read while another command waits for
/// its bank.
#[derive(Clone, Debug, State)]
pub struct Channel {
    #[state(skip = "from the configuration")]
    part: Part,
    #[state(skip = "from the configuration")]
    shifts: Shifts,
    /// Constraints that each kind of command imposes on later commands.
    #[state(skip = "from the configuration")]
    holds: [Holds; KINDS],
    ranks: Vec<Earliest>,
    groups: Vec<Earliest>,
    banks: Vec<Bank>,
    /// The latest read and the latest write.
    latest: [Latest; 2],
    /// Latest row openings in each rank.
    opened: Vec<Opened>,
    moved: Moved,
    slots: Slots,
    /// Number of issued commands of each kind.
    given: [u64; KINDS],
}

impl Channel {
    /// A channel with `ranks` ranks of `part`, all of whose rows are closed.
    pub fn new(part: Part, ranks: u32) -> Channel {
        let all = rules(&part);
        let (ranks, groups) = (ranks as usize, part.groups);
        let banks = ranks * part.banks_in_all() as usize;
        // Spacing of two bursts of a row, and spacing of two bursts of rows in several groups.
        let far = part.access_to_access;
        let near = part.access_to_access_in_group.map_or(far, |time| part.constraint(time)).max(far);
        Channel {
            shifts: Shifts::of(&part),
            holds: from_fn(|kind| Holds::of(&all, kind, groups)),
            ranks: vec![Earliest::default(); ranks],
            groups: vec![Earliest::default(); ranks * groups as usize],
            banks: vec![Bank::default(); banks],
            latest: [Latest::NONE; 2],
            opened: vec![Opened::new(&all, groups); ranks],
            moved: Moved::new(&part, &all),
            slots: Slots::new((1..=u64::from(groups)).map(|groups| near.div_ceil(groups).max(far))),
            given: [0; KINDS],
            part,
        }
    }

    /// The memory part of the channel.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The first clock at or after `from` at which `command` is possible in the current state. Returns an
    /// error if the command is never possible in this state.
    pub fn probe(&self, command: Command, from: u64) -> Result<u64, Unready> {
        self.allowed(command)?;
        Ok(self.first_clock(command, from))
    }

    /// Issues `command` at `clock`.
    ///
    /// # Panics
    ///
    /// If the command is not possible at that clock.
    pub fn issue(&mut self, command: Command, clock: u64) {
        let earliest = self.probe(command, clock);
        assert!(earliest == Ok(clock), "{command:?} at {clock}: {earliest:?}");
        self.give(command, clock);
    }

    /// Issues `command` as early as possible at or after `from`. The state must allow the command. Returns
    /// the clock.
    #[inline(always)]
    pub fn give(&mut self, command: Command, from: u64) -> u64 {
        let Command { kind, location } = command;
        if matches!(kind, Kind::Read | Kind::Write) {
            return self.give_bursts(kind, &[location], from, 1).0;
        }
        debug_assert_eq!(self.allowed(command), Ok(()), "{command:?}");
        self.give_to_row(kind, self.spot(location), location.row, from)
    }

    #[inline(always)]
    fn give_to_row(&mut self, kind: Kind, spot: Spot, row: u32, from: u64) -> u64 {
        let clock = self.first_clock_of_row(kind, spot, from);
        self.slots.take(clock);
        if kind == Kind::Precharge {
            self.banks[spot.bank].pass(clock.cast_signed());
        }
        self.note(kind, spot, row, clock.cast_signed(), 1);
        clock
    }

    /// Opens the row of `location` at or after `from`, issues `count` reads or writes of it, and
    /// auto-precharges it, all as early as possible. The bank must have no open row.
    #[inline]
    pub fn give_whole(&mut self, kind: Kind, location: Location, from: u64, count: u64) -> Whole {
        debug_assert_eq!(self.open_row(location), None, "{location:?}");
        let spot = self.spot(location);
        let opened = self.give_to_row(Kind::Activate, spot, location.row, from);
        let (first, last) = self.give_train(kind, spot, location, from, count);
        Whole { opened, first, last, closed: self.close_spot(spot, location.row, first) }
    }

    /// Issues `count` reads or writes of the open rows of `locations`, alternating between them, each as
    /// early as possible. Each row must be in a different group of one rank. Returns the clocks of the
    /// first and the last command. For one location, this equals repeated calls of [`Channel::give`], but
    /// is faster. The exception is a series of bursts that is inserted before other commands, because it
    /// stays together.
    #[inline]
    pub fn give_bursts(&mut self, kind: Kind, locations: &[Location], from: u64, count: u64) -> (u64, u64) {
        if let &[location] = locations {
            return self.give_train(kind, self.spot(location), location, from, count);
        }
        let (ready, train) = self.train(kind, locations, from, count);
        let behind = self.behind_all(kind, locations, ready);
        if behind.cast_signed() > ready
            && let Some(first) = self.room(train, ready, locations.len(), count)
        {
            self.slots.take_train(first, count, locations.len());
            return self.note_train(kind, locations, first, 0, count);
        }
        let mut clock = self.slots.first_free(behind);
        let (first, mut left) = (clock, count);
        loop {
            let given = self.slots.take_train(clock, left, locations.len());
            let (_, last) = self.note_train(kind, locations, clock, count - left, given);
            left -= given;
            if left == 0 {
                return (first, last);
            }
            clock = self.slots.first_free(last + self.slots.spacing(locations.len()));
        }
    }

    /// Like [`Channel::give_bursts`], for one location.
    #[inline(always)]
    fn give_train(
        &mut self,
        kind: Kind,
        spot: Spot,
        location: Location,
        from: u64,
        count: u64,
    ) -> (u64, u64) {
        debug_assert_eq!(self.allowed(Command { kind, location }), Ok(()), "{kind:?} of {location:?}");
        let (spacing, bank) = (self.slots.spacing(1), &self.banks[spot.bank]);
        let train = Train::new(kind, location, spot.group_in_rank, ((count - 1) * spacing).cast_signed());
        let ready = from.cast_signed().max(bank.earliest[kind as usize]).max(bank.accessed + 1);
        let behind = self.behind_ranks(kind, spot.rank, self.earliest_beyond_bank(kind, spot, ready));
        let room = if behind.cast_signed() > ready { self.room(train, ready, 1, count) } else { None };
        let (mut clock, mut left) = (room.unwrap_or_else(|| self.slots.first_free(behind)), count);
        let first = clock;
        loop {
            let given = self.slots.take_train(clock, left, 1);
            let length = ((given - 1) * spacing).cast_signed();
            let train = Train::new(kind, location, spot.group_in_rank, length).at(clock.cast_signed());
            self.moved.note(train);
            self.note(kind, spot, location.row, train.last, given);
            left -= given;
            if left == 0 {
                return (first, train.last.cast_unsigned());
            }
            clock = self.slots.first_free(train.last.cast_unsigned() + spacing);
        }
    }

    /// Auto-precharges the row of `location` after its last reads or writes, as early as possible at or
    /// after `from`; returns the clock. No command is issued.
    #[inline]
    pub fn close_by_itself(&mut self, location: Location, from: u64) -> u64 {
        self.close_spot(self.spot(location), location.row, from)
    }

    #[inline(always)]
    fn close_spot(&mut self, spot: Spot, row: u32, from: u64) -> u64 {
        let clock = self.earliest(Kind::Precharge, spot, from.cast_signed());
        self.note(Kind::Precharge, spot, row, clock, 1);
        clock.cast_unsigned()
    }

    /// Reads or writes `count` bursts of the row of `location` before an already issued command closes it,
    /// as early as possible at or after `from`. All other commands keep their clocks. Returns the clocks of
    /// the first and the last burst, and the clock at which the row closes. Returns `None` if no issued
    /// command closes this row, or if there is not enough time.
    pub fn give_before_closing(
        &mut self,
        kind: Kind,
        location: Location,
        from: u64,
        count: u64,
    ) -> Option<(u64, u64, u64)> {
        let spot = self.spot(location);
        let length = ((count - 1) * self.slots.spacing(1)).cast_signed();
        let held = self.holds[kind as usize].bank.clocks(Kind::Precharge);
        let passed = self.banks[spot.bank].passed(location.row)?;
        let ready = from.cast_signed().max(passed.earliest[kind as usize]).max(passed.accessed + 1);
        let closed = passed.until;
        let latest = closed - held - length;
        if ready > latest {
            return None;
        }
        let train = Train::new(kind, location, spot.group_in_rank, length);
        let behind = self.behind_all(kind, &[location], ready);
        let room = if behind.cast_signed() > ready { self.room(train, ready, 1, count) } else { None };
        let first = room.unwrap_or_else(|| self.slots.first_free(behind));
        let clock = first.cast_signed();
        if clock > latest || self.slots.free_train(first, count, 1) < count {
            return None;
        }
        self.slots.take_train(first, count, 1);
        self.banks[spot.bank].passed(location.row)?.accessed = clock + length;
        self.moved.note(train.at(clock));
        self.note_beyond_bank(kind, spot, clock + length, count);
        Some((first, (clock + length).cast_unsigned(), closed.cast_unsigned()))
    }

    /// Clock at which the latest refresh of `rank` ends. No row of the rank can be opened before this
    /// clock.
    #[inline]
    pub fn refreshed(&self, rank: u32) -> u64 {
        self.ranks[rank as usize][Kind::Activate as usize].max(0).cast_unsigned()
    }

    /// The open row in the bank of `location`.
    #[inline]
    pub fn open_row(&self, location: Location) -> Option<u32> {
        self.banks[self.spot(location).bank].open_row()
    }

    /// Number of issued commands of `kind`.
    pub fn given(&self, kind: Kind) -> u64 {
        self.given[kind as usize]
    }

    /// Closes every row and drops all commands after a power loss.
    pub fn clear(&mut self) {
        let given = self.given;
        *self = Channel { given, ..Channel::new(self.part.clone(), self.ranks.len() as u32) };
    }

    /// Adds `count` to the number of issued refreshes. They refresh an idle rank, all of whose rows must be
    /// closed.
    pub fn count_refreshes(&mut self, count: u64) {
        self.given[Kind::Refresh as usize] += count;
    }

    fn allowed(&self, command: Command) -> Result<(), Unready> {
        let open = self.open_row(command.location);
        match command.kind {
            Kind::Activate if open.is_some() => Err(Unready::RowIsOpen),
            Kind::Read | Kind::Write if open != Some(command.location.row) => Err(Unready::RowIsClosed),
            Kind::Refresh if self.part.refreshing().is_none() => Err(Unready::NeedsNoRefresh),
            Kind::Refresh => {
                let banks = self.part.banks_in_all() as usize;
                let first = command.location.rank as usize * banks;
                let is_open = self.banks[first..][..banks].iter().any(Bank::is_open);
                if is_open { Err(Unready::RankHasOpenRows) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// The first clock at or after `from` that the constraints and the command bus allow for `command`.
    fn first_clock(&self, command: Command, from: u64) -> u64 {
        let Command { kind, location } = command;
        if !matches!(kind, Kind::Read | Kind::Write) {
            return self.first_clock_of_row(kind, self.spot(location), from);
        }
        let (ready, train) = self.train(kind, &[location], from, 1);
        let behind = self.behind_all(kind, &[location], ready);
        let waits = behind.cast_signed() > ready;
        let room = if waits { self.room(train, ready, 1, 1) } else { None };
        room.unwrap_or_else(|| self.slots.first_free(behind))
    }

    /// Like [`Channel::first_clock`], for a command that opens or closes a row or refreshes a rank.
    #[inline(always)]
    fn first_clock_of_row(&self, kind: Kind, spot: Spot, from: u64) -> u64 {
        let earliest = self.earliest(kind, spot, from.cast_signed());
        if kind != Kind::Activate {
            return self.slots.first_free(earliest.cast_unsigned());
        }
        let opened = &self.opened[spot.rank];
        let mut clock = earliest;
        loop {
            if let Some(allowed) = opened.behind_all(clock, spot.group_in_rank) {
                // All later clocks are allowed, too.
                return self.slots.first_free(allowed.cast_unsigned());
            }
            let allowed = opened.earliest(clock, spot.group_in_rank);
            let free = self.slots.first_free(allowed.cast_unsigned());
            clock = free.cast_signed();
            if clock == allowed {
                return free;
            }
        }
    }

    /// The first clock at or after `from` that the constraints of the rank, the bank, and its group allow.
    /// For reads and writes, this clock is after all issued commands.
    #[inline]
    fn earliest(&self, kind: Kind, spot: Spot, from: i64) -> i64 {
        let kind = kind as usize;
        let near = self.banks[spot.bank].earliest[kind].max(self.groups[spot.group][kind]);
        from.max(self.ranks[spot.rank][kind]).max(near)
    }

    /// Like [`Channel::earliest`], but without the constraints of the bank.
    #[inline(always)]
    fn earliest_beyond_bank(&self, kind: Kind, spot: Spot, from: i64) -> i64 {
        from.max(self.groups[spot.group][kind as usize]).max(self.ranks[spot.rank][kind as usize])
    }

    /// Returns the clock at which the banks of `locations` are ready, and the train of alternating reads or
    /// writes.
    #[inline]
    fn train(&self, kind: Kind, locations: &[Location], from: u64, count: u64) -> (i64, Train) {
        let spacing = self.slots.spacing(locations.len()).cast_signed();
        let length = (count.cast_signed() - 1) * spacing;
        let mut ready = from.cast_signed();
        if let &[location] = locations {
            debug_assert_eq!(self.allowed(Command { kind, location }), Ok(()), "{kind:?} of {location:?}");
            let spot = self.spot(location);
            let bank = &self.banks[spot.bank];
            ready = ready.max(bank.earliest[kind as usize]).max(bank.accessed + 1);
            return (ready, Train::new(kind, location, spot.group_in_rank, length));
        }
        for (turn, &location) in (0..).zip(locations) {
            debug_assert_eq!(self.allowed(Command { kind, location }), Ok(()), "{kind:?} of {location:?}");
            let bank = &self.banks[self.spot(location).bank];
            ready = ready.max(bank.earliest[kind as usize].max(bank.accessed + 1) - turn * spacing);
        }
        (ready, Train::new(kind, locations[0], ALL_GROUPS, length))
    }

    /// The first clock at or after `ready` at which the whole train can be inserted before other commands.
    /// `None` if there is no such clock.
    #[inline]
    fn room(&self, train: Train, ready: i64, locations: usize, count: u64) -> Option<u64> {
        let mut from = ready;
        loop {
            let clock = self.moved.room(train, from)?.cast_unsigned();
            let free = self.slots.first_free(clock);
            if free == clock && self.slots.free_train(clock, count, locations) == count {
                return Some(clock);
            }
            from = free.max(clock + 1).cast_signed();
        }
    }

    /// The first clock at or after `ready` at which reads or writes of `locations` can start after all
    /// issued commands.
    #[inline]
    fn behind_all(&self, kind: Kind, locations: &[Location], ready: i64) -> u64 {
        let spacing = self.slots.spacing(locations.len()).cast_signed();
        let mut first = ready;
        for (turn, &location) in (0..).zip(locations) {
            let spot = self.spot(location);
            let earliest = self.earliest_beyond_bank(kind, spot, ready + turn * spacing);
            first = first.max(earliest - turn * spacing);
        }
        self.behind_ranks(kind, locations[0].rank as usize, first)
    }

    /// The first clock at or after `first` that earlier reads and writes in ranks other than `rank` allow.
    #[inline(always)]
    fn behind_ranks(&self, kind: Kind, rank: usize, mut first: i64) -> u64 {
        if self.ranks.len() > 1 {
            for (latest, earlier) in self.latest.iter().zip([Kind::Read, Kind::Write]) {
                let held = self.holds[earlier as usize].other_ranks[kind as usize];
                first = first.max(latest.in_others(rank).max(NEVER_BINDS) + held);
            }
        }
        first.cast_unsigned()
    }

    /// Records `given` reads or writes of `locations`, starting at `clock`. They continue a series of which
    /// `begun` commands are already recorded. Returns the clocks of the first and the last of the `given`
    /// commands.
    #[inline]
    fn note_train(
        &mut self,
        kind: Kind,
        locations: &[Location],
        clock: u64,
        begun: u64,
        given: u64,
    ) -> (u64, u64) {
        let (turns, spacing) = (locations.len() as u64, self.slots.spacing(locations.len()));
        let last = clock + (given - 1) * spacing;
        let length = (last - clock).cast_signed();
        if let &[location] = locations {
            let spot = self.spot(location);
            self.moved.note(Train::new(kind, location, spot.group_in_rank, length).at(clock.cast_signed()));
            self.note(kind, spot, location.row, last.cast_signed(), given);
            return (clock, last);
        }
        self.moved.note(Train::new(kind, locations[0], ALL_GROUPS, length).at(clock.cast_signed()));
        // Later constraints depend only on the last command at each location.
        for before_last in 0..turns.min(given) {
            let location = locations[((begun + given - 1 - before_last) % turns) as usize];
            let counts = if before_last == 0 { given } else { 0 };
            let at = (last - before_last * spacing).cast_signed();
            self.note(kind, self.spot(location), location.row, at, counts);
        }
        (clock, last)
    }

    /// Records `count` commands of `kind` by updating the earliest clocks. The last command is issued at
    /// `clock`.
    #[inline(always)]
    fn note(&mut self, kind: Kind, spot: Spot, row: u32, clock: i64, count: u64) {
        let bank = &mut self.banks[spot.bank];
        self.holds[kind as usize].bank.since(clock, &mut bank.earliest);
        match kind {
            Kind::Activate => {
                bank.open(row);
                self.opened[spot.rank].note(clock, spot.group_in_rank);
            }
            Kind::Precharge => bank.close(),
            Kind::Read | Kind::Write => bank.accessed = clock,
            Kind::Refresh => {}
        }
        self.note_beyond_bank(kind, spot, clock, count);
    }

    /// Updates the constraints on other banks after `count` commands of `kind`.
    #[inline(always)]
    fn note_beyond_bank(&mut self, kind: Kind, spot: Spot, clock: i64, count: u64) {
        self.given[kind as usize] += count;
        let holds = &self.holds[kind as usize];
        holds.group.since(clock, &mut self.groups[spot.group]);
        holds.rank.since(clock, &mut self.ranks[spot.rank]);
        if matches!(kind, Kind::Read | Kind::Write) {
            self.latest[usize::from(kind == Kind::Write)].note(spot.rank, clock);
        }
    }

    #[inline]
    fn spot(&self, location: Location) -> Spot {
        self.shifts.spot(location)
    }
}
