//! Locality gathering: every page stays in its segment, and hot pages wander towards place 0.
//!
//! # Models
//! Every place is a partition: pages are drained into the segment they came from, and the segment that is
//! full is cleaned. Its survivors keep their order, so its end holds what was written last. Pages from the
//! end go to the place before and pages from the head to the place behind, so that the products of cleaning
//! frequency and cleaning cost become equal and hot data gathers at place 0. How many go is described in
//! `redistribution.rs`: the aim is the paper's, the way there is ours, and its settings are fitted.
//!
//! Sorting takes long. With hot data in the first places of 128 segments, the cost is steady after 40
//! turnovers of the live data at 20/80, 60 at 10/90 and 100 at 5/95. Hot data scattered over all places has to
//! wander, and gathers in lumps on its way: after 200 turnovers 10/90 still costs twice what it will.
//!
//! # Leaves out
//! What the paper computes per segment from counted cleanings is computed from pages drained, which is less
//! noisy. What was learned of the writes is not part of a device's stored state.
//!
//! # Sources
//! wu-1994 section 4.3.
//!
//! # Checks
//! Cost under uniform writes within 5 % of u / (1 - u); falls with locality; never below, and for sorted
//! data within 10 % of, the cost of perfect sorting, [u / (1 - u)] (sum of sqrt(f r))^2.

use super::redistribution::{Redistribution, Settings};
use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Locality gathering.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// How live pages are shared with the neighboring segments.
    #[config(flatten)]
    pub redistribution: Settings,
}

/// The room.
pub const ROOM: Room<CleaningFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "locality_gathering",
        "pages stay in their segment; hot ones wander to the first segments",
        &["wu-1994"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        Ok(Box::new(LocalityGathering { redistribution: Redistribution::new(config.redistribution) }))
    },
};

#[derive(State)]
struct LocalityGathering {
    redistribution: Redistribution,
}

impl Cleaner for LocalityGathering {
    fn partition_segments(&self) -> Option<u32> {
        Some(1)
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let (to_lower, to_higher) = self.redistribution.shares(view, partition);
        Decision { to_lower, to_higher, ..Decision::clean(view.partitions[partition].active) }
    }
}
