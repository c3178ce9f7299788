//! The table of timing constraints of a part.

use super::kind::Kind::{self, Activate, Precharge, Read, Refresh, Write};
use super::part::Part;

/// Scope of a rule: the relation between the locations of the two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The rule applies to two commands in the same bank.
    Bank,
    /// The rule applies to two commands in the same bank group.
    Group,
    /// The rule applies to two commands in the same rank.
    Rank,
    /// The rule applies to two commands in different ranks.
    OtherRanks,
}

/// A constraint. A command of kind `later` must be at least `clocks` clocks after an earlier command of kind
/// `earlier` in the scope. `nth` selects this earlier command: 1 is the last command, and 4 is the fourth
/// from last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) scope: Scope,
    pub(super) earlier: Kind,
    pub(super) later: Kind,
    pub(super) nth: usize,
    pub(super) clocks: u64,
}

/// All constraints of `part`.
pub(super) fn rules(part: &Part) -> Vec<Rule> {
    let clocks = |time| part.constraint(time);
    let (data, rl, wl) = (part.burst / 2, part.read_latency, part.write_latency);
    let far = part.access_to_access;
    let near = part.access_to_access_in_group.map_or(far, clocks).max(far);
    let near_row = part.activate_to_activate_in_group.unwrap_or(part.activate_to_activate);
    let near_turn = part.write_to_read_in_group.unwrap_or(part.write_to_read);
    let (turn, written) = (part.rank_to_rank, wl + data);
    let rule = |scope, earlier, later, clocks| Rule { scope, earlier, later, nth: 1, clocks };
    let mut rules = vec![
        rule(Scope::Bank, Activate, Read, clocks(part.activate_to_access)),
        rule(Scope::Bank, Activate, Write, clocks(part.activate_to_access)),
        rule(Scope::Bank, Activate, Precharge, clocks(part.row_open)),
        rule(Scope::Bank, Activate, Activate, clocks(part.row_cycle)),
        rule(Scope::Bank, Precharge, Activate, clocks(part.precharge)),
        rule(Scope::Bank, Read, Precharge, clocks(part.read_to_precharge)),
        rule(Scope::Bank, Write, Precharge, written + clocks(part.write_recovery)),
        rule(Scope::Group, Activate, Activate, clocks(near_row)),
        rule(Scope::Rank, Activate, Activate, clocks(part.activate_to_activate)),
        Rule { nth: 4, ..rule(Scope::Rank, Activate, Activate, clocks(part.four_activates)) },
        rule(Scope::Group, Read, Read, near),
        rule(Scope::Group, Write, Write, near),
        rule(Scope::Rank, Read, Read, far),
        rule(Scope::Rank, Write, Write, far),
        // A change of the bus direction takes two clocks.
        rule(Scope::Rank, Read, Write, (rl + far + 2).saturating_sub(wl)),
        rule(Scope::Group, Write, Read, written + clocks(near_turn)),
        rule(Scope::Rank, Write, Read, written + clocks(part.write_to_read)),
        rule(Scope::OtherRanks, Read, Read, data + turn),
        rule(Scope::OtherRanks, Write, Write, data + turn),
        rule(Scope::OtherRanks, Read, Write, (rl + data + turn).saturating_sub(wl)),
        rule(Scope::OtherRanks, Write, Read, (written + turn).saturating_sub(rl)),
    ];
    if let Some((_, refreshing)) = part.refreshing() {
        rules.extend([
            rule(Scope::Rank, Precharge, Refresh, clocks(part.precharge)),
            rule(Scope::Rank, Refresh, Activate, clocks(refreshing)),
            rule(Scope::Rank, Refresh, Refresh, clocks(refreshing)),
        ]);
    }
    rules
}
