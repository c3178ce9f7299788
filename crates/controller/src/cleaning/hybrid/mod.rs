//! Hybrid: locality gathering between partitions and FIFO inside them.
//!
//! # Model
//! Adjacent segment positions form partitions of equal size. A page is drained into the partition from which
//! it was copied. Inside a partition, the least recently written segment is cleaned. Pages from the end of a
//! victim move to the previous partition, and pages from its head move to the next partition. Locality
//! gathering moves pages between segments in the same way (source file `redistribution.rs`). The paper states
//! only the aim of the policy. We developed the method and chose its constants.
//!
//! The setting `gather_young` enables a rule that the policy of the paper does not have. If hot pages are
//! written many times during one pass through the partition, the victim that FIFO selects contains no valid
//! hot page. Assume that 5 % of the data, at random addresses, receive 95 % of the writes (5/95). In one
//! turnover, the host writes as many pages as the array has valid pages. Without the rule, gathering this hot
//! data would take a thousand turnovers. If hot and cold pages are mixed, a young segment has nearly as many
//! invalid pages as an old segment. Periodically, the policy searches for segments with nearly as many
//! invalid pages as the oldest segment. The policy cleans the youngest of these segments instead of the
//! oldest segment. The valid pages at the end of this young segment are nearly all hot and move to the
//! previous partition. Under uniform writes, the rule increases the cleaning cost by 1.5 %.
//!
//! If the hot data is initially in the first positions, the cleaning cost is steady after 20 turnovers. If
//! the hot data is initially at random addresses, the cost after 80 turnovers is within 10 % of the cost
//! after 100 turnovers. Even after 100 turnovers, the cost still decreases slowly.
//!
//! # Not modeled
//! The write statistics of the policy are not saved with the state of a device.
//!
//! # Sources
//! wu-1994, section 4.4.
//!
//! # Checks
//! The cleaning costs follow the trends of figures 8, 9, and 10 of the paper. Under uniform writes, the
//! cleaning cost is within 20 % of the cleaning cost of `greedy`. At every locality, the cost is lower than
//! with locality gathering. At 20/80 and higher localities, the cost is also lower than with `greedy`.
//! Overall, the cost is lowest with partitions of 16 segments. As the number of segments increases, the cost
//! falls until a segment is less than 1 % of the array.

use super::redistribution::{Redistribution, Settings};
use super::{Cleaner, CleaningFamily, Decision, View, check_partitions};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// The hybrid policy.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Number of segments per partition; a divisor of the number of segments of the array.
    #[config(default = 16, min = 1, source = "paper: wu-1994 section 4.4, the best of its figure 9")]
    pub segments_per_partition: u32,
    /// Redistribution of valid pages to adjacent partitions.
    #[config(flatten)]
    pub redistribution: Settings,
    /// Clean a young segment at intervals if hot and cold pages are mixed.
    #[config(default = true, source = "fitted: if off, scattered data at 5/95 stays mixed for a long time")]
    pub gather_young: bool,
    /// Number of cleanings between two cleanings of a young segment. At most the number of segments in the
    /// partition.
    #[config(
        default = 16,
        min = 1,
        max = 1048576,
        source = "fitted: by trial, not to a published number; gathering scattered data at 5/95 costs less than half, and uniform writes cost 1.5 % more"
    )]
    pub young_after: u32,
    /// Minimum number of invalid pages of the young segment, as a share of the number of invalid pages of the
    /// oldest segment.
    #[config(
        default = "60 %",
        max = "100 %",
        source = "fitted: between 33 %, the value for a segment of a quarter of the age under uniform writes at 80 % utilization, and 100 %"
    )]
    pub young_invalid: Ratio,
    /// Number of valid pages that move from the end of the young segment to the previous partition, as a
    /// share of a segment.
    #[config(
        default = "10 %",
        max = "100 %",
        source = "fitted: by trial, not to a published number; gathering scattered data at 5/95 costs less than half, and uniform writes cost 1.5 % more"
    )]
    pub young_gathered: Ratio,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "hybrid",
        "FIFO inside partitions, locality gathering between them",
        &["wu-1994"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        check_partitions(config.segments_per_partition, context.segments(), slot.path())?;
        let redistribution = Redistribution::new(config.redistribution.clone());
        Ok(Box::new(Hybrid { config, redistribution, cleanings: Vec::new() }))
    },
};

#[derive(State)]
struct Hybrid {
    #[state(skip = "from the configuration")]
    config: Config,
    redistribution: Redistribution,
    /// Number of cleanings in each partition since the last cleaning of a young segment.
    #[state(varies)]
    cleanings: Vec<u32>,
}

impl Cleaner for Hybrid {
    fn partition_segments(&self) -> Option<u32> {
        Some(self.config.segments_per_partition)
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let oldest = view.oldest(partition);
        let (to_lower, to_higher) = self.redistribution.shares(view, partition);
        let decision = Decision { to_lower, to_higher, ..Decision::clean(oldest) };
        match self.young(view, partition, oldest) {
            Some(victim) => {
                let gathered = (self.config.young_gathered.0 * f64::from(view.pages_per_segment)) as u32;
                Decision { victim, to_lower: to_lower.max(gathered), ..decision }
            }
            None => decision,
        }
    }
}

impl Hybrid {
    /// Returns the young segment to clean instead of the oldest one. Returns `None` if no young segment is
    /// due for cleaning.
    fn young(&mut self, view: &View<'_>, partition: usize, oldest: usize) -> Option<usize> {
        let count = view.partitions[partition].count as u32;
        // The first partition has no predecessor, and two positions have no young segment.
        if !self.config.gather_young || partition == 0 || count < 3 {
            return None;
        }
        self.cleanings.resize(view.partitions.len(), 0);
        let cleanings = &mut self.cleanings[partition];
        *cleanings += 1;
        if *cleanings < count.min(self.config.young_after) {
            return None;
        }
        // A segment without an invalid page is never a victim, even if the required share rounds to zero.
        let enough = (self.config.young_invalid.0 * f64::from(view.invalid(oldest))).max(1.0);
        let mixed = view.by_age(partition).rev().find(|&place| f64::from(view.invalid(place)) >= enough)?;
        *cleanings = 0;
        (mixed != oldest).then_some(mixed)
    }
}
