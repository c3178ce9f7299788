//! A drive and its host. The host submits requests in time order and stores their results.

use super::*;
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Recovery, Span, Status, ZoneAnswer, ZoneCommand};

/// A drive under test, and the results of its requests.
pub(crate) struct Driven {
    pub(crate) device: Box<dyn Device>,
    /// Time up to which the simulation has run.
    pub(crate) now: Time,
    completions: Completions,
    answers: Vec<Answer>,
    outstanding: usize,
}

/// Result of a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) arrived: Time,
    /// Completion time, or [`Time::MAX`] while the request is outstanding.
    pub(crate) done: Time,
    pub(crate) status: Status,
    pub(crate) spans: Vec<Span>,
    pub(crate) data: Payload,
    pub(crate) zone: ZoneAnswer,
}

impl Answer {
    pub(crate) fn latency(&self) -> Time {
        self.done - self.arrived
    }

    pub(crate) fn latency_s(&self) -> f64 {
        self.latency().as_secs_f64()
    }

    /// Returns the time that was charged to `activity`.
    pub(crate) fn spent(&self, activity: Activity) -> Time {
        let spans = self.spans.iter().filter(|span| span.activity == activity);
        spans.fold(Time::ZERO, |sum, span| sum + span.time)
    }
}

/// Measurements of a closed loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) latency: LatencyHistogram,
    pub(crate) errors: u64,
    pub(crate) start: Time,
    pub(crate) end: Time,
}

impl Seen {
    pub(crate) fn count(&self) -> u64 {
        self.latency.count()
    }

    pub(crate) fn mean_s(&self) -> f64 {
        self.latency.mean_ps().expect("something was driven") / 1e12
    }

    /// Returns the number of requests per second.
    pub(crate) fn per_second(&self) -> f64 {
        self.count() as f64 / (self.end - self.start).as_secs_f64()
    }
}

/// Creates a drive with `settings`.
pub(crate) fn driven(settings: &str) -> Driven {
    Driven::of(drive(settings))
}

/// Creates a drive with `settings` that stores data.
pub(crate) fn driven_with_bytes(settings: &str) -> Driven {
    let device = workbench(1).with_bytes().build(&text(settings));
    Driven::of(device.unwrap_or_else(|problems| panic!("{problems}")))
}

impl Driven {
    /// Creates a host for the new drive `device`.
    pub(crate) fn of(device: Box<dyn Device>) -> Driven {
        let completions = Completions::new();
        Driven { device, now: Time::ZERO, completions, answers: Vec::new(), outstanding: 0 }
    }

    /// Submits `request` at `at`, or later if another request was submitted later. Returns its number.
    pub(crate) fn submit(&mut self, at: Time, request: &Request) -> usize {
        self.submit_data(at, request, Payload::NONE)
    }

    /// Like [`Driven::submit`], with the data `data`.
    pub(crate) fn submit_data(&mut self, at: Time, request: &Request, data: Payload) -> usize {
        let number = self.arrive(at);
        self.device.submit(at, RequestId(number as u32), request, data);
        number
    }

    /// Submits `command` to the zone that begins at the address of `request`.
    pub(crate) fn submit_command(
        &mut self,
        at: Time,
        command: ZoneCommand,
        request: &Request,
        data: Payload,
    ) -> usize {
        let number = self.arrive(at);
        let zones = self.device.zone_commands().expect("it has zones");
        zones.command(at, RequestId(number as u32), command, request, data);
        number
    }

    /// Records a request that arrives at `at`. Returns its number.
    fn arrive(&mut self, at: Time) -> usize {
        self.run_to(at);
        let (done, status, spans, zone) = (Time::MAX, Status::Done, Vec::new(), ZoneAnswer::default());
        self.answers.push(Answer { arrived: at, done, status, spans, data: Payload::NONE, zone });
        self.outstanding += 1;
        self.answers.len() - 1
    }

    /// Submits `request` at `at`, and runs the drive until the request completes.
    pub(crate) fn ask(&mut self, at: Time, request: &Request) -> Answer {
        let number = self.submit(at, request);
        self.answer(number)
    }

    /// Submits writes of the units `numbers` at `at`.
    pub(crate) fn write_all(&mut self, at: Time, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            self.submit(at, &unit(Op::Write, number));
        }
    }

    /// Submits a write of a unit filled with `byte`, without waiting for its completion.
    pub(crate) fn submit_bytes(&mut self, at: Time, number: u64, byte: u8) -> usize {
        self.submit_data(at, &unit(Op::Write, number), Payload::from(vec![byte; 4096]))
    }

    /// Writes a unit filled with `byte`.
    pub(crate) fn write_bytes(&mut self, at: Time, number: u64, byte: u8) -> Answer {
        let number = self.submit_bytes(at, number, byte);
        self.answer(number)
    }

    /// Reads a unit whose bytes are all equal, and returns that byte.
    pub(crate) fn read_byte(&mut self, at: Time, number: u64) -> u8 {
        let answer = self.ask(at, &unit(Op::Read, number));
        let bytes = answer.data.bytes().expect("a read returns bytes");
        assert!(bytes.len() == 4096 && bytes.iter().all(|byte| *byte == bytes[0]), "unit {number}");
        bytes[0]
    }

    /// Runs until request `number` completes.
    pub(crate) fn answer(&mut self, number: usize) -> Answer {
        while self.answers[number].done == Time::MAX {
            assert!(self.run_once(Time::MAX) > 0, "request {number} is lost");
        }
        self.answers[number].clone()
    }

    /// Returns the current result of request `number`.
    pub(crate) fn seen(&self, number: usize) -> &Answer {
        &self.answers[number]
    }

    /// Runs the drive to the first time before `until` at which requests complete. Returns the number of
    /// completions.
    pub(crate) fn run_once(&mut self, until: Time) -> usize {
        self.completions.clear();
        self.device.run(until, &mut self.completions);
        for completed in self.completions.iter() {
            let answer = &mut self.answers[completed.id.0 as usize];
            assert_eq!(answer.done, Time::MAX, "it completes once");
            (answer.done, answer.status) = (completed.at, completed.status);
            answer.spans = self.completions.spans(completed).to_vec();
            answer.data = completed.data.clone();
            answer.zone = completed.zone.as_deref().copied().unwrap_or_default();
            let total = answer.spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(total, answer.latency(), "the spans of request {}", completed.id.0);
            self.now = self.now.max(completed.at);
        }
        self.outstanding -= self.completions.len();
        self.completions.len()
    }

    /// Processes all events before `until`.
    pub(crate) fn run_to(&mut self, until: Time) {
        assert!(until >= self.now, "{until} is over: it is {}", self.now);
        while self.run_once(until) > 0 {}
        self.now = until;
    }

    /// Runs the drive until no events are left. Returns the time of the last event.
    pub(crate) fn rest(&mut self) -> Time {
        loop {
            let next = self.device.next_event();
            if next == Time::MAX {
                assert_eq!(self.outstanding, 0, "requests are lost");
                return self.now;
            }
            self.run_once(next + Time::from_ps(1));
            self.now = self.now.max(next);
        }
    }

    /// Keeps `depth` requests outstanding until `count` requests have completed.
    pub(crate) fn closed_loop(
        &mut self,
        depth: u32,
        count: u64,
        mut next: impl FnMut(u64) -> Request,
    ) -> Seen {
        let (first, start) = (self.answers.len(), self.now);
        for number in 0..count {
            while self.outstanding >= depth as usize {
                assert!(self.run_once(Time::MAX) > 0, "requests are lost");
            }
            self.submit(self.now, &next(number));
        }
        while self.outstanding > 0 {
            assert!(self.run_once(Time::MAX) > 0, "requests are lost");
        }
        let mut seen = Seen { start, end: start, ..Seen::default() };
        for answer in &self.answers[first..] {
            seen.latency.record(answer.latency());
            seen.errors += u64::from(answer.status != Status::Done);
            seen.end = seen.end.max(answer.done);
        }
        seen
    }

    /// Writes `count` units that `draw` selects, without simulated time.
    pub(crate) fn precondition(&mut self, count: u64, mut draw: impl FnMut(u64) -> u64) {
        let mut batch = Vec::with_capacity(64);
        for number in 0..count {
            batch.push(unit(Op::Write, draw(number)));
            if batch.len() == 64 || number + 1 == count {
                self.precondition_with(&batch);
                batch.clear();
            }
        }
    }

    /// Performs the writes `requests` without simulated time.
    pub(crate) fn precondition_with(&mut self, requests: &[Request]) {
        self.device.preconditioning().expect("a drive has a past").precondition(requests);
    }

    pub(crate) fn unit_count(&self) -> u64 {
        self.device.capacity().map_or(0, |capacity| capacity.0 / 4096)
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.device.restart_ledger(self.now);
    }

    pub(crate) fn check_invariants(&self) {
        self.device.check_invariants();
    }

    /// Returns the report since the start of simulated time.
    pub(crate) fn report(&self) -> ComponentReport {
        self.device.report(self.now)
    }

    /// Returns the report for the elapsed time `elapsed`.
    pub(crate) fn report_over(&self, elapsed: Time) -> ComponentReport {
        self.device.report(elapsed)
    }

    pub(crate) fn counter(&self, name: &str) -> u64 {
        counter(&self.report(), name)
    }

    /// Returns the first value of the report column `name`.
    pub(crate) fn column(&self, name: &str) -> f64 {
        column(&self.report(), name)
    }

    /// Returns the write amplification since measurement started.
    pub(crate) fn amplification(&self) -> f64 {
        self.report().wear.and_then(|wear| wear.write_amplification()).expect("something was written")
    }

    /// Cuts power at `at` and restores it immediately.
    pub(crate) fn fail(&mut self, at: Time) -> Recovery {
        self.run_to(at);
        self.device.power_fail(at, &mut random("chance"));
        self.answers.iter_mut().filter(|answer| answer.done == Time::MAX).for_each(|answer| answer.done = at);
        self.outstanding = 0;
        self.device.recover(at)
    }
}
