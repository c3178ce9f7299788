//! The channel: open rows, and when the next command may be given.

use super::kind::Kind;
use super::part::Part;
use super::rules::{Rule, Scope, rules};
use super::slots::Slots;
use nacre_kernel::state::State;

/// Kinds of commands.
const KINDS: usize = 5;
/// Rows that are opened within a window.
const WINDOW: usize = 4;
/// No row is open.
const CLOSED: u32 = u32::MAX;

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

/// The first clock that the constraints leave for a command of each kind.
type Earliest = [u64; KINDS];

/// A channel with equal ranks.
///
/// Commands to a bank, commands that open rows of a rank, and commands that move data are given in the order of
/// their clocks. Others may go before what was given already: a row is opened while data of another one moves.
#[derive(Clone, Debug, State)]
pub struct Channel {
    #[state(skip = "from the configuration")]
    part: Part,
    /// By the kind that comes first.
    #[state(skip = "from the configuration")]
    rules: [Vec<Rule>; KINDS],
    ranks: Vec<Earliest>,
    groups: Vec<Earliest>,
    banks: Vec<Earliest>,
    /// Of each rank, when the last rows were opened, the latest first, in clocks after the first, plus one; zero
    /// where there was none.
    opened: Vec<[u64; WINDOW]>,
    open: Vec<u32>,
    slots: Slots,
    /// Commands of each kind.
    given: [u64; KINDS],
}

impl Channel {
    /// A channel with so many `ranks` of `part`, all rows closed.
    pub fn new(part: Part, ranks: u32) -> Channel {
        let all = rules(&part);
        let of_kind =
            |kind: usize| all.iter().copied().filter(|rule| rule.earlier as usize == kind).collect();
        let (ranks, groups) = (ranks as usize, part.groups as usize);
        let banks = ranks * part.banks_in_all() as usize;
        Channel {
            part,
            rules: std::array::from_fn(of_kind),
            ranks: vec![Earliest::default(); ranks],
            groups: vec![Earliest::default(); ranks * groups],
            banks: vec![Earliest::default(); banks],
            opened: vec![[0; WINDOW]; ranks],
            open: vec![CLOSED; banks],
            slots: Slots::new(),
            given: [0; KINDS],
        }
    }

    /// The part it is made of.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The first clock from `from` on at which `command` may be given, as the channel is now. Errors: not at any.
    pub fn probe(&self, command: Command, from: u64) -> Result<u64, Unready> {
        self.allowed(command)?;
        Ok(self.slots.first_free(self.earliest(command, from)))
    }

    /// Gives `command` at `clock`.
    ///
    /// # Panics
    /// If it may not be given then.
    pub fn issue(&mut self, command: Command, clock: u64) {
        let earliest = self.probe(command, clock);
        assert!(earliest == Ok(clock), "{command:?} at {clock}: {earliest:?}");
        self.slots.take(clock);
        self.note(command, clock, 1);
    }

    /// Gives `command`, which the state allows, as early as possible from `from` on; gives the clock.
    #[inline]
    pub fn give(&mut self, command: Command, from: u64) -> u64 {
        debug_assert_eq!(self.allowed(command), Ok(()), "{command:?}");
        let clock = self.slots.first_free(self.earliest(command, from));
        self.slots.take(clock);
        self.note(command, clock, 1);
        clock
    }

    /// Gives as many reads or writes of the open row, each as early as possible; gives the clocks of the first and
    /// the last. It is what [`Channel::give`] does one by one, and faster.
    #[inline]
    pub fn give_bursts(&mut self, command: Command, from: u64, count: u64) -> (u64, u64) {
        debug_assert_eq!(self.allowed(command), Ok(()), "{command:?}");
        let spacing = self.spacing();
        let first = self.slots.first_free(self.earliest(command, from));
        let (mut clock, mut left) = (first, count);
        loop {
            let given = self.slots.take_train(clock, spacing, left);
            left -= given;
            let last = clock + (given - 1) * spacing;
            if left == 0 {
                self.note(command, last, count);
                return (first, last);
            }
            clock = self.slots.first_free(last + spacing);
        }
    }

    /// The reads or writes that were given last have the row of `place` close by itself, as early as it may from
    /// `from` on; gives the clock. It takes no command of its own.
    #[inline]
    pub fn close_by_itself(&mut self, place: Place, from: u64) -> u64 {
        let command = Command { kind: Kind::Precharge, place };
        let clock = self.earliest(command, from);
        self.note(command, clock, 1);
        clock
    }

    /// The row that is open in the bank of `place`.
    #[inline]
    pub fn open_row(&self, place: Place) -> Option<u32> {
        let row = self.open[self.bank(place)];
        (row != CLOSED).then_some(row)
    }

    /// How many commands of `kind` were given.
    pub fn given(&self, kind: Kind) -> u64 {
        self.given[kind as usize]
    }

    /// Every row is closed and nothing is under way, as after a loss of power.
    pub fn clear(&mut self) {
        let given = self.given;
        *self = Channel { given, ..Channel::new(self.part.clone(), self.ranks.len() as u32) };
    }

    /// Every rank was refreshed so often while nothing was asked for, and all rows are closed.
    pub fn count_refreshes(&mut self, count: u64) {
        self.given[Kind::Refresh as usize] += count;
    }

    /// Clocks between two bursts of a row.
    fn spacing(&self) -> u64 {
        let far = self.part.access_to_access;
        self.part.access_to_access_in_group.map_or(far, |time| self.part.clocks(time)).max(far)
    }

    fn allowed(&self, command: Command) -> Result<(), Unready> {
        let open = self.open[self.bank(command.place)];
        match command.kind {
            Kind::Activate if open != CLOSED => Err(Unready::RowIsOpen),
            Kind::Read | Kind::Write if open != command.place.row => Err(Unready::RowIsClosed),
            Kind::Refresh if self.part.refreshing().is_none() => Err(Unready::NeedsNoRefresh),
            Kind::Refresh => {
                let banks = self.part.banks_in_all() as usize;
                let first = command.place.rank as usize * banks;
                let is_open = self.open[first..][..banks].iter().any(|&row| row != CLOSED);
                if is_open { Err(Unready::RankHasOpenRows) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// The first clock from `from` on that all constraints leave.
    #[inline]
    fn earliest(&self, command: Command, from: u64) -> u64 {
        let (place, kind) = (command.place, command.kind as usize);
        let rank = self.ranks[place.rank as usize][kind];
        let near = self.banks[self.bank(place)][kind].max(self.groups[self.group(place)][kind]);
        from.max(rank).max(near)
    }

    /// `command` was given, the last time at `clock`: what may come from when on follows.
    #[inline]
    fn note(&mut self, command: Command, clock: u64, count: u64) {
        let Command { kind, place } = command;
        let (bank, group, rank) = (self.bank(place), self.group(place), place.rank as usize);
        self.given[kind as usize] += count;
        for rule in &self.rules[kind as usize] {
            let later = rule.later as usize;
            let allows = |earliest: &mut Earliest, from: u64| earliest[later] = earliest[later].max(from);
            match rule.scope {
                Scope::Bank => allows(&mut self.banks[bank], clock + rule.clocks),
                Scope::Group => allows(&mut self.groups[group], clock + rule.clocks),
                Scope::Rank if rule.nth == 1 => allows(&mut self.ranks[rank], clock + rule.clocks),
                Scope::Rank => {
                    // With this one the oldest of the window but one is the first of so many.
                    let first = self.opened[rank][rule.nth - 2];
                    if first > 0 {
                        allows(&mut self.ranks[rank], first - 1 + rule.clocks);
                    }
                }
                Scope::OtherRanks => {
                    for (other, earliest) in self.ranks.iter_mut().enumerate() {
                        if other != rank {
                            allows(earliest, clock + rule.clocks);
                        }
                    }
                }
            }
        }
        match kind {
            Kind::Activate => {
                self.open[bank] = place.row;
                self.opened[rank].rotate_right(1);
                self.opened[rank][0] = clock + 1;
            }
            Kind::Precharge => self.open[bank] = CLOSED,
            Kind::Read | Kind::Write | Kind::Refresh => {}
        }
    }

    #[inline]
    fn group(&self, place: Place) -> usize {
        (place.rank * self.part.groups + place.bank / self.part.banks) as usize
    }

    #[inline]
    fn bank(&self, place: Place) -> usize {
        (place.rank * self.part.banks_in_all() + place.bank) as usize
    }
}
