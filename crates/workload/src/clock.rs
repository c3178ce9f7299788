//! Issue times of requests. A request is issued at its arrival, when the previous request completes, or when
//! a queue slot is free.

use crate::arrival::Pacing;
use nacre_kernel::state::State;
use nacre_kernel::{Request, Time};
use std::collections::VecDeque;

/// Computes the issue time of each request. Times never decrease.
#[derive(Clone, Debug, State)]
pub struct Clock {
    /// Start time of the workload, to which its times are relative.
    origin: Time,
    last: Time,
    pace: Pace,
}

// The clock is called for every request. For speed, its pacing state is stored in the clock itself.
#[derive(Clone, Debug, State)]
#[repr(u8)]
enum Pace {
    Open,
    Serial {
        /// Completion time of the last request, or [`Time::MAX`] while a request is outstanding.
        done: Time,
    },
    Closed(Closed),
}

#[derive(Clone, Debug, State)]
#[state(after = "Closed::check")]
struct Closed {
    #[state(same)]
    slots: u32,
    #[state(skip = "from the configuration")]
    think: Time,
    /// Time at which each free slot may issue its next request. Completions are in time order, so the slot
    /// that was freed first is also the first to be ready.
    #[state(varies)]
    ready: VecDeque<Time>,
}

impl Closed {
    fn check(&mut self) -> Result<(), String> {
        match self.ready.len() <= self.slots as usize && self.ready.iter().is_sorted() {
            true => Ok(()),
            false => Err("the slots of a closed loop are out of order".into()),
        }
    }
}

impl Clock {
    /// Creates the clock of a workload that starts at `origin`.
    pub fn new(pacing: Pacing, origin: Time) -> Clock {
        let pace = match pacing {
            Pacing::Open | Pacing::CompletionDriven => Pace::Open,
            Pacing::Serial => Pace::Serial { done: Time::ZERO },
            Pacing::Closed { queue_depth, think } => {
                let ready = VecDeque::from(vec![origin; queue_depth as usize]);
                Pace::Closed(Closed { slots: queue_depth, think, ready })
            }
        };
        Clock { origin, last: origin, pace }
    }

    /// Issue time of the next `request` if no other request completes earlier. [`Time::MAX`] if the request
    /// must wait for a completion.
    #[inline]
    pub fn due(&self, request: &Request) -> Time {
        match &self.pace {
            Pace::Open => self.origin + request.arrival,
            Pace::Serial { done } => (self.origin + request.arrival).max(*done),
            Pace::Closed(closed) => closed.ready.front().copied().unwrap_or(Time::MAX),
        }
    }

    /// Issues `request`, which then becomes outstanding. Returns the issue time.
    ///
    /// # Panics
    ///
    /// Panics if the issue time precedes that of the last request, or depends on a completion.
    #[inline]
    pub fn issue(&mut self, request: &Request) -> Time {
        let at = self.due(request);
        assert!(self.last <= at && at < Time::MAX, "requests are issued in time order");
        match &mut self.pace {
            Pace::Open => {}
            Pace::Serial { done } => *done = Time::MAX,
            Pace::Closed(closed) => {
                closed.ready.pop_front();
            }
        }
        self.last = at;
        at
    }

    /// Start of the workload.
    pub fn origin(&self) -> Time {
        self.origin
    }

    /// Issue time of the last request.
    pub fn last(&self) -> Time {
        self.last
    }

    /// Completes an outstanding request at `now`, which must not precede an earlier completion.
    #[inline]
    pub fn complete(&mut self, now: Time) {
        match &mut self.pace {
            Pace::Open => {}
            Pace::Serial { done } => {
                debug_assert!(*done == Time::MAX, "no request is outstanding");
                *done = now;
            }
            Pace::Closed(closed) => {
                let ready = now + closed.think;
                debug_assert!(closed.ready.len() < closed.slots as usize, "no request is outstanding");
                debug_assert!(
                    closed.ready.back().is_none_or(|&last| last <= ready),
                    "completions out of order"
                );
                closed.ready.push_back(ready);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::state::{restored, saved};
    use nacre_kernel::{Op, Streams};
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    fn arriving(arrival: Time) -> Request {
        Request { arrival, address: 0, bytes: 4, volume: 0, op: Op::Read }
    }

    #[test]
    fn one_asker_issues_at_the_arrival_or_when_the_request_before_is_done() {
        let mut clock = Clock::new(Pacing::Serial, Time::ZERO);
        // Arrivals and latencies in ns. The first three requests arrive simultaneously, and the fifth arrives
        // after a pause.
        let requests = [(10, 160), (10, 180), (10, 160), (400, 100), (1_000, 50)];
        let issued: Vec<Time> = requests
            .iter()
            .map(|&(arrival, latency)| {
                let request = arriving(Time::from_ns(arrival));
                let now = clock.issue(&request);
                assert_eq!(clock.due(&request), Time::MAX, "one is outstanding");
                clock.complete(now + Time::from_ns(latency));
                now
            })
            .collect();
        assert_eq!(issued, [10, 170, 350, 510, 1_000].map(Time::from_ns));
        assert_eq!(clock.last(), Time::from_ns(1_000));
    }

    /// Compares the clock with a reference that searches all slots for the slot that is ready first.
    #[test]
    fn in_a_closed_loop_the_slot_that_is_ready_first_is_taken_next() {
        let request = arriving(Time::ZERO);
        let mut random = Streams::new(1).stream("latencies");
        for depth in 1..70_u32 {
            let (origin, think) = (Time::from_ns(random.below(10)), Time::from_ns(random.below(3)));
            let mut clock = Clock::new(Pacing::Closed { queue_depth: depth, think }, origin);
            // Ready times of the free slots, and completion times of the other slots.
            let (mut ready, mut outstanding) = (vec![Some(origin); depth as usize], BinaryHeap::new());
            for _ in 0..500 {
                let first =
                    (0..ready.len()).filter(|&slot| ready[slot].is_some()).min_by_key(|&slot| ready[slot]);
                let due = first.and_then(|slot| ready[slot]).unwrap_or(Time::MAX);
                assert_eq!(clock.due(&request), due);
                match outstanding.peek() {
                    Some(&Reverse((done, slot))) if done < due => {
                        outstanding.pop();
                        clock.complete(done);
                        ready[slot] = Some(done + think);
                    }
                    _ => {
                        let slot = first.expect("a slot is free or a request is outstanding");
                        assert_eq!(clock.issue(&request), due);
                        ready[slot] = None;
                        // Few distinct times, so that many requests complete simultaneously.
                        outstanding.push(Reverse((due + Time::from_ns(random.below(20)), slot)));
                    }
                }
            }
            let state = saved(&clock).expect("a clock can be saved");
            let mut other = Clock::new(Pacing::Closed { queue_depth: depth, think }, Time::ZERO);
            restored(&mut other, &state).expect("it was saved");
            assert_eq!(other.due(&request), clock.due(&request));
            let mut wider = Clock::new(Pacing::Closed { queue_depth: depth + 1, think }, Time::ZERO);
            restored(&mut wider, &state).expect_err("it has another depth");
        }
    }

    #[test]
    fn slots_out_of_order_are_refused() {
        let pacing = Pacing::Closed { queue_depth: 3, think: Time::ZERO };
        let broken: [fn(&mut VecDeque<Time>); 2] =
            [|ready| ready[0] = Time::from_ns(1), |ready| ready.push_back(Time::ZERO)];
        for breaks in broken {
            let mut clock = Clock::new(pacing, Time::ZERO);
            let Pace::Closed(closed) = &mut clock.pace else { panic!("it is a closed loop") };
            breaks(&mut closed.ready);
            let state = saved(&clock).expect("it can be saved");
            restored(&mut Clock::new(pacing, Time::ZERO), &state).expect_err("no completions lead to it");
        }
    }
}
