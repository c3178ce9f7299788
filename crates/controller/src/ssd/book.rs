//! What a drive counts for its report.

use super::array::Programs;
use nacre_kernel::state::Value;
use nacre_kernel::{HostCounts, Time};

/// What was done since measuring began.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Book {
    pub(super) host: HostCounts,
    pub(super) buffer_hits: u64,
    pub(super) unwritten_reads: u64,
    /// Units that trims emptied.
    pub(super) trimmed: u64,
    pub(super) partial_writes: u64,
    pub(super) refused_writes: u64,
    pub(super) lookups: u64,
    pub(super) misses: u64,
    pub(super) recoveries: u64,
    /// Time from the return of the power until the drive was ready.
    pub(super) recovering: Time,
    pub(super) pages_scanned: u64,
    /// Programs and erases before.
    pub(super) programs_before: Programs,
    pub(super) erases_before: u64,
}

impl Book {
    /// Measuring begins behind so many programs and erases.
    pub(super) fn behind(programs_before: Programs, erases_before: u64) -> Book {
        Book { programs_before, erases_before, ..Book::default() }
    }

    /// Units of the host that were to be programmed never will be, so that only `host` of them are left: some may have come
    /// before measuring began.
    pub(super) fn forget_taken_back(&mut self, host: u64) {
        self.programs_before.host = self.programs_before.host.min(host);
    }

    /// What losses of power took.
    pub(super) fn recovery_counters(&self) -> [(&'static str, u64); 3] {
        [
            ("recoveries", self.recoveries),
            ("recovery_ns", self.recovering.as_ps() / 1000),
            ("pages_scanned", self.pages_scanned),
        ]
    }
}
