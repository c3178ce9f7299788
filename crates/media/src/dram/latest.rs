//! The latest read or the latest write.

use super::holds::NEVER_BINDS;
use nacre_kernel::state::Value;

/// Clock of the latest command, and clock of the latest command in any other rank.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Latest {
    rank: usize,
    clock: i64,
    before: i64,
}

impl Latest {
    /// State before the first command.
    pub(super) const NONE: Latest = Latest { rank: 0, clock: NEVER_BINDS, before: NEVER_BINDS };

    /// Clock of the latest command outside `rank`.
    #[inline]
    pub(super) fn in_others(&self, rank: usize) -> i64 {
        if self.rank == rank { self.before } else { self.clock }
    }

    #[inline]
    pub(super) fn note(&mut self, rank: usize, clock: i64) {
        if self.rank == rank {
            self.clock = self.clock.max(clock);
        } else if clock > self.clock {
            *self = Latest { rank, clock, before: self.clock };
        } else {
            self.before = self.before.max(clock);
        }
    }
}
