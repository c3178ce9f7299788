//! A device of the older contract, which answers at once, behind this one. It goes when every device is converted.

use super::agenda::Agenda;
use super::completions::Completions;
use super::device::Device;
use super::facets::{Endurance, Preconditioning, Zones};
use super::outstanding::RequestId;
use super::payload::Payload;
use super::slab::Slab;
use crate::breakdown::{Breakdown, Span};
use crate::capabilities::Capabilities;
use crate::completion::Status;
use crate::data::Data;
use crate::device::{Burst, Endured};
use crate::ledger::ComponentReport;
use crate::power::Recovery;
use crate::random::Random;
use crate::request::{Op, Request};
use crate::state::{State, Value};
use crate::time::Time;
use crate::transactions::Transactions;
use crate::units::Bytes;
use crate::zone::Zone;

/// Requests between two calls of `advance`, which bounds the memory of the older contract.
const ADVANCE_EVERY: u32 = 64;

/// A device that returns the completion time when a request arrives. Its answers are held back until they are due.
#[derive(State)]
pub struct Adapted {
    inner: Box<dyn crate::device::Device>,
    due: Agenda<u32>,
    answers: Slab<Answer>,
    #[state(skip = "scratch")]
    breakdown: Breakdown,
    /// Everything up to here has been processed.
    now: Time,
    submitted: u32,
}

/// What the device answered.
#[derive(Clone, Debug, Default, Value)]
struct Answer {
    id: RequestId,
    status: Status,
    spans: Vec<Span>,
    data: Payload,
}

impl Adapted {
    /// `inner`, which has served nothing yet.
    pub fn new(inner: Box<dyn crate::device::Device>) -> Adapted {
        Adapted {
            inner,
            due: Agenda::new(),
            answers: Slab::new(),
            breakdown: Breakdown::new(),
            now: Time::ZERO,
            submitted: 0,
        }
    }

    /// Boxed, as a builder needs it.
    pub fn boxed(inner: Box<dyn crate::device::Device>) -> Box<dyn Device> {
        Box::new(Adapted::new(inner))
    }
}

impl Device for Adapted {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.now = self.now.max(now);
        self.submitted += 1;
        if self.submitted >= ADVANCE_EVERY {
            self.submitted = 0;
            self.inner.advance(now);
        }
        self.breakdown.clear();
        let carries = request.op == Op::Read && self.inner.capabilities().carries_bytes;
        let mut bytes = vec![0; if carries { request.bytes as usize } else { 0 }];
        let through = match data.bytes() {
            Some(bytes) => Data::Write(bytes),
            None if carries => Data::Read(&mut bytes),
            None => Data::None,
        };
        let completion = self.inner.submit(now, request, through, &mut self.breakdown);
        let (number, answer) = self.answers.take();
        (answer.id, answer.status) = (id, completion.status);
        answer.spans.clear();
        answer.spans.extend_from_slice(self.breakdown.spans());
        answer.data = if carries { bytes.into() } else { Payload::NONE };
        self.due.schedule(completion.done, number);
    }

    fn next_event(&self) -> Time {
        if !self.due.is_empty() {
            return self.due.next();
        }
        // Background work ends in an event of its own, so that whoever waits for rest waits for it.
        let busy = self.inner.busy_until();
        if busy > self.now { busy } else { Time::MAX }
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let at = self.due.next();
        while at < until
            && let Some((at, number)) = self.due.pop_before(at + Time::from_ps(1))
        {
            let answer = &mut self.answers[number];
            let completed = completions.push_spans(answer.id, at, answer.status, &answer.spans);
            completed.data = std::mem::take(&mut answer.data);
            self.answers.give_back(number);
            self.now = at;
        }
        if at >= until && until < Time::MAX {
            let now = until.saturating_sub(Time::from_ps(1));
            if now > self.now {
                // What it does by itself while nobody asks for anything.
                self.inner.advance(now);
                self.now = now;
            }
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        self.inner.capacity()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn restart_ledger(&mut self, _now: Time) {
        self.inner.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        self.inner.report(elapsed)
    }

    fn check_invariants(&self) {
        assert_eq!(self.due.len(), self.answers.len(), "an answer is lost");
        self.inner.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.due.clear();
        self.answers.clear();
        self.now = self.now.max(at);
        self.inner.power_fail(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.inner.recover(at)
    }

    fn prefetch(&self, requests: &[Request]) {
        self.inner.prefetch(requests);
    }

    fn detail(&mut self, is_detailed: bool) {
        self.breakdown = if is_detailed { Breakdown::close() } else { Breakdown::new() };
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.inner.zone(0).is_some().then_some(self as &dyn Zones)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        self.inner.transactions()
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        self.inner.capabilities().preconditions.then_some(self as &mut dyn Preconditioning)
    }

    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        self.inner.capabilities().wears_out_ahead.then_some(self as &mut dyn Endurance)
    }
}

impl Zones for Adapted {
    fn zone(&self, address: u64) -> Zone {
        self.inner.zone(address).expect("the device has zones")
    }
}

impl Preconditioning for Adapted {
    fn precondition(&mut self, requests: &[Request]) {
        self.inner.precondition(requests);
    }
}

impl Endurance for Adapted {
    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        self.inner.wear_out(bursts)
    }
}
