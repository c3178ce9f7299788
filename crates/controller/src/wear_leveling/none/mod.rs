//! No wear leveling: every row stays at its location.
//!
//! # Model
//! Every logical row is stored in the physical row with the same number.
//!
//! # Not modeled
//! Nothing is left out.
//!
//! # Sources
//! qureshi-2009 uses a memory without wear leveling as a baseline.
//!
//! # Checks
//! The mapping of rows is always the identity.

use super::{Intervals, Move, WearLevelingFamily, WearLeveller, Written};
use nacre_config::{Configuration, Descriptor, Model};
use nacre_kernel::state::State;

#[cfg(test)]
mod tests;

/// This scheme has no parameters.
#[derive(Clone, Debug, Configuration)]
pub struct Config {}

/// The component's descriptor and constructor.
pub const MODEL: Model<WearLevelingFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "none",
        "every row stays at its location",
        &["qureshi-2009"],
        1,
        include_str!("mod.rs"),
    ),
    build: |_slot, context| Ok(Box::new(Unleveled { rows: context.rows() })),
};

#[derive(State)]
struct Unleveled {
    #[state(same)]
    rows: u64,
}

impl WearLeveller for Unleveled {
    fn physical_rows(&self) -> u64 {
        self.rows
    }

    fn physical(&self, row: u64) -> u64 {
        row
    }

    fn logical(&self, physical: u64) -> Option<u64> {
        Some(physical)
    }

    fn written(&mut self, _row: u64) -> Option<Move> {
        None
    }

    fn written_often(&mut self, _row: u64, most: u64) -> Written {
        Written { writes: most, moves: 0, to: 0, first: 0, every: 1 }
    }

    fn interval(&self) -> Option<Intervals> {
        None
    }
}
