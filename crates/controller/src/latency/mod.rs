//! Latency distributions: how long a device that is known only by its latencies takes.
//!
//! Each is a room of [`LatencyFamily`]. A duration alone is a constant latency: `read = "6.7 us"` is
//! short for `read = { kind = "constant", latency = "6.7 us" }`.
//!
//! | room | is |
//! |---|---|
//! | [`constant`] | always the same |
//! | [`exponential`] | memoryless, given its mean |

pub mod constant;
pub mod exponential;

use crate::Builder;
use nacre_config::{Family, Problems, Slot, Table};
use nacre_kernel::Time;

/// The family of latency distributions.
#[derive(Debug)]
pub struct LatencyFamily;

impl Family for LatencyFamily {
    const NAME: &'static str = "latency";
    type Built = Box<dyn Latency>;
    type Context<'a> = dyn Builder + 'a;

    /// What starts like a number is meant as a duration.
    fn shorthand(text: &str) -> Option<(&'static str, &'static str)> {
        text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
            .then_some(("constant", "latency"))
    }
}

/// A stream of latencies.
pub trait Latency: Send {
    /// The next one.
    fn draw(&mut self) -> Time;

    /// Their mean in seconds, exact for the distribution that [`Latency::draw`] draws from.
    fn mean_s(&self) -> f64;
}

/// The distributions, in the order users see them.
pub static LATENCIES: &Table<LatencyFamily> = &[constant::ROOM, exponential::ROOM];

/// Builds the distribution in `slot`; its random stream is named by the slot's path.
pub fn build(slot: &Slot<LatencyFamily>, builder: &mut dyn Builder) -> Result<Box<dyn Latency>, Problems> {
    let room = LATENCIES.iter().find(|room| room.card.kind == slot.kind());
    let room = room.unwrap_or_else(|| panic!("the checked latency {} is in no table", slot.kind()));
    (room.build)(slot, builder)
}
