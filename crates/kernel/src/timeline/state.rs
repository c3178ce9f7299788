//! Reservations as state, so that a device goes on exactly where it was.

use super::{INTERVALS_MAX, Intervals, Pool, Timeline};
use crate::state::{StateError, StateReader, StateWriter};
use crate::time::Time;

impl Timeline {
    /// Adds all that is reserved.
    pub fn save(&self, state: &mut StateWriter) {
        let ends = |&(start, end): &(Time, Time)| [start.as_ps(), end.as_ps()];
        let intervals = self.busy.after(self.forgotten);
        let intervals = if intervals.is_empty() { &[(Time::ZERO, Time::ZERO)] } else { intervals };
        state.put_u64s(&intervals.iter().flat_map(ends).collect::<Vec<_>>());
        state.put_u64(self.forgotten.as_ps());
    }

    /// Takes on what [`Timeline::save`] wrote. Errors: these are no reservations.
    pub fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let ends = state.u64s("reservations")?;
        let intervals =
            ends.as_chunks::<2>().0.iter().map(|&[start, end]| (Time::from_ps(start), Time::from_ps(end)));
        let intervals: Vec<(Time, Time)> = intervals.collect();
        let ordered = intervals.iter().all(|(start, end)| start <= end)
            && intervals.windows(2).all(|neighbours| neighbours[0].1 < neighbours[1].0);
        if ends.len() % 2 != 0 || ends.is_empty() || intervals.len() > INTERVALS_MAX || !ordered {
            return Err(state.error("reservations apart and in order".into(), format!("{} ends", ends.len())));
        }
        self.busy = Intervals::of(&intervals);
        self.forgotten = Time::from_ps(state.u64("what is forgotten")?);
        Ok(())
    }
}

impl Pool {
    /// Adds all that is reserved.
    pub fn save(&self, state: &mut StateWriter) {
        self.servers.iter().for_each(|server| server.save(state));
        state.put_u64(self.forgotten.as_ps());
    }

    /// Takes on what [`Pool::save`] wrote of as many servers. Errors: these are no reservations.
    pub fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        self.servers.iter_mut().try_for_each(|server| server.restore(state))?;
        self.ends = self.servers.iter().map(|server| server.busy.last().1).collect();
        self.latest_start =
            self.servers.iter().map(|server| server.busy.last().0).fold(Time::ZERO, Time::max);
        self.forgotten = Time::from_ps(state.u64("what is forgotten")?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

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
        let mut state = StateWriter::new();
        pool.save(&mut state);
        let state = state.finish();
        let mut restored = Pool::new(3);
        let mut reader = StateReader::new(&state);
        restored.restore(&mut reader).unwrap();
        reader.finish().unwrap();
        restored.check_invariants();
        for step in 200..600 {
            let starts = reserve(&mut [&mut pool, &mut restored], step * 10);
            assert_eq!(starts[0], starts[1], "step {step}");
        }
    }

    #[test]
    fn what_is_no_reservation_is_refused() {
        for ends in [&[][..], &[1], &[5, 3], &[0, 9, 9, 12], &[4, 6, 1, 2]] {
            let mut state = StateWriter::new();
            state.put_u64s(ends);
            state.put_u64(0);
            let state = state.finish();
            assert!(Timeline::new().restore(&mut StateReader::new(&state)).is_err(), "{ends:?}");
        }
    }
}
