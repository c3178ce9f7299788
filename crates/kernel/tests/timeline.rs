//! Timelines and pools against an oracle that remembers every reservation.

use nacre_kernel::timeline::INTERVALS_MAX;
use nacre_kernel::{Pool, Streams, Time, Timeline};
use proptest::prelude::*;

/// All reservations ever made, searched from end to end.
#[derive(Clone, Default)]
struct Oracle {
    reservations: Vec<(u64, u64)>,
}

impl Oracle {
    /// The first moment from `earliest` on at which `duration` overlaps nothing: `earliest` itself, or
    /// the end of a reservation. An empty duration needs a free picosecond.
    fn earliest_start(&self, earliest: u64, duration: u64) -> u64 {
        let duration = duration.max(1);
        let is_free =
            |start: u64| self.reservations.iter().all(|&(from, to)| start + duration <= from || start >= to);
        let ends = self.reservations.iter().map(|&(_, to)| to).filter(|&to| to > earliest);
        let candidates = std::iter::once(earliest).chain(ends);
        candidates
            .filter(|&start| is_free(start))
            .min()
            .expect("behind the last reservation everything is free")
    }

    /// Counts free picoseconds from `start` on.
    fn end_standing_still(&self, start: u64, duration: u64) -> u64 {
        let is_free = |at: &u64| self.reservations.iter().all(|&(from, to)| *at < from || *at >= to);
        let last = (start..).filter(is_free).take(duration as usize).last();
        last.map_or(start, |last| last + 1)
    }

    /// Takes every free picosecond from `start` on, `duration` of them.
    fn reserve_standing_still(&mut self, start: u64, duration: u64) -> u64 {
        let end = self.end_standing_still(start, duration);
        if duration > 0 {
            let is_free = |at: u64| self.reservations.iter().all(|&(from, to)| at < from || at >= to);
            let taken: Vec<u64> = (start..end).filter(|&at| is_free(at)).collect();
            self.reservations.extend(taken.into_iter().map(|at| (at, at + 1)));
        }
        end
    }

    fn reserve(&mut self, earliest: u64, duration: u64) -> u64 {
        let start = self.earliest_start(earliest, duration);
        if duration > 0 {
            self.reservations.push((start, start + duration));
        }
        start
    }
}

fn ps(time: u64) -> Time {
    Time::from_ps(time)
}

/// Reservations that arrive in any order, and now and then a moment before which nothing comes any more.
fn calls() -> impl Strategy<Value = Vec<(u64, u64, bool)>> {
    prop::collection::vec((0..300u64, 0..12u64, prop::bool::weighted(0.1)), 1..200)
}

proptest! {
    #[test]
    fn a_reservation_starts_at_the_earliest_gap(calls in calls()) {
        let (mut timeline, mut unordered) = (Timeline::new(), Timeline::out_of_order());
        let (mut oracle, mut forgotten) = (Oracle::default(), 0);
        for (earliest, duration, forget) in calls {
            let earliest = earliest.max(forgotten);
            prop_assert_eq!(timeline.earliest_start(ps(earliest), ps(duration)).as_ps(), oracle.earliest_start(earliest, duration));
            if duration > 0 {
                let expected = oracle.end_standing_still(earliest, duration);
                prop_assert_eq!(timeline.end_standing_still(ps(earliest), ps(duration)).as_ps(), expected);
            }
            let expected = oracle.reserve(earliest, duration);
            prop_assert_eq!(timeline.reserve(ps(earliest), ps(duration)).as_ps(), expected);
            prop_assert_eq!(unordered.reserve(ps(earliest), ps(duration)).as_ps(), expected);
            if forget {
                forgotten = earliest;
                timeline.forget_before(ps(forgotten));
                unordered.forget_before(ps(forgotten));
            }
            timeline.check_invariants();
            unordered.check_invariants();
        }
        let last = oracle.reservations.iter().map(|&(_, to)| to).max().unwrap_or(0);
        prop_assert_eq!(timeline.free_from().as_ps(), last);
        prop_assert_eq!(unordered.free_from().as_ps(), last);
    }

    #[test]
    fn work_takes_all_free_time_of_the_server_that_is_done_first(calls in calls(), servers in 1..5u32) {
        let (mut pool, mut forgotten) = (Pool::new(servers), 0);
        let mut oracles = vec![Oracle::default(); servers as usize];
        for (earliest, duration, forget) in calls {
            let earliest = earliest.max(forgotten);
            let end = |oracle: &Oracle| match duration {
                0 => oracle.earliest_start(earliest, 0),
                _ => oracle.end_standing_still(earliest, duration),
            };
            let ends: Vec<u64> = oracles.iter().map(end).collect();
            let best = (0..ends.len()).min_by_key(|&server| (ends[server], server)).expect("there are servers");
            oracles[best].reserve_standing_still(earliest, duration);
            prop_assert_eq!(pool.work(ps(earliest), ps(duration)).as_ps(), ends[best]);
            if forget {
                forgotten = earliest;
                pool.forget_before(ps(forgotten));
            }
            pool.check_invariants();
        }
    }

    #[test]
    fn a_pool_takes_the_first_server_that_can_start_earliest(calls in calls(), servers in 1..20u32) {
        let (mut pool, mut forgotten) = (Pool::new(servers), 0);
        let mut oracles = vec![Oracle::default(); servers as usize];
        for (earliest, duration, forget) in calls {
            let earliest = earliest.max(forgotten);
            let starts: Vec<u64> = oracles.iter().map(|oracle| oracle.earliest_start(earliest, duration)).collect();
            let best = (0..starts.len()).min_by_key(|&server| (starts[server], server)).expect("there are servers");
            oracles[best].reserve(earliest, duration);
            prop_assert_eq!(pool.reserve(ps(earliest), ps(duration)).as_ps(), starts[best]);
            let ends = oracles.iter().flat_map(|oracle| &oracle.reservations).map(|&(_, to)| to);
            prop_assert_eq!(pool.free_from().as_ps(), ends.max().unwrap_or(0));
            if forget {
                forgotten = earliest;
                pool.forget_before(ps(forgotten));
            }
            pool.check_invariants();
        }
    }
}

#[test]
fn gaps_far_from_the_end_are_found_while_the_oldest_intervals_are_forgotten() {
    for mut timeline in [Timeline::new(), Timeline::out_of_order()] {
        let mut random = Streams::new(3).stream("far");
        let (mut oracle, mut forgotten) = (Oracle::default(), 0);
        for call in 0..500 {
            // The window moves on; a call lies anywhere in it, up to some hundred intervals before the end.
            let earliest = forgotten + random.below(4_000);
            let duration = random.below(9);
            let expected = oracle.reserve(earliest, duration);
            assert_eq!(timeline.earliest_start(ps(expected), ps(duration)), ps(expected), "call {call}");
            assert_eq!(timeline.reserve(ps(earliest), ps(duration)), ps(expected), "call {call}");
            if call >= 250 && call % 5 == 0 {
                forgotten += 60;
                timeline.forget_before(ps(forgotten));
            }
            timeline.check_invariants();
        }
    }
}

#[test]
fn transfers_of_a_crowd_start_where_a_search_over_all_of_them_says() {
    // Sixty-four at a time, each some while after it was asked for: gaps lie up to some tens from the end.
    let mut random = Streams::new(4).stream("crowd");
    let (mut timeline, mut unordered, mut oracle) =
        (Timeline::new(), Timeline::out_of_order(), Oracle::default());
    let (mut now, mut ends) = (0, [0; 64]);
    for call in 0..20_000 {
        now = ends[call % 64].max(now);
        let earliest = now + 500 + 150 * random.below(3) + random.below(400);
        let duration = 4 + random.below(3);
        let expected = oracle.reserve(earliest, duration);
        assert_eq!(timeline.reserve(ps(earliest), ps(duration)), ps(expected), "call {call}");
        assert_eq!(unordered.reserve(ps(earliest), ps(duration)), ps(expected), "call {call}");
        ends[call % 64] = expected + duration;
        if call % 64 == 0 {
            timeline.forget_before(ps(now));
            unordered.forget_before(ps(now));
            oracle.reservations.retain(|&(_, to)| to > now);
        }
        timeline.check_invariants();
        unordered.check_invariants();
    }
}

#[test]
fn arrivals_in_order_are_served_first_come_first_served() {
    let mut random = Streams::new(1).stream("arrivals");
    let (mut timeline, mut pool) = (Timeline::new(), Pool::new(4));
    let (mut free, mut servers, mut now) = (0, [0u64; 4], 0);
    for _ in 0..100_000 {
        now += random.below(20);
        let duration = 1 + random.below(10);
        let start = free.max(now);
        free = start + duration;
        assert_eq!(timeline.reserve(ps(now), ps(duration)), ps(start));
        let server = (0..4).min_by_key(|&server| (servers[server].max(now), server)).expect("four servers");
        let start = servers[server].max(now);
        servers[server] = start + duration;
        assert_eq!(pool.reserve(ps(now), ps(duration)), ps(start));
        timeline.forget_before(ps(now));
        pool.forget_before(ps(now));
    }
}

#[test]
fn past_the_most_intervals_the_oldest_gap_closes_and_nothing_overlaps() {
    for mut timeline in [Timeline::new(), Timeline::out_of_order()] {
        let count = INTERVALS_MAX as u64 + 10;
        for number in 0..count {
            assert_eq!(timeline.reserve(ps(number * 10), ps(5)), ps(number * 10));
        }
        timeline.check_invariants();
        let closed = ps(10 * 10 + 5);
        let first = timeline.reserve(ps(0), ps(5));
        assert_eq!(first, closed, "the ten oldest gaps are closed, the next is open");
        let last = timeline.reserve(ps((count - 1) * 10), ps(5));
        assert_eq!(last, ps((count - 1) * 10 + 5), "the newest are exact");
        // Filling gaps from the newest to the oldest also stays within the bound.
        for number in (0..count).rev() {
            timeline.reserve(ps(count * 10 + number * 10), ps(5));
            timeline.check_invariants();
        }
    }
}

#[test]
fn one_server_and_a_pool_of_one_agree() {
    let mut random = Streams::new(2).stream("calls");
    let (mut timeline, mut pool) = (Timeline::new(), Pool::new(1));
    for _ in 0..5_000 {
        let (earliest, duration) = (ps(random.below(50_000)), ps(random.below(9)));
        assert_eq!(timeline.reserve(earliest, duration), pool.reserve(earliest, duration));
    }
    assert_eq!((pool.len(), pool.is_empty()), (1, false));
}
