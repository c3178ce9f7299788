//! Static-optimal placement: the best placement without moves, computed from the whole workload.
//!
//! # Model
//! Before simulated time starts, the model reads the whole workload once and counts the reads and writes of
//! every extent. Then the model assigns the extents to tiers to minimize the sum of (reads x read latency +
//! writes x write latency) over all extents. Reads and writes are counted separately. An extent with more
//! writes than reads may therefore be better on flash than on PCM.
//!
//! For each access, the model uses the latency of a request of the same size on the idle device of the
//! tier. If a request spans several extents, it counts as one access to each extent, with the size of its
//! part in this extent. The model rounds each size up to a multiple of 1/16 of the next lower power of two.
//! Multiples of 4 KiB up to 128 KiB are therefore exact.
//!
//! # Not modeled
//! - Queueing: the placement may overload a tier.
//! - Caches above the tiers: the model counts the requests of the workload, not the requests that miss in a
//!   cache.
//! - Moves: the placement is optimal among placements that never move an extent. If hot data changes over
//!   time, a placement that moves extents may be better.
//!
//! # Sources
//! In kim-2014, the placement "Static optimal" is computed from the whole trace and does not change.
//!
//! # Checks
//! For a few extents, the placement equals the best placement that an exhaustive search finds. A single run
//! of `nacre mixes` computes the placements for all mixes of tiers. For each mix, the result equals a
//! placement that is computed only for this mix. The mean latencies of simulated runs equal the computed
//! mean latencies.

#[cfg(test)]
mod tests;

use super::assignment::Assignment;
use super::by_size::{Speeds, alike};
use super::{Placement, PlacementFamily};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

/// The best static placement, which has no settings.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<PlacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "static_optimal",
        "the best placement without moves, computed from the whole workload",
        &["kim-2014"],
        2,
        include_str!("mod.rs"),
    ),
    build: |_, context| {
        let accesses = context.accesses()?;
        let tiers = context.extents().len();
        let members = alike(&accesses);
        let classes = Speeds::new(context, tiers).classes(&members)?;
        let mut assignment = Assignment::new(&classes, tiers);
        for (tier, &extents) in context.extents().iter().enumerate().take(tiers - 1) {
            assignment.grow(tier, u64::from(extents));
        }
        let mut homes = vec![0; accesses.len()];
        for (class, members) in members.values().enumerate() {
            let mut members = members.iter();
            for tier in 0..tiers {
                for &extent in members.by_ref().take(assignment.held(class, tier) as usize) {
                    homes[extent as usize] = tier as u8;
                }
            }
        }
        Ok(Box::new(StaticOptimal { homes }))
    },
};

#[derive(State)]
struct StaticOptimal {
    #[state(skip = "from the configuration")]
    homes: Vec<u8>,
}

impl Placement for StaticOptimal {
    fn start(&self) -> Vec<u8> {
        self.homes.clone()
    }
}
