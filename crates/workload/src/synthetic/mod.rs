//! Synthetic workloads. Each module has one access pattern.
//!
//! A pattern generates requests without times. A single pattern can be used as a workload (`kind = "zipf"`
//! with `requests` and an `arrival`). In a `mix`, it is one of several patterns.

pub mod birthday;
pub mod exponential;
pub mod hammer;
pub mod hot_cold;
pub mod log;
pub mod mix;
pub mod ranks;
pub mod sequential;
pub mod shaped;
pub mod uniform;
pub mod zipf;

mod access;
mod area;
mod operations;
mod scatter;
mod timed;

pub use access::Access;
pub use timed::Timed;

use crate::WorkloadBuilder;
use nacre_config::{Family, Table};
use nacre_kernel::state::State;
use nacre_kernel::{Burst, Ranges, Request};

/// An endless sequence of addresses and operations.
pub trait Pattern: State + Send {
    /// Appends the next `count` requests to `batch`. Their arrival time is zero, and their volume is 0.
    ///
    /// The size of the batches never affects the sequence.
    fn fill(&mut self, batch: &mut Vec<Request>, count: usize);

    /// Appends at most `limit` of the next writes, and merges consecutive writes to one address into one
    /// burst. Never appends more bursts than `bursts` has capacity for. If the pattern has no bursts,
    /// returns `false` and appends nothing.
    fn fill_bursts(&mut self, _bursts: &mut Vec<Burst>, _limit: u64) -> bool {
        false
    }

    /// End of the address range that the pattern may access.
    fn reach(&self) -> u64;

    /// Adds to `bytes` the addresses that the pattern may access.
    fn footprint(&self, bytes: &mut Ranges);

    /// Upper bound of the number of units of `unit` bytes that one request accesses, if known.
    fn units_per_request(&self, _unit: u64) -> Option<u64> {
        None
    }
}

/// The family of access patterns.
#[derive(Debug)]
pub struct PatternFamily;

impl Family for PatternFamily {
    const NAME: &'static str = "pattern";
    type Built = Box<dyn Pattern>;
    type Context<'a> = dyn WorkloadBuilder + 'a;
}

/// The patterns, in documentation order.
pub static PATTERNS: &Table<PatternFamily> = &[
    uniform::MODEL,
    zipf::MODEL,
    exponential::MODEL,
    hot_cold::MODEL,
    sequential::MODEL,
    log::MODEL,
    hammer::MODEL,
    birthday::MODEL,
    mix::MODEL,
    shaped::MODEL,
];
