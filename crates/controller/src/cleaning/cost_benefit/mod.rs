//! Cost-benefit: select the segment with the largest gain, weighted by age, relative to the cost.
//!
//! # Model
//! All segment positions are one partition. The victim has the largest (1 - u) age / (1 + u). u is its share of
//! valid pages, and age is the number of pages drained since it was last written. Space in a cold segment is
//! worth more, because it lasts.
//!
//! # Not modeled
//! The log-structured file system cleans several segments at once and sorts their valid data by age, which
//! separates hot from cold data. Here, one segment is cleaned at a time, and new pages fill up behind its valid
//! pages. Hot and cold data mix again, and the gain over greedy is a few tenths of a percent.
//!
//! # Sources
//! rosenblum-1992, section 3.4; wu-1994, section 4.1, on why it suits large segments badly.
//!
//! # Checks
//! The victim equals that of a calculation by hand. On hot and cold data, it costs less than greedy.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Cost-benefit cleaning has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const ROOM: Room<CleaningFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "cost_benefit",
        "weighs gained space and age against cost, like the log-structured file system",
        &["rosenblum-1992"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_slot, _context| Ok(Box::new(CostBenefit)),
};

#[derive(State)]
struct CostBenefit;

impl Cleaner for CostBenefit {
    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let worth = |&place: &usize| (view.invalid(place) > 0, benefit_to_cost(view, place));
        let places = view.places_of(partition);
        let victim = places.max_by(|a, b| {
            let ((a_gains, a), (b_gains, b)) = (worth(a), worth(b));
            a_gains.cmp(&b_gains).then(a.total_cmp(&b))
        });
        Decision::clean(victim.expect("a partition has places"))
    }
}

/// Benefit-cost ratio (1 - u) age / (1 + u): free space times its age, over the cost to read a segment and
/// write its valid share u.
fn benefit_to_cost(view: &View<'_>, place: usize) -> f64 {
    let live = f64::from(view.places[place].live) / f64::from(view.pages_per_segment);
    let age = view.drained.saturating_sub(view.places[place].written_at);
    (1.0 - live) * age as f64 / (1.0 + live)
}
