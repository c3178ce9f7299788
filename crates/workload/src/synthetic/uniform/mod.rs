//! Uniform access: every block is as likely as any other.
//!
//! # Models
//! Independent requests of one size, aligned to it, each block of the footprint equally likely. The
//! hardest case for caches and the one for which most closed forms of cleaning hold.
//!
//! # Leaves out
//! All locality; mixed sizes (use a `mix`).
//!
//! # Sources
//! desnoyers-2012: P. Desnoyers, Analytic modeling of SSD write performance, uses it as its first
//! workload. The default operation is a read, as in fio (fio, `readwrite`).
//!
//! # Checks
//! Chi-square over the blocks; shares of reads and trims within binomial error; the same addresses
//! whatever the shares.

use super::{Pattern, PatternFamily, area, area::Area, operations, operations::Operations, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Card, Configuration, Problems, Reader, Room};
use nacre_kernel::{Bytes, Random, Ratio, Request};

/// Every block equally likely.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Bytes of address space used; a whole number of requests.
    #[config(min = "1 B", max = "8192 PiB")]
    pub footprint: Bytes,
    /// First address used.
    #[config(default = "0 B", max = "8192 PiB", source = "assumed: from the beginning")]
    pub start: Bytes,
    /// Bytes of one request; addresses are multiples of it past `start`.
    #[config(default = "4 KiB", min = "1 B", max = "1 GiB", source = "assumed: the page of most hosts")]
    pub request: Bytes,
    /// Share of requests that read.
    #[config(default = "100 %", max = "100 %", source = "assumed: fio reads by default")]
    pub read_share: Ratio,
    /// Share of requests that trim; the rest write.
    #[config(default = "0 %", max = "100 %", source = "assumed: few workloads trim")]
    pub trim_share: Ratio,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    area::check(config.start, config.footprint, config.request, reader);
    operations::check(config.read_share, config.trim_share, reader);
}

/// The pattern.
pub const ROOM: Room<PatternFamily> = Room {
    card: Card::of::<Config>("uniform", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// The pattern as a workload.
pub const WORKLOAD: Room<WorkloadFamily> = Room {
    card: Card::of::<timed::Timed<Config>>("uniform", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "every block equally likely";
const SOURCES: &[&str] = &["desnoyers-2012", "fio"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let random = builder.random(&format!("{path}.operations"));
    Ok(Box::new(Uniform {
        area: Area::new(config.start, config.footprint, config.request),
        operations: Operations::new(config.read_share, config.trim_share, random),
        random: builder.random(path),
    }))
}

struct Uniform {
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
}

#[cfg(test)]
mod tests;
