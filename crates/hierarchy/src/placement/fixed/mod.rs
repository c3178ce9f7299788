//! Extents stay where they are laid out.
//!
//! # Models
//! Extents are laid out over the tiers by their addresses and never move.
//!
//! # Leaves out
//! Whatever the workload does.
//!
//! # Sources
//! kim-2014: what a placement that knows the workload is compared with.
//!
//! # Checks
//! Under uniform requests the mean latency is the mean of the tiers', weighted by their shares.

#[cfg(test)]
mod tests;

use super::{Layout, Placement, PlacementFamily};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;

/// Extents stay where they are laid out.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// How extents are laid out.
    #[config(default = "spread", source = "assumed: addresses say nothing of how hot data is")]
    pub layout: Layout,
}

/// This room.
pub const ROOM: Room<PlacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "fixed",
        "extents stay where they are laid out",
        &["kim-2014"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        let homes = config.layout.homes(context.extents());
        Ok(Box::new(Fixed { homes }))
    },
};

#[derive(State)]
struct Fixed {
    #[state(skip = "from the configuration")]
    homes: Vec<u8>,
}

impl Placement for Fixed {
    fn start(&self) -> Vec<u8> {
        self.homes.clone()
    }
}
