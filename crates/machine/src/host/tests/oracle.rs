//! Event simulation of a server with one queue. The clients cancel and retry requests.

use nacre_kernel::Time;
use nacre_testkit::oracle::Visit;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Timeouts and retries of the clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) after: Time,
    pub(super) retries: u32,
    pub(super) backoff: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Send,
    TimeOut,
    Served,
}

/// Results of the requests.
pub(super) struct Simulated {
    pub(super) visits: Vec<Visit>,
    timeouts: u64,
    failed: u64,
}

impl Simulated {
    pub(super) fn counts(&self) -> [u64; 2] {
        [self.timeouts, self.failed]
    }
}

/// Simulates requests that arrive at `arrivals` at one server, where each attempt takes `service`. If the
/// client gives up an attempt while it is served, the server still completes the attempt.
pub(super) fn one_server(arrivals: &[Time], service: Time, policy: &Policy) -> Simulated {
    let visit = |&arrived: &Time| Visit { arrived, done: Time::MAX };
    let mut of = Simulated { visits: arrivals.iter().map(visit).collect(), timeouts: 0, failed: 0 };
    // Each entry has the time, the event, the request, and the number of its attempt.
    let mut events: BinaryHeap<Reverse<(Time, Event, usize, u32)>> =
        arrivals.iter().enumerate().map(|(request, &at)| Reverse((at, Event::Send, request, 0))).collect();
    let mut queue: VecDeque<(usize, u32)> = VecDeque::new();
    let mut serving = None;
    // The attempt for which each client waits.
    let mut waits_for = vec![None; arrivals.len()];
    while let Some(Reverse((now, event, request, number))) = events.pop() {
        match event {
            Event::Send => {
                queue.push_back((request, number));
                waits_for[request] = Some(number);
                events.push(Reverse((now + policy.after, Event::TimeOut, request, number)));
            }
            Event::Served => {
                serving = None;
                if waits_for[request] == Some(number) {
                    of.visits[request].done = now;
                }
            }
            Event::TimeOut if of.visits[request].done < Time::MAX => {}
            Event::TimeOut => {
                of.timeouts += 1;
                waits_for[request] = None;
                queue.retain(|&waiting| waiting != (request, number));
                if number == policy.retries {
                    of.visits[request].done = now;
                    of.failed += 1;
                } else {
                    events.push(Reverse((now + policy.backoff, Event::Send, request, number + 1)));
                }
            }
        }
        if serving.is_none() {
            serving = queue.pop_front();
            if let Some((request, number)) = serving {
                events.push(Reverse((now + service, Event::Served, request, number)));
            }
        }
    }
    of
}
