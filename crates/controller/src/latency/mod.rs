//! Latency distributions for devices for which only latencies are known.
//!
//! Each distribution is a model of the family [`LatencyFamily`]. A duration without a kind is a constant
//! latency: `read = "6.7 us"` is short for `read = { kind = "constant", latency = "6.7 us" }`.
//!
//! | module | distribution |
//! |---|---|
//! | [`constant`] | constant |
//! | [`exponential`] | memoryless, with a given mean |
//! | [`lognormal`] | long-tailed, with a given mean and standard deviation |
//! | [`quantiles`] | points of the cumulative distribution |
//! | [`fio_json`] | measured with fio, from its JSON output |
//! | [`latency_log`] | measured with fio, from its log of every request |

pub mod constant;
pub mod exponential;
pub mod fio_json;
mod inverse;
pub mod latency_log;
pub mod lognormal;
pub mod quantiles;
#[cfg(test)]
mod tests;

use nacre_config::{Choice, Family, Problems, Slot, Table, model_of};
use nacre_device::Builder;
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// The family of latency distributions.
#[derive(Debug)]
pub struct LatencyFamily;

impl Family for LatencyFamily {
    const NAME: &'static str = "latency";
    type Built = Box<dyn Latency>;
    type Context<'a> = dyn Builder + 'a;

    /// Interprets text that starts like a number as a duration. Returns `None` for other text.
    fn shorthand(text: &str) -> Option<(&'static str, &'static str)> {
        text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
            .then_some(("constant", "latency"))
    }
}

/// A stream of latencies.
pub trait Latency: State + Send {
    /// Returns the next random latency.
    fn draw(&mut self) -> Time;

    /// Exact mean, in seconds, of the distribution that [`Latency::draw`] samples.
    fn mean_s(&self) -> f64;
}

/// Operation whose latencies were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
}

impl Direction {
    /// Name of the operation in fio.
    const fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

/// The distributions, in documentation order.
pub static LATENCIES: &Table<LatencyFamily> = &[
    constant::MODEL,
    exponential::MODEL,
    lognormal::MODEL,
    quantiles::MODEL,
    fio_json::MODEL,
    latency_log::MODEL,
];

/// Builds the distribution in `slot`. The slot's path is the name of its random stream.
pub fn build(slot: &Slot<LatencyFamily>, builder: &mut dyn Builder) -> Result<Box<dyn Latency>, Problems> {
    (model_of(LATENCIES, slot).build)(slot, builder)
}
