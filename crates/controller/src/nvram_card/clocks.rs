//! Timings of the memory in clocks, and statistics of a channel.

use nacre_kernel::state::Value;
use nacre_kernel::{Ledger, Time};
use nacre_media::dram::{Kind, Part};

/// Timings of the memory part in clocks, precomputed because every access needs them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// Clock period, in picoseconds.
    ps: u64,
    pub(super) activate_to_access: u64,
    pub(super) precharge: u64,
    pub(super) read_latency: u64,
    pub(super) write_latency: u64,
    /// Data transfer time of a burst, in clocks.
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

/// Counters since measurement started.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Counters {
    /// Activity of the data lines.
    pub(super) lines: Ledger,
    /// Number of accesses to an open row (row hits).
    pub(super) row_hits: u64,
    /// Number of accesses that had to close another row (row conflicts).
    pub(super) row_conflicts: u64,
    /// Numbers of read and write bursts that power losses canceled.
    pub(super) canceled: [u64; 2],
    /// Number of commands before measurement, in the order of [`COUNTED`].
    before: [u64; 5],
}

impl Counters {
    /// Creates counters that start at zero. `before` contains the numbers of earlier commands.
    pub(super) fn from(before: [u64; 5]) -> Counters {
        Counters { before, ..Counters::default() }
    }

    /// Number of commands of each kind in [`COUNTED`] since measurement started. `given` returns the number
    /// of commands of a kind since the start of the run.
    pub(super) fn commands(&self, given: impl Fn(Kind) -> u64) -> [u64; 5] {
        let mut counts = self.before;
        for (count, (kind, _)) in counts.iter_mut().zip(COUNTED) {
            *count = given(kind) - *count;
        }
        counts
    }
}

/// Kinds of commands, with their names in records.
pub(super) const COUNTED: [(Kind, &str); 5] = [
    (Kind::Activate, "activates"),
    (Kind::Read, "bursts_read"),
    (Kind::Write, "bursts_written"),
    (Kind::Precharge, "precharges"),
    (Kind::Refresh, "refreshes"),
];
