//! Greedy: clean the segment with the most invalid pages.
//!
//! # Model
//! All segment positions form one partition. The victim is the segment with the most invalid pages. In a tie,
//! the victim is the segment that was cleaned least recently.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! wu-1994, section 4.2; rosenblum-1992, section 3.4.
//!
//! # Checks
//! Under uniform writes, the cleaning cost is within 2 % of the closed form of desnoyers-2012.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;
use std::cmp::Reverse;

#[cfg(test)]
mod tests;

/// Greedy cleaning has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "greedy",
        "cleans the segment with the most invalid pages",
        &["wu-1994", "rosenblum-1992"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_slot, _context| Ok(Box::new(Greedy)),
};

#[derive(State)]
struct Greedy;

impl Cleaner for Greedy {
    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let places = view.places_of(partition);
        let victim =
            places.max_by_key(|&place| (view.invalid(place), Reverse(view.places[place].cleaned_at)));
        Decision::clean(victim.expect("a partition has places"))
    }
}
