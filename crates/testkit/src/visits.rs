//! Arrivals and completions of given requests on a device.

use crate::oracle::{Load, Visit};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Request, Time};

/// Serves `requests` on `device` in the order and at the times that `load` determines. Returns the arrival
/// and the completion of each request, in the order of `requests`.
///
/// # Panics
/// Panics if a request is lost, or if its spans do not sum to its latency.
#[must_use]
pub fn visits(device: &mut dyn Device, requests: &[Request], load: Load<'_>) -> Vec<Visit> {
    let mut driver =
        Driver { completions: Completions::new(), visits: vec![Visit::default(); requests.len()], open: 0 };
    match load {
        Load::Open(arrivals) => {
            for (number, (request, &now)) in requests.iter().zip(arrivals).enumerate() {
                while driver.run(device, now) > 0 {}
                driver.submit(device, now, number, request);
            }
        }
        Load::Closed { clients } => {
            let (mut now, mut free) = (Time::ZERO, clients);
            for (number, request) in requests.iter().enumerate() {
                if free == 0 {
                    free = driver.run(device, Time::MAX);
                    now = driver.completions.get(0).0.at;
                }
                free -= 1;
                driver.submit(device, now, number, request);
            }
        }
    }
    while driver.open > 0 {
        assert!(driver.run(device, Time::MAX) > 0, "{} requests are lost", driver.open);
    }
    driver.visits
}

struct Driver {
    completions: Completions,
    visits: Vec<Visit>,
    open: usize,
}

impl Driver {
    fn submit(&mut self, device: &mut dyn Device, now: Time, number: usize, request: &Request) {
        self.visits[number].arrived = now;
        self.open += 1;
        device.submit(now, RequestId(number as u32), request, Payload::NONE);
    }

    /// Runs the device up to its first completions before `until`. Returns the number of completions.
    fn run(&mut self, device: &mut dyn Device, until: Time) -> usize {
        self.completions.clear();
        device.run(until, &mut self.completions);
        for completed in self.completions.iter() {
            let visit = &mut self.visits[completed.id.0 as usize];
            visit.done = completed.at;
            let spans = self.completions.spans(completed);
            let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(total, visit.latency(), "the spans of request {}", completed.id.0);
        }
        self.open -= self.completions.len();
        self.completions.len()
    }
}
