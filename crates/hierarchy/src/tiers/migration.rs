//! Extents that change places, chunk by chunk.

use super::Config;
use super::buffer::{Buffer, Chunk};
use super::tier::{Place, Tier};
use crate::placement::Exchange;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bandwidth, Breakdown, Data, Op, Recovery, Status, Time};

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
    /// Exchanges that a tier ended in their midst, and that stay as they are.
    #[state(varies)]
    ended: Vec<Active>,
    /// A tier refused a chunk: nothing moves any more.
    is_over: bool,
    /// When the next chunk may be read.
    next: Time,
    #[state(skip = "nothing is read from it")]
    breakdown: Breakdown,
    pub(super) buffer: Buffer,
    pub(super) exchanges: u64,
    pub(super) dropped: u64,
    /// Exchanges that a tier ended.
    pub(super) failed: u64,
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

/// How far the exchange of a chunk came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Exchanged,
    /// A tier could not return it: both extents are as they were.
    Unreadable,
    /// A tier refused it: it was exchanged, and stays in the buffer.
    Refused,
}

impl Migration {
    pub(super) fn new(config: &Config) -> Migration {
        Migration {
            chunk: config.chunk.0.min(config.extent.0),
            extent: config.extent.0,
            bandwidth: config.migration_bandwidth,
            queue: Vec::new(),
            active: None,
            ended: Vec::new(),
            is_over: false,
            next: Time::ZERO,
            breakdown: Breakdown::new(),
            buffer: Buffer::default(),
            exchanges: 0,
            dropped: 0,
            failed: 0,
            bytes: 0,
        }
    }

    pub(super) fn restart_ledger(&mut self) {
        (self.exchanges, self.dropped, self.failed, self.bytes) = (0, 0, 0, 0);
    }

    /// From `now` on, `exchanges` are to be made instead of those that have not begun.
    pub(super) fn plan(&mut self, exchanges: Vec<Exchange>, now: Time) {
        self.dropped += self.queue.len() as u64;
        self.queue = exchanges;
        self.queue.reverse();
        // The one under way ends first: what it moves cannot be moved once more. Nor can what stands half moved.
        let Migration { queue, active, ended, .. } = self;
        for Active { exchange, .. } in active.iter().chain(&*ended) {
            let busy = |e: u32| e == exchange.extent || e == exchange.partner;
            queue.retain(|planned| !busy(planned.extent) && !busy(planned.partner));
        }
        if self.is_over {
            self.dropped += self.queue.len() as u64;
            self.queue.clear();
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
            let outcome = self.exchange_chunk(&mut active, tiers, shift);
            if outcome != Outcome::Exchanged {
                self.failed += 1;
            }
            if outcome == Outcome::Refused {
                self.is_over = true;
                self.dropped += self.queue.len() as u64;
                self.queue.clear();
            }
            if active.upto == self.extent {
                places.swap(active.exchange.extent as usize, active.exchange.partner as usize);
                self.exchanges += 1;
            } else if outcome == Outcome::Exchanged {
                self.active = Some(active);
            } else if active.upto > 0 {
                self.ended.push(active);
            }
        }
    }

    /// Reads a chunk of both, writes each where the other was, and says when the next may follow.
    fn exchange_chunk(&mut self, active: &mut Active, tiers: &mut [Tier], shift: u32) -> Outcome {
        let length = self.chunk.min(self.extent - active.upto);
        let carries = tiers.iter().all(|tier| tier.device.capabilities().carries_bytes);
        let start = self.next;
        let mut read = start;
        let chunk = |place| {
            let bytes = vec![0; if carries { length as usize } else { 0 }];
            Chunk { place, from: active.upto, length, bytes, end: Time::ZERO }
        };
        let mut chunks = active.places.map(chunk);
        let mut are_read = true;
        for chunk in &mut chunks {
            let request = chunk.request(Op::Read, start, shift);
            self.breakdown.clear();
            let data = if carries { Data::Read(&mut chunk.bytes) } else { Data::None };
            let device = &mut tiers[chunk.place.tier()].device;
            let done = device.submit(start, &request, data, &mut self.breakdown);
            read = read.max(done.done);
            are_read &= done.status == Status::Done;
        }
        if !are_read {
            self.next = read;
            return Outcome::Unreadable;
        }
        let [mut first, mut second] = chunks;
        std::mem::swap(&mut first.bytes, &mut second.bytes);
        let put = [first, second].map(|chunk| self.buffer.put(chunk, read, tiers, shift));
        let written = put.iter().map(|put| put.done).fold(read, Time::max);
        active.upto += length;
        self.bytes += 2 * length;
        self.next = written.max(start + self.bandwidth.time_for(2 * length));
        let is_taken = put.iter().all(|put| put.status == Status::Done);
        if is_taken { Outcome::Exchanged } else { Outcome::Refused }
    }

    /// The power fails at `at`: no chunk is being read or written any more.
    pub(super) fn power_fail(&mut self, at: Time) {
        self.buffer.settle(at);
        self.next = self.next.min(at);
    }

    /// The tiers are ready again as `recovery` says: chunks that were being written are written again.
    pub(super) fn recover(&mut self, recovery: Recovery, tiers: &mut [Tier], shift: u32) -> Recovery {
        let (done, again) = self.buffer.recover(recovery.done, tiers, shift);
        self.is_over |= self.buffer.keeps_any();
        self.next = self.next.max(done);
        Recovery { done, programs_repeated: recovery.programs_repeated + again, ..recovery }
    }

    /// Where the parts of `extent` are between `from` and `to`, if it is under way or stands half moved: from
    /// which byte on it is behind, the place before that byte, and the place behind it.
    #[inline]
    pub(super) fn split(&self, extent: u32, from: u64, to: u64) -> Option<(u64, Place, Place)> {
        self.active.iter().chain(&self.ended).find_map(|active| {
            let Active { exchange, places: [mine, partners], upto } = active;
            let at = (*upto).clamp(from, to);
            if extent == exchange.extent {
                Some((at, *partners, *mine))
            } else if extent == exchange.partner {
                Some((at, *mine, *partners))
            } else {
                None
            }
        })
    }
}
