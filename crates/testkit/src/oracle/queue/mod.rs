//! Reference models of servers with one queue, and of servers that fetch from several queues.

use super::arrivals::{Arrivals, Waiting};
use super::single_server::single_server;
use super::{Load, Visit};
use nacre_kernel::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Simulates requests on `servers` identical servers, first come, first served (G/G/c). Request number i
/// takes
/// `services[i]`.
#[must_use]
pub fn first_come(servers: usize, services: &[Time], load: Load<'_>) -> Vec<Visit> {
    // Arrivals are in order, so the first request is the oldest.
    serve(servers, services, load, |_, _| 0)
}

/// Queues of an NVMe controller and their priority classes. Class 0 is urgent, and classes 1 to 3 are high,
/// medium, and low.
#[derive(Clone, Copy, Debug)]
pub struct Fetching<'a> {
    /// Class of each queue.
    pub classes: &'a [usize],
    /// Number of requests per round for the high, medium, and low classes.
    pub weights: [usize; 3],
}

/// Serves requests on `servers` identical servers that fetch from queues by weighted round robin with an
/// urgent class. Request number i arrives in queue `queues[i]` and takes `services[i]`.
///
/// A free server fetches an urgent request if there is one. Otherwise, it follows a cyclic list in which
/// each class has as many entries as its weight. If requests of the next entry's class wait, one of them is
/// served. If none wait, all consecutive entries of this class are skipped. The queues of each class are in
/// another list: the first queue with a waiting request is served and moves to the end of this list.
#[must_use]
pub fn weighted(
    servers: usize,
    fetching: Fetching<'_>,
    queues: &[usize],
    services: &[Time],
    load: Load<'_>,
) -> Vec<Visit> {
    let entries: Vec<usize> = (1..4).flat_map(|class| vec![class; fetching.weights[class - 1]]).collect();
    let mut row: Vec<usize> = (0..fetching.classes.len()).collect();
    let mut at = 0;
    serve(servers, services, load, |_, waiting| {
        let waits = |class| waiting.iter().any(|of| fetching.classes[queues[of.request]] == class);
        let mut class = 0;
        if !waits(0) {
            while !waits(entries[at]) {
                let passed_over = entries[at];
                while entries[at] == passed_over {
                    at = (at + 1) % entries.len();
                }
            }
            class = entries[at];
            at = (at + 1) % entries.len();
        }
        let oldest = |&queue: &usize| waiting.iter().position(|of| queues[of.request] == queue);
        let of_class = |queue: &&usize| fetching.classes[**queue] == class;
        let (queue, position) = row
            .iter()
            .filter(of_class)
            .find_map(|queue| Some((*queue, oldest(queue)?)))
            .expect("a queue of this class waits");
        row.retain(|&other| other != queue);
        row.push(queue);
        position
    })
}

/// Simulates requests on `servers` identical servers. Whenever a server is free, `choose` receives the
/// waiting requests, oldest first, and the time. It returns the index of the request to serve.
pub(super) fn serve(
    servers: usize,
    services: &[Time],
    load: Load<'_>,
    mut choose: impl FnMut(Time, &[Waiting]) -> usize,
) -> Vec<Visit> {
    assert!(servers >= 1, "there is a server");
    let mut arrivals = Arrivals::new(services.len(), load);
    let mut visits = vec![Visit::default(); services.len()];
    let mut waiting = Vec::new();
    // Times at which busy servers become free.
    let mut busy = BinaryHeap::new();
    let mut now = Time::ZERO;
    loop {
        while let Some(arrived) = arrivals.take(now) {
            waiting.push(arrived);
        }
        while busy.len() < servers && !waiting.is_empty() {
            let Waiting { request, arrived } = waiting.remove(choose(now, &waiting));
            let done = now + services[request];
            visits[request] = Visit { arrived, done };
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

/// Simulates requests on one server with non-preemptive priorities. When the server is free, it serves the
/// oldest request of the class with the lowest number. Request number i belongs to `classes[i]` and takes
/// `services[i]`.
#[must_use]
pub fn by_priority(classes: &[u8], services: &[Time], load: Load<'_>) -> Vec<Visit> {
    assert_eq!(classes.len(), services.len(), "each request has a class and a service time");
    single_server(services.len(), load, |_, waiting| {
        // `min_by_key` returns the first of equal requests, which is the oldest.
        let chosen = (0..waiting.len()).min_by_key(|&position| classes[waiting[position].request]);
        let chosen = chosen.expect("a request waits");
        (chosen, services[waiting[chosen].request])
    })
}

#[cfg(test)]
mod tests;
