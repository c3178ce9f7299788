//! Settings of garbage collection.

use nacre_config::{Configuration, Slot};
use nacre_controller::cleaning::CleaningFamily;

/// Garbage collection: when it runs, which victim it chooses, and static wear leveling.
#[derive(Clone, Debug, Configuration)]
#[config(short = "policy")]
pub struct GarbageCollection {
    /// Policy that selects the victim.
    #[config(default = "greedy", source = "assumed: the usual default of SSD simulators")]
    pub policy: Slot<CleaningFamily>,
    /// Number of erased superblocks below which garbage collection starts.
    #[config(
        default = 4,
        min = 4,
        max = 4096,
        source = "assumed: one each for the host, garbage collection, and wear leveling, and one spare"
    )]
    pub reserve: u32,
    /// Number of erased superblocks that garbage collection adds to `reserve` while the host is idle. A
    /// request stops this garbage collection. By default, garbage collection does not run while the
    /// host is idle.
    #[config(min = 1, max = 1048576)]
    pub idle_reserve: Option<u32>,
    /// Difference in erases above which cold data moves to worn superblocks (static wear leveling). By
    /// default, data never moves for this reason.
    #[config(min = 1, max = 4294967295)]
    pub wear_spread: Option<u32>,
}
