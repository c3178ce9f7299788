//! Cost-benefit: clean the segment with the highest benefit per cost. The benefit is the reclaimed space
//! times the age of the data.
//!
//! # Model
//! All segment positions form one partition. The victim is the segment with the largest (1 - u) age / (1 +
//! u). Here, u is the share of valid pages in the segment, and age is the number of pages drained since the
//! segment was last written. Free space in a cold segment is more valuable, because cold data is rarely
//! invalidated.
//!
//! # Not modeled
//! The log-structured file system of rosenblum-1992 cleans several segments at once and sorts their valid
//! data by age. Sorting separates hot data from cold data. In contrast, this model cleans one segment at a
//! time. The model copies the valid pages of the victim to an erased segment, and new pages fill the rest of
//! that segment. Hot and cold data therefore mix again, and the cleaning cost is only a few tenths of a
//! percent lower than with `greedy`.
//!
//! # Sources
//! rosenblum-1992, section 3.4. wu-1994, section 4.1, explains why the policy is unsuitable for large
//! segments.
//!
//! # Checks
//! In an example with four segments, the policy selects the same victim as a calculation by hand. With hot
//! and cold data, the cleaning cost of the policy is lower than the cleaning cost of `greedy`.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// Cost-benefit cleaning has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "cost_benefit",
        "weighs gained space and age against cost, like log-structured file systems",
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

/// Benefit-cost ratio (1 - u) age / (1 + u). The benefit is the free space times the age of the segment.
/// The cost consists of reading the segment and writing its valid share u.
fn benefit_to_cost(view: &View<'_>, place: usize) -> f64 {
    let live = f64::from(view.places[place].live) / f64::from(view.pages_per_segment);
    let age = view.drained.saturating_sub(view.places[place].written_at);
    (1.0 - live) * age as f64 / (1.0 + live)
}
