//! The timing constraints of a part as rows.

use super::channel::Kind::{self, Activate, Precharge, Read, Refresh, Write};
use super::part::Part;

/// Where an earlier command has to be for a rule to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// In the same bank.
    Bank,
    /// In the same group of banks.
    Group,
    /// In the same rank.
    Rank,
    /// In another rank.
    OtherRanks,
}

/// `later` comes at least `clocks` after the `nth` last `earlier` in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) scope: Scope,
    pub(super) earlier: Kind,
    pub(super) later: Kind,
    pub(super) nth: usize,
    pub(super) clocks: u64,
}

/// Every constraint of `part`.
pub(super) fn rules(part: &Part) -> Vec<Rule> {
    let clocks = |span: super::Span| span.in_clocks(part.clock);
    let (data, rl, wl) = (part.burst / 2, part.read_latency, part.write_latency);
    let (precharge, cycle) = (clocks(part.precharge), clocks(part.row_cycle));
    let (near, far) = (clocks(part.access_to_access_in_group), clocks(part.access_to_access));
    let turn = clocks(part.rank_to_rank);
    let written = wl + data;
    let rule = |scope, earlier, later, clocks| Rule { scope, earlier, later, nth: 1, clocks };
    let mut rules = vec![
        rule(Scope::Bank, Activate, Read, clocks(part.activate_to_access)),
        rule(Scope::Bank, Activate, Write, clocks(part.activate_to_access)),
        rule(Scope::Bank, Activate, Precharge, clocks(part.row_open)),
        rule(Scope::Bank, Activate, Activate, cycle),
        rule(Scope::Bank, Precharge, Activate, precharge),
        rule(Scope::Bank, Read, Precharge, clocks(part.read_to_precharge)),
        rule(Scope::Bank, Write, Precharge, written + clocks(part.write_recovery)),
        rule(Scope::Group, Activate, Activate, clocks(part.activate_to_activate_in_group)),
        rule(Scope::Rank, Activate, Activate, clocks(part.activate_to_activate)),
        Rule { nth: 4, ..rule(Scope::Rank, Activate, Activate, clocks(part.four_activates)) },
        rule(Scope::Group, Read, Read, near),
        rule(Scope::Group, Write, Write, near),
        rule(Scope::Rank, Read, Read, far),
        rule(Scope::Rank, Write, Write, far),
        // Two clocks turn the bus around.
        rule(Scope::Rank, Read, Write, rl + far + 2 - wl),
        rule(Scope::Group, Write, Read, written + clocks(part.write_to_read_in_group)),
        rule(Scope::Rank, Write, Read, written + clocks(part.write_to_read)),
        rule(Scope::OtherRanks, Read, Read, data + turn),
        rule(Scope::OtherRanks, Write, Write, data + turn),
        rule(Scope::OtherRanks, Read, Write, rl + data + turn - wl),
        rule(Scope::OtherRanks, Write, Read, (written + turn).saturating_sub(rl)),
    ];
    if let Some((_, refreshing)) = part.refresh {
        rules.extend([
            rule(Scope::Rank, Precharge, Refresh, precharge),
            rule(Scope::Rank, Refresh, Activate, clocks(refreshing)),
            rule(Scope::Rank, Refresh, Refresh, clocks(refreshing)),
        ]);
    }
    rules
}
