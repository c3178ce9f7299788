//! Uniform access: all blocks are equally likely to be accessed.
//!
//! # Model
//! Requests are independent, have equal sizes, and are aligned to their size. All blocks of the footprint are
//! equally likely to be accessed. Among workloads with independent requests, uniform access has the lowest
//! hit ratio in a cache. Most closed forms for the cost of garbage collection assume uniform access.
//!
//! # Not modeled
//! The model omits locality. To combine requests of several sizes, use a `mix`.
//!
//! # Sources
//! desnoyers-2012: Desnoyers, "Analytic modeling of SSD write performance", derives closed forms for uniform
//! access. By default, all requests are reads, as in fio (option `readwrite`).
//!
//! # Checks
//! A chi-square test checks that the addresses are uniform. The numbers of reads and trims agree with
//! `read_share` and `trim_share` within the binomial error. The addresses do not depend on these two
//! settings.

use super::{Pattern, PatternFamily, access::Access, area::Area, operations::Operations, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Ranges, Request};

/// Uniform access to all blocks.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Addresses and operations.
    #[config(flatten)]
    pub access: Access,
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("uniform", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>(
        "uniform",
        SUMMARY,
        SOURCES,
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "all blocks are equally likely to be accessed";
const SOURCES: &[&str] = &["desnoyers-2012", "fio"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    Ok(Box::new(Uniform {
        area: config.access.area(),
        operations: config.access.operations(path, builder),
        random: builder.random(path),
    }))
}

#[derive(State)]
struct Uniform {
    #[state(skip = "from the configuration")]
    area: Area,
    operations: Operations,
    random: Random,
}

impl Pattern for Uniform {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        let blocks = self.area.blocks();
        batch
            .extend((0..count).map(|_| self.area.request(self.random.below(blocks), self.operations.next())));
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
