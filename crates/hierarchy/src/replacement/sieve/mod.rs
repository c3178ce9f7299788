//! SIEVE: lazy promotion and quick demotion, with one queue and a moving hand.
//!
//! # Model
//! New blocks enter at the head of a queue. A hit sets the visited bit of the block and does not move the
//! block. On a miss, the hand moves from its last position toward the head. The hand clears visited bits
//! until it reaches a block whose bit is clear, and evicts this block. When the hand has passed the head, it
//! continues at the tail. Retained blocks keep their position, so the hand examines new blocks early.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! Zhang et al., "SIEVE is simpler than LRU: an efficient turn-key eviction algorithm for Web caches",
//! NSDI'24, algorithm 1.
//!
//! # Checks
//! A simple reference implementation with a list and a hand produces the same hits and evictions. If a Zipf
//! sequence is interrupted by scans, SIEVE has fewer misses than LRU.

use super::ReplacementFamily;
use super::ring::{Ring, Turn};
use nacre_config::{Configuration, Descriptor, Model};

#[cfg(test)]
mod tests;

/// SIEVE has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<ReplacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "sieve",
        "a hit marks a block, and a moving hand evicts the first unmarked block",
        &["Zhang et al. 2024, SIEVE is simpler than LRU, algorithm 1"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_, context| Ok(Box::new(Sieve::new(context.capacity()))),
};

/// Rules of SIEVE: a hit marks a block, and the hand moves from the oldest to the newest block.
#[derive(Clone, Copy, Debug)]
pub enum Turning {}

impl Turn for Turning {
    const MARKS: bool = true;
    const FRONT_IS_NEWEST: bool = true;
}

/// A SIEVE cache: blocks in a queue with a hand.
pub type Sieve = Ring<Turning>;
