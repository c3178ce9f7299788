//! Static-optimal placement: the best placement without moves, computed from the whole workload.
//!
//! # Model
//! Before simulated time starts, the whole workload is read once, and the reads and writes of every extent
//! are counted. Extents are then placed so that the sum of (reads x read latency + writes x write latency)
//! over all extents is minimal, with every tier full. Reads and writes count separately, so an extent with
//! more writes than reads may be better on flash than on PCM.
//!
//! The latencies are those of an access of the same size to an idle device of the tier. A request that
//! touches several extents is one access to each, with the size of its portion. Sizes are rounded up to 1/16
//! of the power of two below them, which is exact for multiples of 4 KiB up to 128 KiB.
//!
//! # Not modeled
//! - Queueing: the placement may overload a tier.
//! - Caches above the tiers: the workload is counted, not the requests that pass a cache.
//! - Moves: the placement is optimal among those that never move an extent. If hot data changes over time, a
//!   placement that moves extents may be better.
//!
//! # Sources
//! kim-2014 "Static optimal": the placement is computed from the whole trace and does not change.
//!
//! # Checks
//! For few extents over three tiers, the placement equals the best of all placements, tried one by one. Every
//! point of the surface equals a separately computed placement. Mean latencies of runs equal the computed
//! ones.

#[cfg(test)]
mod tests;

use super::assignment::Assignment;
use super::by_size::{Speeds, alike};
use super::{Placement, PlacementFamily};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

/// The best static placement, which has no settings.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const ROOM: Room<PlacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "static_optimal",
        "the best placement without moves, from knowledge of the whole workload",
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
