//! A host, and a device with given latencies, for workloads with completion events.

use crate::{Interactive, Issued};
use nacre_kernel::event::Agenda;
use nacre_kernel::{Request, Status, Time};

/// Runs an interactive workload in event order on a device with a given latency for each request.
#[derive(Clone, Default)]
pub(crate) struct Host {
    /// Whether completions precede steps of the workload at the same time.
    pub(crate) completions_first: bool,
    pub(crate) now: Time,
    outstanding: Agenda<u32>,
    /// All requests, in issue order.
    pub(crate) issued: Vec<Issued>,
}

impl Host {
    /// Processes the next step of the workload, or all completions at the time of the next completion,
    /// whichever is earlier. Returns `false` at the end of the workload.
    pub(crate) fn advance(
        &mut self,
        workload: &mut dyn Interactive,
        mut latency: impl FnMut(&Request) -> Time,
    ) -> bool {
        let (due, done) = (workload.next_event(), self.outstanding.next());
        assert!(due >= self.now, "an event at {due}, it is {}", self.now);
        self.now = due.min(done);
        if self.now == Time::MAX {
            return false;
        }
        if done < due || done == due && self.completions_first {
            while let Some((_, tag)) = self.outstanding.pop_before(done + Time::from_ps(1)) {
                workload.complete(done, tag, Status::Done);
            }
            return true;
        }
        let first = self.issued.len();
        workload.step(due, &mut self.issued).expect("no error while running");
        assert!(workload.next_event() > due, "a step does all that is due at {due}");
        for Issued { request, tag, .. } in &self.issued[first..] {
            assert_eq!(request.arrival, due, "{request:?} is issued at another time");
            assert!(self.outstanding.iter().all(|(_, other)| other != tag), "two requests are called {tag}");
            self.outstanding.schedule(due + latency(request), *tag);
        }
        true
    }

    /// Number of outstanding requests.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }
}

/// Returns all requests of an interactive workload on a device. `latency` returns the latency of a request.
pub(crate) fn serve(
    workload: &mut dyn Interactive,
    mut latency: impl FnMut(&Request) -> Time,
) -> Vec<Request> {
    let mut host = Host::default();
    while host.advance(workload, &mut latency) {}
    assert_eq!(host.outstanding(), 0, "a request never completes");
    host.issued.iter().map(|issued| issued.request).collect()
}
