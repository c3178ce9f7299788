//! Exponential popularity: the popularity decreases by a constant factor from each rank to the next.
//!
//! # Model
//! Requests are independent, have equal sizes, and are aligned to their size. The block of rank k, counted
//! from zero, has a probability proportional to exp(-k / m). Here, m is the number of blocks times `mean`. If
//! a sampled rank is beyond the footprint, the model samples a new rank. Unless `scatter` is off, a
//! permutation scatters the ranks over the footprint, so that hot blocks are not adjacent.
//!
//! # Not modeled
//! The model omits popularity that changes over time, and correlation between consecutive requests.
//!
//! # Sources
//! kgil-2008 (cited from memory) uses this distribution for small workloads, with rates of 0.01 and 0.1. The
//! meaning of these rates is not known. The default of `mean` is 0.01, interpreted as a fraction of the
//! footprint.
//!
//! # Checks
//! A chi-square test compares the access counts of the blocks with the exact probabilities.

use super::{
    Pattern, PatternFamily, access::Access, area::Area, operations::Operations, scatter::Scatter, timed,
};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Ranges, Ratio, Request};

/// Popularity that decreases by a constant factor from block to block.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Addresses and operations.
    #[config(flatten)]
    pub access: Access,
    /// Mean rank of the unbounded distribution, as a fraction of the footprint.
    #[config(
        default = "1 %",
        min = "0.0001 %",
        max = "100 %",
        source = "assumed: from memory of kgil-2008, a rate of 0.01"
    )]
    pub mean: Ratio,
    /// Scatter hot blocks over the footprint. If off, blocks are in order of popularity.
    #[config(default = true, source = "assumed: as in the Zipf pattern")]
    pub scatter: bool,
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("exponential", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>(
        "exponential",
        SUMMARY,
        SOURCES,
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str =
    "popularity falls by a constant factor per block: the popularity of rank k is proportional to exp(-k/m)";
const SOURCES: &[&str] = &["kgil-2008"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let area = config.access.area();
    let scatter = builder.placement(&format!("{path}.scatter"));
    Ok(Box::new(Exponential {
        mean: config.mean.0 * area.blocks() as f64,
        scatter: config.scatter.then(|| Scatter::new(area.blocks(), scatter)),
        operations: config.access.operations(path, builder),
        random: builder.random(path),
        area,
    }))
}

#[derive(State)]
struct Exponential {
    #[state(skip = "from the configuration")]
    area: Area,
    /// Number of blocks.
    #[state(skip = "from the configuration")]
    mean: f64,
    #[state(skip = "drawn from the seed")]
    scatter: Option<Scatter>,
    operations: Operations,
    random: Random,
}

impl Exponential {
    fn rank(&mut self) -> u64 {
        loop {
            let rank = (self.random.exponential() * self.mean) as u64;
            if rank < self.area.blocks() {
                return rank;
            }
        }
    }
}

impl Pattern for Exponential {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        for _ in 0..count {
            let rank = self.rank();
            let block = self.scatter.as_ref().map_or(rank, |scatter| scatter.place(rank));
            batch.push(self.area.request(block, self.operations.next()));
        }
    }

    fn reach(&self) -> u64 {
        self.area.end()
    }

    fn footprint(&self, bytes: &mut Ranges) {
        bytes.insert(self.area.range());
    }

    fn units_per_request(&self, unit: u64) -> Option<u64> {
        Some(self.area.units_per_request(unit))
    }
}

#[cfg(test)]
mod tests;
