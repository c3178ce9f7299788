//! How long one client takes from an answer to its next request.
//!
//! Of a client that asks for one thing at a time and goes on at once this is all that it waits for besides the device:
//! the answer's way, waking up, its library, the next request's way. [`Transport`] measures that with a client of its
//! own before anybody comes; a real one's library is slower, and a machine is not always the same. So what the client
//! takes longer than that leaves the server earlier too.
//!
//! A client that computes between requests takes longer and should not be given that time. It often goes on at once
//! now and then, so the lower third of the last turnarounds counts, and never more than [`EXCESS_MAX`] of the way that
//! was measured: an answer may be so much too early for a client that always computes.

use crate::transport::Transport;
use std::time::{Duration, Instant};

/// Turnarounds that are remembered.
const REMEMBERED: usize = 64;
/// Turnarounds between two looks at them.
const GLANCE: usize = 16;
/// Most that counts, in parts of the way.
const EXCESS_MAX: f64 = 0.5;

/// The last turnarounds of one client.
pub(crate) struct Turnaround {
    /// What they took longer than the way that was measured, in ns.
    last: [u32; REMEMBERED],
    count: usize,
    /// When the last answer left, where the client waits for no other.
    answered: Option<Instant>,
    excess: Duration,
}

impl Turnaround {
    pub(crate) fn new() -> Turnaround {
        Turnaround { last: [0; REMEMBERED], count: 0, answered: None, excess: Duration::ZERO }
    }

    /// The answer that was the only one to be waited for left at `at`.
    pub(crate) fn answered(&mut self, at: Instant) {
        self.answered = Some(at);
    }

    /// A request with `bytes` to be moved is there at `at`.
    pub(crate) fn asked(&mut self, at: Instant, bytes: u32, transport: &Transport) {
        let Some(answered) = self.answered.take() else { return };
        let excess = (at - answered).saturating_sub(transport.of(bytes));
        self.last[self.count % REMEMBERED] = u32::try_from(excess.as_nanos()).unwrap_or(u32::MAX);
        self.count += 1;
        if self.count.is_multiple_of(GLANCE) {
            let mut sorted = self.last;
            let known = &mut sorted[..self.count.min(REMEMBERED)];
            known.sort_unstable();
            let third = Duration::from_nanos(u64::from(known[known.len() / 3]));
            self.excess = third.min(transport.of(0).mul_f64(EXCESS_MAX));
        }
    }

    /// What an answer leaves earlier than the way that was measured asks for.
    pub(crate) fn excess(&self) -> Duration {
        self.excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    fn excess(turnarounds: impl IntoIterator<Item = u64>) -> Duration {
        let way = Transport::of_small(Duration::from_micros(20));
        let (mut client, mut at) = (Turnaround::new(), Instant::now());
        for turnaround in turnarounds {
            client.answered(at);
            at += Duration::from_micros(turnaround);
            client.asked(at, 0, &way);
            // A request that comes while another is under way says nothing.
            at += Duration::from_micros(500);
            client.asked(at, 0, &way);
        }
        client.excess()
    }

    #[test]
    fn what_a_client_takes_longer_than_the_way_counts() {
        assert_eq!(excess([27; 100]), Duration::from_micros(7));
        assert_eq!(excess([12; 100]), Duration::ZERO);
    }

    #[test]
    fn a_client_that_computes_now_and_then_is_known_by_its_other_requests() {
        assert_eq!(excess((0..100).map(|n| if n % 2 == 0 { 24 } else { 900 })), Duration::from_micros(4));
    }

    #[test]
    fn a_client_that_always_computes_is_given_half_of_the_way_at_most() {
        assert_eq!(excess([5_000; 100]), Duration::from_micros(10));
    }

    #[test]
    fn the_past_is_forgotten() {
        assert_eq!(excess([29; 200].into_iter().chain([22; 64])), Duration::from_micros(2));
    }
}
