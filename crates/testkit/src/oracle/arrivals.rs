//! When requests arrive, in an open and in a closed loop.

use nacre_kernel::Time;

/// How requests are sent. They are numbered from 0 in the order of their list.
#[derive(Clone, Copy, Debug)]
pub enum Load<'a> {
    /// Each request arrives at its own time; the times never decrease.
    Open(&'a [Time]),
    /// Clients send the requests of one list in its order: each one starts at time 0, and sends the next request of the
    /// list when its last one is done.
    Closed {
        /// Number of clients.
        clients: usize,
    },
}

/// A request that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Its number.
    pub(super) request: usize,
    /// When it arrived.
    pub(super) arrived: Time,
}

/// The arrival times that are known so far: in an open loop all of them, in a closed loop one more with each completion.
#[derive(Debug)]
pub(super) struct Arrivals {
    known: Vec<Time>,
    /// Requests in the list.
    count: usize,
    /// The first request that was not taken.
    next: usize,
}

impl Arrivals {
    /// Panics if an open loop has another number of arrival times, or times that decrease.
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

    /// When the next request arrives; `None` if that is not known yet, or if there is none.
    pub(super) fn next(&self) -> Option<Time> {
        self.known.get(self.next).copied()
    }

    /// The next request, if it has arrived by `now`.
    pub(super) fn take(&mut self, now: Time) -> Option<Waiting> {
        let arrived = self.next().filter(|&arrival| arrival <= now)?;
        self.next += 1;
        Some(Waiting { request: self.next - 1, arrived })
    }

    /// A request is done at `at`, now or later; `at` never decreases. In a closed loop the client sends its next one.
    pub(super) fn completed(&mut self, at: Time) {
        if self.known.len() < self.count {
            self.known.push(at);
        }
    }
}
