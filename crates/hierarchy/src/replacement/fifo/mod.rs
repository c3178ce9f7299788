//! First in, first out (FIFO).
//!
//! # Model
//! A queue holds the blocks in the order of their insertion. The policy evicts the block that was inserted
//! first, even if it was accessed since then.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2),
//! 1966.
//!
//! # Checks
//! A simple reference implementation with a queue produces the same hits and evictions. In Belady's example,
//! FIFO has 9 misses with three slots and 10 misses with four slots (Belady's anomaly).

use super::ReplacementFamily;
use super::ring::{Ring, Turn};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// FIFO has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "fifo",
        "evicts the block that was inserted first",
        &["Belady 1966, A study of replacement algorithms for a virtual-storage computer"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_, context| Ok(Box::new(Fifo::new(context.capacity()))),
};

/// Rules of FIFO: hits are ignored, and the hand is at the oldest block.
#[derive(Clone, Copy, Debug)]
pub enum Turning {}

impl Turn for Turning {
    const MARKS: bool = false;
    const FRONT_IS_NEWEST: bool = false;
}

/// A FIFO cache: blocks on a ring in order of arrival.
pub type Fifo = Ring<Turning>;
