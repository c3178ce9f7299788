//! When the next request is issued: at its arrival, or when a place of the queue falls free.

use nacre_kernel::{Request, Time};
use nacre_workload::Pacing;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Says when each request is issued; instants never decrease.
#[derive(Debug)]
pub(crate) struct Clock {
    last: Time,
    closed: Option<Closed>,
}

#[derive(Debug)]
struct Closed {
    /// When each place that was used became free.
    free: BinaryHeap<Reverse<Time>>,
    /// Places never used so far; they are free from the start.
    unused: u32,
    think: Time,
}

impl Clock {
    pub(crate) fn new(pacing: Pacing) -> Clock {
        let closed = match pacing {
            Pacing::Open => None,
            Pacing::Closed { queue_depth, think } => {
                Some(Closed { free: BinaryHeap::new(), unused: queue_depth, think })
            }
        };
        Clock { last: Time::ZERO, closed }
    }

    /// When `request` is issued.
    #[inline]
    pub(crate) fn issue(&mut self, request: &Request) -> Time {
        let at = match &mut self.closed {
            None => request.arrival,
            Some(closed) if closed.unused > 0 => {
                closed.unused -= 1;
                Time::ZERO
            }
            Some(closed) => closed.free.pop().expect("each request issued was completed").0,
        };
        assert!(at >= self.last, "requests are issued in the order of time");
        self.last = at;
        at
    }

    /// When the last request was issued.
    pub(crate) fn last(&self) -> Time {
        self.last
    }

    /// The request issued last is done at `done`.
    #[inline]
    pub(crate) fn complete(&mut self, done: Time) {
        if let Some(closed) = &mut self.closed {
            closed.free.push(Reverse(done + closed.think));
        }
    }
}
