//! What a drive counts for its report.

use nacre_kernel::state::Value;
use nacre_kernel::{HostCounts, Time};

/// What was done since measuring began.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Book {
    pub(crate) host: HostCounts,
    pub(crate) buffer_hits: u64,
    pub(crate) unwritten_reads: u64,
    /// Units that trims emptied.
    pub(crate) trimmed: u64,
    pub(crate) partial_writes: u64,
    pub(crate) refused_writes: u64,
    pub(crate) lookups: u64,
    pub(crate) misses: u64,
    pub(crate) recoveries: u64,
    /// Time from the return of the power until the drive was ready.
    pub(crate) recovering: Time,
    pub(crate) pages_scanned: u64,
    /// Programs and erases before.
    pub(crate) programs_before: Programs,
    pub(crate) erases_before: u64,
}

impl Book {
    /// Measuring begins behind so many programs and erases.
    pub(crate) fn behind(programs_before: Programs, erases_before: u64) -> Book {
        Book { programs_before, erases_before, ..Book::default() }
    }

    /// Units of the host that were to be programmed never will be, so that only `host` of them are left: some may have come
    /// before measuring began.
    pub(crate) fn forget_taken_back(&mut self, host: u64) {
        self.programs_before.host = self.programs_before.host.min(host);
    }

    /// What power losses took.
    pub(crate) fn recovery_counters(&self) -> [(&'static str, u64); 3] {
        [
            ("recoveries", self.recoveries),
            ("recovery_ns", self.recovering.as_ps() / 1000),
            ("pages_scanned", self.pages_scanned),
        ]
    }
}

/// Units programmed by cause, and what was done, since the first day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Programs {
    pub(crate) host: u64,
    pub(crate) cleaned: u64,
    pub(crate) leveled: u64,
    pub(crate) mapping: u64,
    pub(crate) padding: u64,
    /// Units of the host that changed in the write buffer before they were programmed.
    pub(crate) coalesced: u64,
    pub(crate) cleanings: u64,
    pub(crate) levelings: u64,
}
