//! A server and its clients. Each client sends its next request after a reply. The clients share the CPUs,
//! and replies require storage accesses. The number of replies is a result of the simulation.

use crate::arrival::Pacing;
use crate::error::WorkloadError;
use crate::interactive::{Interactive, Issued, Unheard};
use crate::turns::Turns;
use crate::{Notes, Units, Workload};
use nacre_config::Configuration;
use nacre_kernel::event::Servers;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Status, Time};
use std::mem;

#[cfg(test)]
mod tests;

/// Settings of a server: clients and processors.
#[derive(Clone, Debug, Configuration)]
pub struct Server {
    /// Number of clients. A client sends its next request after the reply to the previous request.
    #[config(default = 32, min = 1, max = 65536, source = "assumed: enough to keep CPUs and disk busy")]
    pub clients: u32,
    /// Time between a reply and the next request of a client.
    #[config(default = "0 s", max = "1000 s", source = "assumed: maximum load")]
    pub think: Time,
    /// Number of CPUs that clients share.
    #[config(default = 8, min = 1, max = 4096, source = "assumed: eight cores, from memory of kgil-2008")]
    pub processors: u32,
}

/// A step in the processing of a client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum ServiceStep {
    /// Use a CPU for this time.
    Work(Time),
    /// Read from this address. The second value is the number of bytes.
    Read(u64, u32),
    /// Write to this address. The second value is the number of bytes.
    Write(u64, u32),
}

/// Generates the requests of clients as sequences of steps.
pub(crate) trait Script: State + Send {
    /// Appends the steps of the next client request.
    fn next(&mut self, steps: &mut Vec<ServiceStep>);

    /// End of the address range that the steps access.
    fn reach(&self) -> u64;

    /// Name of the model, name of its client requests in the plural, and a note for the user.
    fn describe(&self) -> (&'static str, &'static str, String);
}

/// A server that executes a script for all of its clients.
#[derive(State)]
#[state(bound = "S: Script")]
pub(crate) struct Clients<S> {
    script: S,
    #[state(skip = "from the configuration")]
    server: Server,
    #[state(skip = "from the configuration")]
    limit: Option<u64>,
    /// Remaining steps of each client, in reverse order.
    #[state(varies)]
    left: Vec<Vec<ServiceStep>>,
    /// Clients that use a CPU or wait for one, with their CPU times.
    processors: Servers<(u32, Time)>,
    turns: Turns,
    begun: u64,
    ended: u64,
    issued: u64,
    unheard: Unheard,
}

impl<S: Script> Clients<S> {
    pub(crate) fn new(script: S, server: Server, limit: Option<u64>) -> Clients<S> {
        let mut clients = Clients {
            script,
            limit,
            left: vec![Vec::new(); server.clients as usize],
            processors: Servers::new(server.processors),
            turns: Turns::new(server.clients),
            begun: 0,
            ended: 0,
            issued: 0,
            unheard: Unheard::default(),
            server,
        };
        for client in 0..clients.server.clients {
            if clients.begin(client) {
                clients.turns.wait_until(Time::ZERO, client);
            }
        }
        clients
    }

    /// Starts the next request of `client`. Returns false if the limit of requests is reached.
    fn begin(&mut self, client: u32) -> bool {
        if self.limit.is_some_and(|limit| self.begun >= limit) {
            return false;
        }
        self.begun += 1;
        let steps = &mut self.left[client as usize];
        self.script.next(steps);
        steps.reverse();
        true
    }

    /// Performs the next step of `client` at `now`. Returns the storage request that the step issues, if any.
    fn advance(&mut self, client: u32, now: Time) -> Option<Request> {
        let request = |op, address, bytes| Some(Request { arrival: now, address, bytes, volume: 0, op });
        match self.left[client as usize].pop() {
            None => {
                self.ended += 1;
                if self.begin(client) {
                    self.turns.wait_until(now + self.server.think, client);
                }
                None
            }
            Some(ServiceStep::Work(time)) => {
                self.turns.wait(client);
                self.processors.arrive(now, (client, time), |job, _| job.1);
                None
            }
            Some(ServiceStep::Read(address, bytes)) => request(Op::Read, address, bytes),
            Some(ServiceStep::Write(address, bytes)) => request(Op::Write, address, bytes),
        }
    }
}

/// The tag of a request is the number of its client.
impl<S: Script> Interactive for Clients<S> {
    fn next_event(&self) -> Time {
        self.turns.next().min(self.processors.next())
    }

    fn step(&mut self, now: Time, issued: &mut Vec<Issued>) -> Result<(), WorkloadError> {
        loop {
            while let Some((_, (client, _))) =
                self.processors.end_before(now + Time::from_ps(1), |job, _| job.1)
            {
                self.turns.wake(client, now);
            }
            let Some(client) = self.turns.take(now) else { return Ok(()) };
            if let Some(request) = self.advance(client, now) {
                self.turns.wait(client);
                self.issued += 1;
                issued.push(Issued { request, tag: client, waited: Time::ZERO });
            }
        }
    }

    fn complete(&mut self, now: Time, tag: u32, _status: Status) {
        self.turns.wake(tag, now);
    }
}

impl<S: Script> Workload for Clients<S> {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let mut unheard = mem::take(&mut self.unheard);
        let filled = unheard.fill(self, batch, limit);
        self.unheard = unheard;
        filled
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.limit = None;
        let mut unheard = mem::take(&mut self.unheard);
        let filled = unheard.fill_writes(self, batch, limit);
        self.unheard = unheard;
        filled
    }

    fn pacing(&self) -> Pacing {
        Pacing::CompletionDriven
    }

    fn interactive(&mut self) -> Option<&mut dyn Interactive> {
        Some(self)
    }

    fn expected(&self) -> Option<u64> {
        // The number of storage requests differs between client requests.
        self.limit.is_none().then_some(u64::MAX)
    }

    fn reach(&self) -> Option<u64> {
        Some(self.script.reach())
    }

    fn units(&self, _requests: u64) -> Option<Units> {
        Some(Units { name: self.script.describe().1, done: self.ended })
    }

    fn notes(&self) -> Notes {
        let (kind, _, note) = self.script.describe();
        Notes { kind, records: self.issued, bad_records: 0, notes: vec![note] }
    }
}
