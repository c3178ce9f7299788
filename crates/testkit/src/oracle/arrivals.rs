//! Arrivals of requests, in open and closed loops.

use nacre_kernel::Time;

/// Arrival process: an open or a closed loop. Requests are numbered from 0 in list order.
#[derive(Clone, Copy, Debug)]
pub enum Load<'a> {
    /// Each request arrives at its time in this list. The times must not decrease.
    Open(&'a [Time]),
    /// Clients share one list of requests. Each client starts at time 0, and sends the next request of the
    /// list when its previous request completes.
    Closed {
        /// Number of clients.
        clients: usize,
    },
}

/// A request that has arrived and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Number of the request.
    pub(super) request: usize,
    /// Arrival time.
    pub(super) arrived: Time,
}

/// Known arrival times: all times of an open loop, or one time per completion of a closed loop.
#[derive(Debug)]
pub(super) struct Arrivals {
    known: Vec<Time>,
    /// Total number of requests.
    count: usize,
    /// Number of the next request to take.
    next: usize,
}

impl Arrivals {
    /// Creates the arrivals of `count` requests. Panics if an open loop has an incorrect number of arrival
    /// times, or times that decrease.
    pub(super) fn new(count: usize, load: Load<'_>) -> Arrivals {
        let known = match load {
            Load::Open(times) => {
                assert_eq!(times.len(), count, "each request has an arrival time");
                assert!(times.is_sorted(), "arrival times never decrease");
                times.to_vec()
            }
            Load::Closed { clients } => vec![Time::ZERO; clients.min(count)],
        };
        Arrivals { known, count, next: 0 }
    }

    /// Returns the arrival time of the next request. Returns `None` if the time is not known yet, or if no
    /// request is left.
    pub(super) fn next(&self) -> Option<Time> {
        self.known.get(self.next).copied()
    }

    /// Removes and returns the next request if it has arrived by `now`.
    pub(super) fn take(&mut self, now: Time) -> Option<Waiting> {
        let arrived = self.next().filter(|&arrival| arrival <= now)?;
        self.next += 1;
        Some(Waiting { request: self.next - 1, arrived })
    }

    /// Records that a request completed at `at`. Completion times must not decrease. In a closed loop, the
    /// client then sends another request.
    pub(super) fn completed(&mut self, at: Time) {
        if self.known.len() < self.count {
            self.known.push(at);
        }
    }
}
