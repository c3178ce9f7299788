//! Where the time of one request went.

use crate::activity::Activity;
use crate::stage::Stage;
use crate::state::Value;
use crate::time::Time;

/// Names one component of a built stack; given out when the stack is built, parents before children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
pub struct ComponentId(pub u8);

/// Time one request spent in one component on one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Span {
    /// Where.
    pub component: ComponentId,
    /// Doing what.
    pub activity: Activity,
    /// At what within the component, where it tells that.
    pub stage: Stage,
    /// How long.
    pub time: Time,
}

/// A span that is none.
const EMPTY: Span =
    Span { component: ComponentId(0), activity: Activity::Queue, stage: Stage::Untold, time: Time::ZERO };

/// Where one request's time went: its critical path through the stack, in the order it was walked.
///
/// Of parts served side by side only the one that finishes last is on the path.
#[derive(Clone, Debug)]
pub struct Breakdown {
    /// The first `count` are those of the request.
    spans: Vec<Span>,
    count: usize,
    is_close: bool,
}

impl Default for Breakdown {
    fn default() -> Breakdown {
        Breakdown::new()
    }
}

impl Breakdown {
    /// An empty breakdown.
    pub fn new() -> Breakdown {
        Breakdown { spans: vec![EMPTY; 32], count: 0, is_close: false }
    }

    /// An empty breakdown of somebody who looks closely: a device that can tell the stages of a request does.
    pub fn close() -> Breakdown {
        Breakdown { is_close: true, ..Breakdown::new() }
    }

    /// Whether somebody looks closely.
    #[inline]
    pub fn is_close(&self) -> bool {
        self.is_close
    }

    /// Adds `time` spent in `component` on `activity` at `stage`.
    pub fn add_stage(&mut self, component: ComponentId, activity: Activity, stage: Stage, time: Time) {
        let before = self.count;
        self.add(component, activity, time);
        self.spans[before..self.count].iter_mut().for_each(|span| span.stage = stage);
    }

    /// Adds `time` spent in `component` on `activity`. Empty spans leave no trace.
    #[inline]
    pub fn add(&mut self, component: ComponentId, activity: Activity, time: Time) {
        self.add_all(component, [(activity, time)]);
    }

    /// Adds several spans of one component, one after the other.
    #[inline(always)]
    pub fn add_all<const SPANS: usize>(&mut self, component: ComponentId, spans: [(Activity, Time); SPANS]) {
        if self.count + SPANS > self.spans.len() {
            self.grow();
        }
        let room = &mut self.spans[self.count..][..SPANS];
        let mut added = 0;
        for (activity, time) in spans {
            // Written in any case, and counted where there is something: whether a request waits is not to be
            // guessed by a processor.
            room[added] = Span { component, activity, stage: Stage::Untold, time };
            added += usize::from(!time.is_zero());
        }
        self.count += added;
    }

    #[cold]
    fn grow(&mut self) {
        self.spans.resize(2 * self.spans.len(), EMPTY);
    }

    /// The spans so far.
    #[inline]
    pub fn spans(&self) -> &[Span] {
        &self.spans[..self.count]
    }

    /// How many spans there are: a mark to come back to with [`Breakdown::drop_range`].
    #[inline]
    pub fn mark(&self) -> usize {
        self.count
    }

    /// Removes the spans from mark `from` up to mark `to`: a part that was not on the critical path.
    #[inline]
    pub fn drop_range(&mut self, from: usize, to: usize) {
        if from != to {
            self.spans.copy_within(to..self.count, from);
            self.count -= to - from;
        }
    }

    /// Removes everything.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The sum of the spans from mark `from` on.
    pub fn total_from(&self, from: usize) -> Time {
        self.spans()[from..].iter().fold(Time::ZERO, |sum, span| sum + span.time)
    }
}
