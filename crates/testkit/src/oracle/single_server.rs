//! Reference model of one server that selects among waiting requests.

use super::arrivals::{Arrivals, Waiting};
use super::{Load, Visit};
use nacre_kernel::Time;

/// Serves `count` requests one at a time. `serve` is called whenever the server is free and a request waits.
/// It receives the time and the waiting requests, oldest first, and returns the index of its choice and the
/// service time.
pub(super) fn single_server(
    count: usize,
    load: Load<'_>,
    mut serve: impl FnMut(Time, &[Waiting]) -> (usize, Time),
) -> Vec<Visit> {
    let mut arrivals = Arrivals::new(count, load);
    let mut visits = vec![Visit::default(); count];
    let mut waiting = Vec::new();
    let mut now = Time::ZERO;
    loop {
        while let Some(arrived) = arrivals.take(now) {
            waiting.push(arrived);
        }
        if waiting.is_empty() {
            let Some(arrival) = arrivals.next() else { return visits };
            now = arrival;
            continue;
        }
        let (position, service) = serve(now, &waiting);
        let Waiting { request, arrived } = waiting.remove(position);
        now += service;
        visits[request] = Visit { arrived, done: now };
        arrivals.completed(now);
    }
}
