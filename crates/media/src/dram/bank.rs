//! State of a bank in a channel.

use super::command::Location;
use super::holds::{Earliest, NEVER_BINDS};
use super::part::Part;
use nacre_kernel::state::Value;

/// Marks a closed row.
const CLOSED: u32 = u32::MAX;

/// A bank with its open row, and the earliest clocks of commands.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Bank {
    /// Earliest clocks by kind of command.
    pub(super) earliest: Earliest,
    /// Clock of the last read or write.
    pub(super) accessed: i64,
    open: u32,
    /// The row of this bank that a precharge command closed last.
    passed: Passed,
}

/// A closed row. Until the clock at which it is closed, accesses to it may still be inserted.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Passed {
    row: u32,
    /// Earliest clock of an access, by kind of command.
    pub(super) earliest: Earliest,
    /// Clock of the last access.
    pub(super) accessed: i64,
    /// Clock at which the row is closed.
    pub(super) until: i64,
}

impl Default for Bank {
    fn default() -> Bank {
        let passed =
            Passed { row: CLOSED, earliest: Earliest::default(), accessed: NEVER_BINDS, until: NEVER_BINDS };
        Bank { earliest: Earliest::default(), accessed: NEVER_BINDS, open: CLOSED, passed }
    }
}

impl Bank {
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open != CLOSED
    }

    #[inline]
    pub(super) fn open_row(&self) -> Option<u32> {
        self.is_open().then_some(self.open)
    }

    #[inline]
    pub(super) fn open(&mut self, row: u32) {
        self.open = row;
    }

    #[inline]
    pub(super) fn close(&mut self) {
        self.open = CLOSED;
    }

    /// Closes the open row with a command at `clock`, which may be in the future.
    #[inline]
    pub(super) fn pass(&mut self, clock: i64) {
        self.passed =
            Passed { row: self.open, earliest: self.earliest, accessed: self.accessed, until: clock };
    }

    /// State of `row`, if it was the last closed row.
    #[inline]
    pub(super) fn passed(&mut self, row: u32) -> Option<&mut Passed> {
        Some(&mut self.passed).filter(|passed| passed.row == row)
    }
}

/// Numbers of the rank, the group, and the bank of a location, counted within the channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) rank: usize,
    pub(super) group: usize,
    pub(super) bank: usize,
    /// Number of the group within its rank.
    pub(super) group_in_rank: u32,
}

/// Number of banks per group and of groups per rank, as shifts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifts {
    banks: u32,
    groups: u32,
}

impl Shifts {
    /// Shifts for a `part`.
    ///
    /// # Panics
    ///
    /// If the number of banks or groups is not a power of two.
    pub(super) fn of(part: &Part) -> Shifts {
        let shift = |count: u32| {
            assert!(count.is_power_of_two(), "banks and groups come in powers of two, not {count}");
            count.trailing_zeros()
        };
        Shifts { banks: shift(part.banks), groups: shift(part.groups) }
    }

    /// The rank, group, and bank numbers of `location`.
    #[inline]
    pub(super) fn spot(self, location: Location) -> Spot {
        let group_in_rank = location.bank >> self.banks;
        Spot {
            rank: location.rank as usize,
            group: ((location.rank << self.groups) | group_in_rank) as usize,
            bank: ((location.rank << (self.banks + self.groups)) | location.bank) as usize,
            group_in_rank,
        }
    }
}
