//! A channel whose commands are issued in clock order: its open rows, and the earliest clock of the next
//! command.

use super::bank::{Shifts, Spot};
use super::command::Location;
use super::holds::{Earliest, Holds, KINDS, NEVER_BINDS};
use super::kind::Kind;
use super::part::Part;
use super::rules::rules;
use nacre_kernel::state::{State, Value};
use std::array::from_fn;

/// A channel with equal ranks, for a controller that makes a decision in each clock. At most one command is
/// issued per clock. A command that is invalid in the state of its bank is a bug of the controller.
#[derive(Clone, Debug, State)]
pub struct InOrder {
    #[state(skip = "from the configuration")]
    part: Part,
    #[state(skip = "from the configuration")]
    shifts: Shifts,
    /// Constraints that each kind of command imposes on later commands.
    #[state(skip = "from the configuration")]
    holds: [Holds; KINDS],
    /// Number of clocks between two bursts, indexed by the number of alternating groups minus one.
    #[state(skip = "from the configuration")]
    spacing: Vec<u64>,
    /// Minimum numbers of clocks between row openings in a group and in a rank, and the window in which at
    /// most four rows are opened.
    #[state(skip = "from the configuration")]
    openings: [i64; 3],
    ranks: Vec<Rank>,
    groups: Vec<Group>,
    banks: Vec<OneBank>,
    /// Clocks of the latest bursts, which occupy the command bus periodically.
    bursts: Bursts,
    /// Number of issued commands of each kind.
    given: [u64; KINDS],
}

/// A series of bursts at equal intervals.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Bursts {
    first: u64,
    last: u64,
    spacing: u64,
}

#[derive(Clone, Copy, Debug, Value)]
struct Rank {
    earliest: Earliest,
    /// Clocks at which the last four rows were opened, oldest first.
    opened: [i64; 4],
}

#[derive(Clone, Copy, Debug, Value)]
struct Group {
    earliest: Earliest,
    opened: i64,
}

#[derive(Clone, Copy, Debug, Value)]
struct OneBank {
    earliest: Earliest,
    open: Option<u32>,
}

impl InOrder {
    /// A channel with `ranks` ranks of `part`, all of whose rows are closed.
    pub fn new(part: Part, ranks: u32) -> InOrder {
        let all = rules(&part);
        let (ranks, groups) = (ranks as usize, part.groups);
        let banks = ranks * part.banks_in_all() as usize;
        let far = part.access_to_access;
        let near = part.access_to_access_in_group.map_or(far, |time| part.constraint(time)).max(far);
        let near_row = part.activate_to_activate_in_group.unwrap_or(part.activate_to_activate);
        let openings = [near_row, part.activate_to_activate, part.four_activates];
        let earliest = [NEVER_BINDS; KINDS];
        InOrder {
            shifts: Shifts::of(&part),
            holds: from_fn(|kind| Holds::of(&all, kind, groups)),
            spacing: (1..=u64::from(groups)).map(|groups| near.div_ceil(groups).max(far)).collect(),
            openings: openings.map(|time| part.constraint(time).cast_signed()),
            ranks: vec![Rank { earliest, opened: [NEVER_BINDS; 4] }; ranks],
            groups: vec![Group { earliest, opened: NEVER_BINDS }; ranks * groups as usize],
            banks: vec![OneBank { earliest, open: None }; banks],
            bursts: Bursts::default(),
            given: [0; KINDS],
            part,
        }
    }

    /// The memory part of the channel.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The open row in the bank of `location`.
    #[inline]
    pub fn open_row(&self, location: Location) -> Option<u32> {
        self.banks[self.shifts.spot(location).bank].open
    }

    /// The number of the bank of `location` in the channel.
    #[inline]
    pub fn bank_number(&self, location: Location) -> usize {
        self.shifts.spot(location).bank
    }

    /// Number of banks in the channel.
    pub fn banks(&self) -> usize {
        self.banks.len()
    }

    /// The first clock at or after `from` that the constraints and the bus allow for a command of `kind` to
    /// `location`, if no other command is issued before it.
    #[inline]
    pub fn allowed(&self, kind: Kind, location: Location, from: u64) -> u64 {
        let clock = self.earliest(kind, self.shifts.spot(location)).max(from.cast_signed()).cast_unsigned();
        let Bursts { first, last, spacing } = self.bursts;
        let is_taken =
            |clock: u64| clock >= first && clock <= last && (clock - first).is_multiple_of(spacing);
        let mut free = clock;
        while spacing > 0 && is_taken(free) {
            free += 1;
        }
        free
    }

    #[inline]
    fn earliest(&self, kind: Kind, spot: Spot) -> i64 {
        let (number, rank, group) = (kind as usize, &self.ranks[spot.rank], &self.groups[spot.group]);
        let near = self.banks[spot.bank].earliest[number].max(group.earliest[number]);
        let all = near.max(rank.earliest[number]);
        if kind != Kind::Activate {
            return all;
        }
        let [in_group, in_rank, four] = self.openings;
        let last = rank.opened[3] + in_rank;
        all.max(group.opened + in_group).max(last).max(rank.opened[0] + four)
    }

    /// Issues a command at `clock` that opens or closes a row or refreshes a rank.
    pub fn give(&mut self, kind: Kind, location: Location, clock: u64) {
        let spot = self.shifts.spot(location);
        debug_assert!(
            self.earliest(kind, spot) <= clock.cast_signed(),
            "{kind:?} of {location:?} at {clock}"
        );
        match kind {
            Kind::Activate => {
                let bank = &mut self.banks[spot.bank];
                assert!(bank.open.replace(location.row).is_none(), "another row of {location:?} is open");
                self.ranks[spot.rank].opened.rotate_left(1);
                self.ranks[spot.rank].opened[3] = clock.cast_signed();
                self.groups[spot.group].opened = clock.cast_signed();
            }
            Kind::Precharge => self.banks[spot.bank].open = None,
            Kind::Refresh => {}
            Kind::Read | Kind::Write => unreachable!("bursts are given together"),
        }
        self.note(kind, spot, clock, 1);
    }

    /// Issues `count` reads or writes of the open rows of `locations` from `clock`, alternating between
    /// them; returns the clock of the last command. Each row must be in a different group of one rank. No
    /// other read or write may be issued in between.
    pub fn give_bursts(&mut self, kind: Kind, locations: &[Location], clock: u64, count: u64) -> u64 {
        let spacing = self.spacing[locations.len() - 1];
        let last = clock + (count - 1) * spacing;
        self.bursts = Bursts { first: clock, last, spacing };
        let turns = locations.len() as u64;
        for (turn, &location) in (0..turns).zip(locations) {
            // The bursts of this row have the numbers turn, turn + turns, ...
            let bursts = (count - turn).div_ceil(turns);
            debug_assert_eq!(self.open_row(location), Some(location.row), "{location:?}");
            let spot = self.shifts.spot(location);
            self.note(kind, spot, clock + (turn + (bursts - 1) * turns) * spacing, bursts);
        }
        last
    }

    /// Auto-precharges the row of `location` as early as possible; returns the clock. No command is issued.
    pub fn close_by_itself(&mut self, location: Location) -> u64 {
        let spot = self.shifts.spot(location);
        let clock = self.earliest(Kind::Precharge, spot).max(0).cast_unsigned();
        self.banks[spot.bank].open = None;
        self.note(Kind::Precharge, spot, clock, 1);
        clock
    }

    /// Clock at which the latest refresh of `rank` ends. No row of the rank can be opened before this
    /// clock.
    pub fn refreshed(&self, rank: u32) -> u64 {
        self.ranks[rank as usize].earliest[Kind::Activate as usize].max(0).cast_unsigned()
    }

    /// Locations of the open rows of `rank`.
    pub fn open_rows(&self, rank: u32) -> impl Iterator<Item = Location> + '_ {
        let banks = self.part.banks_in_all();
        let of_rank = self.banks[rank as usize * banks as usize..][..banks as usize].iter();
        (0..banks)
            .zip(of_rank)
            .filter_map(move |(bank, state)| Some(Location { rank, bank, row: state.open? }))
    }

    /// Number of issued commands of `kind`.
    pub fn given(&self, kind: Kind) -> u64 {
        self.given[kind as usize]
    }

    /// Adds `count` to the number of issued refreshes. They refresh an idle rank, all of whose rows must be
    /// closed.
    pub fn count_refreshes(&mut self, count: u64) {
        self.given[Kind::Refresh as usize] += count;
    }

    /// Subtracts `count` issued bursts of `kind` that a power loss canceled.
    pub fn take_back(&mut self, kind: Kind, count: u64) {
        self.given[kind as usize] -= count;
    }

    /// Closes every row and drops all commands after a power loss.
    pub fn clear(&mut self) {
        *self = InOrder { given: self.given, ..InOrder::new(self.part.clone(), self.ranks.len() as u32) };
    }

    fn note(&mut self, kind: Kind, spot: Spot, clock: u64, count: u64) {
        let (number, at) = (kind as usize, clock.cast_signed());
        self.given[number] += count;
        let holds = &self.holds[number];
        holds.bank.since(at, &mut self.banks[spot.bank].earliest);
        holds.group.since(at, &mut self.groups[spot.group].earliest);
        holds.rank.since(at, &mut self.ranks[spot.rank].earliest);
        if self.ranks.len() == 1 {
            return;
        }
        for other in (0..self.ranks.len()).filter(|&other| other != spot.rank) {
            for (earliest, held) in self.ranks[other].earliest.iter_mut().zip(holds.other_ranks) {
                *earliest = (*earliest).max(at + held);
            }
        }
    }
}
