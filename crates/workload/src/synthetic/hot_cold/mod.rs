//! Hot and cold data: most accesses go to a small fraction of the data.
//!
//! # Model
//! Requests are independent, have equal sizes, and are aligned to their size. Blocks are either hot or cold.
//! All hot blocks have the same probability, and so do all cold blocks. The notation of `locality` is from
//! the eNVy paper. With `"10/90"`, 90 % of the accesses go to 10 % of the data. With `"50/50"`, access is
//! uniform. The locality of reads can differ from the locality of writes. Trims have the locality of writes.
//! Unless `scatter` is on, hot data is at the beginning of the footprint. The hot data of reads therefore
//! overlaps the hot data of writes.
//!
//! # Not modeled
//! The model omits more than two classes of data, and hot data that changes over time. For these, use a `mix`
//! or replay a trace.
//!
//! # Sources
//! wu-1994: Wu and Zwaenepoel, "eNVy: a non-volatile, main memory storage system", ASPLOS 1994, section 4 and
//! figure 8. A bimodal distribution of this kind is also used in rosenblum-1992.
//!
//! # Checks
//! For localities from 50/50 to 5/95, the fractions of hot reads and hot writes agree with the settings
//! within the binomial error. In each class, the addresses pass a chi-square test for uniformity.

mod locality;

pub use locality::Locality;

use super::scatter::Scatter;
use super::{Pattern, PatternFamily, access::Access, area::Area, operations::Operations, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Random, Ranges, Request};

/// Accesses that mostly go to a small fraction of the data.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Addresses and operations.
    #[config(flatten)]
    pub access: Access,
    /// Percentage of hot data, and percentage of the accesses that go to this data, e.g. `"10/90"`.
    #[config(default = "10/90", source = "paper: wu-1994, the middle of figure 8")]
    pub locality: Locality,
    /// Locality of reads; the default is the locality of writes.
    pub read_locality: Option<Locality>,
    /// Scatter hot blocks over the footprint. If off, hot blocks are at its beginning.
    #[config(default = false, source = "assumed: data that is used together is stored together")]
    pub scatter: bool,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let blocks = config.access.blocks();
    let localities = [("locality", Some(config.locality)), ("read_locality", config.read_locality)];
    for (field, locality) in localities {
        if let Some(locality) = locality
            && !(1..blocks).contains(&locality.hot_blocks(blocks))
        {
            reader.conflict(
                field,
                &format!("\"{locality}\""),
                &format!("{} of {blocks} blocks would be hot", locality.hot_blocks(blocks)),
                "use a larger footprint, so that there are both hot and cold blocks",
            );
        }
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("hot_cold", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>(
        "hot_cold",
        SUMMARY,
        SOURCES,
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "most accesses go to a small part of the data, e.g. 10/90";
const SOURCES: &[&str] = &["wu-1994", "rosenblum-1992"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let area = config.access.area();
    let scatter = builder.placement(&format!("{path}.scatter"));
    let classes = |locality: Locality| Classes {
        hot_blocks: locality.hot_blocks(area.blocks()),
        hot_share: locality.accesses(),
    };
    Ok(Box::new(HotCold {
        reads: classes(config.read_locality.unwrap_or(config.locality)),
        writes: classes(config.locality),
        scatter: config.scatter.then(|| Scatter::new(area.blocks(), scatter)),
        operations: config.access.operations(path, builder),
        random: builder.random(path),
        area,
    }))
}

/// Division of the blocks into hot and cold blocks.
#[derive(Clone, Copy)]
struct Classes {
    hot_blocks: u64,
    hot_share: f64,
}

impl Classes {
    #[inline]
    fn draw(&self, blocks: u64, random: &mut Random) -> u64 {
        let hot = random.chance(self.hot_share);
        let (first, count) =
            if hot { (0, self.hot_blocks) } else { (self.hot_blocks, blocks - self.hot_blocks) };
        first + random.below(count)
    }
}

#[derive(State)]
struct HotCold {
    #[state(skip = "from the configuration")]
    area: Area,
    #[state(skip = "from the configuration")]
    reads: Classes,
    #[state(skip = "from the configuration")]
    writes: Classes,
    #[state(skip = "drawn from the seed")]
    scatter: Option<Scatter>,
    operations: Operations,
    random: Random,
}

impl Pattern for HotCold {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        let blocks = self.area.blocks();
        batch.extend((0..count).map(|_| {
            let op = self.operations.next();
            let classes = if op == Op::Read { &self.reads } else { &self.writes };
            let block = classes.draw(blocks, &mut self.random);
            let block = self.scatter.as_ref().map_or(block, |scatter| scatter.place(block));
            self.area.request(block, op)
        }));
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
