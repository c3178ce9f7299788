//! A host and a device of given latencies, for workloads that are notified of completions.

use crate::{Interactive, Issued};
use nacre_kernel::event::Agenda;
use nacre_kernel::{Request, Status, Time};

/// Serves an interactive workload in event order, on a device that takes a given time for each request.
#[derive(Clone, Default)]
pub(crate) struct Host {
    /// Of what happens at one instant on both sides, whether completions come first.
    pub(crate) completions_first: bool,
    pub(crate) now: Time,
    outstanding: Agenda<u32>,
    /// All requests, in the order in which they were issued.
    pub(crate) issued: Vec<Issued>,
}

impl Host {
    /// The workload's next step, or all completions of the next instant that has any; false at the end.
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

    /// How many requests are outstanding.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }
}

/// All requests of an interactive workload on a device that takes `latency` for each.
pub(crate) fn serve(
    workload: &mut dyn Interactive,
    mut latency: impl FnMut(&Request) -> Time,
) -> Vec<Request> {
    let mut host = Host::default();
    while host.advance(workload, &mut latency) {}
    assert_eq!(host.outstanding(), 0, "a request never completes");
    host.issued.iter().map(|issued| issued.request).collect()
}
