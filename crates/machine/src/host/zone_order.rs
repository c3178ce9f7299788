//! Order of the writes to each zone. At most one write per zone is in progress.

use nacre_kernel::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Zones with a write in progress, and the requests that wait for such a write.
#[derive(Debug, Default, State)]
pub(super) struct ZoneOrder {
    /// First bytes of the zones with a write in progress.
    busy: BTreeSet<u64>,
    /// Numbers of waiting requests, by zone and arrival.
    held: BTreeMap<(u64, u64), u32>,
    arrivals: u64,
}

impl ZoneOrder {
    /// Returns the number of waiting requests.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns whether request `number` may write `zone` now. If not, the request waits until
    /// [`ZoneOrder::next`] returns it.
    pub(super) fn admit(&mut self, zone: u64, number: u32) -> bool {
        let is_free = self.busy.insert(zone);
        if !is_free {
            self.held.insert((zone, self.arrivals), number);
            self.arrivals += 1;
        }
        is_free
    }

    /// Records that a write of `zone` has ended. Returns the request that may write `zone` next, if any.
    pub(super) fn next(&mut self, zone: u64) -> Option<u32> {
        let next = self.held.range((zone, 0)..=(zone, u64::MAX)).next().map(|(&key, _)| key);
        if next.is_none() {
            self.busy.remove(&zone);
        }
        self.held.remove(&next?)
    }
}
