//! Second chance: a clock with one reference bit.
//!
//! # Models
//! Blocks on a ring; a use sets the block's reference bit. The hand goes round: where the bit is set
//! it clears it and continues, where it is clear the block leaves and the newcomer takes the place.
//! A newcomer's bit is clear; its first use after it came in sets it.
//!
//! # Leaves out
//! Clearing by time, as an operating system's daemon does.
//!
//! # Sources
//! F. J. Corbato, "A paging experiment with the Multics system", MIT Project MAC report MAC-M-384,
//! 1968, with one bit. The clear bit of newcomers as in J. Yang, Z. Qiu, Y. Zhang, Y. Yue,
//! K. V. Rashmi, "FIFO can be better than LRU", HotOS'23.
//!
//! # Checks
//! Hits and victims equal a naive ring; without re-use it is first in, first out.

use super::ReplacementFamily;
use super::ring::{Ring, Turn};
use nacre_config::{Configuration, Descriptor, Room};

#[cfg(test)]
mod tests;

/// Second chance with one bit has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The room.
pub const ROOM: Room<ReplacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "clock",
        "second chance: first in, first out with one reference bit",
        &[
            "Corbato 1968, A paging experiment with the Multics system",
            "Yang et al. 2023, FIFO can be better than LRU",
        ],
        1,
        include_str!("mod.rs"),
    ),
    build: |_, context| Ok(Box::new(Clock::new(context.capacity()))),
};

/// A use marks a block, and the hand follows the order of arrival.
#[derive(Clone, Copy, Debug)]
pub enum Turning {}

impl Turn for Turning {
    const MARKS: bool = true;
    const FRONT_IS_NEWEST: bool = false;
}

/// The blocks on a ring with a hand.
pub type Clock = Ring<Turning>;
