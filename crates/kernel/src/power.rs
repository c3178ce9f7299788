//! Recovery of devices after a power loss.

use crate::state::Value;
use crate::time::Time;

/// Outcome of the recovery of a device and its children after a power loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub struct Recovery {
    /// Time from which the device is ready.
    pub done: Time,
    /// Number of interrupted programs that are repeated.
    pub programs_repeated: u64,
    /// Number of interrupted erases that are repeated.
    pub erases_repeated: u64,
    /// Whether garbage collection was in progress and continues.
    pub is_cleaning: bool,
    /// Number of pages that an open transaction had changed and that are rolled back.
    pub pages_rolled_back: u64,
    /// Number of programs of buffered writes that were completed with the energy of capacitors.
    pub programs_finished: u64,
    /// Number of programs of acknowledged writes for which the energy of capacitors was insufficient.
    pub programs_lost: u64,
    /// Number of lost bytes of acknowledged writes.
    pub bytes_lost: u64,
    /// Number of pages whose data was damaged by interrupted programs of other pages.
    pub pages_damaged: u64,
    /// Number of pages read to rebuild the mapping.
    pub pages_scanned: u64,
    /// Number of blocks that a cache lost in the power loss.
    pub blocks_forgotten: u64,
}

impl Recovery {
    /// Combines the outcomes of two devices that recover in parallel.
    pub fn in_parallel_with(self, other: Recovery) -> Recovery {
        Recovery {
            done: self.done.max(other.done),
            programs_repeated: self.programs_repeated + other.programs_repeated,
            erases_repeated: self.erases_repeated + other.erases_repeated,
            is_cleaning: self.is_cleaning | other.is_cleaning,
            pages_rolled_back: self.pages_rolled_back + other.pages_rolled_back,
            programs_finished: self.programs_finished + other.programs_finished,
            programs_lost: self.programs_lost + other.programs_lost,
            bytes_lost: self.bytes_lost + other.bytes_lost,
            pages_damaged: self.pages_damaged + other.pages_damaged,
            pages_scanned: self.pages_scanned + other.pages_scanned,
            blocks_forgotten: self.blocks_forgotten + other.blocks_forgotten,
        }
    }
}
