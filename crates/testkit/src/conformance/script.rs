//! Random requests to a device, and a check of every completion.

use super::Outstanding;
use super::bytes::Contents;
use crate::requests::{UNLIMITED_BYTES, any_request, in_zone};
use nacre_kernel::event::{Canceled, Completions, Device, Payload, RequestId};
use nacre_kernel::{ComponentReport, Op, Random, Span, Status, Streams, Time};

/// Maximum number of events that may follow the last request.
const EVENTS_MAX: u64 = 10_000_000;

/// Submits random requests to one device.
#[derive(Clone)]
pub(super) struct Script {
    random: Random,
    size: u64,
    carries_bytes: bool,
    /// Time up to which the device was run.
    pub(super) now: Time,
    outstanding: Vec<Outstanding>,
    free: Vec<u32>,
    ids: u32,
    numbers: u64,
    completed: Vec<Completed>,
    contents: Contents,
}

/// A completed request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Completed {
    number: u64,
    at: Time,
    status: Status,
    spans: Vec<Span>,
    data: Payload,
}

/// Observations of a whole run, for comparison with other runs.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    completed: Vec<Completed>,
    report: ComponentReport,
    drained: Time,
}

impl Script {
    pub(super) fn new(device: &dyn Device, seed: u64) -> Script {
        Script {
            random: Streams::new(seed).stream("conformance"),
            size: device.capacity().map_or(UNLIMITED_BYTES, |capacity| capacity.0),
            carries_bytes: device.capabilities().carries_bytes,
            now: Time::ZERO,
            outstanding: Vec::new(),
            free: Vec::new(),
            ids: 0,
            numbers: 0,
            completed: Vec::new(),
            contents: Contents::default(),
        }
    }

    pub(super) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    pub(super) fn completed(&self) -> &[Completed] {
        &self.completed
    }

    pub(super) fn spans(&self) -> impl Iterator<Item = &Span> {
        self.completed.iter().flat_map(|completed| &completed.spans)
    }

    pub(super) fn seen(self, report: ComponentReport) -> Seen {
        Seen { completed: self.completed, report, drained: self.now }
    }

    /// Returns the arrival time of the next request. It is often the current time, and sometimes the time of
    /// an event.
    pub(super) fn next_arrival(&mut self, pause: Time) -> Time {
        match self.random.below(8) {
            0 => self.now,
            _ => self.now + Time::from_ps(self.random.below(pause.as_ps().max(1))),
        }
    }

    /// Submits the next request at the current time.
    pub(super) fn submit(&mut self, device: &mut dyn Device) {
        let request = any_request(&mut self.random, self.size, self.now);
        let zone = device.zones().map(|zones| zones.zone(request.address));
        let request = in_zone(&mut self.random, request, zone);
        let id = self.free.pop().unwrap_or_else(|| {
            self.ids += 1;
            self.ids - 1
        });
        let number = self.numbers;
        self.numbers += 1;
        let mut data = Payload::NONE;
        if self.carries_bytes {
            data = self.contents.submitted(number, self.now, &request);
        }
        let id = RequestId(id);
        self.outstanding.push(Outstanding { id, at: self.now, request, number });
        device.submit(self.now, id, &request, data);
        assert!(device.next_event() >= self.now, "{request:?}: the next event is in the past");
    }

    /// Sometimes tries to cancel an outstanding request.
    pub(super) fn cancel_one(&mut self, device: &mut dyn Device) {
        if self.outstanding.is_empty() || !self.random.chance(0.1) {
            return;
        }
        let index = self.random.below(self.outstanding.len() as u64) as usize;
        let Outstanding { id, number, .. } = self.outstanding[index];
        if device.cancel(self.now, id) == Canceled::Yes {
            self.outstanding.remove(index);
            self.free.push(id.0);
            self.contents.canceled(number);
        }
    }

    /// Runs the device to `until`.
    pub(super) fn run(&mut self, device: &mut dyn Device, until: Time) {
        while self.run_once(device, until) > 0 {}
    }

    /// Runs the device to `until`, or to the first earlier time at which requests complete. Returns the
    /// number of completions.
    pub(super) fn run_once(&mut self, device: &mut dyn Device, until: Time) -> usize {
        let mut completions = Completions::new();
        device.run(until, &mut completions);
        let next = device.next_event();
        if completions.is_empty() {
            assert!(next >= until, "run to {until}: an event is due at {next}");
            if until < Time::MAX {
                self.now = self.now.max(until);
            }
            return 0;
        }
        let at = completions.get(0).0.at;
        assert!(at >= self.now && at < until, "a completion at {at} in a run from {} to {until}", self.now);
        assert!(next >= at, "an event is due at {next}, before the completion at {at}");
        self.now = at;
        for completed in completions.iter() {
            assert_eq!(completed.at, at, "one run completes requests of one instant");
            let found = self.outstanding.iter().position(|of| of.id == completed.id);
            let index =
                found.unwrap_or_else(|| panic!("{:?} completes, and is not outstanding", completed.id));
            let Outstanding { id, at: since, request, number } = self.outstanding.remove(index);
            self.free.push(id.0);
            let spans = completions.spans(completed).to_vec();
            let sum = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(sum, at - since, "the spans of {request:?} do not sum to its latency: {spans:?}");
            let data = completed.data.clone();
            assert!(data.is_none() || request.op == Op::Read, "{request:?} returns bytes");
            if self.carries_bytes {
                self.contents.completed(number, at, completed.status, &data);
            }
            self.completed.push(Completed { number, at, status: completed.status, spans, data });
        }
        completions.len()
    }

    /// Runs the device until it is idle.
    pub(super) fn drain(&mut self, device: &mut dyn Device) {
        for _ in 0..EVENTS_MAX {
            let next = device.next_event();
            if next == Time::MAX {
                let lost = &self.outstanding;
                assert!(lost.is_empty(), "{} requests are lost, such as {:?}", lost.len(), lost[0]);
                return;
            }
            self.run(device, next + Time::from_ps(1));
        }
        panic!("the device does not come to rest: the next event is at {}", device.next_event());
    }

    /// Handles a power loss: discards outstanding requests, and treats the data of the device as unknown.
    pub(super) fn power_failed(&mut self) {
        self.free.extend(self.outstanding.drain(..).map(|of| of.id.0));
        self.contents = Contents::default();
        self.contents.is_unknown = true;
    }
}
