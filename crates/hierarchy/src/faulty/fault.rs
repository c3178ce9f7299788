//! One fault from the list, with the requests that it affects and its counters.

use super::kinds::{Built, Decision, DecisionPoint, Fault};
use super::when::Gate;
use nacre_kernel::event::Payload;
use nacre_kernel::state::State;
use nacre_kernel::{FaultCounts, FaultReport, Random, Request, Time};

/// A configured fault, with the requests that it affects and its counters.
#[derive(State)]
pub struct Part {
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    kind: &'static str,
    #[state(skip = "from the configuration")]
    decision_point: DecisionPoint,
    gate: Gate,
    fault: Box<dyn Fault>,
    pub(super) counts: FaultCounts,
}

impl Part {
    /// Creates the configured fault from `built`. The fault uses the random stream `random`.
    pub(super) fn new(path: String, kind: &'static str, built: Built, random: Random) -> Part {
        Part {
            path,
            kind,
            decision_point: built.decision_point,
            gate: Gate::new(built.when, built.touchable, random),
            fault: built.fault,
            counts: FaultCounts::default(),
        }
    }

    /// Returns the decision of the fault about a request that arrives at `now`.
    #[inline]
    pub(super) fn arrives(&mut self, now: Time, request: &Request) -> Decision {
        if self.decision_point == DecisionPoint::OnAnswer {
            return Decision::None;
        }
        self.decide(now, request, |fault, until| fault.arrives(now, until, request))
    }

    /// Returns the decision of the fault about a request that arrived at `arrived` and to which the device
    /// replies at `now`.
    #[inline]
    pub(super) fn answers(&mut self, now: Time, arrived: Time, request: &Request) -> Decision {
        if self.decision_point == DecisionPoint::OnArrival {
            return Decision::None;
        }
        if self.decision_point == DecisionPoint::OnBoth
            && self.gate.matches(arrived, request) == self.gate.matches(now, request)
        {
            // The fault was applied on arrival.
            return Decision::None;
        }
        self.decide(now, request, |fault, until| fault.answers(now, until))
    }

    #[inline]
    fn decide(
        &mut self,
        now: Time,
        request: &Request,
        ask: impl FnOnce(&mut dyn Fault, Time) -> Decision,
    ) -> Decision {
        let Some(until) = self.gate.matches(now, request) else { return Decision::None };
        self.counts.matching += 1;
        if !self.gate.picks() {
            return Decision::None;
        }
        ask(&mut *self.fault, until)
    }

    /// Records a write or trim that is sent to the device.
    #[inline]
    pub(super) fn writes(&mut self, request: &Request, data: &Payload) {
        self.fault.writes(request, data);
    }

    /// Replaces the data of a read with old data, if known, and counts the corrupted bytes.
    pub(super) fn answers_stale(&mut self, request: &Request, data: &mut Payload) {
        let wrong = self.fault.reads(request, data);
        self.counts.silent_bytes += wrong;
        self.counts.touched += u64::from(wrong > 0);
    }

    /// Counts an affected request.
    #[inline]
    pub(super) fn touches(&mut self) {
        self.counts.touched += 1;
    }

    /// Counts an error reply to `request`.
    pub(super) fn fails(&mut self, request: &Request) {
        self.counts.errors += 1;
        self.counts.reported_bytes += u64::from(request.bytes);
    }

    /// Adds `time` to the total delay that the fault caused.
    #[inline]
    pub(super) fn added(&mut self, time: Time) {
        self.counts.added_ps += u128::from(time.as_ps());
    }

    pub(super) fn uses_addresses(&self) -> bool {
        self.gate.uses_addresses()
    }

    /// Ends the fault permanently.
    pub(super) fn end(&mut self) {
        self.gate.end();
    }

    /// Whether the fault has ended permanently.
    pub fn is_over(&self) -> bool {
        self.gate.is_over()
    }

    /// Whether the fault is active at `now`.
    pub fn is_active(&self, now: Time) -> bool {
        self.gate.active_until(now).is_some()
    }

    pub(super) fn power_failed(&mut self) {
        self.fault.power_failed();
    }

    /// Returns the effects of the fault since measurement started.
    pub fn report(&self) -> FaultReport {
        FaultReport { path: self.path.clone(), kind: self.kind, counts: self.counts }
    }
}
