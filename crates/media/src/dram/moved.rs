//! Data transfers on a channel, and the search for gaps in which further reads and writes fit.

use super::command::Location;
use super::holds::NEVER_BINDS;
use super::kind::Kind;
use super::part::Part;
use super::rules::{Rule, Scope};
use nacre_kernel::state::{State, Value};

/// Number of most recent trains that are always stored. Clocks before these trains are not searched for gaps.
const KEPT: usize = 64;
/// Train lengths in clocks. For each length, [`Moved`] stores the clock from which no gap is large enough.
const LENGTHS: [i64; 4] = [0, 16, 60, 120];
/// Group number of a train that alternates between the groups of its rank.
pub(super) const ALL_GROUPS: u32 = u32::MAX;

/// A train, i.e. consecutive reads or writes of one row, or of one row in each of several groups.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Train {
    /// Clock of the first command.
    pub(super) first: i64,
    /// Clock of the last command.
    pub(super) last: i64,
    pub(super) is_write: bool,
    pub(super) rank: u32,
    /// Number of the bank group, or [`ALL_GROUPS`].
    pub(super) group: u32,
}

impl Train {
    /// Creates a train of commands of `kind` to `group` in the rank of `location`. The train starts at clock
    /// 0, and its last command is at clock `length`.
    #[inline]
    pub(super) fn new(kind: Kind, location: Location, group: u32, length: i64) -> Train {
        Train { first: 0, last: length, is_write: kind == Kind::Write, rank: location.rank, group }
    }

    /// Whether `other` has the same kind, rank, and group.
    #[inline]
    fn is_of_one(&self, other: &Train) -> bool {
        (self.is_write, self.rank, self.group) == (other.is_write, other.rank, other.group)
    }

    /// This train, moved so that it starts at `clock`.
    #[inline]
    pub(super) fn at(self, clock: i64) -> Train {
        Train { first: clock, last: clock + self.last - self.first, ..self }
    }
}

/// Trains in clock order. They do not overlap.
#[derive(Clone, Debug, State)]
pub(super) struct Moved {
    #[state(skip = "from the configuration")]
    holds: Holds,
    #[state(varies)]
    log: Vec<Train>,
    /// Clock before which no train can be inserted.
    begin: i64,
    /// For each length in [`LENGTHS`], the clock from which no gap between trains is large enough for another
    /// train of this length.
    filled_from: [i64; LENGTHS.len()],
}

/// Minimum numbers of clocks between two consecutive read or write commands.
#[derive(Clone, Copy, Debug)]
struct Holds {
    /// Minimum number of clocks, indexed by scope (same group, same rank, other ranks) and by whether the
    /// earlier and the later command is a write.
    by_scope: [[[i64; 2]; 2]; 3],
    /// The largest number in `by_scope`.
    reach: i64,
    /// Minimum number of clocks between two trains that leaves space for one command between them.
    room: i64,
    /// Like `room`, but for two trains and a command between them that all have the same kind, rank, and group.
    room_within: i64,
}

impl Holds {
    fn of(part: &Part, rules: &[Rule]) -> Holds {
        let kinds = [Kind::Read, Kind::Write];
        let longest = |scopes: &[Scope]| {
            kinds.map(|earlier| {
                kinds.map(|later| {
                    let is_of = |rule: &&Rule| {
                        rule.earlier == earlier && rule.later == later && scopes.contains(&rule.scope)
                    };
                    rules.iter().filter(is_of).map(|rule| rule.clocks.cast_signed()).max().unwrap_or(0)
                })
            })
        };
        let group = longest(&[Scope::Group, Scope::Rank]);
        let rank = if part.groups == 1 { group } else { longest(&[Scope::Rank]) };
        let by_scope = [group, rank, longest(&[Scope::OtherRanks])];
        let reach = by_scope.iter().flatten().flatten().copied().max().unwrap_or(0);
        let shortest = |earlier: usize, later: usize| {
            by_scope.iter().map(|scope| scope[earlier][later]).min().expect("there are scopes")
        };
        let around = |kind: usize| {
            (0..2).map(|other| shortest(other, kind)).min().expect("there are two")
                + (0..2).map(|other| shortest(kind, other)).min().expect("there are two")
        };
        let within = part.access_to_access.min(part.burst / 2 + part.rank_to_rank);
        Holds { by_scope, reach, room: around(0).min(around(1)), room_within: 2 * within.cast_signed() }
    }

    /// Minimum number of clocks from the last command of `earlier` to the first command of `later`.
    #[inline]
    fn between(&self, earlier: &Train, later: &Train) -> i64 {
        let scope = if earlier.rank != later.rank {
            2
        } else {
            let is_near =
                earlier.group == later.group || earlier.group == ALL_GROUPS || later.group == ALL_GROUPS;
            usize::from(!is_near)
        };
        self.by_scope[scope][usize::from(earlier.is_write)][usize::from(later.is_write)]
    }
}

impl Moved {
    pub(super) fn new(part: &Part, rules: &[Rule]) -> Moved {
        Moved {
            holds: Holds::of(part, rules),
            log: Vec::with_capacity(2 * KEPT),
            begin: NEVER_BINDS,
            filled_from: [NEVER_BINDS; LENGTHS.len()],
        }
    }

    /// The earliest clock, not before `from`, at which `train` can be inserted before an issued train. `None`
    /// if there is no such clock.
    #[inline]
    pub(super) fn room(&self, train: Train, from: i64) -> Option<i64> {
        let mut clock = from.max(self.begin);
        if clock >= self.filled_from[0] {
            return None;
        }
        let class = LENGTHS.iter().skip(1).filter(|&&length| length <= train.last).count();
        if clock + train.last >= self.filled_from[class] {
            return None;
        }
        let mut next = self.log.len();
        while next > 0 && self.log[next - 1].first > clock {
            next -= 1;
        }
        while next < self.log.len() {
            let before = if next == 0 { NEVER_BINDS } else { self.log[next - 1].last };
            if self.log[next].first - before >= self.holds.room + train.last {
                clock = self.after(next, train.at(clock));
                if self.is_before(next, train.at(clock)) {
                    return Some(clock);
                }
            }
            next += 1;
        }
        None
    }

    /// The earliest clock, not before the start of `train`, at which `train` can follow all trains with
    /// numbers below `next`.
    #[inline]
    fn after(&self, next: usize, mut train: Train) -> i64 {
        for earlier in self.log[..next].iter().rev() {
            if earlier.last + self.holds.reach <= train.first {
                break;
            }
            let clock = earlier.last + self.holds.between(earlier, &train);
            train = train.at(clock.max(train.first));
        }
        train.first
    }

    /// Whether `train` can be issued without delaying train number `next` or a later train.
    #[inline]
    fn is_before(&self, next: usize, train: Train) -> bool {
        let mut soon =
            self.log[next..].iter().take_while(|later| later.first < train.last + self.holds.reach);
        soon.all(|later| later.first >= train.last + self.holds.between(&train, later))
    }

    /// Records `train`.
    #[inline]
    pub(super) fn note(&mut self, train: Train) {
        let mut at = self.log.len();
        while at > 0 && self.log[at - 1].first > train.first {
            at -= 1;
        }
        if at == self.log.len() {
            let gap = self.log.last().map_or(i64::MAX, |last| train.first - last.last);
            if let Some(last) = self.log.last_mut().filter(|last| last.is_of_one(&train))
                && gap < self.holds.room_within
            {
                // No command fits between the two trains, so they are stored as one train.
                last.last = train.last;
                return;
            }
            for (filled_from, length) in self.filled_from.iter_mut().zip(LENGTHS) {
                if gap >= self.holds.room + length {
                    *filled_from = train.first;
                }
            }
            self.log.push(train);
        } else {
            self.log.insert(at, train);
        }
        if self.log.len() == 2 * KEPT {
            let last = self.log[KEPT - 1].last;
            self.log.drain(..KEPT);
            self.begin = last + self.holds.reach;
        }
    }
}
