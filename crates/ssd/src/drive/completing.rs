//! Requests complete: where their time went, and what they return.

use super::Ssd;
use crate::drive::active::{Active, PartTimes};
use crate::ftl::translation::Translation;
use nacre_kernel::event::{Completed, Completions, Payload};
use nacre_kernel::{Activity, Op, Status, Time};

impl<T: Translation> Ssd<T> {
    /// What was read is at the host.
    pub(super) fn end_answer(&mut self, number: u32, completions: &mut Completions) {
        let Active { is_lost, began, known, times, request, .. } = self.active[number];
        let status = if is_lost { Status::MediaError } else { Status::Done };
        let completed =
            self.complete(number, status, (Activity::Translate, known - began), &times, completions);
        if T::CARRIES_BYTES {
            let mut bytes = vec![0; request.bytes as usize];
            if !is_lost {
                self.ftl.read_bytes(request.address, &mut bytes);
            }
            completed.data = Payload::from(bytes);
        }
        self.refresh_due();
    }

    /// Request `number` completes: so long it took for the flash, and what is left it waited.
    pub(super) fn complete<'a>(
        &mut self,
        number: u32,
        status: Status,
        own: (Activity, Time),
        times: &PartTimes,
        completions: &'a mut Completions,
    ) -> &'a mut Completed {
        let way = self.host.leave(self.now, number);
        let active = &mut self.active[number];
        let known =
            way.software + way.link + own.1 + times.suspend + times.sense + times.transfer + times.correct;
        let queue = self.now - active.arrived - known;
        let spans = [
            (Activity::Software, way.software),
            (Activity::Queue, queue),
            own,
            (Activity::Suspend, times.suspend),
            (Activity::Read, times.sense),
            (Activity::Transfer, times.transfer),
            (Activity::Correct, times.correct),
            (Activity::Link, way.link),
        ];
        let completed = completions.push(active.id, self.now, status, self.id, spans);
        if active.request.op == Op::Write {
            active.data = Payload::NONE;
            self.ftl.acknowledge(number);
        }
        self.active.give_back(number);
        completed
    }
}
