//! Servers with one queue.

use super::arrivals::Arrivals;
use super::single_server::single_server;
use super::{Load, Visit};
use nacre_kernel::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Serves requests at `servers` equal servers, first come first served (G/G/c); request number i takes `services[i]`.
#[must_use]
pub fn first_come(servers: usize, services: &[Time], load: Load<'_>) -> Vec<Visit> {
    assert!(servers >= 1, "there is a server");
    let mut arrivals = Arrivals::new(services.len(), load);
    let mut visits = vec![Visit::default(); services.len()];
    let mut waiting = VecDeque::new();
    // When each busy server is done.
    let mut busy = BinaryHeap::new();
    let mut now = Time::ZERO;
    loop {
        while let Some(arrived) = arrivals.take(now) {
            waiting.push_back(arrived);
        }
        while busy.len() < servers
            && let Some(oldest) = waiting.pop_front()
        {
            let done = now + services[oldest.request];
            visits[oldest.request] = Visit { arrived: oldest.arrived, done };
            busy.push(Reverse(done));
        }
        let completion = busy.peek().map(|&Reverse(done)| done);
        let Some(event) = arrivals.next().into_iter().chain(completion).min() else { return visits };
        now = event;
        while busy.peek().is_some_and(|&Reverse(done)| done <= now) {
            busy.pop();
            arrivals.completed(now);
        }
    }
}

/// Serves requests at one server by priority, without preemption: when the server is free it takes the request of the
/// lowest class, the oldest of them. Request number i belongs to `classes[i]` and takes `services[i]`.
#[must_use]
pub fn by_priority(classes: &[u8], services: &[Time], load: Load<'_>) -> Vec<Visit> {
    assert_eq!(classes.len(), services.len(), "each request has a class and a service time");
    single_server(services.len(), load, |_, waiting| {
        // Of equal ones `min_by_key` returns the first, which is the oldest.
        let chosen = (0..waiting.len()).min_by_key(|&position| classes[waiting[position].request]);
        let chosen = chosen.expect("a request waits");
        (chosen, services[waiting[chosen].request])
    })
}

#[cfg(test)]
mod tests;
