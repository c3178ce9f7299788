//! d choices: sample d segments and clean the segment with the most invalid pages among them.
//!
//! # Model
//! All segment positions form one partition. The policy samples d positions at random, with replacement, and
//! cleans the sampled position with the most invalid pages. With d = 1, the policy cleans random segments.
//! With a large d, the policy behaves nearly like `greedy`, but `greedy` has to examine every segment. If no
//! sampled position has an invalid page, the policy cleans the next position that has one.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! van-houdt-2013 (mean field model of d choices); li-2013 (trade-off between cost and wear).
//!
//! # Checks
//! With d = 1 and uniform writes, the cleaning cost is within 2 % of u / (1 - u), where u is the utilization.
//! The cost falls as d increases, and is lowest with `greedy`.

use super::{Cleaner, CleaningFamily, Decision, View};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Random;
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// The d-choices policy.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Number of segments sampled per decision.
    #[config(
        default = 10,
        min = 1,
        max = 65536,
        source = "paper: van-houdt-2013, ten choices are close to greedy"
    )]
    pub d: u32,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<CleaningFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "d_choices",
        "cleans the segment with the most invalid pages among d random segments",
        &["van-houdt-2013", "li-2013"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        Ok(Box::new(DChoices { choices: config.d, random: context.random(slot.path()) }))
    },
};

#[derive(State)]
struct DChoices {
    #[state(skip = "from the configuration")]
    choices: u32,
    random: Random,
}

impl Cleaner for DChoices {
    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let places = view.places_of(partition);
        let mut draw = || places.start + self.random.below(places.len() as u64) as usize;
        let drawn = (0..self.choices).map(|_| draw());
        let best = drawn.max_by_key(|&place| view.invalid(place)).expect("at least one is drawn");
        // If no sampled position has an invalid page, take the next position that has one.
        let behind = (best..places.end).chain(places.start..best);
        Decision::clean(behind.into_iter().find(|&place| view.invalid(place) > 0).unwrap_or(best))
    }
}
