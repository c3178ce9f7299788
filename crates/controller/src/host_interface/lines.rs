//! Loads and stores: a request is lines that one CPU reads or writes.

use super::express::{Express, ExpressConfig, Way};
use super::processors::Processors;
use super::{HostInterface, Laps, Mark, Step};
use nacre_kernel::Activity::{Link, Software};
use nacre_kernel::state::State;
use nacre_kernel::{Op, Request, Resource, Stage, Time};
use std::collections::VecDeque;

/// What crosses the link for a line, each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    pub(super) down: u64,
    pub(super) up: u64,
}

/// How lines go to and fro.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Bytes of a line.
    pub(super) line: u64,
    /// CPU time of a line.
    pub(super) issue: Time,
    /// Lines of a request under way; of writes only where each is answered.
    pub(super) outstanding: u32,
    pub(super) read: Crossing,
    pub(super) write: Crossing,
    /// Whether the CPU is answered for a line that it writes; otherwise it reads something after the last.
    pub(super) is_answered: bool,
}

/// Lines of one request after the other.
#[derive(State)]
pub(super) struct Lines {
    #[state(skip = "from the configuration")]
    rules: Rules,
    express: Express,
    processors: Processors,
    /// The answers to the latest lines of the request.
    #[state(skip = "of no meaning between two requests")]
    answers: VecDeque<(Step, Mark)>,
    /// The CPU, when it can turn to the next line.
    #[state(skip = "of no meaning between two requests")]
    issued: (Step, Mark),
    /// The line that is with the device.
    #[state(skip = "of no meaning between two requests")]
    line: Step,
    /// Whether the device owes its answer.
    #[state(skip = "of no meaning between two requests")]
    is_owed: bool,
    #[state(skip = "of no meaning between two requests")]
    laps: Laps,
}

impl Lines {
    pub(super) fn new(express: &ExpressConfig, cpus: u32, rules: Rules) -> Lines {
        Lines {
            rules,
            express: Express::new(express),
            processors: Processors::new(cpus),
            answers: VecDeque::new(),
            issued: <(Step, Mark)>::default(),
            line: Step::default(),
            is_owed: false,
            laps: Laps::default(),
        }
    }

    /// So many `bytes` of packets cross from `at` on: when they are there, and what that takes on an idle link.
    fn cross(&mut self, way: Way, at: Time, bytes: u64) -> (Time, Time) {
        let (left, time) = self.express.send(way, at, bytes);
        (left + self.express.flight, time + self.express.flight)
    }

    fn crossing(&self, op: Op) -> Crossing {
        if op == Op::Read { self.rules.read } else { self.rules.write }
    }
}

/// A line waits for those before it: its steps have all that went before on its way.
impl HostInterface for Lines {
    fn piece(&self) -> u64 {
        self.rules.line
    }

    fn has_commands(&self) -> bool {
        false
    }

    fn begin(&mut self, now: Time, _request: &Request) -> Step {
        self.answers.clear();
        // What is only answered was brought when it was asked for.
        (self.line, self.is_owed) = (Step::none(now), false);
        self.issued = (Step::none(now), self.laps.mark());
        Step::none(now)
    }

    fn bring(&mut self, at: Time, op: Op, _bytes: u64) -> Step {
        if self.issued.0.there < at {
            self.issued = (Step::none(at), self.laps.mark());
        }
        let is_full = self.answers.len() == self.rules.outstanding as usize;
        let answered = if is_full { self.answers.pop_front() } else { None };
        let waits = |(answered, _): &(Step, Mark)| answered.there > self.issued.0.there;
        let (before, mark) = answered.filter(waits).unwrap_or(self.issued);
        self.laps.go_on_from(mark);
        let issued = before.then(self.processors.work_in_parts(before.there, self.rules.issue));
        self.laps.note(Stage::LoadStore, Software, issued.there, self.rules.issue);
        self.issued = (issued, self.laps.mark());
        let (there, link) = self.cross(Way::ToDevice, issued.there, self.crossing(op).down);
        self.laps.note(Stage::LinkDown, Link, there, link);
        self.line = issued.then(Step { there, link, ..Step::default() });
        self.is_owed = op == Op::Write && self.rules.is_answered;
        self.line
    }

    fn answer(&mut self, at: Time, op: Op, _bytes: u64) -> Step {
        if op != Op::Read && !self.rules.is_answered {
            return Step::none(at);
        }
        self.is_owed = false;
        let (there, link) = self.cross(Way::ToHost, at, self.crossing(op).up);
        self.laps.note(Stage::LinkUp, Link, there, link);
        let answer = Step { there, link, ..Step::default() };
        let device = at - self.line.there;
        self.answers.push_back((self.line.then(Step { device, ..answer }), self.laps.mark()));
        answer
    }

    fn end(&mut self, at: Time, op: Op) -> Step {
        let knows = match op {
            Op::Read | Op::Trim => true,
            Op::Write => self.rules.is_answered,
            Op::Flush => false,
        };
        if self.is_owed {
            let (there, link) = self.cross(Way::ToHost, at, self.rules.write.up);
            self.laps.note(Stage::LinkUp, Link, there, link);
            return Step { there, link, ..Step::default() };
        }
        if knows {
            return Step::none(at);
        }
        let read = self.rules.read;
        let (asked, _) = self.cross(Way::ToDevice, self.issued.0.there, read.down);
        let (there, answer) = self.cross(Way::ToHost, asked.max(at), read.up);
        // What the question takes beyond the last of what it follows.
        let link = asked.saturating_sub(at) + answer;
        self.laps.note(Stage::Fence, Link, there, link);
        Step { there, link, ..Step::default() }
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }

    fn advance(&mut self, to: Time) {
        self.express.advance(to);
        self.processors.advance(to);
    }

    fn power_fail(&mut self, at: Time) {
        self.express.power_fail(at);
        self.processors.power_fail(at);
    }

    fn busy_until(&self) -> Time {
        self.express.busy_until().max(self.processors.busy_until())
    }

    fn restart_ledger(&mut self) {
        self.express.restart_ledger();
        self.processors.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        let [to_device, to_host] = self.express.resources();
        vec![self.processors.resource(), to_device, to_host]
    }

    fn check_invariants(&self) {
        self.express.check_invariants();
        self.processors.check_invariants();
    }
}
