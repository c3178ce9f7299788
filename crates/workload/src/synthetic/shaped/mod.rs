//! A synthetic copy of a trace, with the same request sizes, reuse, and sequential runs, but other
//! addresses.
//!
//! # Model
//! The model maintains an LRU stack of objects. Every request belongs to a class, and all requests of a class
//! have the same operation and size. With the probability `first`, a request accesses a new object.
//! Otherwise, the model samples a stack distance from the distribution of the class. Among the objects of the
//! same size as the request, the request accesses the object whose stack distance is closest to the sampled
//! distance. The stack distance of an object is the number of distinct bytes that were accessed since its
//! last access. The miss ratio of an LRU cache of any size is therefore approximately the same as with the
//! original trace.
//!
//! With the probability `follow`, a request continues the sequential run of the previous request and has
//! the same class. If the previous request accessed a new object, this request accesses a new object at the
//! next address. If the previous request accessed an old object, this request accesses the object of the
//! same size that is next in the stack. If these two objects are more than 256 blocks apart in the stack,
//! the model samples a stack distance instead. Sequential runs are therefore repeated in the order of their
//! addresses.
//!
//! # Not modeled
//! - The popularity of objects, except for its effect on stack distances.
//! - Requests that partially overlap, and changes of the workload over time.
//! - Growth beyond `footprint`. If the footprint is used up, a request accesses the least recently used
//!   object instead of a new object.
//!
//! # Sources
//! coffman-1973: Coffman and Denning, "Operating Systems Theory", Prentice-Hall 1973, section 6.6, describes
//! the LRU stack model.
//!
//! # Checks
//! The fractions of requests per class and of new objects agree with the settings within the binomial
//! error. A fixed stack distance is reproduced exactly. The lengths of runs have the distribution that
//! `follow` defines. `nacre trace fit` compares the miss-ratio curves of a trace and its copy.

mod stack;
#[cfg(test)]
mod tests;

use super::area::END_MAX;
use super::operations::percent;
use super::{Pattern, PatternFamily, timed};
use crate::{WorkloadBuilder, WorkloadFamily};
use nacre_config::{Choice, Configuration, Descriptor, Model, Problems, Reader};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bytes, Op, Random, Ranges, Ratio, Request, Time};
use stack::Stack;

/// A synthetic copy of a trace without its addresses.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Size of the address space used, in bytes.
    #[config(min = "64 KiB", max = "1 PiB")]
    pub footprint: Bytes,
    /// First address used.
    #[config(default = "0 B", max = "8192 PiB", source = "assumed: from the beginning")]
    pub start: Bytes,
    /// Block size in bytes, the unit of distances. Objects start at block boundaries.
    #[config(default = "4 KiB", min = "512 B", max = "1 MiB", source = "assumed: the page of most hosts")]
    pub block: Bytes,
    /// Probability that a request continues the previous request.
    #[config(default = "0 %", max = "99.99 %", source = "assumed: no runs")]
    pub follow: Ratio,
    /// Factors on the odds that a request accesses a new object (`first`), one for each step of
    /// `growth_step` requests. After the last factor, the list repeats. By default, the odds are constant.
    pub growth: Option<Vec<f64>>,
    /// Number of requests in one step of `growth`.
    #[config(
        default = 10000,
        min = 1,
        source = "assumed: longer than the sequential runs of most workloads"
    )]
    pub growth_step: u64,
    /// Classes of requests, at most 256. The shares of the classes sum to 100 %.
    pub group: Vec<Class>,
}

/// A class of requests with one operation and one size.
#[derive(Clone, Debug, Configuration)]
pub struct Class {
    /// Fraction of the requests.
    #[config(max = "100 %")]
    pub share: Ratio,
    /// Operation of the requests.
    pub op: Action,
    /// Size of a request in bytes.
    #[config(min = "1 B", max = "1 GiB")]
    pub bytes: Bytes,
    /// Offset of a request in its first block. If the offset is not 0 and the request size is a multiple of
    /// the block size, adjacent objects share a block.
    #[config(default = "0 B", max = "1 MiB", source = "assumed: at the beginning")]
    pub offset: Bytes,
    /// Fraction of the requests of the class that access a new object.
    #[config(max = "100 %")]
    pub first: Ratio,
    /// Quantiles of the stack distances of requests to old objects, at equal steps of probability and in
    /// ascending order. The stack distance is the number of bytes in distinct blocks that were accessed
    /// since the last access to the object. Samples between two quantiles are uniform.
    #[config()]
    pub distance: Option<Vec<Bytes>>,
}

/// Operation of the requests of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Action {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// Maximum deviation of the sum of shares from 100 %. The tolerance permits three shares of 33.33 %.
const SHARE_TOLERANCE: f64 = 1e-3;
/// Maximum number of classes.
const CLASSES_MAX: usize = 256;
/// Maximum number of objects. The stack needs 24 bytes per object.
const OBJECTS_MAX: u64 = 1 << 28;

fn check(config: &Config, reader: &mut Reader<'_>) {
    let sum: f64 = config.group.iter().map(|class| class.share.0).sum();
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        let problem = format!("the shares of the classes add up to {}", percent(sum));
        reader.conflict("group", "", &problem, "make it 100 %");
    }
    if config.group.len() > CLASSES_MAX {
        let given = config.group.len().to_string();
        reader.conflict("group", &given, "there are too many classes", "at most 256 are allowed");
    }
    if let Some(growth) = &config.growth
        && (growth.iter().any(|weight| *weight < 0.0) || growth.iter().all(|weight| *weight == 0.0))
    {
        let problem = "odds are negative, or all are zero";
        reader.conflict("growth", "", problem, "use 1 for the odds of `first`, 2 for twice these odds");
    }
    if !config.block.0.is_power_of_two() {
        reader.conflict("block", &config.block.to_string(), "it is not a power of two", "use 4 KiB");
    }
    if config.start.0.checked_add(config.footprint.0).is_none_or(|end| end > END_MAX) {
        let problem = "the footprint ends past 8192 PiB, the end of addresses";
        reader.conflict("start", &config.start.to_string(), problem, "start earlier");
    }
    if config.footprint.0 / config.block.0.max(1) > OBJECTS_MAX {
        let problem = "it holds more than 2^28 blocks";
        reader.conflict(
            "footprint",
            &config.footprint.to_string(),
            problem,
            "use larger blocks, or a \
                                                                              smaller footprint",
        );
    }
    for (place, class) in config.group.iter().enumerate() {
        check_class(place, class, config, reader);
    }
}

fn check_class(place: usize, class: &Class, config: &Config, reader: &mut Reader<'_>) {
    let distances = class.distance.as_deref().unwrap_or(&[]);
    if !distances.is_sorted() {
        let path = format!("group[{place}].distance");
        reader.conflict(&path, "", "the distances fall", "sort them");
    }
    if distances.len() < 2 && class.first.0 < 1.0 {
        let problem = "not all requests access new objects, and there are fewer than two distances";
        let remedy = "set the smallest and the largest distance, or first = \"100 %\"";
        reader.conflict(&format!("group[{place}].distance"), "", problem, remedy);
    }
    if class.offset.0 >= config.block.0 {
        let problem = "a request would start after its first block";
        reader.conflict(&format!("group[{place}].offset"), &class.offset.to_string(), problem, "lower it");
    }
    if class.bytes.0 + class.offset.0 + config.block.0 > config.footprint.0 {
        let problem = "a request does not fit the footprint";
        reader.conflict(&format!("group[{place}].bytes"), &class.bytes.to_string(), problem, "enlarge it");
    }
}

/// Descriptor and constructor of the pattern.
pub const MODEL: Model<PatternFamily> = Model {
    descriptor: Descriptor::of::<Config>("shaped", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| pattern(&slot.config(builder.families()), slot.path(), builder),
};

/// Descriptor and constructor of the pattern as a workload.
pub const WORKLOAD: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<timed::Timed<Config>>("shaped", SUMMARY, SOURCES, 1, include_str!("mod.rs")),
    build: |slot, builder| timed::build(slot, builder, pattern),
};

const SUMMARY: &str = "a synthetic copy of a trace: its sizes, reuse, and runs, but not its addresses";
const SOURCES: &[&str] = &["coffman-1973"];

fn pattern(
    config: &Config,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<Box<dyn Pattern>, Problems> {
    let block = config.block.0;
    let mut groups: Vec<u32> = Vec::new();
    let mut kinds = Vec::new();
    for class in &config.group {
        let shared = class.offset.0 > 0 && class.bytes.0.is_multiple_of(block);
        let blocks = (class.offset.0 + class.bytes.0).div_ceil(block) as u32 - u32::from(shared);
        let group = groups.iter().position(|&known| known == blocks).unwrap_or(groups.len());
        if group == groups.len() {
            groups.push(blocks);
        }
        let distances = class.distance.iter().flatten();
        kinds.push(Kind {
            op: if class.op == Action::Read { Op::Read } else { Op::Write },
            bytes: class.bytes.0 as u32,
            offset: class.offset.0,
            blocks,
            group,
            shared,
            first: class.first.0,
            distances: distances.map(|bytes| bytes.0 as f64 / block as f64).collect(),
        });
    }
    let mut upto = 0.0;
    let bounds = config.group.iter().map(|class| {
        upto += class.share.0;
        upto
    });
    let growth = config.growth.clone().unwrap_or_default();
    Ok(Box::new(Shaped {
        bounds: bounds.collect(),
        growth,
        growth_step: config.growth_step,
        given: 0,
        kinds,
        stack: Stack::new(groups.len()),
        space: Space::new(config.footprint.0 / block),
        follow: config.follow.0,
        start: config.start.0,
        block,
        latest: None,
        random: builder.random(path),
    }))
}

/// A class of requests, with sizes in blocks.
struct Kind {
    op: Op,
    bytes: u32,
    offset: u64,
    blocks: u32,
    group: usize,
    /// Whether adjacent objects share a block.
    shared: bool,
    first: f64,
    distances: Vec<f64>,
}

#[derive(State)]
struct Shaped {
    /// Cumulative shares of the classes.
    #[state(skip = "from the configuration")]
    bounds: Vec<f64>,
    #[state(skip = "from the configuration")]
    kinds: Vec<Kind>,
    /// Factor on the odds of a new object in each step.
    #[state(skip = "from the configuration")]
    growth: Vec<f64>,
    #[state(skip = "from the configuration")]
    growth_step: u64,
    given: u64,
    stack: Stack,
    space: Space,
    #[state(skip = "from the configuration")]
    follow: f64,
    #[state(skip = "from the configuration")]
    start: u64,
    #[state(skip = "from the configuration")]
    block: u64,
    #[state(varies)]
    latest: Option<Latest>,
    random: Random,
}

/// The previous request.
#[derive(Clone, Copy, Value)]
struct Latest {
    kind: usize,
    /// Stack position of the accessed object. `None` if the object was new.
    place: Option<u32>,
    run: usize,
}

impl Pattern for Shaped {
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize) {
        batch.extend((0..count).map(|_| self.next()));
    }

    fn reach(&self) -> u64 {
        self.start + self.space.blocks * self.block
    }

    fn footprint(&self, bytes: &mut Ranges) {
        bytes.insert(self.start..self.reach());
    }
}

impl Shaped {
    fn next(&mut self) -> Request {
        self.given += 1;
        let followed = self.latest.filter(|_| self.random.unit() < self.follow);
        let kind = followed.map_or_else(|| self.draw_kind(), |latest| latest.kind);
        let Kind { group, blocks, .. } = self.kinds[kind];
        let place = match followed {
            Some(Latest { place: Some(place), .. }) => {
                self.stack.following(group, place).or_else(|| self.draw_place(kind))
            }
            Some(Latest { place: None, .. }) => None,
            None => self.draw_place(kind),
        };
        let place = place.or_else(|| (!self.space.has(blocks + 1)).then(|| self.stack.oldest(group))?);
        let mut run = followed.map_or_else(|| self.random.below(RUNS as u64) as usize, |latest| latest.run);
        let first = match place {
            Some(place) => self.stack.renew(group, place, blocks),
            None => {
                // A request that does not continue the previous request must not share a block with an
                // adjacent object.
                let apart = u32::from(self.kinds[kind].shared && followed.is_none());
                let first = self.space.take(&mut run, blocks + apart) + u64::from(apart);
                self.stack.push(group, first, blocks);
                first
            }
        };
        self.latest = Some(Latest { kind, place, run });
        let Kind { op, bytes, offset, .. } = self.kinds[kind];
        let address = self.start + first * self.block + offset;
        Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
    }

    fn draw_kind(&mut self) -> usize {
        let draw = self.random.unit() * self.bounds[self.bounds.len() - 1];
        self.bounds.partition_point(|&bound| bound <= draw).min(self.kinds.len() - 1)
    }

    /// Random stack position of an object of the class `kind`. `None` selects a new object.
    fn draw_place(&mut self, kind: usize) -> Option<u32> {
        let Kind { group, blocks, first, distances, .. } = &self.kinds[kind];
        let step = ((self.given - 1) / self.growth_step) as usize;
        let more = if self.growth.is_empty() { 1.0 } else { self.growth[step % self.growth.len()] };
        // Probability whose odds are those of `first`, multiplied by `more`.
        let first = first * more / (1.0 - first + first * more);
        if distances.is_empty() || self.random.unit() < first {
            return None;
        }
        let at = self.random.unit() * (distances.len() - 1) as f64;
        let (low, share) = (at as usize, at - libm::floor(at));
        let distance = distances[low] + (distances[low + 1] - distances[low]) * share;
        // The distance includes the blocks of the object itself.
        let behind = (distance - f64::from(*blocks)).max(0.0) + 0.5;
        self.stack.at_depth(*group, behind as u64)
    }
}

/// Maximum number of concurrent runs of new objects. Only objects of the same run are adjacent.
const RUNS: usize = 16;
/// Minimum number of blocks of a strip, which is the space that is allocated to a run at a time.
const STRIP: u64 = 256;
/// Minimum number of objects that a strip has space for.
const OBJECTS_PER_STRIP: u64 = 8;

/// Address space, which is allocated sequentially in strips.
#[derive(State)]
struct Space {
    #[state(same)]
    blocks: u64,
    given: u64,
    /// Start and end of the free blocks in the strip of each run.
    strips: [(u64, u64); RUNS],
}

impl Space {
    fn new(blocks: u64) -> Space {
        Space { blocks, given: 0, strips: [(0, 0); RUNS] }
    }

    /// Whether there is space for an object of `blocks` blocks.
    fn has(&self, blocks: u32) -> bool {
        let blocks = u64::from(blocks);
        self.given + blocks <= self.blocks || self.strips.iter().any(|(from, to)| from + blocks <= *to)
    }

    /// Allocates an object and returns its first block. Uses the strip of `run` if it has space. Otherwise,
    /// allocates a new strip, changes `run` to a run whose strip has space, or restarts at the first block
    /// of the address space.
    fn take(&mut self, run: &mut usize, blocks: u32) -> u64 {
        let blocks = u64::from(blocks);
        let (from, to) = self.strips[*run];
        if from + blocks > to {
            if self.given + blocks <= self.blocks {
                let strip = STRIP.max(blocks * OBJECTS_PER_STRIP).min(self.blocks - self.given);
                // If the new strip follows the previous strip of the run, it extends that strip.
                let from = if to == self.given { from } else { self.given };
                self.given += strip;
                self.strips[*run] = (from, self.given);
            } else {
                match self.strips.iter().position(|(from, to)| from + blocks <= *to) {
                    Some(room) => *run = room,
                    // No object of this size was ever accessed, and no space is left. Allocation therefore
                    // restarts at the first block, over earlier objects.
                    None => self.strips[*run] = (0, self.blocks),
                }
            }
        }
        let first = self.strips[*run].0;
        self.strips[*run].0 += blocks;
        first
    }
}
