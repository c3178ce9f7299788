//! When the next request is issued: at its arrival, when the one before is done, or when a place of the queue
//! falls free. What the workload itself decides is an arrival too.

use crate::arrival::Pacing;
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Says when each request is issued; instants never decrease.
#[derive(Clone, Debug, State)]
pub struct Clock {
    /// When the workload began: its times count from here on.
    origin: Time,
    last: Time,
    pace: Pace,
}

// Asked for with every request: a number of its own, not one hidden in what it holds.
#[derive(Clone, Debug, State)]
#[repr(u8)]
enum Pace {
    Open,
    Serial {
        /// When the request issued last is done.
        done: Time,
    },
    Closed(Closed),
}

#[derive(Clone, Debug, State)]
struct Closed {
    /// When each place that was used became free.
    free: BinaryHeap<Reverse<Time>>,
    /// Places never used so far; they are free from the start.
    unused: u32,
    #[state(skip = "from the configuration")]
    think: Time,
}

impl Clock {
    /// The clock of a workload that begins at `origin`.
    pub fn new(pacing: Pacing, origin: Time) -> Clock {
        let pace = match pacing {
            Pacing::Open | Pacing::CompletionDriven => Pace::Open,
            Pacing::Serial => Pace::Serial { done: Time::ZERO },
            Pacing::Closed { queue_depth, think } => {
                Pace::Closed(Closed { free: BinaryHeap::new(), unused: queue_depth, think })
            }
        };
        Clock { origin, last: origin, pace }
    }

    /// When `request`, the next one, will be issued: as [`Clock::issue`] says, but for its order. In a closed loop so
    /// many requests as may be outstanding are issued before one is completed.
    #[inline]
    pub fn due(&self, request: &Request) -> Time {
        match &self.pace {
            Pace::Open => self.origin + request.arrival,
            Pace::Serial { done } => (self.origin + request.arrival).max(*done),
            Pace::Closed(closed) if closed.unused > 0 => self.origin,
            Pace::Closed(closed) => closed.free.peek().expect("each request issued was completed").0,
        }
    }

    /// When `request` is issued.
    ///
    /// # Panics
    /// If that is before the one issued last, or in a closed loop if as many as may be are outstanding.
    #[inline]
    pub fn issue(&mut self, request: &Request) -> Time {
        let at = self.due(request);
        if let Pace::Closed(closed) = &mut self.pace {
            match closed.unused {
                0 => _ = closed.free.pop(),
                _ => closed.unused -= 1,
            }
        }
        assert!(at >= self.last, "requests are issued in the order of time");
        self.last = at;
        at
    }

    /// The request issued last, at `at`, was not served: it will be issued again.
    pub fn take_back(&mut self, at: Time) {
        if let Pace::Closed(closed) = &mut self.pace {
            closed.free.push(Reverse(at));
        }
    }

    /// When the workload began.
    pub fn origin(&self) -> Time {
        self.origin
    }

    /// When the last request was issued.
    pub fn last(&self) -> Time {
        self.last
    }

    /// The request issued last is done at `done`.
    #[inline]
    pub fn complete(&mut self, done: Time) {
        match &mut self.pace {
            Pace::Open => {}
            Pace::Serial { done: last } => *last = done,
            Pace::Closed(closed) => closed.free.push(Reverse(done + closed.think)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::Op;

    #[test]
    fn one_asker_issues_at_the_arrival_or_when_the_request_before_is_done() {
        let mut clock = Clock::new(Pacing::Serial, Time::ZERO);
        // Arrivals and latencies in ns; the first three arrive at once, the fifth after a pause.
        let requests = [(10, 160), (10, 180), (10, 160), (400, 100), (1_000, 50)];
        let issued: Vec<Time> = requests
            .iter()
            .map(|&(arrival, latency)| {
                let arrival = Time::from_ns(arrival);
                let request = Request { arrival, address: 0, bytes: 4, volume: 0, op: Op::Read };
                let now = clock.issue(&request);
                clock.complete(now + Time::from_ns(latency));
                now
            })
            .collect();
        assert_eq!(issued, [10, 170, 350, 510, 1_000].map(Time::from_ns));
        assert_eq!(clock.last(), Time::from_ns(1_000));
    }
}
