//! Reservations as state, so that a device goes on exactly where it was.

use super::intervals::Interval;
use super::{INTERVALS_MAX, Intervals, Pool, Timeline, ends_of};
use crate::state::{State, StateError, StateReader, StateWriter, Value};
use crate::time::Time;

/// Only what can still be asked about: equal timelines have equal states, whatever was forgotten.
impl State for Timeline {
    fn save(&self, state: &mut StateWriter) {
        self.forgotten.save(state);
        self.free_from().save(state);
        let live: Vec<Interval> = self
            .busy
            .after(self.forgotten)
            .iter()
            .filter(|&&(_, end)| end > self.forgotten)
            .map(|&(start, end)| (start.max(self.forgotten), end))
            .collect();
        live.save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let (forgotten, free_from) = Value::read(state)?;
        let mut intervals: Vec<Interval> = Value::read(state)?;
        let ordered = intervals.iter().all(|&(start, end)| forgotten <= start && start < end)
            && intervals.windows(2).all(|neighbours| neighbours[0].1 < neighbours[1].0);
        let is_last = intervals.last().map_or(free_from <= forgotten, |&(_, end)| end == free_from);
        if intervals.len() > INTERVALS_MAX || !ordered || !is_last {
            let found = format!("{} of them until {free_from}", intervals.len());
            return Err(state.error("reservations apart and in order".into(), found));
        }
        if intervals.is_empty() && !free_from.is_zero() {
            // It is over, and nobody asks when it began; but it says from when on the server is free.
            intervals.push((free_from - Time::from_ps(1), free_from));
        }
        self.busy = Intervals::of(&intervals);
        self.forgotten = forgotten;
        Ok(())
    }
}

impl State for Pool {
    fn save(&self, state: &mut StateWriter) {
        self.forgotten.save(state);
        self.servers.save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        self.forgotten.restore(state)?;
        self.servers.restore(state)?;
        self.ends = ends_of(&self.servers);
        self.latest_start =
            self.servers.iter().map(|server| server.busy.last().0).fold(Time::ZERO, Time::max);
        self.latest_end = self.servers.iter().map(Timeline::free_from).fold(Time::ZERO, Time::max);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Streams, state};

    #[test]
    fn a_restored_pool_goes_on_as_the_saved_one() {
        let mut random = Streams::new(1).stream("reservations");
        let mut pool = Pool::new(3);
        let mut reserve = |pools: &mut [&mut Pool], from: u64| {
            let (at, time) = (Time::from_ps(from + random.below(500)), Time::from_ps(random.below(90)));
            pools.iter_mut().map(|pool| pool.reserve(at, time)).collect::<Vec<_>>()
        };
        (0..200).for_each(|step| {
            reserve(&mut [&mut pool], step * 10);
        });
        pool.forget_before(Time::from_ps(1500));
        let bytes = state::saved(&pool).unwrap();
        let mut restored = Pool::new(3);
        state::restored(&mut restored, &bytes).unwrap();
        restored.check_invariants();
        for step in 200..600 {
            let starts = reserve(&mut [&mut pool, &mut restored], step * 10);
            assert_eq!(starts[0], starts[1], "step {step}");
        }
        assert_eq!(state::saved(&pool), state::saved(&restored));
    }

    #[test]
    fn what_is_no_reservation_is_refused() {
        let at = |ps: u64| Time::from_ps(ps);
        let wrong = [
            (0, 1, vec![]),
            (0, 3, vec![(5, 3)]),
            (0, 12, vec![(0, 9), (9, 12)]),
            (0, 2, vec![(4, 6), (1, 2)]),
            (5, 9, vec![(4, 9)]),
            (0, 8, vec![(4, 9)]),
        ];
        for (forgotten, free_from, intervals) in wrong {
            let intervals: Vec<_> = intervals.into_iter().map(|(start, end)| (at(start), at(end))).collect();
            let bytes = state::saved(&((at(forgotten), at(free_from)), intervals.clone())).unwrap();
            assert!(state::restored(&mut Timeline::new(), &bytes).is_err(), "{intervals:?}");
        }
    }
}
