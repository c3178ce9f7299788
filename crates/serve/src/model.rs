//! The device under the wall clock: when each request is done.

use crate::image::{Entry, Image, What};
use crate::transport::Transport;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Breakdown, Data, Device, Op, Request, Status, Time};
use nacre_machine::record::{StackReport, stack_report};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Simulated time a device may reach; [`Time`] itself ends a little later, so that no sum wraps.
pub const HORIZON: Time = Time::from_s(200 * 86_400);

/// The device may forget what is past after so many requests, which bounds its memory.
const FORGETS_EVERY: u64 = 32;

/// When requests are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// When the model says, every duration times `dilation`.
    Emulated {
        /// At least one.
        dilation: f64,
    },
    /// At once; the model is not asked.
    None,
}

/// What a request asks of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// What.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u32,
    /// Whether it is done only when it is safe.
    pub forced: bool,
}

/// What the model says of one request.
#[derive(Clone, Copy, Debug)]
pub struct TimedReply {
    /// When its client sent it, as far as the server can tell: the whole way, there and back, lies before.
    pub sent: Instant,
    /// When it is to be answered.
    pub deadline: Instant,
    /// Whether the device did it.
    pub status: Status,
    /// The same in simulated time.
    pub said: Outcome,
}

/// What the model says of one request, in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When the device was asked.
    pub now: Time,
    /// When it is done.
    pub done: Time,
    /// When it survives a loss of power, if it is a write: when it is done, or with the flush that comes with it.
    /// [`Time::MAX`] where a volatile buffer has it, which says only when asked whether it still does.
    pub durable: Time,
    /// Whether the device did it.
    pub status: Status,
}

/// A device that real programs wait for.
pub struct Model {
    timing: Timing,
    transport: Transport,
    started: Instant,
    /// The simulated time then.
    begin: Time,
    answered_at_once: AtomicU64,
    state: Mutex<State>,
    seen: Mutex<Seen>,
}

struct State {
    device: Asking,
    /// The latest time the device was asked at: it never goes back.
    now: Time,
    modelled: [LatencyHistogram; 2],
}

/// What clients saw.
#[derive(Debug, Default)]
struct Seen {
    wall: [LatencyHistogram; 2],
    late: u64,
    answered: u64,
}

/// Latencies of reads and writes, as they were modelled and as the wall clock saw them.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// Reads, writes: what the model said, dilation not applied.
    pub modelled: [LatencyHistogram; 2],
    /// Reads, writes: from the sending of a request to the arrival of its answer, with the way as it was measured
    /// when the server began. Nothing where requests are answered at once: no clock is read.
    pub wall: [LatencyHistogram; 2],
    /// Answers that left more than a tenth of their latency, and more than 50 us, late.
    pub late: u64,
    /// Answers.
    pub answered: u64,
}

/// What a device did.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Its clock: simulated time from its beginning, when its image was made.
    pub now: Time,
    /// Its components.
    pub stack: StackReport,
}

impl TimedReply {
    /// The same for a client to whom the way is so much longer.
    pub(crate) fn earlier(self, by: Duration) -> TimedReply {
        TimedReply { sent: self.sent - by, deadline: self.deadline - by, ..self }
    }
}

impl Model {
    /// A device that begins its life now, for clients that are `transport` away.
    pub fn new(device: Box<dyn Device>, timing: Timing, transport: Transport) -> Model {
        Model::resume(Asking::new(device), timing, transport, Time::ZERO)
    }

    /// A device that was asked last at `last`, or before. Its time goes on when all its work is done.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn resume(device: Asking, timing: Timing, transport: Transport, last: Time) -> Model {
        let begin = last.max(device.device().busy_until());
        let state = State { device, now: begin, modelled: Default::default() };
        Model {
            timing,
            transport,
            started: Instant::now(),
            begin,
            answered_at_once: AtomicU64::new(0),
            state: Mutex::new(state),
            seen: Mutex::default(),
        }
    }

    /// What the way to its clients takes.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether answers wait for the model.
    pub fn is_timed(&self) -> bool {
        self.timing != Timing::None
    }

    /// Asks the device, at this moment, and has it noted in the journal of `image` that it was asked; `None` where
    /// it is not to be asked.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn ask(&self, asked: HostRequest, image: &Image) -> Option<TimedReply> {
        let Timing::Emulated { dilation } = self.timing else {
            self.answered_at_once.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let mut state = self.state();
        let arrived = Instant::now();
        let came = self.simulated(arrived, dilation);
        let said = state.ask(came, asked, image);
        let latency = said.done - came;
        if let Op::Read | Op::Write = asked.op {
            state.modelled[asked.op as usize].record(latency);
        }
        let waits = Duration::from_secs_f64(latency.as_secs_f64() * dilation);
        let sent = arrived - self.transport.of(asked.bytes);
        Some(TimedReply { sent, deadline: sent + waits, status: said.status, said })
    }

    /// Asks the device when it is `came`.
    #[cfg(test)]
    pub(crate) fn ask_at(&self, came: Time, asked: HostRequest, image: &Image) -> Outcome {
        self.state().ask(came, asked, image)
    }

    /// What the device did until it has done all its work.
    #[cfg(test)]
    pub(crate) fn report(&self) -> nacre_kernel::ComponentReport {
        let state = self.state();
        let device = state.device.device();
        device.check_invariants();
        device.report(device.busy_until())
    }

    /// Whether what was last written to these bytes survives if the power fails at `at`.
    pub(crate) fn keeps(&self, at: Time, range: Range<u64>) -> bool {
        self.state().device.device().is_durable(at, range.start, (range.end - range.start) as u32)
    }

    /// The time at which the device was asked last, or may be asked again.
    pub(crate) fn now(&self) -> Time {
        self.state().now
    }

    /// The power fails at this moment, and is back at once: the device may be asked again when all that it was
    /// doing would have been done. Says when the power failed, and when the device may be asked again. `None`
    /// where no time is modelled.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn power_fail(&self) -> Option<(Time, Time)> {
        let mut state = self.state();
        let Timing::Emulated { dilation } = self.timing else { return None };
        Some(state.power_fail(self.simulated(Instant::now(), dilation)))
    }

    /// The power fails when it is `at`.
    #[cfg(test)]
    pub(crate) fn power_fail_at(&self, at: Time) -> (Time, Time) {
        self.state().power_fail(at)
    }

    fn simulated(&self, at: Instant, dilation: f64) -> Time {
        self.begin + Time::from_secs_f64((at - self.started).as_secs_f64() / dilation)
    }

    /// An answer was sent at `left`. What sending takes is part of the way, which was measured with it.
    pub fn answered(&self, op: Op, reply: TimedReply, left: Instant) {
        let wall = left - reply.sent;
        let mut seen = self.seen.lock().expect("nobody panics with the lock");
        if let Op::Read | Op::Write = op {
            seen.wall[op as usize].record(Time::from_secs_f64(wall.as_secs_f64()));
        }
        let late = left.saturating_duration_since(reply.deadline);
        let wanted = reply.deadline - reply.sent;
        seen.late += u64::from(late > wanted / 10 && late > Duration::from_micros(50));
        seen.answered += 1;
    }

    /// What was modelled and seen so far.
    pub fn latencies(&self) -> Latencies {
        let modelled = self.state().modelled.clone();
        let seen = self.seen.lock().expect("nobody panics with the lock");
        let answered = seen.answered + self.answered_at_once.load(Ordering::Relaxed);
        Latencies { modelled, wall: seen.wall.clone(), late: seen.late, answered }
    }

    /// When requests are answered.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// What the device did from its beginning until this moment.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn reported(&self) -> Reported {
        let state = self.state();
        let now = match self.timing {
            Timing::Emulated { dilation } => state.now.max(self.simulated(Instant::now(), dilation)),
            Timing::None => state.now,
        };
        // What is charged includes work that no request waits for.
        let charged = now.max(state.device.device().busy_until());
        let report = state.device.device().report(charged);
        drop(state);
        Reported { now, stack: stack_report(report, charged) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a model that broke its own rules answers nobody")
    }
}

impl State {
    /// Asks at `came`, or as soon as the device may be asked again.
    fn ask(&mut self, came: Time, asked: HostRequest, image: &Image) -> Outcome {
        let now = self.now.max(came);
        if now > HORIZON {
            return Outcome { now, done: now, durable: now, status: Status::MediaError };
        }
        self.now = now;
        if !image.is_read_only() {
            image.push(asked.entry(now));
        }
        self.device.submit(now, asked)
    }

    fn power_fail(&mut self, at: Time) -> (Time, Time) {
        let failed = self.now.max(at);
        self.now = failed.max(self.device.device().busy_until());
        (failed, self.now)
    }
}

impl HostRequest {
    fn entry(self, now: Time) -> Entry {
        let HostRequest { op, offset, bytes, forced } = self;
        Entry { now, address: offset, length: bytes, what: What::Request { op, forced } }
    }
}

/// A device and how it is asked. A journal that is played back repeats exactly these calls.
pub(crate) struct Asking {
    device: Box<dyn Device>,
    /// Requests so far.
    asked: u64,
    breakdown: Breakdown,
}

impl Asking {
    /// A device that was never asked.
    pub(crate) fn new(device: Box<dyn Device>) -> Asking {
        Asking { device, asked: 0, breakdown: Breakdown::new() }
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.device
    }

    pub(crate) fn submit(&mut self, now: Time, asked: HostRequest) -> Outcome {
        let HostRequest { op, offset, bytes, forced } = asked;
        if self.asked.is_multiple_of(FORGETS_EVERY) {
            self.device.advance(now);
        }
        self.asked += 1;
        self.breakdown.clear();
        let request = Request { arrival: now, address: offset, bytes, volume: 0, op };
        let completion = self.device.submit(now, &request, Data::None, &mut self.breakdown);
        let is_durable = op != Op::Write || self.device.is_durable(completion.done, offset, bytes);
        let durable = if is_durable { completion.done } else { Time::MAX };
        if !forced {
            return Outcome { now, done: completion.done, durable, status: completion.status };
        }
        let flush = Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        self.breakdown.clear();
        let flushed = self.device.submit(now, &flush, Data::None, &mut self.breakdown);
        let done = completion.done.max(flushed.done);
        Outcome { now, done, durable: durable.min(done), status: completion.status }
    }
}
