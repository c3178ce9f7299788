//! Constraints of a command on later commands, as tables of clocks.

use super::kind::Kind::{self, Activate};
use super::rules::{Rule, Scope};

/// Number of kinds of commands.
pub(super) const KINDS: usize = 5;

/// Earliest possible clock of a command, by kind of command.
pub(super) type Earliest = [i64; KINDS];
/// A clock that is so early that it constrains no command.
pub(super) const NEVER_BINDS: i64 = i64::MIN / 2;

/// Constraints of one kind of command on later commands.
#[derive(Clone, Debug)]
pub(super) struct Holds {
    pub(super) bank: Held,
    pub(super) group: Held,
    pub(super) rank: Held,
    /// Constraints on commands in other ranks, by kind of the later command.
    pub(super) other_ranks: [i64; KINDS],
}

/// Kinds of commands that are constrained, each with a minimum number of clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    count: usize,
    of: [(usize, i64); KINDS],
}

impl Holds {
    /// Constraints imposed by commands of kind number `earlier`. If there is only one bank group, the
    /// constraints within the group apply to the rank.
    pub(super) fn of(rules: &[Rule], earlier: usize, groups: u32) -> Holds {
        let all = |scopes: &[Scope]| {
            let is_of = |rule: &&Rule| {
                // `Opened` has the constraints between row openings.
                let is_opening =
                    rule.earlier == Activate && rule.later == Activate && rule.scope != Scope::Bank;
                rule.earlier as usize == earlier && !is_opening && scopes.contains(&rule.scope)
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
    /// Minimum number of clocks by kind of the later command, or [`NEVER_BINDS`] for unconstrained kinds.
    fn by_kind(&self) -> [i64; KINDS] {
        let mut clocks = [NEVER_BINDS; KINDS];
        self.of[..self.count].iter().for_each(|&(later, held)| clocks[later] = held);
        clocks
    }

    /// Minimum number of clocks before a command of kind `later`. Zero if this kind is not constrained.
    pub(super) fn clocks(&self, later: Kind) -> i64 {
        let held = self.of[..self.count].iter().find(|(kind, _)| *kind == later as usize);
        held.map_or(0, |&(_, clocks)| clocks)
    }

    /// Updates `earliest` for a command at `clock`.
    #[inline]
    pub(super) fn since(&self, clock: i64, earliest: &mut Earliest) {
        for &(later, clocks) in &self.of[..self.count] {
            earliest[later] = earliest[later].max(clock + clocks);
        }
    }
}
