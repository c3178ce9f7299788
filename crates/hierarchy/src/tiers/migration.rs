//! Extents that change places, chunk by chunk.

use super::Config;
use super::tier::{Place, Tier};
use crate::placement::Exchange;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bandwidth, Breakdown, Data, Device, Op, Recovery, Request, Time};
use std::collections::VecDeque;

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
    /// Chunks that are being written, which a loss of power interrupts; only where bytes are carried.
    held: VecDeque<Held>,
    pub(super) exchanges: u64,
    pub(super) dropped: u64,
    /// Bytes written.
    pub(super) bytes: u64,
}

/// A chunk on its way to its place, in a buffer that survives a loss of power until the place has it.
#[derive(Clone, Debug, Value)]
struct Held {
    place: Place,
    /// Its first byte in the extent.
    from: u64,
    bytes: Vec<u8>,
    /// When the place has it.
    end: Time,
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
            held: VecDeque::new(),
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
        let carries = tiers.iter().all(|tier| tier.device.capabilities().carries_bytes);
        let size = if carries { bytes as usize } else { 0 };
        let mut chunks = [vec![0; size], vec![0; size]];
        let start = self.next;
        let mut read = start;
        for (place, chunk) in active.places.iter().zip(&mut chunks) {
            let request = part(*place, active.upto, bytes, Op::Read, start, shift);
            self.breakdown.clear();
            let data = if carries { Data::Read(chunk) } else { Data::None };
            let device = &mut tiers[place.tier()].device;
            read = read.max(device.submit(start, &request, data, &mut self.breakdown).done);
        }
        let mut written = read;
        let [first, second] = chunks;
        for (place, chunk) in active.places.iter().zip([second, first]) {
            let request = part(*place, active.upto, bytes, Op::Write, read, shift);
            let data = if carries { Data::Write(&chunk) } else { Data::None };
            let end = self.put(&mut *tiers[place.tier()].device, &request, data);
            written = written.max(end);
            if carries {
                self.held.push_back(Held { place: *place, from: active.upto, bytes: chunk, end });
            }
        }
        active.upto += bytes;
        self.bytes += 2 * bytes;
        self.next = written.max(start + self.bandwidth.time_for(2 * bytes));
    }

    /// Writes a chunk into its place; when the place has it for good.
    fn put(&mut self, device: &mut dyn Device, request: &Request, data: Data<'_>) -> Time {
        self.breakdown.clear();
        let written = device.submit(request.arrival, request, data, &mut self.breakdown).done;
        if !device.capabilities().persistence.needs_flush() {
            return written;
        }
        // What the host had flushed where it was is to be as safe where it comes to.
        let flush = Request { arrival: written, op: Op::Flush, bytes: 0, ..*request };
        device.submit(written, &flush, Data::None, &mut self.breakdown).done
    }

    /// The host writes `bytes` from byte `from` of `place` on: a chunk that is on its way there changes with it.
    pub(super) fn overwrite(&mut self, place: Place, from: u64, bytes: &[u8]) {
        for held in self.held.iter_mut().filter(|held| held.place == place) {
            let (start, end) =
                (from.max(held.from), (from + bytes.len() as u64).min(held.from + held.bytes.len() as u64));
            if start < end {
                let new = &bytes[(start - from) as usize..(end - from) as usize];
                held.bytes[(start - held.from) as usize..(end - held.from) as usize].copy_from_slice(new);
            }
        }
    }

    /// No loss of power comes before `to`: chunks that are in their places leave the buffer.
    pub(super) fn settle(&mut self, to: Time) {
        while self.held.front().is_some_and(|held| held.end <= to) {
            self.held.pop_front();
        }
    }

    /// The power fails at `at`: no chunk is being read or written any more.
    pub(super) fn power_fail(&mut self, at: Time) {
        self.settle(at);
        self.next = self.next.min(at);
    }

    /// The tiers are ready again as `recovery` says: chunks that were being written are written again.
    pub(super) fn recover(&mut self, recovery: Recovery, tiers: &mut [Tier], shift: u32) -> Recovery {
        let mut done = recovery.done;
        let mut again = std::mem::take(&mut self.held);
        for held in &mut again {
            let bytes = held.bytes.len() as u64;
            let request = part(held.place, held.from, bytes, Op::Write, recovery.done, shift);
            let device = &mut *tiers[held.place.tier()].device;
            // Until then the power may fail again.
            held.end = self.put(device, &request, Data::Write(&held.bytes));
            done = done.max(held.end);
        }
        self.held = again;
        self.next = self.next.max(done);
        Recovery { done, programs_repeated: recovery.programs_repeated + self.held.len() as u64, ..recovery }
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

/// A request for so many bytes from byte `from` of `place` on.
fn part(place: Place, from: u64, bytes: u64, op: Op, arrival: Time, shift: u32) -> Request {
    let address = (u64::from(place.number()) << shift) + from;
    Request { arrival, address, bytes: bytes as u32, volume: 0, op }
}
