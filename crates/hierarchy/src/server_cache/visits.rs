//! Service of a host request, part by part, and its completion.

use super::cache::ServerCache;
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Request, Span, Stage, Status, Time};

impl ServerCache {
    /// Starts the service of request `id`. The request has waited for `queued` in addition to the look-up
    /// time. Returns the number of its `Visit`.
    pub(super) fn enter(&mut self, now: Time, id: RequestId, request: &Request, queued: Time) -> u32 {
        let (component, lookup) = (self.id, self.lookup);
        let (number, visit) = self.visits.take();
        (visit.id, visit.request, visit.submitted) = (id, *request, now - lookup - queued);
        (visit.parts, visit.latest, visit.status) = (1, now, Status::Done);
        visit.spans.clear();
        for (activity, time) in [(Activity::Software, lookup), (Activity::Queue, queued)] {
            if !time.is_zero() {
                visit.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
        }
        visit.own = visit.spans.len() as u32;
        visit.bytes.clear();
        visit.data = Payload::NONE;
        number
    }

    /// Adds a part to the request.
    pub(super) fn add_part(&mut self, visit: u32) {
        self.visits[visit].parts += 1;
    }

    /// Marks that all parts of the request have been added.
    pub(super) fn leave(&mut self, now: Time, visit: u32) {
        debug_assert!(self.moves.is_empty(), "a move was left undone");
        self.part_ends(now, visit, &Part::at_once(Status::Done));
    }

    /// Ends a part of a request. The breakdown of the request contains the spans of the part that ended last.
    pub(super) fn part_ends(&mut self, now: Time, number: u32, part: &Part<'_>) {
        let component = self.id;
        let visit = &mut self.visits[number];
        self.failing_flushes.part_ends(visit, part.status);
        if now > visit.latest {
            visit.latest = now;
            visit.spans.truncate(visit.own as usize);
            if let Some((activity, time)) = part.own.filter(|(_, time)| !time.is_zero()) {
                visit.spans.push(Span { component, activity, stage: Stage::Untold, time });
            }
            visit.spans.extend_from_slice(part.before);
            visit.spans.extend_from_slice(part.spans);
        }
        visit.receive(part.data.0, &part.data.1);
        visit.parts -= 1;
        if visit.parts == 0 {
            self.due.push_back((now, number));
        }
    }
}
