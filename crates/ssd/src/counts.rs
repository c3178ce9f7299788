//! Counters that a drive reports.

use nacre_kernel::state::Value;
use nacre_kernel::{HostCounts, Time};

/// Counters of a drive since measurement started.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Counts {
    pub(crate) host: HostCounts,
    pub(crate) buffer_hits: u64,
    pub(crate) unwritten_reads: u64,
    /// Number of units that trims unmapped.
    pub(crate) trimmed: u64,
    pub(crate) partial_writes: u64,
    pub(crate) refused_writes: u64,
    pub(crate) lookups: u64,
    pub(crate) misses: u64,
    pub(crate) recoveries: u64,
    /// Time from restored power until the drive was ready, summed over power losses.
    pub(crate) recovering: Time,
    pub(crate) pages_scanned: u64,
    /// Numbers of programs before measurement started. They are not reported.
    pub(crate) programs_before: Programs,
    /// Number of erases before measurement started. It is not reported.
    pub(crate) erases_before: u64,
}

impl Counts {
    /// Creates counters for a measurement that starts after the given programs and erases.
    pub(crate) fn behind(programs_before: Programs, erases_before: u64) -> Counts {
        Counts { programs_before, erases_before, ..Counts::default() }
    }

    /// Limits the number of host units programmed before measurement to `host`, the number of host units that
    /// are still programmed after a power loss. Some of the canceled programs may have been counted before
    /// measurement started.
    pub(crate) fn forget_taken_back(&mut self, host: u64) {
        self.programs_before.host = self.programs_before.host.min(host);
    }

    /// Returns the counters of recoveries after power losses.
    pub(crate) fn recovery_counters(&self) -> [(&'static str, u64); 3] {
        [
            ("recoveries", self.recoveries),
            ("recovery_ns", self.recovering.as_ps() / 1000),
            ("pages_scanned", self.pages_scanned),
        ]
    }
}

/// Numbers of units programmed since the drive was new, by cause, and related counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Programs {
    pub(crate) host: u64,
    pub(crate) cleaned: u64,
    pub(crate) leveled: u64,
    pub(crate) mapping: u64,
    pub(crate) padding: u64,
    /// Number of parity units, which `on_media` excludes.
    pub(crate) parity: u64,
    /// Number of host units that were overwritten in the write buffer before they were programmed.
    pub(crate) coalesced: u64,
    pub(crate) cleanings: u64,
    pub(crate) levelings: u64,
}

impl Programs {
    /// Returns the number of units that the host wrote.
    pub(crate) fn by_host(&self) -> u64 {
        self.host + self.coalesced
    }

    /// Returns the number of programmed units, excluding parity.
    pub(crate) fn on_media(&self) -> u64 {
        self.host + self.cleaned + self.leveled + self.mapping + self.padding
    }
}
