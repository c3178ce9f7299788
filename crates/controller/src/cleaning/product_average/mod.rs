//! Locality gathering by the letter of its paper: a cleaned segment's product is compared with the average.
//!
//! # Models
//! Adjoining places form partitions of equal size, of one segment unless the setting says otherwise. Pages are
//! drained into the partition they came from, and the segment of it that was filled longest ago is cleaned.
//! Its product is the pages copied per page gained, `u / (1 - u)`, times how often the partition is cleaned,
//! one cleaning in the pages drained into the array since the last one. The product is compared with the
//! average of the latest products of all partitions. A segment above the average gives live pages away, which brings
//! its product closer to it. At the same frequency the product is the average at the utilization `c / (1 + c)`, with
//! `c` the average by the frequency; one cleaning goes the share `step` of the way there. Pages from its end go to the
//! partition before, pages from its head to the one behind, half of them each way, and all one way at the ends of the
//! array.
//!
//! With `raises` a segment below the average takes pages in as well: from the head of the segment before that was cleaned
//! longest ago, and from the end of the active segment behind, half of them each. The frequency then follows: with `w`
//! pages drained into a segment in the time of one drained into the array and `f` of its `p` pages free when it is cleaned,
//! it is cleaned `w / f` times at the cost `(p - f) / f`, so its product is the average `a` at the free pages that solve
//! `a f^2 + w f = w p`. Segments give and take by that. At the frequency that was, half of the way would overshoot: cold
//! segments fill up, and 5/95 costs a hundred times as much.
//!
//! With one segment in a partition this is the paper's locality gathering, with sixteen its hybrid. Nothing is
//! fitted: every quantity is counted, and `step`, of which the paper says no more than *closer*, is assumed to be half
//! of the way. `locality_gathering` and `hybrid` have the same aim and a way of their
//! own there, whose settings are fitted; where they cost less, that is what these settings bring.
//!
//! # Leaves out
//! The paper also raises the utilization of a segment below the average; without `raises` only its neighbors that are
//! above it fill such a segment. How pages are divided between the two neighbors is not published: even halves, whether a
//! neighbor is above the average or below it. How far one cleaning goes is not, either: all the way in one step overshoots,
//! since the frequency of cleaning follows the utilization only later.
//!
//! # Sources
//! wu-1994 sections 4.3 and 4.4.
//!
//! # Checks
//! Cost under uniform writes within 5 % of u / (1 - u), partitions of 16 within 20 % of greedy; less at high locality;
//! never below perfect sorting, `[u / (1 - u)] (sum of sqrt(f r))^2`. A segment at the average gives
//! nothing; one above it gives, and with `raises` one below it takes, what the equation says, by its step.

use super::{Cleaner, CleaningFamily, Decision, View, check_partitions};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Ratio;
use nacre_kernel::state::{State, Value};

#[cfg(test)]
mod tests;

/// Locality gathering by product and average.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Segments in a partition; divides the segments of the array.
    #[config(default = 1, min = 1, source = "paper: wu-1994 section 4.3; 16 is the best of its figure 9")]
    pub segments_per_partition: u32,
    /// Step of one cleaning from a segment's product toward the average, as a share of the difference.
    #[config(
        default = "50 %",
        min = "0.1 %",
        max = "100 %",
        source = "assumed: wu-1994 section 4.3 brings products closer to the average, and does not say how far"
    )]
    pub step: Ratio,
    /// Take pages into a cleaned segment below the average, as the paper does; otherwise only its neighbors fill it.
    #[config(
        default = false,
        source = "assumed: wu-1994 section 4.3 increases its utilization, and does not say from where, nor by how much"
    )]
    pub raises: bool,
}

/// The room.
pub const ROOM: Room<CleaningFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "product_average",
        "locality gathering and hybrid by the letter of their paper, without a fitted setting",
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

/// What is known of the cleanings so far.
#[derive(Debug, State)]
struct ProductAverage {
    #[state(skip = "from the configuration")]
    config: Config,
    /// Of each partition; empty before the first cleaning.
    #[state(varies)]
    partitions: Vec<Cleaned>,
}

/// The latest cleaning of a partition.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Cleaned {
    /// Pages drained into the array by then.
    at: Option<u64>,
    /// Its cost times the frequency of cleaning; none before the second cleaning.
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
    /// A share of the live pages that the victim has above what the average product allows it: it gives that many or, if
    /// negative, takes them in.
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
