//! CLOCK: second chance with one reference bit.
//!
//! # Model
//! The blocks are on a ring, and a pointer (the hand) moves around the ring. A hit on a block sets its
//! reference bit. If the bit of a block is set, the hand clears the bit and continues. If the bit is clear,
//! the block is evicted, and the new block takes its slot. The bit of a new block is clear and is set by the
//! first hit after the insertion.
//!
//! # Not modeled
//! The model omits the periodic clearing of reference bits, which operating systems perform in the
//! background.
//!
//! # Sources
//! Corbato, "A paging experiment with the Multics system", MIT Project MAC report MAC-M-384, 1968, describes
//! the policy with one bit. In Yang et al., "FIFO can be better than LRU", HotOS'23, the bit of a new block
//! is also clear.
//!
//! # Checks
//! A simple reference implementation with a ring produces the same hits and evictions. If no block is
//! accessed again, CLOCK evicts the same blocks as FIFO.

use super::ReplacementFamily;
use super::ring::{Ring, Turn};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// CLOCK has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "clock",
        "second chance: FIFO with one reference bit per block",
        &[
            "Corbato 1968, A paging experiment with the Multics system",
            "Yang et al. 2023, FIFO can be better than LRU",
        ],
        1,
        include_str!("mod.rs"),
    ),
    build: |_, context| Ok(Box::new(Clock::new(context.capacity()))),
};

/// Rules of CLOCK: a hit marks a block, and the hand follows the insertion order.
#[derive(Clone, Copy, Debug)]
pub enum Turning {}

impl Turn for Turning {
    const MARKS: bool = true;
    const FRONT_IS_NEWEST: bool = false;
}

/// A CLOCK cache: blocks on a ring with a hand.
pub type Clock = Ring<Turning>;
