//! The state of a die's line: a linked list in a flat row, as lines were kept once, so that states of then are read.

use super::gaps::Gap;
use super::line::{Job, Line};
use nacre_kernel::Time;
use nacre_kernel::state::{State, StateError, StateReader, StateWriter, Value};

/// No job.
const NONE: u32 = u32::MAX;

/// A job and the places of the one behind it, or of the next place that is free, and of the one before it.
#[derive(Clone, Copy, Debug, Value)]
struct Place {
    job: Job,
    next: u32,
    before: u32,
}

/// A gap and the place of the job before it.
#[derive(Clone, Copy, Debug, Value)]
struct GapBehind {
    from: Time,
    to: Time,
    after: u32,
}

/// The jobs of a line, one linked to the other, and its gaps.
#[derive(Clone, Debug, Value)]
struct Chain {
    places: Vec<Place>,
    first: u32,
    last: u32,
    free: u32,
    gaps: Vec<GapBehind>,
}

impl Chain {
    fn of(line: &Line) -> Chain {
        let count = line.jobs().count() as u32;
        let at = |number: u32| if number < count { number } else { NONE };
        let place =
            |(number, &job): (u32, &Job)| Place { job, next: at(number + 1), before: number.wrapping_sub(1) };
        let mut before = line.jobs().zip(0..).peekable();
        let mut after = NONE;
        let gap = |&Gap { from, to }: &Gap| {
            while let Some((_, number)) = before.next_if(|(job, _)| job.from < to) {
                after = number;
            }
            GapBehind { from, to, after }
        };
        let gaps = line.gaps().map(gap).collect();
        let places = (0..).zip(line.jobs()).map(place).collect();
        Chain { places, first: at(0), last: count.wrapping_sub(1), free: NONE, gaps }
    }

    /// The jobs in order; none where one is linked to what is no place, or comes twice.
    fn jobs(&self) -> Option<Vec<Job>> {
        let mut jobs = Vec::with_capacity(self.places.len());
        let mut at = self.first;
        while at != NONE && jobs.len() < self.places.len() {
            let place = self.places.get(at as usize)?;
            jobs.push(place.job);
            at = place.next;
        }
        (at == NONE && jobs.is_sorted_by(|one, next| one.to() <= next.from)).then_some(jobs)
    }
}

impl State for Line {
    fn save(&self, state: &mut StateWriter) {
        state.section("line");
        Chain::of(self).save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("line")?;
        let chain = Chain::read(state)?;
        let jobs = chain.jobs();
        let jobs = jobs.ok_or_else(|| {
            state.error("jobs in order".into(), "a line that does not hold together".into())
        })?;
        let gaps = chain.gaps.iter().map(|&GapBehind { from, to, .. }| Gap { from, to });
        *self = Line::of(self.shortest, jobs, gaps.collect());
        Ok(())
    }
}
