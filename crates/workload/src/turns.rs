//! Order in which the clients of a workload continue.

use nacre_kernel::Time;
use nacre_kernel::state::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Waiting clients, with the times at which they continue. Clients with equal times continue in the order in
/// which they started to wait.
#[derive(Clone, Debug, State)]
pub(crate) struct Turns {
    /// Clients whose wait ends at a known time: this time, the number of the wait, and the client.
    ready: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// Number of the latest wait of each client.
    waits: Vec<u64>,
    count: u64,
}

impl Turns {
    /// Creates a list without waiting clients.
    pub(crate) fn new(clients: u32) -> Turns {
        Turns { ready: BinaryHeap::new(), waits: vec![0; clients as usize], count: 0 }
    }

    /// Starts a wait of `client` without a known end.
    #[inline]
    pub(crate) fn wait(&mut self, client: u32) {
        self.waits[client as usize] = self.count;
        self.count += 1;
    }

    /// Ends the wait of `client` at the time `at`.
    #[inline]
    pub(crate) fn wake(&mut self, client: u32, at: Time) {
        self.ready.push(Reverse((at, self.waits[client as usize], client)));
    }

    /// Starts a wait of `client` until the time `at`.
    #[inline]
    pub(crate) fn wait_until(&mut self, at: Time, client: u32) {
        self.wait(client);
        self.wake(client, at);
    }

    /// Time at which the next client continues. [`Time::MAX`] if no wait has a known end.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.ready.peek().map_or(Time::MAX, |&Reverse((at, ..))| at)
    }

    /// Removes and returns the next client if it continues at `now` or earlier.
    #[inline]
    pub(crate) fn take(&mut self, now: Time) -> Option<u32> {
        if self.next() > now {
            return None;
        }
        self.ready.pop().map(|Reverse((at, _, client))| {
            debug_assert!(at == now, "a client should have continued at {at}, it is {now}");
            client
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_clients_that_continue_at_one_instant_the_one_that_waited_longest_goes_first() {
        let (mut turns, now) = (Turns::new(4), Time::from_ns(5));
        turns.wait(2);
        turns.wait_until(now, 3);
        turns.wait(0);
        turns.wait_until(Time::from_ns(6), 1);
        turns.wake(0, now);
        turns.wake(2, now);
        assert_eq!(turns.next(), now);
        let order: Vec<u32> = std::iter::from_fn(|| turns.take(now)).collect();
        assert_eq!(order, [2, 3, 0]);
        assert_eq!((turns.next(), turns.take(Time::from_ns(6))), (Time::from_ns(6), Some(1)));
        assert_eq!(turns.next(), Time::MAX);
    }
}
