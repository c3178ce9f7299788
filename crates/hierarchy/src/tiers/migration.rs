//! Extents that change places, chunk by chunk.

use super::Config;
use super::model::{Place, Tier};
use crate::placement::Exchange;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bandwidth, Breakdown, Op, Request, Time};

/// The exchanges that are to be made, and the one that is under way.
#[derive(State)]
pub(super) struct Migration {
    #[state(skip = "from the configuration")]
    chunk: u64,
    #[state(skip = "from the configuration")]
    extent: u64,
    #[state(skip = "from the configuration")]
    bandwidth: Bandwidth,
    /// The next one last.
    #[state(varies)]
    queue: Vec<Exchange>,
    #[state(varies)]
    active: Option<Active>,
    /// When the next chunk may be read.
    next: Time,
    #[state(skip = "nothing is read from it")]
    breakdown: Breakdown,
    pub(super) exchanges: u64,
    pub(super) dropped: u64,
    /// Bytes written.
    pub(super) bytes: u64,
}

/// Two extents that are changing places.
#[derive(Clone, Copy, Debug, Value)]
struct Active {
    exchange: Exchange,
    /// Where the extent and its partner were.
    places: [Place; 2],
    /// Bytes from the head of both that have changed places.
    upto: u64,
}

impl Migration {
    pub(super) fn new(config: &Config) -> Migration {
        Migration {
            chunk: config.chunk.0.min(config.extent.0),
            extent: config.extent.0,
            bandwidth: config.migration_bandwidth,
            queue: Vec::new(),
            active: None,
            next: Time::ZERO,
            breakdown: Breakdown::new(),
            exchanges: 0,
            dropped: 0,
            bytes: 0,
        }
    }

    pub(super) fn restart_ledger(&mut self) {
        (self.exchanges, self.dropped, self.bytes) = (0, 0, 0);
    }

    /// From `now` on, `exchanges` are to be made instead of those that have not begun.
    pub(super) fn plan(&mut self, exchanges: Vec<Exchange>, now: Time) {
        self.dropped += self.queue.len() as u64;
        self.queue = exchanges;
        self.queue.reverse();
        // The one under way ends first: what it moves cannot be moved once more.
        if let Some(Active { exchange, .. }) = self.active {
            let busy = |e: u32| e == exchange.extent || e == exchange.partner;
            self.queue.retain(|planned| !busy(planned.extent) && !busy(planned.partner));
        }
        self.next = self.next.max(now);
    }

    /// Whether a chunk is to be exchanged up to `now`.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.next <= now && (self.active.is_some() || !self.queue.is_empty())
    }

    /// Exchanges the chunks that are due up to `now`.
    pub(super) fn run(&mut self, now: Time, tiers: &mut [Tier], places: &mut [Place], shift: u32) {
        while self.is_due(now) {
            let mut active = match self.active.take() {
                Some(active) => active,
                None => {
                    let exchange = self.queue.pop().expect("an exchange is due");
                    let of = [exchange.extent, exchange.partner].map(|extent| places[extent as usize]);
                    Active { exchange, places: of, upto: 0 }
                }
            };
            self.exchange_chunk(&mut active, tiers, shift);
            if active.upto < self.extent {
                self.active = Some(active);
                continue;
            }
            places.swap(active.exchange.extent as usize, active.exchange.partner as usize);
            self.exchanges += 1;
        }
    }

    /// Reads a chunk of both, writes each where the other was, and says when the next may follow.
    fn exchange_chunk(&mut self, active: &mut Active, tiers: &mut [Tier], shift: u32) {
        let bytes = self.chunk.min(self.extent - active.upto);
        let mut ask = |op: Op, place: Place, now: Time| {
            let address = (u64::from(place.number()) << shift) + active.upto;
            let request = Request { arrival: now, address, bytes: bytes as u32, volume: 0, op };
            self.breakdown.clear();
            tiers[place.tier()].device.submit(now, &request, &mut self.breakdown).done
        };
        let start = self.next;
        let read = active.places.map(|place| ask(Op::Read, place, start)).into_iter().fold(start, Time::max);
        let written =
            active.places.map(|place| ask(Op::Write, place, read)).into_iter().fold(read, Time::max);
        active.upto += bytes;
        self.bytes += 2 * bytes;
        self.next = written.max(start + self.bandwidth.time_for(2 * bytes));
    }

    /// Where the parts of `extent` are between `from` and `to`, if it is under way: from which byte on it is
    /// behind, the place before that byte, and the place behind it.
    #[inline]
    pub(super) fn split(&self, extent: u32, from: u64, to: u64) -> Option<(u64, Place, Place)> {
        let Active { exchange, places: [mine, partners], upto } = self.active.as_ref()?;
        let at = (*upto).clamp(from, to);
        if extent == exchange.extent {
            Some((at, *partners, *mine))
        } else if extent == exchange.partner {
            Some((at, *mine, *partners))
        } else {
            None
        }
    }
}
