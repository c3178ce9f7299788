//! When the next request is issued: at its arrival, when the one before is done, or when a place of the queue
//! falls free. What the workload itself decides is an arrival too.

mod tournament;

use crate::arrival::Pacing;
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};
use tournament::Tournament;

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
    /// The place of the request issued last stays first until it is known when that is done.
    places: Tournament,
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
                Pace::Closed(Closed { places: Tournament::new(queue_depth, origin), think })
            }
        };
        Clock { origin, last: origin, pace }
    }

    /// When `request`, the next one, will be issued: as [`Clock::issue`] says, but for its order.
    #[inline]
    pub fn due(&self, request: &Request) -> Time {
        match &self.pace {
            Pace::Open => self.origin + request.arrival,
            Pace::Serial { done } => (self.origin + request.arrival).max(*done),
            Pace::Closed(closed) => closed.places.first(),
        }
    }

    /// When `request` is issued. The next one is issued when it is known when this one is done.
    ///
    /// # Panics
    /// If that is before the one issued last.
    #[inline]
    pub fn issue(&mut self, request: &Request) -> Time {
        let at = self.due(request);
        assert!(at >= self.last, "requests are issued in the order of time");
        self.last = at;
        at
    }

    /// When the workload began.
    pub fn origin(&self) -> Time {
        self.origin
    }

    /// When the last request was issued.
    pub fn last(&self) -> Time {
        self.last
    }

    /// The request issued last is done at `done`. One that was not served is not completed, and is issued again.
    #[inline]
    pub fn complete(&mut self, done: Time) {
        match &mut self.pace {
            Pace::Open => {}
            Pace::Serial { done: last } => *last = done,
            Pace::Closed(closed) => closed.places.replace_first(done + closed.think),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::state::{restored, saved};
    use nacre_kernel::{Op, Streams};

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

    #[test]
    fn in_a_closed_loop_the_place_that_is_free_first_is_taken_next() {
        let request = Request { arrival: Time::ZERO, address: 0, bytes: 4, volume: 0, op: Op::Read };
        let mut random = Streams::new(1).stream("latencies");
        for depth in 1..70 {
            let (origin, think) = (Time::from_ns(random.below(10)), Time::from_ns(random.below(3)));
            let mut clock = Clock::new(Pacing::Closed { queue_depth: depth, think }, origin);
            let mut free = vec![origin; depth as usize];
            for _ in 0..500 {
                let first = (0..free.len()).min_by_key(|&place| free[place]).expect("there is a place");
                assert_eq!(clock.due(&request), free[first]);
                // One in ten is asked for and not served.
                if random.chance(0.1) {
                    assert_eq!(clock.issue(&request), free[first]);
                }
                // Few different times, so that many fall free together.
                let done = clock.issue(&request) + Time::from_ns(random.below(20));
                clock.complete(done);
                free[first] = done + think;
            }
            let state = saved(&clock).expect("a clock can be saved");
            let mut other = Clock::new(Pacing::Closed { queue_depth: depth, think }, Time::ZERO);
            restored(&mut other, &state).expect("it was saved");
            assert_eq!(other.due(&request), clock.due(&request));
        }
    }
}
