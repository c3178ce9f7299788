//! Host requests in progress. Each is served in parts and completes when its last part has ended.

use crate::visit::{FailingFlushes, Part, Visit};
use nacre_kernel::event::{Agenda, Completions, Payload, RequestId, Slab};
use nacre_kernel::state::State;
use nacre_kernel::{Activity, ComponentId, Request, Span, Stage, Status, Time};

/// All requests in progress.
#[derive(State)]
pub(crate) struct Visits {
    #[state(skip = "from the configuration")]
    component: ComponentId,
    all: Slab<Visit>,
    /// Requests whose parts have all ended, or will all have ended at the scheduled time.
    due: Agenda<u32>,
    failing: FailingFlushes,
}

impl Visits {
    /// Creates an empty set of requests for the composite device `component`.
    pub(crate) fn new(component: ComponentId) -> Visits {
        Visits { component, all: Slab::new(), due: Agenda::new(), failing: FailingFlushes::default() }
    }

    /// Starts the service of request `id` at `now`. The time since its arrival is charged to `before`. The
    /// caller then adds parts and calls [`Visits::leave`]. Returns the number of the [`Visit`].
    pub(crate) fn enter(
        &mut self,
        now: Time,
        id: RequestId,
        request: &Request,
        before: (Activity, Time),
    ) -> u32 {
        let component = self.component;
        let (number, visit) = self.all.take();
        (visit.id, visit.request) = (id, *request);
        (visit.parts, visit.latest, visit.status) = (1, now, Status::Done);
        visit.spans.clear();
        let (activity, time) = before;
        // The request was submitted to this device at this time. It may have waited in the host before.
        visit.request.arrival = now - time;
        visit.submitted = now - time;
        if !time.is_zero() {
            visit.spans.push(Span { component, activity, stage: Stage::Untold, time });
        }
        visit.own = visit.spans.len() as u32;
        visit.bytes.clear();
        visit.data = Payload::NONE;
        number
    }

    /// Adds a part to the request.
    #[inline]
    pub(crate) fn add_part(&mut self, visit: u32) {
        self.all[visit].parts += 1;
    }

    /// Marks that all parts of the request have been added.
    #[inline]
    pub(crate) fn leave(&mut self, visit: u32) {
        self.count_down(visit);
    }

    /// Ends a part at `at`, which may be in the future. The breakdown of the request contains the spans of
    /// the part that ended last.
    #[inline]
    pub(crate) fn part_ends(&mut self, at: Time, number: u32, part: &Part<'_>) {
        let component = self.component;
        let visit = &mut self.all[number];
        self.failing.part_ends(visit, part.status);
        if at > visit.latest {
            visit.latest = at;
            visit.spans.truncate(visit.own as usize);
            if let Some((activity, time)) = part.own.filter(|(_, time)| !time.is_zero()) {
                visit.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
            visit.spans.extend_from_slice(part.before);
            visit.spans.extend_from_slice(part.spans);
        }
        visit.receive(part.data.0, &part.data.1);
        self.count_down(number);
    }

    #[inline]
    fn count_down(&mut self, number: u32) {
        let visit = &mut self.all[number];
        visit.parts -= 1;
        if visit.parts == 0 {
            self.due.schedule(visit.latest, number);
        }
    }

    /// Time of the next known completion; [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.due.next()
    }

    /// Completes the requests that are due at `now`.
    #[inline]
    pub(crate) fn complete(&mut self, now: Time, completions: &mut Completions) {
        while let Some((_, number)) = self.due.pop_before(now + Time::from_ps(1)) {
            let visit = &mut self.all[number];
            let status = self.failing.final_status(now, visit);
            let data = visit.take_data();
            completions.push_spans(visit.id, now, status, &visit.spans).data = data;
            self.all.give_back(number);
        }
    }

    /// The request of `visit`.
    #[inline]
    pub(crate) fn request(&self, visit: u32) -> &Request {
        &self.all[visit].request
    }

    /// Removes a part before it ends. The caller adds the part again and serves it with another operation.
    pub(crate) fn drop_part(&mut self, visit: u32) {
        self.all[visit].parts -= 1;
    }

    /// Number of requests in progress.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Drops all requests.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.due.clear();
        self.failing = FailingFlushes::default();
    }
}
