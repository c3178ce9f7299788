//! Locality gathering: each segment is cleaned separately, and hot pages gradually move toward position 0.
//!
//! # Model
//! Every segment position is a separate partition. A page is drained into the segment from which it was
//! copied. When a segment is full, it is cleaned. The valid pages keep their order, so the most recently
//! written pages are at the end of the segment. Pages from the end move to the previous position, and pages
//! from the head move to the next position. The policy chooses the numbers of moved pages so that the product
//! of cleaning frequency and cleaning cost becomes the same in all segments. Hot data then gathers at
//! position 0. The source file `redistribution.rs` computes these numbers. The paper states only the aim of
//! the policy. We developed the method and fitted its settings.
//!
//! Gathering takes a long time. Assume an array of 128 segments whose hot data is initially in the first
//! positions. At 20/80 (20 % of the data receive 80 % of the writes), the cost is steady after 40 turnovers.
//! In one turnover, the host writes as many pages as the array has valid pages. At 10/90, the cost is steady
//! after 60 turnovers, and at 5/95 after 100 turnovers. If the hot data is initially at random addresses, it
//! has to move first, and forms clusters in the meantime. At 10/90, the cost after 200 turnovers is then
//! still twice its final value.
//!
//! # Not modeled
//! In the paper, the products are computed from the number of cleanings of each segment. This model uses the
//! number of drained pages, because this number is less noisy. The write statistics of the policy are not
//! saved with the state of a device.
//!
//! # Sources
//! wu-1994, section 4.3.
//!
//! # Checks
//! Under uniform writes, the cleaning cost is within 5 % of u / (1 - u), where u is the utilization. The cost
//! decreases as locality increases. The cost is never below the cost of perfect sorting, [u / (1 - u)] (sum
//! of sqrt(f r))^2. The sum is over classes of data with different write rates. Each class contains the
//! fraction f of the data and receives the fraction r of the writes. For sorted data, the cost is within 10 %
//! of the cost of perfect sorting.

use super::redistribution::{Redistribution, Settings};
use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Locality gathering.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Redistribution of valid pages to adjacent segments.
    #[config(flatten)]
    pub redistribution: Settings,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "locality_gathering",
        "segments are cleaned separately, and hot pages move to the first segments",
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
