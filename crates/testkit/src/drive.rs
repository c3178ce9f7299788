//! Simple drivers of devices, for open and closed loops.

use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Activity, Random, Request, Span, Status, Time};

/// Measurements of the requests that a driver submitted.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Latency distribution of all requests.
    pub latency: LatencyHistogram,
    /// Total time that requests waited on their critical paths.
    pub queued: Time,
    /// Number of requests that ended with a media error.
    pub errors: u64,
    /// Completion time of the last request.
    pub end: Time,
}

impl Seen {
    /// Returns the number of completed requests.
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    /// Returns the mean latency in seconds.
    pub fn mean_s(&self) -> f64 {
        self.latency.mean_ps().expect("something was driven") / 1e12
    }

    /// Returns the mean wait in seconds.
    pub fn mean_wait_s(&self) -> f64 {
        self.queued.as_secs_f64() / self.count() as f64
    }

    /// Returns the completed requests per second, from the start of simulated time to the last completion.
    pub fn per_second(&self) -> f64 {
        self.count() as f64 / self.end.as_secs_f64()
    }

    /// Returns the mean number of requests in the device: the integral of their number over time, divided by
    /// the time.
    pub fn mean_inside(&self) -> f64 {
        self.latency.sum_ps() as f64 / self.end.as_ps() as f64
    }

    fn record(&mut self, now: Time, done: Time, status: Status, spans: &[Span]) {
        self.latency.record(done - now);
        let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        assert_eq!(total, done - now, "the spans of a request are its latency");
        let waits = spans.iter().filter(|span| span.activity == Activity::Queue);
        self.queued = waits.fold(self.queued, |sum, span| sum + span.time);
        self.errors += u64::from(status != Status::Done);
        self.end = self.end.max(done);
    }
}

/// Submits `requests` at their arrival times, which must not decrease.
///
/// # Panics
/// Panics if a request is lost, or if its spans do not sum to its latency.
pub fn open_loop(device: &mut dyn Device, requests: impl IntoIterator<Item = Request>) -> Seen {
    let (mut seen, mut completions, mut arrivals) = (Seen::default(), Completions::new(), Vec::new());
    let mut run = |device: &mut dyn Device, until, seen: &mut Seen, arrivals: &[Time]| loop {
        completions.clear();
        device.run(until, &mut completions);
        for completed in completions.iter() {
            let arrival = arrivals[completed.id.0 as usize];
            seen.record(arrival, completed.at, completed.status, completions.spans(completed));
        }
        if completions.is_empty() {
            break;
        }
    };
    for request in requests {
        run(device, request.arrival, &mut seen, &arrivals);
        device.submit(request.arrival, RequestId(arrivals.len() as u32), &request, Payload::NONE);
        arrivals.push(request.arrival);
    }
    run(device, Time::MAX, &mut seen, &arrivals);
    assert_eq!(seen.count(), arrivals.len() as u64, "requests are lost");
    seen
}

/// Keeps `depth` requests outstanding at `device` until `count` requests have completed. `next` returns the
/// request with a given number. The driver replaces the arrival time of the request.
///
/// # Panics
/// Panics if a request is lost, or if its spans do not sum to its latency.
pub fn closed_loop(
    device: &mut dyn Device,
    depth: u32,
    count: u64,
    mut next: impl FnMut(u64) -> Request,
) -> Seen {
    let (mut seen, mut completions) = (Seen::default(), Completions::new());
    let mut arrived = vec![Time::ZERO; depth as usize];
    let mut submitted = 0;
    let mut submit = |device: &mut dyn Device, now, id: u32| {
        if submitted < count {
            device.submit(now, RequestId(id), &Request { arrival: now, ..next(submitted) }, Payload::NONE);
            submitted += 1;
        }
    };
    (0..depth).for_each(|id| submit(device, Time::ZERO, id));
    while seen.count() < count {
        completions.clear();
        device.run(Time::MAX, &mut completions);
        assert!(!completions.is_empty(), "{} requests are lost", count - seen.count());
        for completed in completions.iter() {
            let since = &mut arrived[completed.id.0 as usize];
            seen.record(*since, completed.at, completed.status, completions.spans(completed));
            *since = completed.at;
        }
        for completed in completions.iter() {
            submit(device, completed.at, completed.id.0);
        }
    }
    seen
}

/// Returns the arrival times of a Poisson process with `rate` arrivals per second.
pub fn poisson(mut random: Random, rate: f64) -> impl Iterator<Item = Time> {
    let mut now = 0.0;
    std::iter::repeat_with(move || {
        now += random.exponential() / rate;
        Time::from_secs_f64(now)
    })
}
