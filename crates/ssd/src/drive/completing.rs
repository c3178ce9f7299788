//! Completion of requests: computes the status and the time spent in each activity.

use super::Ssd;
use crate::drive::active::Active;
use crate::flash::backend::ReadTimes;
use crate::ftl::translation::Translation;
use nacre_kernel::event::{Completions, Payload};
use nacre_kernel::{Activity, Op, Status, ZoneAnswer};

impl<T: Translation> Ssd<T> {
    /// Completes request `number`. Time that neither the host interface nor the flash accounts for is charged
    /// as waiting.
    pub(super) fn complete(&mut self, number: u32, completions: &mut Completions) {
        let transit = self.host.transit(number);
        let Active { id, arrived, request, drained, is_lost, written_at, refusal, .. } = self.active[number];
        let Active { began, known, status, times, .. } = self.active[number];
        let status = if is_lost { Status::MediaError } else { status };
        let translated = known - began;
        let ReadTimes { suspend, sense, transfer, correct } = times;
        let spent =
            transit.software + transit.link + translated + drained + suspend + sense + transfer + correct;
        let spans = [
            (Activity::Software, transit.software),
            (Activity::Translate, translated),
            (Activity::Queue, self.now - arrived - spent),
            (Activity::Suspend, suspend),
            (Activity::Read, sense),
            (Activity::Transfer, transfer),
            (Activity::Correct, correct),
            (Activity::Drain, drained),
            (Activity::Link, transit.link),
        ];
        let completed = completions.push(id, self.now, status, self.id, spans);
        if written_at.is_some() || refusal.is_some() {
            completed.zone = Some(Box::new(ZoneAnswer { written_at, refusal }));
        }
        match request.op {
            Op::Read if T::CARRIES_BYTES => {
                let mut bytes = vec![0; request.bytes as usize];
                if !is_lost {
                    self.ftl.read_bytes(request.address, &mut bytes);
                }
                completed.data = Payload::from(bytes);
            }
            Op::Write => {
                self.active[number].data = Payload::NONE;
                self.ftl.acknowledge(number);
            }
            _ => {}
        }
        self.active.give_back(number);
    }
}
