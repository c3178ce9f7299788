//! All mixes of tiers from one pass over the extents.
//!
//! For each share of the first tiers, the next tier grows one step at a time, starting from the previous
//! placement; see [`Assignment`].

use super::assignment::{Assignment, Class};

/// One mix of tiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Number of steps of each tier. They add up to the total number of steps.
    pub steps: Vec<u32>,
    /// Number of extents in each tier.
    pub extents: Vec<u64>,
    /// Total time of all accesses with optimal placement, performed one after the other, in seconds.
    pub seconds: f64,
}

/// Number of extents in the first `step` of `steps` equal portions.
pub fn boundary(extents: u64, step: u32, steps: u32) -> u64 {
    (u128::from(extents) * u128::from(step) / u128::from(steps)) as u64
}

/// Computes the optimal placement of `classes` for every division of `tiers` tiers into `steps` equal
/// portions.
pub fn surface(classes: &[Class], tiers: usize, steps: u32) -> Vec<Mix> {
    assert!(steps > 0 && tiers > 0, "there is something to divide");
    let total = classes.iter().map(|class| class.extents).sum();
    let mut walk = Walk { total, tiers, steps, mixes: Vec::new() };
    walk.grow(Assignment::new(classes, tiers), &mut Vec::new());
    walk.mixes
}

struct Walk {
    total: u64,
    tiers: usize,
    steps: u32,
    mixes: Vec<Mix>,
}

impl Walk {
    /// Adds all mixes in which the first tiers have the numbers of steps in `given`. `placed` is the
    /// placement for these tiers.
    fn grow(&mut self, mut placed: Assignment, given: &mut Vec<u32>) {
        let used: u32 = given.iter().sum();
        let tier = given.len();
        if tier + 1 == self.tiers {
            given.push(self.steps - used);
            self.note(&placed, given);
            given.pop();
            return;
        }
        for step in 0..=self.steps - used {
            if step > 0 {
                let before = boundary(self.total, used + step - 1, self.steps);
                placed.grow(tier, boundary(self.total, used + step, self.steps) - before);
            }
            given.push(step);
            if tier + 2 == self.tiers {
                given.push(self.steps - used - step);
                self.note(&placed, given);
                given.pop();
            } else {
                self.grow(placed.clone(), given);
            }
            given.pop();
        }
    }

    fn note(&mut self, placed: &Assignment, given: &[u32]) {
        let mut from = 0;
        let extents = given.iter().map(|&steps| {
            let before = boundary(self.total, from, self.steps);
            from += steps;
            boundary(self.total, from, self.steps) - before
        });
        let extents = extents.collect();
        self.mixes.push(Mix { steps: given.to_vec(), extents, seconds: placed.seconds() });
    }
}
