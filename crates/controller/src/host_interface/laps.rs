//! The stages of one request, for somebody who looks closely.

use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Breakdown, ComponentId, Stage, Time};

/// A stage that is over: what is before its own time is waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Lap {
    /// What it is.
    pub stage: Stage,
    /// What was done.
    pub activity: Activity,
    /// When it is over.
    pub end: Time,
    /// How long it takes if nothing is in the way.
    pub alone: Time,
}

/// How far a part of a request has come: its last stage, and by it those before; none at its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(Option<usize>);

/// Stages of a request whose parts wait for each other; none are noted while nobody looks.
#[derive(Clone, Debug, Default)]
pub struct Laps {
    is_on: bool,
    /// Each with the one before it on its way.
    laps: Vec<(Lap, Mark)>,
    last: Mark,
}

impl Laps {
    /// Somebody looks: the stages of a request are noted until they are told.
    pub(crate) fn begin(&mut self) {
        self.laps.clear();
        (self.is_on, self.last) = (true, Mark::default());
    }

    #[inline]
    pub(crate) fn note(&mut self, stage: Stage, activity: Activity, end: Time, alone: Time) {
        if self.is_on {
            self.add(&[Lap { stage, activity, end, alone }]);
        }
    }

    pub(crate) fn add(&mut self, laps: &[Lap]) {
        for &lap in laps {
            self.laps.push((lap, self.last));
            self.last = Mark(Some(self.laps.len() - 1));
        }
    }

    /// Where the part is whose stages are noted now.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        self.last
    }

    /// What is noted next comes behind `mark`: stages of another part, or of one that waited for that.
    #[inline]
    pub(crate) fn go_on_from(&mut self, mark: Mark) {
        self.last = mark;
    }

    /// Tells the stages up to where it is now, of a request that was issued at `now` and is done at `done`: they add up to
    /// what lies between.
    pub(crate) fn tell(&mut self, id: ComponentId, now: Time, done: Time, breakdown: &mut Breakdown) {
        let mut way = Vec::new();
        while let Mark(Some(number)) = self.last {
            let (lap, before) = self.laps[number];
            way.push(lap);
            self.last = before;
        }
        let mut before = now;
        for lap in way.into_iter().rev() {
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
