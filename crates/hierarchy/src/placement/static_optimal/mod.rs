//! The best placement there is without moving anything, from knowledge of the whole workload.
//!
//! # Models
//! Before time begins the whole workload is read once and the reads and writes of every extent are counted.
//! Extents are then placed so that the sum of (reads x read latency + writes x write latency) over all
//! extents is least, with every tier full. The latencies are those of one access of its size to an idle device
//! of the tier; a request that touches several extents is an access to each, of the part that is there. Sizes are
//! rounded up to a sixteenth of the power of two below them: exact for multiples of 4 KiB up to 128 KiB. Reads and writes count apart: an extent that is written more than it is read may be better off in
//! flash than in PCM.
//!
//! # Leaves out
//! Queueing: a tier that the placement loads beyond what it can serve is loaded nevertheless. Below a cache the workload itself is counted, not what the cache lets through.
//! It bounds every placement that never moves an extent. One that moves may do better where what is hot
//! changes, which no extent's sum shows.
//!
//! # Sources
//! kim-2014 "Static optimal": the placement is made from the whole trace and not changed.
//!
//! # Checks
//! Equal to the best of all placements, tried one by one, of few extents over three tiers; every point of
//! the surface equals a placement made for it alone; mean latencies of runs equal those computed.

#[cfg(test)]
mod tests;

use super::assignment::Assignment;
use super::by_size::{Speeds, alike};
use super::{Placement, PlacementFamily};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

/// The best placement there is without moving anything. It has no settings.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// This room.
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
