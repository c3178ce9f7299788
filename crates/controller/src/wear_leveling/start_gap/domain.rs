//! State of one domain.

use super::super::Move;
use nacre_kernel::state::Value;

/// Rows that rotate past one gap.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Domain {
    pub(super) start: u64,
    pub(super) gap: u64,
    /// Writes since the last move of the gap.
    pub(super) writes: u64,
    /// Current number of writes between two moves.
    pub(super) interval: u64,
}

impl Domain {
    #[inline]
    pub(super) fn physical(&self, row: u64, rows: u64) -> u64 {
        // Both summands are below `rows`, so one subtraction gives the remainder.
        let rotated = row + self.start;
        let rotated = if rotated >= rows { rotated - rows } else { rotated };
        rotated + u64::from(rotated >= self.gap)
    }

    pub(super) fn logical(&self, physical: u64, rows: u64) -> Option<u64> {
        if physical == self.gap {
            return None;
        }
        let rotated = physical - u64::from(physical > self.gap);
        Some(if rotated >= self.start { rotated - self.start } else { rotated + rows - self.start })
    }

    /// Moves the row before the gap into the gap, and returns this move. If the gap is at position 0, the
    /// last row moves.
    #[inline]
    pub(super) fn move_gap(&mut self, rows: u64) -> Move {
        let to = self.gap;
        if self.gap == 0 {
            self.gap = rows;
            self.start = if self.start + 1 == rows { 0 } else { self.start + 1 };
        } else {
            self.gap -= 1;
        }
        Move { from: self.gap, to }
    }

    /// Number of moves until the gap passes `physical` or reaches position 0. If the gap is at position 0,
    /// the result is 1, for a move in which the gap wraps around.
    pub(super) fn moves_in_line(&self, physical: u64) -> u64 {
        match self.gap {
            0 => 1,
            gap if physical < gap => gap - physical,
            gap => gap,
        }
    }

    /// Moves the gap `moves` times, like repeated calls of [`Domain::move_gap`]. Only a single move may wrap
    /// around.
    pub(super) fn move_gap_by(&mut self, moves: u64, rows: u64) {
        if moves > 0 && self.gap == 0 {
            self.move_gap(rows);
        } else {
            self.gap -= moves;
        }
    }
}
