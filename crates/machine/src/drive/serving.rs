//! Submits requests to the device in simulated time, and records their results when they complete.

use crate::host::Host;
use crate::meter::Noted;
use crate::progress::Progress;
use crate::record::Ending;
use crate::scenario::Checked;
use nacre_config::{ErrorCode, Problem, Problems};
use nacre_kernel::event::{Completions, Device, Payload, RequestId, Slab};
use nacre_kernel::state::Value;
use nacre_kernel::{Request, Status, Time};
use nacre_workload::{Clock, WorkloadError};
use std::ops::ControlFlow;

/// Number of requests for which memory of the device is prefetched together, before they are served.
const PREFETCHED: usize = 16;
/// Maximum simulated time of a run. The maximum of `Time` is slightly later, so that no sum in a device
/// overflows.
const HORIZON: Time = Time::from_s(200 * 86_400);
/// Smallest time step.
const TICK: Time = Time::from_ps(1);

/// A request that has not completed.
#[derive(Clone, Debug, Default, Value)]
pub(crate) struct Outstanding {
    request: Request,
    issued: Time,
    /// Time that the request waited before it was issued.
    waited: Time,
    /// Identifier of the request in the workload.
    tag: u32,
    /// Whether the request is measured.
    is_measured: bool,
}

/// A completed request, for an interactive workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    pub(super) tag: u32,
    pub(super) status: Status,
}

/// The device with its outstanding requests.
pub(crate) struct Serving<'a> {
    pub(crate) checked: &'a Checked,
    pub(crate) device: Box<dyn Device>,
    /// The host between workload and device, if the scenario has one.
    pub(crate) host: Option<Host>,
    pub(crate) clock: Clock,
    pub(crate) noted: Noted,
    pub(super) outstanding: Slab<Outstanding>,
    completions: Completions,
    /// Requests that completed most recently, for an interactive workload.
    pub(super) answered: Vec<Answered>,
    /// Time before which the device has processed all events.
    pub(crate) now: Time,
    capacity: u64,
    /// Time at which the run ends.
    pub(super) over_at: Time,
    /// Number of requests submitted to the device.
    pub(super) issued: u64,
    /// Number of requests submitted since measurement started.
    pub(super) measured: u64,
}

impl<'a> Serving<'a> {
    pub(super) fn new(
        checked: &'a Checked,
        (device, host): (Box<dyn Device>, Option<Host>),
        components: usize,
        clock: Clock,
    ) -> Serving<'a> {
        Serving {
            checked,
            capacity: device.capacity().map_or(u64::MAX, |bytes| bytes.0),
            over_at: checked.run.duration.unwrap_or(Time::MAX),
            clock,
            device,
            host,
            noted: Noted::new(components),
            outstanding: Slab::new(),
            completions: Completions::new(),
            answered: Vec::new(),
            now: Time::ZERO,
            issued: 0,
            measured: 0,
        }
    }

    /// Issues each request of `group` at its time. Returns `Break` at the end of the duration.
    pub(super) fn serve(&mut self, group: &[Request]) -> Result<ControlFlow<()>, Problems> {
        self.check_reach(group, "request", self.issued)?;
        for group in group.chunks(PREFETCHED) {
            self.device.prefetch(group);
            for request in group {
                if self.issue(request)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Issues a request at its time, which may depend on earlier completions. Returns `Break` at the end of
    /// the duration.
    #[inline(always)]
    fn issue(&mut self, request: &Request) -> Result<ControlFlow<()>, Problems> {
        loop {
            let due = self.clock.due(request);
            if self.run_to(due.min(self.over_at))? {
                continue;
            }
            if due >= self.over_at && self.over_at < Time::MAX {
                return Ok(ControlFlow::Break(()));
            }
            assert!(due < Time::MAX, "the device lost a request");
            let now = self.clock.issue(request);
            self.submit(now, request, Time::ZERO, 0);
            return Ok(ControlFlow::Continue(()));
        }
    }

    /// Submits a request at `now`, after it has waited for the time `waited`.
    #[inline(always)]
    pub(super) fn submit(&mut self, now: Time, request: &Request, waited: Time, tag: u32) {
        if self.issued == self.checked.run.warm_up {
            self.begin_measuring(now);
        }
        let (id, outstanding) = self.outstanding.take();
        *outstanding = Outstanding { request: *request, issued: now, waited, tag, is_measured: true };
        match &mut self.host {
            None => self.device.submit(now, RequestId(id), request, Payload::NONE),
            Some(host) => host.submit(&mut *self.device, now, RequestId(id), request),
        }
        self.issued += 1;
        self.measured += 1;
    }

    /// Ends the warm-up.
    #[cold]
    fn begin_measuring(&mut self, now: Time) {
        self.noted.begin(now);
        self.device.restart_ledger(now);
        if let Some(host) = &mut self.host {
            host.restart_ledger();
        }
        self.measured = 0;
        self.forget_outstanding();
    }

    /// Excludes outstanding requests from the measurement.
    pub(super) fn forget_outstanding(&mut self) {
        self.outstanding.iter_mut().for_each(|(_, outstanding)| outstanding.is_measured = false);
    }

    /// Processes events before `until`, but none after the first instant at which requests complete. Returns
    /// whether requests completed.
    #[inline(always)]
    pub(super) fn run_to(&mut self, until: Time) -> Result<bool, Problems> {
        if until <= self.now {
            return Ok(false);
        }
        self.run_device(until);
        if self.completions.is_empty() {
            if until < Time::MAX {
                self.now = until;
            }
            return Ok(false);
        }
        self.complete()?;
        Ok(true)
    }

    /// Replaces `completions` with the completions of the first instant before `until` at which requests
    /// complete.
    #[inline(always)]
    fn run_device(&mut self, until: Time) {
        self.completions.clear();
        match &mut self.host {
            None => self.device.run(until, &mut self.completions),
            Some(host) => host.run(&mut *self.device, until, &mut self.completions),
        }
    }

    /// Records completed requests.
    #[inline(always)]
    fn complete(&mut self) -> Result<(), Problems> {
        self.answered.clear();
        for index in 0..self.completions.len() {
            let (completed, spans) = self.completions.get(index);
            let at = completed.at;
            if at > HORIZON {
                return Err(self.horizon_problem());
            }
            assert!(at >= self.now, "completions go back in time");
            self.now = at;
            let outstanding = &self.outstanding[completed.id.0];
            let Outstanding { issued, waited, tag, is_measured, ref request } = *outstanding;
            if cfg!(debug_assertions) {
                let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
                assert_eq!(total, at - issued, "the breakdown of {request:?}: {spans:?}");
            }
            if is_measured {
                self.noted.record(request, issued, waited, (at, completed.status), spans);
            }
            self.answered.push(Answered { tag, status: completed.status });
            self.outstanding.give_back(completed.id.0);
            self.clock.complete(at);
        }
        Ok(())
    }

    /// Processes the remaining background work when no request is outstanding. Returns the time of the last
    /// event.
    pub(super) fn come_to_rest(&mut self) -> Time {
        assert!(self.outstanding.is_empty(), "requests are outstanding");
        let mut rested = self.now.min(self.noted.end.max(self.clock.last()));
        loop {
            let next = match &self.host {
                None => self.device.next_event(),
                Some(host) => host.next_event(&*self.device),
            };
            if next == Time::MAX {
                return rested;
            }
            self.run_device(next + TICK);
            assert!(self.completions.is_empty(), "a request completes twice");
            rested = rested.max(next);
            self.now = self.now.max(next + TICK);
        }
    }

    /// Panics if the accounting of the device or the host does not balance.
    pub(crate) fn check_invariants(&self) {
        self.device.check_invariants();
        if let Some(host) = &self.host {
            host.check_invariants();
        }
    }

    /// Returns the number of requests outstanding at the device.
    pub(super) fn outstanding_at_device(&self) -> usize {
        self.host.as_ref().map_or(self.outstanding.len(), Host::outstanding)
    }

    /// Returns the progress of the run. `expected` is the expected number of requests.
    pub(super) fn progress(&self, expected: Option<u64>) -> Progress {
        Progress { preconditioning: false, done: self.issued, expected, simulated: self.noted.end }
    }

    /// Returns the ending of a run that reached the end of the workload, the duration, or the request
    /// limit. Returns an error if all requests were warm-up requests.
    pub(super) fn ended(&self) -> Result<Ending, Problems> {
        let (warm_up, issued) = (self.checked.run.warm_up, self.issued);
        if warm_up > 0 && issued <= warm_up {
            let problem = format!("the run ended after {issued} requests, all of them warm-up");
            let remedy = "reduce it, or run more requests";
            let code = ErrorCode::ConflictingSettings;
            return Err(self.run_problem(code, "run.warm_up", problem, remedy).into());
        }
        Ok(Ending::Complete)
    }

    /// Returns an error if one of `requests` ends past the end of the stack. `what` is the name of these
    /// requests in the error message. `before` is the number of earlier requests.
    #[inline]
    pub(crate) fn check_reach(&self, requests: &[Request], what: &str, before: u64) -> Result<(), Problems> {
        let reaches_past = |request: &Request| {
            let end = request.address.checked_add(u64::from(request.bytes));
            end.is_none_or(|end| end > self.capacity)
        };
        match requests.iter().position(reaches_past) {
            None => Ok(()),
            Some(index) => Err(self.reach_problem(&requests[index], what, before + index as u64 + 1)),
        }
    }

    #[cold]
    fn reach_problem(&self, request: &Request, what: &str, number: u64) -> Problems {
        let end = u128::from(request.address) + u128::from(request.bytes);
        let problem =
            format!("{what} {number} reaches to byte {end}, but the stack ends at byte {}", self.capacity);
        // Only traces can fail this check. Other workloads are checked in `stack::build`.
        let remedy = "use a larger device, or placement = \"compact\"";
        self.run_problem(ErrorCode::PastTheEnd, self.checked.scenario.workload.path(), problem, remedy)
            .data("end", end)
            .data("capacity", self.capacity)
            .into()
    }

    #[cold]
    fn horizon_problem(&self) -> Problems {
        let problem =
            format!("request {} would complete after {HORIZON}, the end of simulated time", self.issued);
        let remedy = "use a faster device, a lower rate or fewer requests";
        self.run_problem(ErrorCode::EndOfTime, "stack", problem, remedy).into()
    }

    pub(crate) fn run_problem(&self, code: ErrorCode, path: &str, problem: String, remedy: &str) -> Problem {
        let resolved = self.checked.resolved.iter().find(|resolved| resolved.path == path);
        Problem::new(code, path, resolved.map(|resolved| &resolved.node.origin), problem).remedy(remedy)
    }

    pub(crate) fn workload_problem(&self, error: &WorkloadError) -> Problems {
        self.run_problem(error.code(), error.path(), error.problem(), &error.remedy())
            .all_data(error.data())
            .into()
    }
}
