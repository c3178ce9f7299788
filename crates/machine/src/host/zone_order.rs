//! The order of the writes of each zone, of which one is in progress.

use nacre_kernel::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Zones with a write in progress, and the writes that wait for it.
#[derive(Debug, Default, State)]
pub(super) struct ZoneOrder {
    /// First bytes of the zones with a write in progress.
    busy: BTreeSet<u64>,
    /// Numbers of waiting requests, by zone and arrival.
    held: BTreeMap<(u64, u64), u32>,
    arrivals: u64,
}

impl ZoneOrder {
    /// Requests that wait.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether request `number` may write `zone` now. Otherwise it waits until [`ZoneOrder::next`] returns it.
    pub(super) fn admit(&mut self, zone: u64, number: u32) -> bool {
        let is_free = self.busy.insert(zone);
        if !is_free {
            self.held.insert((zone, self.arrivals), number);
            self.arrivals += 1;
        }
        is_free
    }

    /// A write of `zone` has ended; returns the next one.
    pub(super) fn next(&mut self, zone: u64) -> Option<u32> {
        let next = self.held.range((zone, 0)..=(zone, u64::MAX)).next().map(|(&key, _)| key);
        if next.is_none() {
            self.busy.remove(&zone);
        }
        self.held.remove(&next?)
    }
}
