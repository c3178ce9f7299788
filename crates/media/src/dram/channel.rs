//! The channel: open rows, when commands were given, and when the next may be.

use super::part::Part;
use super::rules::{Rule, Scope, rules};
use nacre_kernel::Time;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Opens a row.
    Activate,
    /// Reads a burst from the open row.
    Read,
    /// Writes a burst to the open row.
    Write,
    /// Closes the open row.
    Precharge,
    /// Refreshes a rank, all of whose rows are closed.
    Refresh,
}

/// Kinds of commands.
const KINDS: usize = 5;
/// Commands of a kind that are remembered: the most that a rule counts back.
const REMEMBERED: usize = 4;

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// The bank, counted over all groups of the rank.
    pub bank: u32,
    /// The row.
    pub row: u32,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub kind: Kind,
    /// Where. A refresh is for the whole rank.
    pub place: Place,
}

/// Why a command cannot be given, however long one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unready {
    /// It opens a row where one is open.
    RowIsOpen,
    /// It reads or writes a row that is not open.
    RowIsClosed,
    /// It refreshes a rank with open rows.
    RankHasOpenRows,
    /// The part needs no refresh.
    NeedsNoRefresh,
}

/// The last commands of each kind, the latest first, in clocks after the first, plus one; zero where there was none.
type History = [[u64; REMEMBERED]; KINDS];

/// A channel with equal ranks.
#[derive(Clone, Debug)]
pub struct Channel {
    part: Part,
    /// By the kind that comes later.
    rules: [Vec<Rule>; KINDS],
    ranks: Vec<History>,
    groups: Vec<History>,
    banks: Vec<History>,
    open: Vec<Option<u32>>,
    /// The first clock without a command.
    free: u64,
    /// By rank, the clock its next refresh is due at.
    due: Vec<u64>,
}

/// When an access moves its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// When its first command was given.
    pub begun: Time,
    /// When its last data is over the bus.
    pub done: Time,
}

impl Channel {
    /// A channel with so many `ranks` of `part`, all rows closed.
    pub fn new(part: Part, ranks: u32) -> Channel {
        let all = rules(&part);
        let of_kind = |kind: usize| all.iter().copied().filter(|rule| rule.later as usize == kind).collect();
        let (ranks, groups) = (ranks as usize, part.groups as usize);
        let banks = ranks * groups * part.banks as usize;
        let interval = part.refresh.map_or(u64::MAX, |(interval, _)| interval.as_ps() / part.clock.as_ps());
        Channel {
            part,
            rules: std::array::from_fn(of_kind),
            ranks: vec![History::default(); ranks],
            groups: vec![History::default(); ranks * groups],
            banks: vec![History::default(); banks],
            open: vec![None; banks],
            free: 0,
            due: vec![interval; ranks],
        }
    }

    /// The first clock at which `command` may be given, as the channel is now. Errors: not at any.
    pub fn probe(&self, command: Command) -> Result<u64, Unready> {
        self.allowed(command)?;
        let rules = self.rules[command.kind as usize].iter();
        Ok(rules.fold(self.free, |earliest, rule| earliest.max(self.after(rule, command.place))))
    }

    /// Gives `command` at `clock`.
    ///
    /// # Panics
    /// If it may not be given then.
    pub fn issue(&mut self, command: Command, clock: u64) {
        let earliest = self.probe(command);
        assert!(earliest.is_ok_and(|earliest| earliest <= clock), "{command:?} at {clock}: {earliest:?}");
        let (bank, group) = (self.bank(command.place), self.group(command.place));
        let rank = command.place.rank as usize;
        for history in [&mut self.banks[bank], &mut self.groups[group], &mut self.ranks[rank]] {
            let last = &mut history[command.kind as usize];
            last.rotate_right(1);
            last[0] = clock + 1;
        }
        match command.kind {
            Kind::Activate => self.open[bank] = Some(command.place.row),
            Kind::Precharge => self.open[bank] = None,
            Kind::Read | Kind::Write | Kind::Refresh => {}
        }
        self.free = clock + 1;
    }

    /// Reads or writes one burst at `place`, not before `from`, after all accesses before it: closes another row,
    /// opens this one, refreshes when that is due. The row stays open.
    pub fn access(&mut self, from: Time, place: Place, is_write: bool) -> Access {
        let from = from.as_ps().div_ceil(self.part.clock.as_ps());
        self.refresh(from, place.rank);
        let mut begun = None;
        let mut give = |channel: &mut Channel, kind| {
            let clock = channel.give(Command { kind, place }, from);
            begun.get_or_insert(clock);
            clock
        };
        match self.open[self.bank(place)] {
            Some(row) if row == place.row => {}
            Some(_) => {
                give(self, Kind::Precharge);
                give(self, Kind::Activate);
            }
            None => {
                give(self, Kind::Activate);
            }
        }
        let clock = give(self, if is_write { Kind::Write } else { Kind::Read });
        let latency = if is_write { self.part.write_latency } else { self.part.read_latency };
        let time = |clocks: u64| Time::from_ps(clocks * self.part.clock.as_ps());
        Access { begun: time(begun.unwrap_or(clock)), done: time(clock + latency + self.part.burst / 2) }
    }

    /// The row that is open in the bank of `place`.
    pub fn open_row(&self, place: Place) -> Option<u32> {
        self.open[self.bank(place)]
    }

    /// Gives every refresh of `rank` that is due by the time the next command could be given.
    fn refresh(&mut self, from: u64, rank: u32) {
        let Some((interval, _)) = self.part.refresh else { return };
        let interval = interval.as_ps() / self.part.clock.as_ps();
        while self.due[rank as usize] <= from.max(self.free) {
            let due = self.due[rank as usize];
            for bank in 0..self.part.banks * self.part.groups {
                let place = Place { rank, bank, row: 0 };
                if self.open[self.bank(place)].is_some() {
                    self.give(Command { kind: Kind::Precharge, place }, due);
                }
            }
            self.give(Command { kind: Kind::Refresh, place: Place { rank, bank: 0, row: 0 } }, due);
            self.due[rank as usize] = due + interval;
        }
    }

    /// Gives `command`, which the state allows, as early as possible from `from` on.
    fn give(&mut self, command: Command, from: u64) -> u64 {
        let clock = self.probe(command).expect("the state allows it").max(from);
        self.issue(command, clock);
        clock
    }

    fn allowed(&self, command: Command) -> Result<(), Unready> {
        let open = self.open[self.bank(command.place)];
        match command.kind {
            Kind::Activate if open.is_some() => Err(Unready::RowIsOpen),
            Kind::Read | Kind::Write if open != Some(command.place.row) => Err(Unready::RowIsClosed),
            Kind::Refresh if self.part.refresh.is_none() => Err(Unready::NeedsNoRefresh),
            Kind::Refresh => {
                let banks = (self.part.banks * self.part.groups) as usize;
                let first = command.place.rank as usize * banks;
                let is_open = self.open[first..][..banks].iter().any(Option::is_some);
                if is_open { Err(Unready::RankHasOpenRows) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// The first clock that `rule` allows at `place`.
    fn after(&self, rule: &Rule, place: Place) -> u64 {
        let last = |history: &History| history[rule.earlier as usize][rule.nth - 1];
        let last = match rule.scope {
            Scope::Bank => last(&self.banks[self.bank(place)]),
            Scope::Group => last(&self.groups[self.group(place)]),
            Scope::Rank => last(&self.ranks[place.rank as usize]),
            Scope::OtherRanks => {
                let ranks = self.ranks.iter().enumerate().filter(|&(rank, _)| rank != place.rank as usize);
                ranks.map(|(_, history)| last(history)).max().unwrap_or(0)
            }
        };
        if last == 0 { 0 } else { last - 1 + rule.clocks }
    }

    fn group(&self, place: Place) -> usize {
        (place.rank * self.part.groups + place.bank / self.part.banks) as usize
    }

    fn bank(&self, place: Place) -> usize {
        (place.rank * self.part.groups * self.part.banks + place.bank) as usize
    }
}
