//! Where rows that are written in place lie, so that all wear alike: one room per scheme.
//!
//! A controller has logical rows, numbered from zero, and a few more physical ones. A scheme maps the
//! first to the second and changes the mapping as rows are written. It moves no data itself: it says which
//! physical row is to be copied where, and the device does it, with the time and wear that costs.

pub mod none;
pub mod start_gap;

use crate::Builder;
use nacre_config::{Families, Family, Problems, Slot, Table, room_of};
use nacre_kernel::Random;

/// The family of wear-levelling schemes for media written in place.
#[derive(Debug)]
pub struct WearLevellingFamily;

impl Family for WearLevellingFamily {
    const NAME: &'static str = "wear_levelling";
    type Built = Box<dyn WearLeveller>;
    type Context<'a> = dyn WearLevellingContext + 'a;
}

/// What a scheme may ask for while it is built.
pub trait WearLevellingContext {
    /// All rooms, to read the slot's configuration with.
    fn families(&self) -> &dyn Families;

    /// Logical rows.
    fn rows(&self) -> u64;

    /// The random stream called `name`.
    fn random(&self, name: &str) -> Random;
}

/// The scheme in `slot`, for `rows` logical rows.
pub fn build(
    slot: &Slot<WearLevellingFamily>,
    rows: u64,
    builder: &mut dyn Builder,
) -> Result<Box<dyn WearLeveller>, Problems> {
    (room_of(ROOMS, slot).build)(slot, &mut Context { rows, builder })
}

/// What a device's builder offers to its scheme.
struct Context<'a> {
    rows: u64,
    builder: &'a mut dyn Builder,
}

impl WearLevellingContext for Context<'_> {
    fn families(&self) -> &dyn Families {
        self.builder.families()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn random(&self, name: &str) -> Random {
        self.builder.random(name)
    }
}

/// The schemes, in the order users see them.
pub static ROOMS: &Table<WearLevellingFamily> = &[none::ROOM, start_gap::ROOM];

/// Where rows lie.
pub trait WearLeveller: Send {
    /// Physical rows it needs.
    fn physical_rows(&self) -> u64;

    /// The physical row that logical row `row` lies in now.
    fn physical(&self, row: u64) -> u64;

    /// The logical row that lies in `physical` now; `None` where none does.
    fn logical(&self, physical: u64) -> Option<u64>;

    /// Logical row `row` was written. What it returns is to be copied; the mapping is already the new one.
    fn written(&mut self, row: u64) -> Option<Move>;
}

/// One row that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The physical row it is read from.
    pub from: u64,
    /// The physical row it is written to.
    pub to: u64,
}
