//! Locality gathering exactly as published: the policy equalizes the product of cleaning cost and cleaning
//! frequency of all partitions.
//!
//! # Model
//! Adjacent segment positions form partitions of equal size, by default one segment each. A page is drained
//! into the partition from which it was copied. In each partition, the least recently written segment is
//! cleaned.
//!
//! *Product*: the product is the number of copied pages per reclaimed page, `u / (1 - u)`, times the cleaning
//! frequency of the partition. Here, `u` is the share of valid pages in the cleaned segment. The frequency is
//! 1 divided by the number of pages that were drained into the array since the last cleaning of the
//! partition. The policy compares the product with the average of the latest products of all partitions.
//!
//! *Above the average*: if the product is above the average, the segment gives valid pages to the neighboring
//! partitions. The product then approaches the average. If the frequency stayed the same, the product would
//! equal the average at the utilization `c / (1 + c)`, with `c` = average / frequency. Each cleaning changes
//! the utilization by the share `step` of the distance to this value. Half of the moved pages come from the
//! end of the segment and move to the previous partition. The other half come from the head of the segment
//! and move to the next partition. At the ends of the array, all pages move in one direction.
//!
//! *Below the average* (`raises`): if the product is below the average, the segment receives pages. Half of
//! these pages come from the head of the least recently cleaned segment of the previous partition. The other
//! half come from the end of the active segment of the next partition. These pages also change the cleaning
//! frequency. Let `w` be the number of pages drained into a segment per page drained into the array. Let `f`
//! be the number of free pages among the `p` pages of the segment when it is cleaned. Per page drained into
//! the array, the segment is cleaned `w / f` times, at the cost `(p - f) / f`. The product therefore equals
//! the average `a` if `f` solves `a f^2 + w f = w p`. With `raises`, all segments give and receive pages
//! according to this equation. If the policy used the previous frequency, a step of half of the distance
//! would overshoot. Cold segments would then fill up, and the cost at 5/95 would be a hundred times as high.
//!
//! With one segment per partition, the policy is the locality gathering of the paper. With sixteen segments
//! per partition, the policy is the hybrid policy of the paper. The policy measures all these quantities
//! during the run, and no value is fitted. The paper states only that a cleaning brings the product *closer*
//! to the average. The default value of `step`, half of the distance, is an assumption. `locality_gathering`
//! and `hybrid` have the same aim but use our method with fitted settings. If the cleaning cost of these
//! policies is lower, the fitted settings are the cause.
//!
//! # Not modeled
//! - The policy of the paper also raises the utilization of a segment whose product is below the average.
//!   Without `raises`, such a segment receives pages only from neighbors whose product is above the average.
//! - The division of pages between the two neighbors is not published. The model assumes an even division,
//!   both for pages that a segment gives and for pages that it receives.
//! - The paper does not state the share of the distance by which one cleaning changes the utilization. A full
//!   step overshoots, because the cleaning frequency follows the utilization with a delay.
//!
//! # Sources
//! wu-1994, sections 4.3 and 4.4.
//!
//! # Checks
//! Under uniform writes, the cleaning cost is within 5 % of u / (1 - u), where u is the utilization. With
//! partitions of 16 segments, the cost is within 20 % of the cost of `greedy`. At high locality, the cost is
//! below the cost of `greedy`. The cost is never below the cost of perfect sorting, `[u / (1 - u)] (sum of
//! sqrt(f r))^2`. A segment whose product equals the average gives no pages. A segment with a higher product
//! gives `step` times the number of pages that follows from the equation. With `raises`, a segment with a
//! lower product receives this number of pages.

use super::{Cleaner, CleaningFamily, Decision, View, check_partitions};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Ratio;
use nacre_kernel::state::{State, Value};

#[cfg(test)]
mod tests;

/// Locality gathering that equalizes the products of cleaning cost and cleaning frequency.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Number of segments per partition; a divisor of the number of segments of the array.
    #[config(default = 1, min = 1, source = "paper: wu-1994 section 4.3; 16 is the best of its figure 9")]
    pub segments_per_partition: u32,
    /// Share of the distance between a product and the average that one cleaning removes.
    #[config(
        default = "50 %",
        min = "0.1 %",
        max = "100 %",
        source = "assumed: wu-1994 section 4.3 moves products closer to the average, but does not give the distance"
    )]
    pub step: Ratio,
    /// Move pages into a cleaned segment whose product is below the average, as in the paper. If off, such a
    /// segment receives pages only from neighbors above the average.
    #[config(
        default = false,
        source = "assumed: wu-1994 section 4.3 increases the utilization, but does not give the origin and number of pages"
    )]
    pub raises: bool,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "product_average",
        "locality gathering and hybrid exactly as published, without fitted settings",
        &["wu-1994"],
        2,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        check_partitions(config.segments_per_partition, context.segments(), slot.path())?;
        Ok(Box::new(ProductAverage { config, partitions: Vec::new() }))
    },
};

/// The policy, with the statistics of its cleanings so far.
#[derive(Debug, State)]
struct ProductAverage {
    #[state(skip = "from the configuration")]
    config: Config,
    /// Latest cleaning of each partition. The list is empty before the first cleaning.
    #[state(varies)]
    partitions: Vec<Cleaned>,
}

/// The latest cleaning of a partition.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Cleaned {
    /// Number of pages drained into the array before this cleaning. `None` if the partition was never
    /// cleaned.
    at: Option<u64>,
    /// Cleaning cost times cleaning frequency, or `None` before the second cleaning.
    product: Option<f64>,
}

impl Cleaner for ProductAverage {
    fn partition_segments(&self) -> Option<u32> {
        Some(self.config.segments_per_partition)
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let victim = view.oldest(partition);
        let excess = self.excess(view, partition, victim);
        let by_neighbor = |pages: f64| {
            let pages = pages.max(0.0) as u32;
            match (partition > 0, partition + 1 < view.partitions.len()) {
                (true, true) => (pages / 2, pages - pages / 2),
                (true, false) => (pages, 0),
                (false, true) => (0, pages),
                (false, false) => (0, 0),
            }
        };
        let (to_lower, to_higher) = by_neighbor(excess);
        let (from_lower, from_higher) = if self.config.raises { by_neighbor(-excess) } else { (0, 0) };
        Decision { victim, to_lower, to_higher, from_lower, from_higher }
    }
}

impl ProductAverage {
    /// Number of valid pages to move out of the victim: its excess over the number that gives the average
    /// product, times `step`. If the number is negative, pages move into the victim.
    fn excess(&mut self, view: &View<'_>, partition: usize, victim: usize) -> f64 {
        self.partitions.resize(view.partitions.len(), Cleaned::default());
        let before = self.partitions[partition].at.replace(view.drained);
        let elapsed = before.map_or(0, |before| view.drained - before);
        let (live, invalid) = (f64::from(view.places[victim].live), f64::from(view.invalid(victim)));
        if elapsed == 0 || invalid == 0.0 {
            return 0.0;
        }
        let frequency = 1.0 / elapsed as f64;
        self.partitions[partition].product = Some(frequency * live / invalid);
        let known = || self.partitions.iter().filter_map(|cleaned| cleaned.product);
        let average = known().sum::<f64>() / known().count() as f64;
        let pages = f64::from(view.pages_per_segment);
        let allowed = if self.config.raises {
            let written = frequency * invalid;
            let root = (written * written + 4.0 * average * written * pages).sqrt();
            pages - 2.0 * written * pages / (written + root)
        } else {
            let cost = average / frequency;
            pages * cost / (1.0 + cost)
        };
        self.config.step.0 * (live - allowed)
    }
}
