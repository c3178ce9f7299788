//! Birthday-paradox attack: sets of random addresses are written repeatedly.
//!
//! # Model
//! An attacker who does not know the locations of rows selects a set of `lines` random addresses. The
//! attacker writes each address `writes` times and then selects a new set. According to the birthday
//! paradox, even a small number of sets is likely to hit the same physical row twice. Suppose that each set
//! is written for as long as a row stays in one location. The number of sets that wear out a row is then on
//! the order of the square root of the number of rows. The writes rotate over the addresses of a set, with
//! `burst` writes per address in each turn. No single address therefore receives a conspicuous share of the
//! writes.
//!
//! # Not modeled
//! The model omits attackers who measure latencies to detect when a row moves.
//!
//! # Sources
//! seznec-2009: the attack; qureshi-2011: sets of addresses that evade detectors.
//!
//! # Checks
//! The tests check the number of writes per address, the order of the addresses, and the set sizes exactly.
//! The addresses pass a chi-square test for uniformity. Generating the writes as bursts gives the same
//! writes as generating them one by one.

use super::{Pattern, PatternFamily, area::Area, area::END_MAX, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Burst, Bytes, Op, Random, Ranges, Request};

/// Attack on sets of random addresses.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Size of the attacked address space in bytes; a multiple of the request size.
    #[config(min = "1 B", max = "8192 PiB")]
    pub footprint: Bytes,
    /// First address used.
    #[config(default = "0 B", max = "8192 PiB", source = "assumed: from the beginning")]
    pub start: Bytes,
    /// Size of a write in bytes. Offsets from `start` are multiples of this size.
    #[config(default = "4 KiB", min = "1 B", max = "1 GiB", source = "assumed: the page of most hosts")]
    pub request: Bytes,
    /// Number of addresses per set.
    #[config(
        default = 1,
        min = 1,
        max = 1048576,
        source = "paper: seznec-2009, one address after the other"
    )]
    pub lines: u32,
    /// Number of writes to each address of a set.
    #[config(
        default = 33554432,
        min = 1,
        source = "paper: akel-2011 section 3.3, the writes until a row moves"
    )]
    pub writes: u64,
    /// Number of consecutive writes to an address before the next address of its set; a divisor of `writes`.
    #[config(
        default = 1,
        min = 1,
        source = "paper: qureshi-2011; repeated writes would reveal the attack to a detector"
    )]
    pub burst: u64,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let Config { footprint, start, request, writes, burst, .. } = config;
    if !footprint.0.is_multiple_of(request.0) {
        let below = (footprint.0 / request.0 * request.0).max(request.0);
        let problem = format!("it is not a whole number of writes of {request}");
        reader.conflict("footprint", &footprint.to_string(), &problem, &format!("use {}", Bytes(below)));
    }
    if start.0.checked_add(footprint.0).is_none_or(|end| end > END_MAX) {
        let problem = "the footprint ends past 8192 PiB, the end of addresses";
        reader.conflict("start", &start.to_string(), problem, "start earlier");
    }
    if !writes.is_multiple_of(*burst) {
        let problem = format!("{writes} writes to an address are not a whole number of bursts");
        reader.conflict("burst", &burst.to_string(), &problem, "use a divisor of writes");
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("birthday", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>(
        "birthday",
        SUMMARY,
        SOURCES,
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "an attack that repeatedly writes sets of random addresses";
const SOURCES: &[&str] = &["seznec-2009", "qureshi-2011"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    // A single address receives all its writes one after another.
    let burst = if config.lines == 1 { config.writes } else { config.burst };
    Ok(Box::new(Birthday {
        area: Area::new(config.start, config.footprint, config.request),
        set: vec![0; config.lines as usize],
        turns: config.writes / burst,
        burst,
        turn: 0,
        line: 0,
        left: 0,
        random: builder.random(path),
    }))
}

#[derive(State)]
#[state(after = "Birthday::check_restored")]
struct Birthday {
    #[state(skip = "from the configuration")]
    area: Area,
    /// Blocks of the current set.
    set: Vec<u64>,
    /// Number of bursts to each block of a set.
    #[state(same)]
    turns: u64,
    #[state(same)]
    burst: u64,
    /// Number of completed rounds. In a round, each block of the set receives one burst.
    turn: u64,
    /// Position of the current block in the set.
    line: usize,
    /// Remaining writes of the burst. Zero before the first set.
    left: u64,
    random: Random,
}

impl Birthday {
    fn check_restored(&mut self) -> Result<(), String> {
        let lines = self.set.len();
        // After the last block, the next round of bursts starts.
        if self.line < lines || (self.left == 0 && self.line == lines) {
            Ok(())
        } else {
            Err(format!("line {} of {lines}", self.line))
        }
    }

    /// Returns the next writes, all to one block, as a burst of at most `most` writes.
    #[inline]
    fn next(&mut self, most: u64) -> Burst {
        if self.left == 0 {
            self.take_turn();
        }
        let times = self.left.min(most);
        self.left -= times;
        let request = self.area.request(self.set[self.line], Op::Write);
        if self.left == 0 {
            self.line += 1;
        }
        Burst { request, times }
    }

    fn take_turn(&mut self) {
        if self.line == self.set.len() {
            (self.line, self.turn) = (0, self.turn + 1);
        }
        let is_new = self.turn == 0 || self.turn == self.turns;
        if self.line == 0 && is_new {
            let (blocks, random) = (self.area.blocks(), &mut self.random);
            self.set.iter_mut().for_each(|block| *block = random.below(blocks));
            self.turn = 0;
        }
        self.left = self.burst;
    }
}

impl Pattern for Birthday {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        let end = batch.len() + count;
        while batch.len() < end {
            let Burst { request, times } = self.next((end - batch.len()) as u64);
            batch.resize(batch.len() + times as usize, request);
        }
    }

    fn fill_bursts(&mut self, bursts: &mut Vec<Burst>, limit: u64) -> bool {
        let mut left = limit;
        while left > 0 && bursts.len() < bursts.capacity().max(1) {
            let burst = self.next(left);
            left -= burst.times;
            bursts.push(burst);
        }
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
