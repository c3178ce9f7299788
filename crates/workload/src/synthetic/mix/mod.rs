//! A mix of several patterns, each with a fraction of the requests.
//!
//! # Model
//! For each request, one of the patterns is selected at random, with the probability `share`. An example is a
//! mix of 70 % Zipf reads and 30 % sequential writes. The request sequences of the patterns are independent.
//! The patterns can use the same addresses, or different address ranges with different values of `start`. All
//! patterns share one arrival process. A pattern of a mix can be another mix.
//!
//! # Not modeled
//! The model omits separate arrival processes for the patterns, and workload phases.
//!
//! # Sources
//! With fio, such loads are usually generated with `rwmixread` and parallel jobs, as its manual describes.
//! Each pattern cites its sources.
//!
//! # Checks
//! The fraction of requests of each pattern agrees with its `share` within the binomial error. The requests
//! of a pattern do not depend on the other patterns or on the shares. Used alone under the same name, a
//! pattern generates the same requests as in the mix. If a pattern is added at the end, the requests of the
//! other patterns do not change.

use super::{Pattern, PatternFamily, operations::percent, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Configuration, Descriptor, Model, Problems, Reader, Slot, both};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Ranges, Ratio, Request};

/// A mix of several patterns.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Patterns of the mix, at most 256. Add new patterns at the end, so that the random streams of the
    /// existing patterns do not change.
    pub part: Vec<Part>,
}

/// One pattern of a mix.
#[derive(Clone, Debug, Configuration)]
pub struct Part {
    /// Fraction of the requests. If one pattern omits its share, it receives the remainder.
    #[config(max = "100 %")]
    pub share: Option<Ratio>,
    /// Access pattern.
    pub pattern: Slot<PatternFamily>,
}

/// Maximum deviation of the sum of shares from 100 %. The tolerance permits three shares of 33.333 %.
const SHARE_TOLERANCE: f64 = 1e-4;
/// Maximum number of patterns. The number of a pattern must fit into a byte.
const PARTS_MAX: usize = 256;

fn check(config: &Config, reader: &mut Reader<'_>) {
    let sum: f64 = config.part.iter().filter_map(|part| part.share).map(|share| share.0).sum();
    let mut open = (0..config.part.len()).filter(|&place| config.part[place].share.is_none());
    let last = format!("part[{}].share", config.part.len() - 1);
    match (open.next(), open.next()) {
        (_, Some(second)) => reader.conflict(
            &format!("part[{second}].share"),
            "",
            "two parts have no share",
            "set all shares except one",
        ),
        (Some(_), None) if sum > 1.0 + SHARE_TOLERANCE => reader.conflict(
            &last,
            "",
            &format!("the shares add up to {}", percent(sum)),
            "lower them; the part without a share gets the rest",
        ),
        (None, None) if (sum - 1.0).abs() > SHARE_TOLERANCE => reader.conflict(
            &last,
            "",
            &format!("the shares add up to {}", percent(sum)),
            "make it 100 %, or remove one share, which then gets the rest",
        ),
        _ => {}
    }
    if config.part.len() > PARTS_MAX {
        reader.conflict(
            "part",
            &config.part.len().to_string(),
            "there are too many parts",
            "at most 256 are allowed",
        );
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("mix", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>("mix", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "several patterns, each with a share of the requests";
const SOURCES: &[&str] = &["fio"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let given: f64 = config.part.iter().filter_map(|part| part.share).map(|share| share.0).sum();
    let (mut upto, mut bounds, mut parts) = (0.0, Vec::new(), Ok(Vec::new()));
    for part in &config.part {
        upto += part.share.map_or((1.0 - given).max(0.0), |share| share.0);
        bounds.push(upto);
        parts = both(parts, builder.pattern(&part.pattern)).map(|(mut parts, pattern)| {
            parts.push(Source { pattern, ready: Vec::new(), taken: 0 });
            parts
        });
    }
    // Rounding errors are assigned to the last pattern with a share.
    while bounds.last().is_some_and(|&bound| bound >= upto) {
        bounds.pop();
    }
    let bounds = bounds.iter().map(|bound| (bound * (1u64 << 53) as f64 + 0.5) as u64).collect();
    Ok(Box::new(Mix { bounds, parts: parts?, random: builder.random(path) }))
}

/// Number of requests selected at a time, so that a pattern returns many requests per call.
const CHUNK: usize = 1024;

#[derive(State)]
struct Mix {
    /// Bounds of the patterns. A sample of 53 bits selects the first pattern whose bound is above the sample,
    /// or else the pattern after the last bound.
    #[state(skip = "from the configuration")]
    bounds: Vec<u64>,
    parts: Vec<Source>,
    random: Random,
}

/// A pattern with its requests for the current chunk.
#[derive(State)]
struct Source {
    pattern: Box<dyn Pattern>,
    #[state(skip = "it begins empty with every call")]
    ready: Vec<Request>,
    #[state(skip = "it begins empty with every call")]
    taken: usize,
}

impl Mix {
    fn chunk(&mut self, batch: &mut Vec<Request>, count: usize) {
        let (mut chosen, mut counts) = ([0u8; CHUNK], [0usize; PARTS_MAX]);
        for chosen in &mut chosen[..count] {
            let draw = self.random.bits() >> 11;
            let part = self.bounds.iter().map(|&bound| usize::from(draw >= bound)).sum::<usize>();
            *chosen = part as u8;
            counts[part] += 1;
        }
        for (part, &count) in self.parts.iter_mut().zip(&counts) {
            part.ready.clear();
            part.taken = 0;
            part.pattern.fill(&mut part.ready, count);
        }
        batch.extend(chosen[..count].iter().map(|&chosen| {
            let part = &mut self.parts[usize::from(chosen)];
            part.taken += 1;
            part.ready[part.taken - 1]
        }));
    }
}

impl Pattern for Mix {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        batch.reserve(count);
        let mut left = count;
        while left > 0 {
            let now = left.min(CHUNK);
            self.chunk(batch, now);
            left -= now;
        }
    }

    fn reach(&self) -> u64 {
        self.parts.iter().map(|part| part.pattern.reach()).max().unwrap_or(0)
    }

    fn footprint(&self, bytes: &mut Ranges) {
        self.parts.iter().for_each(|part| part.pattern.footprint(bytes));
    }

    fn units_per_request(&self, unit: u64) -> Option<u64> {
        self.parts.iter().try_fold(1, |most, part| Some(part.pattern.units_per_request(unit)?.max(most)))
    }
}

#[cfg(test)]
mod tests;
