//! Reads that may be hedged, and counters of hedges.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::BTreeSet;

/// Scheduled hedges and counters of hedges.
#[derive(State)]
pub(super) struct Hedging {
    #[state(skip = "from the configuration")]
    pub(super) after: Time,
    /// Outstanding reads of blocks from levels that may still be hedged, each with the time of its hedge.
    pub(super) due: BTreeSet<(Time, u32)>,
    pub(super) counts: HedgeCounts,
}

/// Counters of hedges, in requests to devices.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct HedgeCounts {
    /// Number of hedges, i.e. of additional reads sent to the backing.
    pub(super) sent: u64,
    /// Number of hedges that replied first.
    pub(super) won: u64,
    /// Number of reads that a device canceled because the other read had replied.
    pub(super) canceled: u64,
}

impl Hedging {
    pub(super) fn new(after: Time) -> Hedging {
        Hedging { after, due: BTreeSet::new(), counts: HedgeCounts::default() }
    }

    /// Time of the next hedge; [`Time::MAX`] if none is scheduled.
    pub(super) fn next(&self) -> Time {
        self.due.first().map_or(Time::MAX, |&(at, _)| at)
    }

    pub(super) fn clear(&mut self) {
        self.due.clear();
    }

    /// Number of reads that may still be hedged.
    pub(super) fn waiting(&self) -> usize {
        self.due.len()
    }
}
