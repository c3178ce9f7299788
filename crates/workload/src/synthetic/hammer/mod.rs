//! Hammering attack: one address is written repeatedly.
//!
//! # Model
//! Hammering is the simplest attack on a medium with limited endurance. Every request writes the same
//! address range. In a closed loop, the host issues the next write as soon as a write completes. Without
//! wear leveling, the attack wears out a row within minutes. If wear leveling moves a row only after more
//! writes than the row can endure, the row also wears out within minutes.
//!
//! # Not modeled
//! The model omits host caches, because a real attacker bypasses them with flushes.
//!
//! # Sources
//! qureshi-2009, section 6: the repeated address attack.
//!
//! # Checks
//! The tests check the address and size of every request exactly. Generating the writes as bursts gives the
//! same writes as generating them one by one.

use super::{Pattern, PatternFamily, area::Area, area::END_MAX, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Burst, Bytes, Op, Ranges, Request};

/// Attack on a single address.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Address of all writes.
    #[config(default = "0 B", max = "8192 PiB", source = "assumed: the address does not matter")]
    pub address: Bytes,
    /// Size of a write in bytes.
    #[config(default = "4 KiB", min = "1 B", max = "1 GiB", source = "assumed: the page of most hosts")]
    pub request: Bytes,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    if config.address.0.checked_add(config.request.0).is_none_or(|end| end > END_MAX) {
        let problem = "the write ends past 8192 PiB, the end of addresses";
        reader.conflict("address", &config.address.to_string(), problem, "use a lower address");
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("hammer", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| Ok(pattern(&slot.config(builder.families()))),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>("hammer", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| {
        timed::build(slot, builder, |config, _: &str, _: &mut dyn WorkloadBuilder| Ok(pattern(config)))
    },
};

const SUMMARY: &str = "an attack that writes one address repeatedly";
const SOURCES: &[&str] = &["qureshi-2009"];

fn pattern(config: &Config) -> Box<dyn Pattern> {
    Box::new(Hammer { area: Area::new(config.address, config.request, config.request) })
}

#[derive(State)]
struct Hammer {
    #[state(skip = "from the configuration")]
    area: Area,
}

impl Pattern for Hammer {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        batch.resize(batch.len() + count, self.area.request(0, Op::Write));
    }

    fn fill_bursts(&mut self, bursts: &mut Vec<Burst>, limit: u64) -> bool {
        bursts.push(Burst { request: self.area.request(0, Op::Write), times: limit });
        true
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
