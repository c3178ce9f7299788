//! Fixed placement: extents never move.
//!
//! # Model
//! The address of an extent determines its tier. Extents never move.
//!
//! # Not modeled
//! The workload does not influence the placement.
//!
//! # Sources
//! kim-2014 uses fixed placement as the baseline for placements that depend on the workload.
//!
//! # Checks
//! If requests are uniformly distributed, the mean latency is the mean of the tier latencies, weighted by
//! the number of extents in each tier.

#[cfg(test)]
mod tests;

use super::{Layout, Placement, PlacementFamily};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

/// Extents never move.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Placement of extents.
    #[config(default = "spread", source = "assumed: addresses are unrelated to access frequency")]
    pub layout: Layout,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<PlacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "fixed",
        "extents never move",
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
