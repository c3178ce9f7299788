//! Spans of the memory in clocks, and what a channel did.

use nacre_kernel::state::Value;
use nacre_kernel::{Ledger, Time};
use nacre_media::dram::{Kind, Part};

/// Spans of the part in clocks, for they are wanted at every access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// Of a clock.
    ps: u64,
    pub(super) activate_to_access: u64,
    pub(super) precharge: u64,
    pub(super) read_latency: u64,
    pub(super) write_latency: u64,
    /// Of the data of a burst.
    pub(super) data: u64,
}

impl Clocks {
    pub(super) fn of(part: &Part) -> Clocks {
        Clocks {
            ps: part.clock.as_ps(),
            activate_to_access: part.constraint(part.activate_to_access),
            precharge: part.constraint(part.precharge),
            read_latency: part.read_latency,
            write_latency: part.write_latency,
            data: part.burst / 2,
        }
    }

    #[inline]
    pub(super) fn time(&self, clocks: u64) -> Time {
        Time::from_ps(clocks * self.ps)
    }
}

/// What was done since measuring began.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Book {
    /// Of the data lines.
    pub(super) lines: Ledger,
    /// Accesses that found their row open.
    pub(super) row_hits: u64,
    /// Accesses that had to close another row.
    pub(super) row_conflicts: u64,
    /// Bursts read and written that a power loss canceled.
    pub(super) canceled: [u64; 2],
    /// Commands before, in the order of [`COUNTED`].
    before: [u64; 5],
}

impl Book {
    /// Counts begin, with as many commands given before.
    pub(super) fn from(before: [u64; 5]) -> Book {
        Book { before, ..Book::default() }
    }

    /// Commands of each kind of [`COUNTED`] since measuring began, of which `given` says how many there were.
    pub(super) fn commands(&self, given: impl Fn(Kind) -> u64) -> [u64; 5] {
        let mut counts = self.before;
        for (count, (kind, _)) in counts.iter_mut().zip(COUNTED) {
            *count = given(kind) - *count;
        }
        counts
    }
}

/// Kinds of commands, and what they are called in records.
pub(super) const COUNTED: [(Kind, &str); 5] = [
    (Kind::Activate, "activates"),
    (Kind::Read, "bursts_read"),
    (Kind::Write, "bursts_written"),
    (Kind::Precharge, "precharges"),
    (Kind::Refresh, "refreshes"),
];
