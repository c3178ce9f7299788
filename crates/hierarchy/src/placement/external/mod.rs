//! External: a placement that the caller brings, written in another language.
//!
//! # Models
//! Extents lie as `layout` says in the beginning; at the end of every epoch the caller's function sees where they are and
//! how often each was read and written, and names pairs that change places.
//!
//! # Leaves out
//! Nothing. The move itself, with its time and traffic, is the device's.
//!
//! # Sources
//! None: the model is the caller's.
//!
//! # Checks
//! The function of that name decides; a name that nobody brought is the user's error, named with its place.

use super::{Decider, Exchange, Layout, Placement, PlacementFamily, View};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::Time;
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// A placement brought by the caller.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// The name under which the caller brought it.
    pub function: String,
    /// Initial placement of extents.
    #[config(default = "spread", source = "assumed: addresses say nothing of how hot data is")]
    pub layout: Layout,
    /// How long accesses are counted before the function is asked.
    #[config(default = "1 h", min = "1 us", source = "assumed: that of `dynamic`")]
    pub epoch: Time,
}

/// This room.
pub const ROOM: Room<PlacementFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "external",
        "a placement that the caller brings, for example a Python function",
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
    /// The tiers in the beginning.
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
