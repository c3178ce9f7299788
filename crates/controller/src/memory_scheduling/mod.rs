//! Memory scheduling: the order of accesses, and the number of rows that are opened ahead. One module per
//! scheduler.

pub mod fcfs;
pub mod fr_fcfs;

use nacre_config::{Families, Family, Problems, Slot, Table, model_of};
use nacre_kernel::state::Value;
use nacre_media::dram::Location;

/// The family of schedulers of memory controllers.
#[derive(Debug)]
pub struct MemorySchedulingFamily;

impl Family for MemorySchedulingFamily {
    const NAME: &'static str = "memory_scheduling";
    type Built = Box<dyn MemoryScheduler>;
    type Context<'a> = Controller<'a>;
}

/// Data that the constructor of a scheduler needs.
pub struct Controller<'a> {
    /// All component families, needed to read the configuration of a slot.
    pub families: &'a dyn Families,
}

impl std::fmt::Debug for Controller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a memory controller")
    }
}

/// The schedulers, in documentation order.
pub static MODELS: &Table<MemorySchedulingFamily> = &[fcfs::MODEL, fr_fcfs::MODEL];

/// Builds the scheduler that `slot` describes.
pub fn build(
    slot: &Slot<MemorySchedulingFamily>,
    families: &dyn Families,
) -> Result<Box<dyn MemoryScheduler>, Problems> {
    (model_of(MODELS, slot).build)(slot, &mut Controller { families })
}

/// Neighboring bursts that are read or written together, either in one row or alternating between one row in
/// each of several bank groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Access {
    /// The row, or the row of the first burst.
    pub location: Location,
    /// Number of bank groups that are used alternately.
    pub groups: u32,
    /// Number of bursts.
    pub bursts: u64,
}

/// A scheduler that selects among the accesses of a memory controller: row hits first, then the oldest.
pub trait MemoryScheduler: Send {
    /// Maximum number of accesses that may receive row commands at a time. The result must be at least one.
    /// Meanwhile, the first of these accesses transfers its data.
    fn ahead(&self) -> u32;
}
