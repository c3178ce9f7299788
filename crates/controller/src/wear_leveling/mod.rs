//! Wear leveling for media that are written in place, one module per scheme.
//!
//! A controller has logical rows, numbered from zero, and slightly more physical rows. A scheme maps logical
//! to physical rows and changes the mapping as rows are written. A scheme does not move data. It returns the
//! rows to copy, and the device copies them, which costs time and wear.

pub mod none;
pub mod start_gap;

use nacre_config::{Families, Family, Problems, Slot, Table, model_of};
use nacre_device::Builder;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Random, Streams};

/// The family of wear-leveling schemes for media written in place.
#[derive(Debug)]
pub struct WearLevelingFamily;

impl Family for WearLevelingFamily {
    const NAME: &'static str = "wear_leveling";
    type Built = Box<dyn WearLeveller>;
    type Context<'a> = dyn WearLevelingContext + 'a;
}

/// Services that the constructor of a scheme can use.
pub trait WearLevelingContext {
    /// All component families, needed to read the configuration of a slot.
    fn families(&self) -> &dyn Families;

    /// Number of logical rows.
    fn rows(&self) -> u64;

    /// Endurance of a row in programs.
    fn endurance(&self) -> u64;

    /// Random stream with this name.
    fn random(&self, name: &str) -> Random;
}

/// The rows that a scheme maps.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Index of the region within the device.
    pub number: u32,
    /// Number of logical rows.
    pub rows: u64,
    /// Rated number of programs of a row.
    pub endurance: u64,
}

/// Builds the scheme that `slot` describes, for the rows of `region`.
pub fn build(
    slot: &Slot<WearLevelingFamily>,
    region: Region,
    builder: &mut dyn Builder,
) -> Result<Box<dyn WearLeveller>, Problems> {
    (model_of(MODELS, slot).build)(slot, &mut Context { region, builder })
}

/// Number of physical rows that the scheme in `slot` needs for the rows of `region`. Returns the same errors
/// as [`build`].
pub fn physical_rows(
    slot: &Slot<WearLevelingFamily>,
    region: Region,
    families: &dyn Families,
) -> Result<u64, Problems> {
    let built = (model_of(MODELS, slot).build)(slot, &mut Question { region, families })?;
    Ok(built.physical_rows())
}

/// Context for capacity checks only. Its random numbers are arbitrary.
struct Question<'a> {
    region: Region,
    families: &'a dyn Families,
}

impl WearLevelingContext for Question<'_> {
    fn families(&self) -> &dyn Families {
        self.families
    }

    fn rows(&self) -> u64 {
        self.region.rows
    }

    fn endurance(&self) -> u64 {
        self.region.endurance
    }

    fn random(&self, name: &str) -> Random {
        Streams::new(0).stream(name)
    }
}

/// Construction context of a scheme, which forwards calls to the device's builder.
struct Context<'a> {
    region: Region,
    builder: &'a mut dyn Builder,
}

impl WearLevelingContext for Context<'_> {
    fn families(&self) -> &dyn Families {
        self.builder.families()
    }

    fn rows(&self) -> u64 {
        self.region.rows
    }

    fn endurance(&self) -> u64 {
        self.region.endurance
    }

    fn random(&self, name: &str) -> Random {
        self.builder.random(&format!("{name}.{}", self.region.number))
    }
}

/// The schemes, in documentation order.
pub static MODELS: &Table<WearLevelingFamily> = &[none::MODEL, start_gap::MODEL];

/// A wear-leveling scheme for rows.
pub trait WearLeveller: State + Send {
    /// Number of physical rows that the scheme needs.
    fn physical_rows(&self) -> u64;

    /// The current physical row of logical row `row`.
    fn physical(&self, row: u64) -> u64;

    /// The logical row in `physical`, or `None` if it is unused.
    fn logical(&self, physical: u64) -> Option<u64>;

    /// Records a write to logical row `row`. Returns the row that the device must copy, if any. The mapping
    /// already includes this move.
    fn written(&mut self, row: u64) -> Option<Move>;

    /// Records at least one and at most `most` writes to `row`, like repeated calls of
    /// [`WearLeveller::written`]. Stops after a write that moves `row`, or before a copy whose destination
    /// is not the row before the previous destination.
    fn written_often(&mut self, row: u64, most: u64) -> Written;

    /// Current number of writes between two moves, or `None` if the scheme moves no rows.
    fn interval(&self) -> Option<Intervals>;
}

/// One row to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Move {
    /// The physical row to read from.
    pub from: u64,
    /// The physical row to write to.
    pub to: u64,
}

/// Result of several writes to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Number of writes.
    pub writes: u64,
    /// Number of copies. The first copy is into `to`, the next one into the preceding row, and so on.
    pub moves: u64,
    /// Physical destination of the first copy.
    pub to: u64,
    /// Number of writes up to the first copy.
    pub first: u64,
    /// Number of writes from one copy to the next.
    pub every: u64,
}

/// Intervals between moves across all independent domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Minimum number of writes between two moves.
    pub shortest: u64,
    /// Maximum number of writes between two moves.
    pub longest: u64,
}
