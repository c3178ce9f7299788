//! The channel: open rows, and when the next command may be given.

use super::kind::Kind;
use super::part::Part;
use super::rules::{Rule, Scope, rules};
use super::slots::Slots;
use nacre_kernel::state::{State, Value};
use std::array::from_fn;

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
type Earliest = [i64; KINDS];
/// As far back as no constraint reaches.
const NEVER_BINDS: i64 = i64::MIN / 2;

/// What a command of one kind holds back, and where.
#[derive(Clone, Debug)]
struct Holds {
    bank: Held,
    group: Held,
    rank: Held,
    /// In other ranks, by the kind that is held back.
    other_ranks: [i64; KINDS],
}

/// Kinds of commands that are held back, each for so many clocks.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    count: usize,
    of: [(usize, i64); KINDS],
}

impl Holds {
    /// What commands of kind number `earlier` hold back. With one group of banks, what holds in it holds in its rank.
    fn of(rules: &[Rule], earlier: usize, groups: u32) -> Holds {
        let all = |scopes: &[Scope]| {
            let is_of = |rule: &&Rule| {
                rule.earlier as usize == earlier && rule.nth == 1 && scopes.contains(&rule.scope)
            };
            let mut held = Held::default();
            for later in 0..KINDS {
                let of_kind = rules.iter().filter(is_of).filter(|rule| rule.later as usize == later);
                if let Some(clocks) = of_kind.map(|rule| rule.clocks).max() {
                    held.of[held.count] = (later, clocks.cast_signed());
                    held.count += 1;
                }
            }
            held
        };
        let (group, rank): (&[Scope], &[Scope]) =
            if groups == 1 { (&[], &[Scope::Group, Scope::Rank]) } else { (&[Scope::Group], &[Scope::Rank]) };
        Holds {
            bank: all(&[Scope::Bank]),
            group: all(group),
            rank: all(rank),
            other_ranks: all(&[Scope::OtherRanks]).by_kind(),
        }
    }
}

impl Held {
    /// Clocks by kind; [`NEVER_BINDS`] of those that are not held back.
    fn by_kind(&self) -> [i64; KINDS] {
        let mut clocks = [NEVER_BINDS; KINDS];
        self.of[..self.count].iter().for_each(|&(later, held)| clocks[later] = held);
        clocks
    }

    /// A command at `clock` holds these back.
    #[inline]
    fn since(&self, clock: i64, earliest: &mut Earliest) {
        for &(later, clocks) in &self.of[..self.count] {
            earliest[later] = earliest[later].max(clock + clocks);
        }
    }
}

/// The last command of a kind that moves data, and the last one before it in another rank. They are given in the order
/// of their clocks.
#[derive(Clone, Copy, Debug, Value)]
struct Moved {
    rank: usize,
    clock: i64,
    before: i64,
}

impl Moved {
    /// The last one that was not in `rank`.
    #[inline]
    fn in_others(&self, rank: usize) -> i64 {
        if self.rank == rank { self.before } else { self.clock }
    }

    #[inline]
    fn note(&mut self, rank: usize, clock: i64) {
        if self.rank != rank {
            (self.rank, self.before) = (rank, self.clock);
        }
        self.clock = clock;
    }
}

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
    holds: [Holds; KINDS],
    /// In which at most [`WINDOW`] rows of a rank are opened.
    #[state(skip = "from the configuration")]
    window: i64,
    #[state(skip = "from the configuration")]
    spacing: u64,
    ranks: Vec<Earliest>,
    groups: Vec<Earliest>,
    banks: Vec<Earliest>,
    /// The last read and the last write.
    moved: [Moved; 2],
    /// Of each rank, when the last rows were opened, the latest first; [`NEVER_BINDS`] where there was none.
    opened: Vec<[i64; WINDOW]>,
    open: Vec<u32>,
    slots: Slots,
    /// Commands of each kind.
    given: [u64; KINDS],
}

impl Channel {
    /// A channel with so many `ranks` of `part`, all rows closed.
    pub fn new(part: Part, ranks: u32) -> Channel {
        let all = rules(&part);
        let window =
            all.iter().find(|rule| rule.nth == WINDOW).map_or(NEVER_BINDS, |rule| rule.clocks.cast_signed());
        let (ranks, groups) = (ranks as usize, part.groups);
        let banks = ranks * part.banks_in_all() as usize;
        // Clocks between two bursts of a row.
        let far = part.access_to_access;
        let spacing = part.access_to_access_in_group.map_or(far, |time| part.constraint(time)).max(far);
        Channel {
            part,
            holds: from_fn(|kind| Holds::of(&all, kind, groups)),
            window,
            spacing,
            ranks: vec![Earliest::default(); ranks],
            groups: vec![Earliest::default(); ranks * groups as usize],
            banks: vec![Earliest::default(); banks],
            moved: [Moved { rank: 0, clock: NEVER_BINDS, before: NEVER_BINDS }; 2],
            opened: vec![[NEVER_BINDS; WINDOW]; ranks],
            open: vec![CLOSED; banks],
            slots: Slots::new(spacing),
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
        let spacing = self.spacing;
        let first = self.slots.first_free(self.earliest(command, from));
        let (mut clock, mut left) = (first, count);
        loop {
            let given = self.slots.take_train(clock, left);
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
        let rank = place.rank as usize;
        let near = self.banks[self.bank(place)][kind].max(self.groups[self.group(place)][kind]);
        let mut earliest = from.cast_signed().max(self.ranks[rank][kind]).max(near);
        if self.ranks.len() > 1 && matches!(command.kind, Kind::Read | Kind::Write) {
            for (moved, earlier) in self.moved.iter().zip([Kind::Read, Kind::Write]) {
                let held = self.holds[earlier as usize].other_ranks[kind];
                earliest = earliest.max(moved.in_others(rank).max(NEVER_BINDS) + held);
            }
        }
        earliest.cast_unsigned()
    }

    /// `command` was given, the last time at `clock`: what may come from when on follows.
    #[inline]
    fn note(&mut self, command: Command, clock: u64, count: u64) {
        let Command { kind, place } = command;
        let (bank, group, rank) = (self.bank(place), self.group(place), place.rank as usize);
        let clock = clock.cast_signed();
        self.given[kind as usize] += count;
        let holds = &self.holds[kind as usize];
        holds.bank.since(clock, &mut self.banks[bank]);
        holds.group.since(clock, &mut self.groups[group]);
        holds.rank.since(clock, &mut self.ranks[rank]);
        match kind {
            Kind::Activate => {
                self.open[bank] = place.row;
                let opened = &mut self.opened[rank];
                *opened = [clock, opened[0], opened[1], opened[2]];
                // The next one is the fifth, counted from the oldest of these.
                let next = &mut self.ranks[rank][Kind::Activate as usize];
                *next = (opened[WINDOW - 1] + self.window).max(*next);
            }
            Kind::Precharge => self.open[bank] = CLOSED,
            Kind::Read => self.moved[0].note(rank, clock),
            Kind::Write => self.moved[1].note(rank, clock),
            Kind::Refresh => {}
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
