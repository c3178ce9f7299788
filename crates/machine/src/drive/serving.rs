//! Serving: requests go to the device one by one, in simulated time, and what became of them is noted.

use crate::meter::Noted;
use crate::progress::Progress;
use crate::record::Ending;
use crate::scenario::Checked;
use nacre_config::{ErrorCode, Problem, Problems};
use nacre_kernel::{Activity, Breakdown, ComponentId, Data, Device, Request, Time};
use nacre_workload::{Clock, WorkloadError};
use std::ops::ControlFlow;

/// Requests whose memory is asked for at once before they are served.
const PREFETCHED: usize = 16;
/// The component whose queues hold what waits before the stack: its top.
const TOP: ComponentId = ComponentId(0);
/// Simulated time a run may reach; `Time` itself ends a little later, so that no sum of a device wraps.
const HORIZON: Time = Time::from_s(200 * 86_400);

/// The device, and how far its requests have come.
pub(crate) struct Serving<'a> {
    pub(crate) checked: &'a Checked,
    pub(crate) device: Box<dyn Device>,
    pub(crate) clock: Clock,
    pub(crate) noted: Noted,
    breakdown: Breakdown,
    capacity: u64,
    /// When the run is over.
    pub(super) over_at: Time,
    /// Requests given to the device.
    pub(super) issued: u64,
    /// Of them, those since measuring began.
    pub(super) measured: u64,
}

impl<'a> Serving<'a> {
    pub(super) fn new(
        checked: &'a Checked,
        device: Box<dyn Device>,
        components: usize,
        clock: Clock,
    ) -> Serving<'a> {
        Serving {
            checked,
            capacity: device.capacity().map_or(u64::MAX, |bytes| bytes.0),
            over_at: checked.run.duration.unwrap_or(Time::MAX),
            clock,
            device,
            noted: Noted::new(components),
            breakdown: Breakdown::new(),
            issued: 0,
            measured: 0,
        }
    }

    /// Serves a few requests; breaks when the duration is over.
    pub(super) fn serve(&mut self, group: &[Request]) -> Result<ControlFlow<()>, Problems> {
        self.check_reach(group, "request", self.issued)?;
        for group in group.chunks(PREFETCHED) {
            self.device.prefetch(group);
            for request in group {
                if self.serve_one(request, Time::ZERO)?.is_none() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        self.device.advance(self.clock.last());
        Ok(ControlFlow::Continue(()))
    }

    /// Serves a request that waited so long for its turn, and says when it is done; none if the duration is over.
    #[inline(always)]
    pub(super) fn serve_one(&mut self, request: &Request, waited: Time) -> Result<Option<Time>, Problems> {
        let now = self.clock.issue(request);
        if now >= self.over_at {
            return Ok(None);
        }
        if self.issued == self.checked.run.warm_up {
            // The warm-up is over.
            self.noted.begin(now);
            self.device.restart_ledger();
            self.measured = 0;
        }
        self.breakdown.clear();
        let completion = self.device.submit(now, request, Data::None, &mut self.breakdown);
        assert!(completion.done >= now, "a request was done before it was issued");
        if completion.done > HORIZON {
            return Err(self.horizon_problem());
        }
        debug_assert_eq!(self.breakdown.total_from(0), completion.done - now, "the breakdown of {request:?}");
        self.clock.complete(completion.done);
        if !waited.is_zero() {
            self.breakdown.add(TOP, Activity::Queue, waited);
        }
        self.noted.record(request, now - waited, completion, &self.breakdown);
        self.issued += 1;
        self.measured += 1;
        Ok(Some(completion.done))
    }

    /// How far the run has come, of so many requests.
    pub(super) fn progress(&self, expected: Option<u64>) -> Progress {
        Progress { preconditioning: false, done: self.issued, expected, simulated: self.noted.end }
    }

    /// The workload, the duration or the request limit has come to its end.
    pub(super) fn ended(&self) -> Result<Ending, Problems> {
        let (warm_up, issued) = (self.checked.run.warm_up, self.issued);
        if warm_up > 0 && issued <= warm_up {
            let problem = format!("the run ended after {issued} requests, all of them warm-up");
            let remedy = "lower it, or run more requests";
            let code = ErrorCode::ConflictingSettings;
            return Err(self.run_problem(code, "run.warm_up", problem, remedy).into());
        }
        Ok(Ending::Complete)
    }

    /// All of `requests` end within the stack; before them came `before` of what `what` calls them.
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
            format!("{what} {number} reaches to byte {end}, and the stack ends at byte {}", self.capacity);
        // Only what has to be read to be known, a trace, gets this far: see `stack::build`.
        let remedy = "use a larger device, or placement = \"compact\"";
        self.run_problem(ErrorCode::PastTheEnd, self.checked.scenario.workload.path(), problem, remedy)
            .data("end", end)
            .data("capacity", self.capacity)
            .into()
    }

    fn horizon_problem(&self) -> Problems {
        let problem =
            format!("request {} would be done after {HORIZON}, where simulated time ends", self.issued + 1);
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
