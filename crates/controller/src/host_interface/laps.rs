//! The stages of one request, for somebody who looks closely.

use nacre_kernel::{Activity, Breakdown, ComponentId, Stage, Time};

/// A stage that is over: what is before its own time is waiting for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lap {
    pub(crate) stage: Stage,
    pub(crate) activity: Activity,
    pub(crate) end: Time,
    /// What it takes where nothing is in the way.
    pub(crate) alone: Time,
}

/// Stages in their order; none are noted while nobody looks.
#[derive(Clone, Debug, Default)]
pub struct Laps {
    is_on: bool,
    laps: Vec<Lap>,
}

impl Laps {
    /// Somebody looks: the stages of a request are noted until they are told.
    pub(crate) fn begin(&mut self) {
        self.is_on = true;
        self.laps.clear();
    }

    #[inline]
    pub(crate) fn note(&mut self, stage: Stage, activity: Activity, end: Time, alone: Time) {
        if self.is_on {
            self.laps.push(Lap { stage, activity, end, alone });
        }
    }

    pub(crate) fn add(&mut self, laps: &[Lap]) {
        self.laps.extend(laps);
    }

    pub(crate) fn len(&self) -> usize {
        self.laps.len()
    }

    /// Of two ways from `fork` on the second, which begins at `at`, is the one that is over last, or it is not.
    pub(crate) fn join(&mut self, fork: usize, at: usize, is_last: bool) {
        if is_last {
            self.laps.drain(fork..at);
        } else {
            self.laps.truncate(at);
        }
    }

    /// Tells all of them, of a request that was issued at `now` and is done at `done`: they add up to what lies between.
    pub(crate) fn tell(&mut self, id: ComponentId, now: Time, done: Time, breakdown: &mut Breakdown) {
        let mut before = now;
        for lap in self.laps.drain(..) {
            let end = lap.end.min(done);
            let taken = end.saturating_sub(before);
            let alone = lap.alone.min(taken);
            breakdown.add_stage(id, Activity::Queue, lap.stage, taken - alone);
            breakdown.add_stage(id, lap.activity, lap.stage, alone);
            before = before.max(end);
        }
        breakdown.add_stage(id, Activity::Queue, Stage::Untold, done - before);
        self.is_on = false;
    }
}
