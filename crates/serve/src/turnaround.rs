//! Measurement of a client's turnaround, i.e. the time from a reply to the next request.
//!
//! A client with one outstanding request that continues immediately waits only for the device and for its
//! turnaround: delivery of the reply, waking up, its library, and delivery of the next request.
//! [`Transport`] measures this time with a client thread of the server before clients connect. The library
//! of a real client is slower, a client that never sleeps is faster, and machines vary. If the transport
//! delay is subtracted and the turnaround of the client is known, replies are therefore sent earlier by
//! this turnaround.
//!
//! A client that computes between requests takes longer, and this time should not be subtracted. Such a
//! client sometimes continues immediately, so the estimate is the value below which a third of the last
//! turnarounds lie. The estimate is limited to the fastest turnaround plus the [spread](Transport::spread)
//! of the delay, and to the delay plus [`LONGER_MAX`] of the delay. If even the fastest turnaround exceeds
//! the second limit, the client always computes or the machine is busy, and its turnaround is unknown.

use crate::transport::Transport;
use std::time::{Duration, Instant};

/// Number of turnarounds that are stored for a client.
const REMEMBERED: usize = 64;
/// Number of turnarounds between two adjustments, after the initial adjustments.
const ADJUST_EVERY: usize = 16;
/// Maximum excess of a turnaround over the measured transport delay, as a share of this delay.
const LONGER_MAX: f64 = 0.5;

/// Recent turnarounds of a client.
pub(crate) struct Turnaround {
    /// Differences between turnarounds and the measured transport delay, in nanoseconds. A negative value
    /// means that the turnaround was shorter than the delay.
    last: [i64; REMEMBERED],
    count: usize,
    /// Time at which the last reply was sent, if the client waits for no other reply.
    answered: Option<Instant>,
    beyond: Beyond,
}

/// Adjustment of reply times relative to the measured transport delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Beyond {
    Sooner(Duration),
    Later(Duration),
}

impl Turnaround {
    pub(crate) fn new() -> Turnaround {
        Turnaround { last: [0; REMEMBERED], count: 0, answered: None, beyond: Beyond::Sooner(Duration::ZERO) }
    }

    /// Records that the only outstanding reply was sent at `at`.
    pub(crate) fn answered(&mut self, at: Instant) {
        self.answered = Some(at);
    }

    /// Records a request that transfers `bytes` bytes and arrived at `at`.
    pub(crate) fn requested(&mut self, at: Instant, bytes: u32, transport: &Transport) {
        let Some(answered) = self.answered.take() else { return };
        self.last[self.count % REMEMBERED] = nanoseconds(at - answered) - nanoseconds(transport.of(bytes));
        self.count += 1;
        if self.count <= ADJUST_EVERY || self.count.is_multiple_of(ADJUST_EVERY) {
            let mut sorted = self.last;
            let known = &mut sorted[..self.count.min(REMEMBERED)];
            known.sort_unstable();
            let longest = nanoseconds(transport.of(0).mul_f64(LONGER_MAX));
            let counts = match known[0] {
                fastest if fastest > longest => 0,
                fastest => known[known.len() / 3].min(fastest + nanoseconds(transport.spread())).min(longest),
            };
            let size = Duration::from_nanos(counts.unsigned_abs());
            self.beyond = if counts < 0 { Beyond::Later(size) } else { Beyond::Sooner(size) };
        }
    }

    /// Returns the adjustment of this client's reply times relative to the measured transport delay.
    pub(crate) fn beyond(&self) -> Beyond {
        self.beyond
    }
}

fn nanoseconds(time: Duration) -> i64 {
    // The conversion is limited, although turnarounds of centuries do not occur.
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    fn beyond(turnarounds: impl IntoIterator<Item = u64>) -> Beyond {
        let way = Transport::of_small(Duration::from_micros(20), Duration::from_micros(6));
        let (mut client, mut at) = (Turnaround::new(), Instant::now());
        for turnaround in turnarounds {
            client.answered(at);
            at += Duration::from_micros(turnaround);
            client.requested(at, 0, &way);
            // A request that arrives while another request is outstanding has no turnaround.
            at += Duration::from_micros(500);
            client.requested(at, 0, &way);
        }
        client.beyond()
    }

    fn sooner(us: u64) -> Beyond {
        Beyond::Sooner(Duration::from_micros(us))
    }

    #[test]
    fn what_a_client_takes_beyond_the_way_counts() {
        assert_eq!(beyond([27; 100]), sooner(7));
        assert_eq!(beyond([]), sooner(0));
    }

    #[test]
    fn answers_of_a_client_that_is_faster_than_the_way_leave_later() {
        assert_eq!(beyond([8; 100]), Beyond::Later(Duration::from_micros(12)));
        // The adjustment applies from the second request on.
        assert_eq!(beyond([8]), Beyond::Later(Duration::from_micros(12)));
    }

    #[test]
    fn no_answer_is_early_by_more_than_the_spread_of_the_way() {
        // Most turnarounds are slow, but 5 % of them take only 15 us.
        let some = (0..100).map(|n| if n % 20 == 0 { 15 } else { 29 });
        assert_eq!(beyond(some), sooner(15 + 6 - 20));
    }

    #[test]
    fn a_client_that_computes_now_and_then_is_known_by_its_other_requests() {
        assert_eq!(beyond((0..100).map(|n| if n % 2 == 0 { 24 } else { 900 })), sooner(4));
    }

    #[test]
    fn a_client_that_always_computes_is_given_the_way_that_was_measured() {
        assert_eq!(beyond([5_000; 100]), sooner(0));
        assert_eq!(beyond((0..100).map(|n| if n % 4 == 0 { 28 } else { 34 })), sooner(10));
    }

    #[test]
    fn the_past_is_forgotten() {
        assert_eq!(beyond([29; 200].into_iter().chain([22; 64])), sooner(2));
        assert_eq!(beyond([9; 200].into_iter().chain([29; 80])), sooner(9));
    }
}
