//! External: a placement provided by the caller, e.g. a Python function.
//!
//! # Model
//! The setting `layout` selects the initial placement. At the end of every epoch, the caller's function
//! receives the locations of all extents and their numbers of reads and writes. The function returns pairs of
//! extents to exchange.
//!
//! # Not modeled
//! Nothing is left out. The device `tiers` models the time and the traffic of the moves.
//!
//! # Sources
//! None: the caller provides the policy.
//!
//! # Checks
//! The device uses the decisions of the function with the configured name. If no function has this name,
//! Nacre reports an error with the location of the setting.

use super::{Decider, Exchange, Layout, Placement, PlacementFamily, View};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::Time;
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// A placement provided by the caller.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// Name under which the caller registered the function.
    pub function: String,
    /// Initial placement of extents.
    #[config(default = "spread", source = "assumed: addresses are unrelated to access frequency")]
    pub layout: Layout,
    /// Length of an epoch. Accesses are counted during an epoch, and the function is called at its end.
    #[config(default = "1 h", min = "1 us", source = "assumed: the default of `dynamic`")]
    pub epoch: Time,
}

/// The component's descriptor and constructor.
pub const MODEL: Model<PlacementFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "external",
        "a placement provided by the caller, e.g. a Python function",
        &["the caller"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, context| {
        let config: Config = slot.config(context.families());
        let decider = context.external(&format!("{}.function", slot.path()), &config.function)?;
        let homes = config.layout.homes(context.extents());
        Ok(Box::new(External { epoch: config.epoch, homes, decider }))
    },
};

#[derive(State)]
struct External {
    #[state(skip = "from the configuration")]
    epoch: Time,
    /// Initial tier of each extent.
    #[state(skip = "from the configuration")]
    homes: Vec<u8>,
    decider: Box<dyn Decider>,
}

impl Placement for External {
    fn start(&self) -> Vec<u8> {
        self.homes.clone()
    }

    fn epoch(&self) -> Option<Time> {
        Some(self.epoch)
    }

    fn decide(&mut self, view: &View<'_>, moves: &mut Vec<Exchange>) {
        self.decider.decide(view, moves);
    }
}
