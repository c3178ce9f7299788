//! Redistribution for locality gathering: numbers of valid pages of a victim that move to the neighboring
//! partitions.
//!
//! The number of pages for each of the two neighbors is the sum of two flows.
//!
//! *Balance.* wu-1994, section 4.3, aims at an equal product of cleaning frequency and cleaning cost in all
//! partitions. Partitions above the average give pages away, and those below receive pages. Let `w` pages be
//! drained into a partition that has `l` valid pages and `f` free or invalid ones. Its segments are cleaned
//! at a frequency proportional to `w / f` with the cost `l / f`. The products `w l / f^2` are therefore equal
//! if `f` is proportional to `sqrt(w l)`. For sorted data, this is close to the optimum, at which all `w /
//! f^2` are equal. The method is ours. Pages can move only to a neighbor, so the number of pages that should
//! cross the boundary after a partition is the total excess of this partition and all partitions before it.
//! Each cleaning moves a share of these pages.
//!
//! *Exchange.* The paper does not describe how pages are sorted once the products are equal. A page that
//! moves to a neighbor is programmed once, as it would be without the move. Every cleaning therefore moves a
//! few pages in each direction: the end of the victim, which was written last, toward position 0, and its
//! head away from it. The numbers of pages per unit of time are equal in both directions; the colder side of
//! a boundary determines them. The exchange has a cost, because a partition holds the exchanged pages in
//! addition to its pages when it is cleaned. The setting `exchange` is so small that the cost of locality
//! gathering under uniform writes stays within 5 % of u / (1 - u).
//!
//! A neighbor keeps half of its target number of free pages. Without this limit, pages accumulate between hot
//! and cold positions, and cold segments are cleaned at a cost of 50.

use super::{Partition, View};
use nacre_config::Configuration;
use nacre_kernel::Ratio;
use nacre_kernel::state::State;

/// Redistribution of valid pages to adjacent partitions. The paper states only the aim of the redistribution,
/// and no values for these settings.
#[derive(Clone, Debug, Configuration)]
pub struct Settings {
    /// Number of valid pages that one cleaning moves in each direction even without an imbalance, as a share
    /// of a segment. The value applies to partitions of one segment; it grows with the square root of the
    /// number of segments in a partition.
    #[config(
        default = "0.6 %",
        max = "50 %",
        source = "fitted: to the cost of 4 of locality gathering under uniform writes in wu-1994 section 4.3; the model is 2 % above it with segments of 512 pages, and 4 % with 16,384"
    )]
    pub exchange: Ratio,
    /// Number of pages that one cleaning moves across a boundary between partitions, as a share of the pages
    /// that should cross it.
    #[config(
        default = "10 %",
        max = "100 %",
        source = "fitted: by trial, not to a published number; the cost of sorted data at 10/90 is then within 10 % of that of perfect sorting"
    )]
    pub balance: Ratio,
    /// Maximum number of valid pages that one cleaning moves in each direction, as a share of a segment.
    #[config(
        default = "30 %",
        max = "100 %",
        source = "fitted: by trial, not to a published number; the cost of sorted data at 10/90 is then within 10 % of that of perfect sorting"
    )]
    pub most_moved: Ratio,
    /// Number of free pages that a neighboring partition keeps, as a share of its target number of free
    /// pages.
    #[config(
        default = "50 %",
        max = "100 %",
        source = "fitted: by trial, not to a published number; without a reserve, pages accumulate between hot and cold segments, and the cost of cold segments is 50"
    )]
    pub reserve: Ratio,
    /// Number of free pages that a neighboring partition keeps before the first sample, as a share of all
    /// pages of the neighbor.
    #[config(
        default = "2 %",
        max = "100 %",
        source = "fitted: by trial, not to a published number; it matters only during the first sample"
    )]
    pub first_reserve: Ratio,
    /// Number of writes per sample, as a share of the number of valid pages.
    #[config(
        default = "50 %",
        min = "0.01 %",
        max = "10000 %",
        source = "fitted: by trial, not to a published number; short enough to adapt, long enough to distinguish partitions"
    )]
    pub sample: Ratio,
    /// Time constant, in samples, of the exponential average of the writes to each partition.
    #[config(
        default = 8.0,
        min = 1,
        max = 1000000,
        source = "fitted: by trial, not to a published number; short enough to adapt, long enough to distinguish partitions"
    )]
    pub samples_remembered: f64,
}

/// Write statistics of the partitions, for one policy.
#[derive(Debug, State)]
pub(super) struct Redistribution {
    #[state(skip = "from the configuration")]
    settings: Settings,
    /// Average number of pages drained into each partition per sample. The list is empty before the first
    /// sample.
    #[state(varies)]
    writes: Vec<f64>,
    /// Number of pages drained into each partition before the current sample.
    #[state(varies)]
    counted: Vec<u64>,
    /// Start of the current sample, in drained pages.
    began: u64,
}

/// Current and target number of free pages of a partition.
#[derive(Clone, Copy, Default)]
struct Space {
    free: f64,
    wanted: f64,
}

impl Redistribution {
    /// Initial state, without write statistics.
    pub(super) fn new(settings: Settings) -> Redistribution {
        Redistribution { settings, writes: Vec::new(), counted: Vec::new(), began: 0 }
    }

    /// Numbers of valid pages of a victim in `partition` that move to the previous and to the next partition.
    pub(super) fn shares(&mut self, view: &View<'_>, partition: usize) -> (u32, u32) {
        self.learn(view);
        let (mut before, mut all) = (Space::default(), Space::default());
        for other in 0..view.partitions.len() {
            if other == partition {
                before = all;
            }
            let space = self.space(view, other);
            all = Space { free: all.free + space.free, wanted: all.wanted + space.wanted };
        }
        let scale = all.free / all.wanted;
        let here = self.space(view, partition);
        // The free pages missing before the boundary are valid pages that should cross it.
        let missing =
            |space: Space| if self.writes.is_empty() { 0.0 } else { space.wanted * scale - space.free };
        let excess_before = missing(before);
        let excess = excess_before + missing(here);
        let lower =
            partition.checked_sub(1).map(|lower| self.push(view, partition, lower, -excess_before, scale));
        let higher = Some(partition + 1).filter(|&higher| higher < view.partitions.len());
        let higher = higher.map(|higher| self.push(view, partition, higher, excess, scale));
        (lower.unwrap_or(0), higher.unwrap_or(0))
    }

    /// Number of pages that one cleaning moves from partition `from` to its neighbor `to`. `excess` is the
    /// number of pages that should cross the boundary over time.
    fn push(&self, view: &View<'_>, from: usize, to: usize, excess: f64, scale: f64) -> u32 {
        let pages = f64::from(view.pages_per_segment);
        let pace = (self.frequency(view, to) / self.frequency(view, from)).min(1.0);
        let exchange = self.settings.exchange.0 * (view.partitions[0].count as f64).sqrt() * pages * pace;
        let wanted =
            (exchange + self.settings.balance.0 * excess).clamp(0.0, self.settings.most_moved.0 * pages);
        let space = self.space(view, to);
        let reserve = if self.writes.is_empty() {
            self.settings.first_reserve.0 * pages * view.partitions[to].count as f64
        } else {
            self.settings.reserve.0 * space.wanted * scale
        };
        wanted.min((space.free - reserve).max(0.0)).round() as u32
    }

    /// Average number of pages drained into `partition` per sample.
    fn writes(&self, partition: usize) -> f64 {
        self.writes.get(partition).map_or(1.0, |writes| writes.max(1.0))
    }

    fn space(&self, view: &View<'_>, partition: usize) -> Space {
        let Partition { count, live, .. } = view.partitions[partition];
        let free = count as f64 * f64::from(view.pages_per_segment) - live as f64;
        Space { free: free.max(1.0), wanted: (self.writes(partition) * live.max(1) as f64).sqrt() }
    }

    /// Relative cleaning frequency per position of `partition`.
    fn frequency(&self, view: &View<'_>, partition: usize) -> f64 {
        self.writes(partition) / self.space(view, partition).free
    }

    /// If the current sample is complete, updates the average number of writes to each partition.
    fn learn(&mut self, view: &View<'_>) {
        let drained = || view.partitions.iter().map(|partition| partition.drained);
        if self.counted.is_empty() {
            (self.counted, self.began) = (drained().collect(), view.drained);
        }
        let live: u64 = view.partitions.iter().map(|partition| partition.live).sum();
        if (view.drained - self.began) as f64 <= self.settings.sample.0 * live as f64 {
            return;
        }
        let sample = drained().zip(&self.counted).map(|(now, &before)| (now - before) as f64);
        if self.writes.is_empty() {
            self.writes = sample.collect();
        } else {
            let length = self.settings.samples_remembered;
            let averaged = self.writes.iter().zip(sample).map(|(old, new)| old + (new - old) / length);
            self.writes = averaged.collect();
        }
        (self.counted, self.began) = (drained().collect(), view.drained);
    }
}
