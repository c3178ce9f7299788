//! A host that tests use to submit requests to a device at any time.

use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{ComponentReport, Request, Span, Status, Time};

/// A completed request.
#[derive(Clone, Debug)]
pub struct Done {
    /// Completion time.
    pub at: Time,
    /// Latency.
    pub latency: Time,
    /// Status.
    pub status: Status,
    /// Latency breakdown.
    pub spans: Vec<Span>,
}

/// A host that submits requests to a device at any time.
pub struct Host {
    /// The device.
    pub device: Box<dyn Device>,
    /// Time up to which the device was run.
    pub now: Time,
    submitted: Vec<Time>,
    /// Completion of each request, indexed by request number; `None` for outstanding requests.
    pub done: Vec<Option<Done>>,
}

impl Host {
    /// Creates a host for the unused `device`.
    pub fn new(device: Box<dyn Device>) -> Host {
        Host { device, now: Time::ZERO, submitted: Vec::new(), done: Vec::new() }
    }

    /// Submits a request at `now` and returns its number.
    pub fn submit(&mut self, now: Time, request: Request) -> usize {
        self.submit_with(now, request, Payload::NONE)
    }

    /// Like [`Host::submit`], with the data of a write.
    pub fn submit_with(&mut self, now: Time, request: Request, data: Payload) -> usize {
        self.run(now);
        let number = self.submitted.len();
        self.submitted.push(now);
        self.done.push(None);
        self.device.submit(now, RequestId(number as u32), &request, data);
        number
    }

    /// Runs the device to `until`.
    pub fn run(&mut self, until: Time) {
        assert!(until >= self.now, "time goes back from {} to {until}", self.now);
        while self.step(until) {}
        self.now = until;
    }

    /// Runs the device to `until`, or to the first earlier time at which requests complete. Returns whether
    /// requests completed.
    pub fn step(&mut self, until: Time) -> bool {
        let mut completions = Completions::new();
        self.device.run(until, &mut completions);
        for completed in completions.iter() {
            let (number, spans) = (completed.id.0 as usize, completions.spans(completed).to_vec());
            let latency = completed.at - self.submitted[number];
            let sum = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(sum, latency, "the spans of request {number} sum to its latency: {spans:?}");
            self.now = completed.at;
            self.done[number] = Some(Done { at: completed.at, latency, status: completed.status, spans });
        }
        !completions.is_empty()
    }

    /// Runs the device until request `number` has completed, and returns its completion.
    pub fn wait(&mut self, number: usize) -> Done {
        while self.done[number].is_none() {
            assert!(self.step(Time::MAX), "request {number} is lost");
        }
        self.done[number].clone().expect("it has completed")
    }

    /// Returns the latency of a request that is submitted at `now`. No other request is submitted before it
    /// completes.
    pub fn latency(&mut self, now: Time, request: Request) -> Time {
        let number = self.submit(now, request);
        self.wait(number).latency
    }

    /// Runs the device until it is idle.
    pub fn rest(&mut self) {
        while self.device.next_event() < Time::MAX {
            let at = self.device.next_event();
            self.step(at + Time::from_ps(1));
            self.now = self.now.max(at);
        }
    }

    /// Returns the value of the counter `name` of the device.
    pub fn count(&self, name: &str) -> u64 {
        counter(&self.report(), name)
    }

    /// Returns the report of the device for an elapsed time of one second.
    pub fn report(&self) -> ComponentReport {
        self.device.report(Time::from_s(1))
    }

    /// Panics if the accounting of the device is inconsistent.
    pub fn check(&self) {
        self.device.check_invariants();
    }
}

/// Returns the value of the counter `name` in `report`.
pub fn counter(report: &ComponentReport, name: &str) -> u64 {
    let found = report.counters.iter().find(|(counter, _)| *counter == name);
    found.unwrap_or_else(|| panic!("no counter {name}")).1
}

impl Host {
    /// Runs the device to `now`, submits `request` with `data`, and waits for its completion. Returns the
    /// completion time, the status, and the data of a read.
    pub fn ask(&mut self, now: Time, request: Request, data: Payload) -> (Time, Status, Payload) {
        self.run(now);
        // No other request has this number.
        let id = RequestId(u32::MAX);
        self.device.submit(now, id, &request, data);
        let mut completions = Completions::new();
        while completions.is_empty() {
            self.device.run(Time::MAX, &mut completions);
        }
        assert!(completions.len() == 1 && completions.get(0).0.id == id, "others complete");
        self.now = completions.get(0).0.at;
        (self.now, completions.get(0).0.status, completions.take_data(0))
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a host at {} with {} requests", self.now, self.submitted.len())
    }
}
