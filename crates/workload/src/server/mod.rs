//! A server and its clients: each client asks again when its answer is there, processors are shared, and storage is
//! asked for what an answer needs. How many answers there are is an outcome.

use crate::arrival::Pacing;
use crate::error::WorkloadError;
use crate::{Notes, Units, Workload, keep_writes};
use nacre_config::Configuration;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Pool, Request, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[cfg(test)]
mod tests;

/// The clients and processors of a server.
#[derive(Clone, Debug, Configuration)]
pub struct Server {
    /// Clients, each of which asks again when its answer is there.
    #[config(
        default = 32,
        min = 1,
        max = 65536,
        source = "assumed: enough to keep processors and disk at work"
    )]
    pub clients: u32,
    /// Time a client waits between an answer and its next question.
    #[config(default = "0 s", max = "1000 s", source = "assumed: the server is driven as hard as it goes")]
    pub think: Time,
    /// Processors that clients share.
    #[config(default = 8, min = 1, max = 4096, source = "assumed: eight cores, as recalled from kgil-2008")]
    pub processors: u32,
}

/// What one client's question comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Step {
    /// A processor works on it for so long.
    Work(Time),
    /// So many bytes at an address are read.
    Read(u64, u32),
    /// So many bytes at an address are written.
    Write(u64, u32),
}

/// What clients ask for.
pub(crate) trait Script: State + Send {
    /// Appends the steps of the next question.
    fn next(&mut self, steps: &mut Vec<Step>);

    /// The first byte past all that is ever touched.
    fn reach(&self) -> u64;

    /// Its room, what its questions are called, and what is to be known of it.
    fn describe(&self) -> (&'static str, &'static str, String);
}

/// A server that runs a script for all its clients.
#[derive(State)]
#[state(bound = "S: Script")]
pub(crate) struct Clients<S> {
    script: S,
    #[state(skip = "from the configuration")]
    server: Server,
    #[state(skip = "from the configuration")]
    limit: Option<u64>,
    /// What each client still has to do, the next step last.
    #[state(varies)]
    left: Vec<Vec<Step>>,
    processors: Pool,
    /// When clients go on; of those at one time, the one that was put in first.
    #[state(varies)]
    queue: BinaryHeap<Reverse<(Time, u64, u32)>>,
    queued: u64,
    /// Who waits for the latest request, and since when.
    #[state(varies)]
    asker: Option<(u32, Time)>,
    begun: u64,
    ended: u64,
    /// Those ended before the latest request was made.
    ended_before: u64,
    given: u64,
}

impl<S: Script> Clients<S> {
    pub(crate) fn new(script: S, server: Server, limit: Option<u64>) -> Clients<S> {
        let mut clients = Clients {
            script,
            limit,
            left: vec![Vec::new(); server.clients as usize],
            processors: Pool::new(server.processors),
            queue: BinaryHeap::new(),
            queued: 0,
            asker: None,
            begun: 0,
            ended: 0,
            ended_before: 0,
            given: 0,
            server,
        };
        for client in 0..clients.server.clients {
            if clients.begin(client) {
                clients.push(Time::ZERO, client);
            }
        }
        clients
    }

    fn push(&mut self, at: Time, client: u32) {
        self.queue.push(Reverse((at, self.queued, client)));
        self.queued += 1;
    }

    /// Gives `client` its next question; whether there is one.
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

    /// The next request, when its time has come.
    fn ask(&mut self) -> Option<Request> {
        while let Some(Reverse((now, _, client))) = self.queue.pop() {
            let request = |op, address, bytes| Request { arrival: now, address, bytes, volume: 0, op };
            let asked = match self.left[client as usize].pop() {
                None => {
                    self.ended += 1;
                    if self.begin(client) {
                        self.push(now + self.server.think, client);
                    }
                    continue;
                }
                Some(Step::Work(time)) => {
                    let start = self.processors.reserve(now, time);
                    self.push(start + time, client);
                    continue;
                }
                Some(Step::Read(address, bytes)) => request(Op::Read, address, bytes),
                Some(Step::Write(address, bytes)) => request(Op::Write, address, bytes),
            };
            self.processors.forget_before(now);
            self.asker = Some((client, now));
            return Some(asked);
        }
        None
    }
}

impl<S: Script> Workload for Clients<S> {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        if limit == 0 {
            return Ok(());
        }
        if let Some((_, since)) = self.asker {
            self.complete(since);
        }
        self.ended_before = self.ended;
        if let Some(request) = self.ask() {
            batch.push(request);
            self.given += 1;
        }
        Ok(())
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        self.limit = None;
        let full = batch.len() + limit;
        while batch.len() < full {
            keep_writes(batch, 1, |batch| self.fill(batch, 1))?;
        }
        Ok(())
    }

    fn complete(&mut self, done: Time) {
        if let Some((client, _)) = self.asker.take() {
            self.push(done, client);
        }
    }

    fn pacing(&self) -> Pacing {
        Pacing::CompletionDriven
    }

    fn expected(&self) -> Option<u64> {
        // Questions differ in their requests.
        self.limit.is_none().then_some(u64::MAX)
    }

    fn reach(&self) -> Option<u64> {
        Some(self.script.reach())
    }

    fn units(&self, requests: u64) -> Option<Units> {
        let done = if requests < self.given { self.ended_before } else { self.ended };
        Some(Units { name: self.script.describe().1, done })
    }

    fn notes(&self) -> Notes {
        let (kind, _, note) = self.script.describe();
        Notes { kind, records: self.given, bad_records: 0, notes: vec![note] }
    }
}
