//! Zipf access: a few blocks are accessed often, and most blocks rarely.
//!
//! # Model
//! Requests are independent, have equal sizes, and are aligned to their size. A request accesses the block of
//! popularity rank k with a probability proportional to k^-theta. If `theta` is 0, access is uniform. By
//! default (`scatter`), a permutation scatters the ranks over the footprint, so that hot blocks are not
//! adjacent.
//!
//! # Not modeled
//! The model omits changes of popularity over time and correlations between consecutive requests.
//!
//! # Sources
//! The default theta of 0.99 is from ycsb-2010: Cooper et al., "Benchmarking cloud serving systems with
//! YCSB", SoCC 2010. Values of 0.64 to 0.83 were measured in breslau-1999: Breslau et al., "Web caching and
//! Zipf-like distributions", INFOCOM 1999.
//!
//! # Checks
//! Chi-square tests compare the access counts of the blocks with the exact probabilities, for several values
//! of theta from 0 to 3. For 2^40 blocks, the probabilities of the first ranks equal values computed with the
//! Euler-Maclaurin formula. For 10,000 blocks at theta 0.8, the hit ratio of an LRU cache of 1,000 blocks
//! equals Che's approximation, 0.4367.

use super::{Pattern, PatternFamily, access::Access, area::Area, operations::Operations, timed};
use super::{ranks::Ranks, scatter::Scatter};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Ranges, Request};

/// Accesses with a Zipf distribution.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Addresses and operations.
    #[config(flatten)]
    pub access: Access,
    /// Exponent of Zipf's law. 0 is uniform, values around 1 are common, and higher values are more skewed.
    #[config(default = 0.99, min = 0, max = 10, source = "paper: ycsb-2010, its Zipfian constant")]
    pub theta: f64,
    /// Scatter hot blocks over the footprint. If off, blocks are in order of popularity.
    #[config(default = true, source = "paper: ycsb-2010, its scrambled Zipfian")]
    pub scatter: bool,
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("zipf", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>("zipf", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "few blocks are popular: the popularity of rank k is proportional to k^-theta";
const SOURCES: &[&str] = &["ycsb-2010", "breslau-1999"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let area = config.access.area();
    let scatter = builder.placement(&format!("{path}.scatter"));
    Ok(Box::new(Zipf {
        ranks: Ranks::new(area.blocks(), config.theta),
        scatter: config.scatter.then(|| Scatter::new(area.blocks(), scatter)),
        operations: config.access.operations(path, builder),
        random: builder.random(path),
        area,
    }))
}

#[derive(State)]
struct Zipf {
    #[state(skip = "from the configuration")]
    area: Area,
    #[state(skip = "from the configuration")]
    ranks: Ranks,
    #[state(skip = "drawn from the seed")]
    scatter: Option<Scatter>,
    operations: Operations,
    random: Random,
}

impl Pattern for Zipf {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        // A random generator in a local variable stays in registers.
        let (mut random, mut operations) = (self.random.clone(), self.operations.clone());
        batch.extend((0..count).map(|_| {
            let rank = self.ranks.sample(&mut random);
            let block = self.scatter.as_ref().map_or(rank, |scatter| scatter.place(rank));
            self.area.request(block, operations.next())
        }));
        (self.random, self.operations) = (random, operations);
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
