//! Drivers: what a host does to a device, at its smallest.

use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Activity, Breakdown, Data, Device, Random, Request, Span, Status, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a driver saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Latency of every request.
    pub latency: LatencyHistogram,
    /// Time that requests spent waiting on their critical path.
    pub queued: Time,
    /// Requests that ended with a media error.
    pub errors: u64,
    /// When the last request was done.
    pub end: Time,
}

impl Seen {
    /// Requests completed.
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    /// Mean latency in seconds.
    pub fn mean_s(&self) -> f64 {
        self.latency.mean_ps().expect("something was driven") / 1e12
    }

    /// Mean wait in seconds.
    pub fn mean_wait_s(&self) -> f64 {
        self.queued.as_secs_f64() / self.count() as f64
    }

    /// Requests per second from the start of simulated time to the last completion.
    pub fn per_second(&self) -> f64 {
        self.count() as f64 / self.end.as_secs_f64()
    }

    /// Requests in the device on average: the area under their number over time, by the time.
    pub fn mean_inside(&self) -> f64 {
        self.latency.sum_ps() as f64 / self.end.as_ps() as f64
    }

    pub(crate) fn record(&mut self, now: Time, done: Time, status: Status, spans: &[Span]) {
        self.latency.record(done - now);
        let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        assert_eq!(total, done - now, "the spans of a request are its latency");
        let waits = spans.iter().filter(|span| span.activity == Activity::Queue);
        self.queued = waits.fold(self.queued, |sum, span| sum + span.time);
        self.errors += u64::from(status != Status::Done);
        self.end = self.end.max(done);
    }
}

/// Sends `requests` at their arrival times, which never decrease.
pub fn open_loop(device: &mut dyn Device, requests: impl IntoIterator<Item = Request>) -> Seen {
    let (mut seen, mut breakdown) = (Seen::default(), Breakdown::new());
    for request in requests {
        breakdown.clear();
        device.advance(request.arrival);
        let completion = device.submit(request.arrival, &request, Data::None, &mut breakdown);
        seen.record(request.arrival, completion.done, completion.status, breakdown.spans());
    }
    seen
}

/// Keeps `depth` requests in the device until `count` are done. `next` makes the request with a given
/// number; its arrival is overwritten.
pub fn closed_loop(
    device: &mut dyn Device,
    depth: u32,
    count: u64,
    mut next: impl FnMut(u64) -> Request,
) -> Seen {
    let (mut seen, mut breakdown) = (Seen::default(), Breakdown::new());
    let mut free: BinaryHeap<Reverse<Time>> = (0..depth).map(|_| Reverse(Time::ZERO)).collect();
    for number in 0..count {
        let Reverse(now) = free.pop().expect("the loop has a depth");
        breakdown.clear();
        device.advance(now);
        let request = Request { arrival: now, ..next(number) };
        let completion = device.submit(now, &request, Data::None, &mut breakdown);
        seen.record(now, completion.done, completion.status, breakdown.spans());
        free.push(Reverse(completion.done));
    }
    seen
}

/// The arrival times of a Poisson process with `rate` arrivals per second.
pub fn poisson(mut random: Random, rate: f64) -> impl Iterator<Item = Time> {
    let mut now = 0.0;
    std::iter::repeat_with(move || {
        now += random.exponential() / rate;
        Time::from_secs_f64(now)
    })
}
