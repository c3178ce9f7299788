//! What a channel knows of a bank.

use super::command::Place;
use super::holds::{Earliest, NEVER_BINDS};
use super::part::Part;
use nacre_kernel::state::Value;

/// No row is open.
const CLOSED: u32 = u32::MAX;

/// A bank: its open row, and from when on commands to it are allowed.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Bank {
    /// By kinds of commands.
    pub(super) earliest: Earliest,
    /// The last read or write.
    pub(super) accessed: i64,
    open: u32,
    /// The row that was closed last by its own command.
    passed: Passed,
}

/// A row that was open, until the command that closed it: what it may still be accessed before.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Passed {
    row: u32,
    /// From when on it may be read or written, and the last time that it was.
    pub(super) earliest: Earliest,
    pub(super) accessed: i64,
    /// When it is closed.
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

    /// The open row is closed by a command at `clock`, which may lie ahead.
    #[inline]
    pub(super) fn pass(&mut self, clock: i64) {
        self.passed =
            Passed { row: self.open, earliest: self.earliest, accessed: self.accessed, until: clock };
    }

    /// What is known of `row`, if it is the one that was closed last.
    #[inline]
    pub(super) fn passed(&mut self, row: u32) -> Option<&mut Passed> {
        Some(&mut self.passed).filter(|passed| passed.row == row)
    }
}

/// A place by the numbers that its rank, its group and its bank have in their channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) rank: usize,
    pub(super) group: usize,
    pub(super) bank: usize,
    /// The group among those of its rank.
    pub(super) group_in_rank: u32,
}

/// Banks of a group, and groups of a rank, as shifts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifts {
    banks: u32,
    groups: u32,
}

impl Shifts {
    /// Of a `part`.
    ///
    /// # Panics
    /// If its banks or groups are no power of two.
    pub(super) fn of(part: &Part) -> Shifts {
        let shift = |count: u32| {
            assert!(count.is_power_of_two(), "banks and groups come in powers of two, not {count}");
            count.trailing_zeros()
        };
        Shifts { banks: shift(part.banks), groups: shift(part.groups) }
    }

    /// Where `place` is.
    #[inline]
    pub(super) fn spot(self, place: Place) -> Spot {
        let group_in_rank = place.bank >> self.banks;
        Spot {
            rank: place.rank as usize,
            group: ((place.rank << self.groups) | group_in_rank) as usize,
            bank: ((place.rank << (self.banks + self.groups)) | place.bank) as usize,
            group_in_rank,
        }
    }
}
