//! The device under the wall clock: when each request is done.

use crate::transport::Transport;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Device, Op, Request, Status, Time, Trail};
use nacre_machine::record::{StackReport, stack_report};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

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
pub struct Asked {
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
pub struct Verdict {
    /// When its client sent it, as far as the server can tell: the whole way, there and back, lies before.
    pub sent: Instant,
    /// When it is to be answered.
    pub deadline: Instant,
    /// Whether the device did it.
    pub status: Status,
}

/// A device that real programs wait for.
pub struct Model {
    timing: Timing,
    transport: Transport,
    started: Instant,
    answered_at_once: AtomicU64,
    state: Mutex<State>,
    seen: Mutex<Seen>,
}

struct State {
    device: Box<dyn Device>,
    /// The latest time the device was asked at: it never goes back.
    now: Time,
    trail: Trail,
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
    /// Its clock: simulated time since it was opened.
    pub now: Time,
    /// Its components.
    pub stack: StackReport,
}

impl Model {
    /// A device that begins its life now, for clients that are `transport` away.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn new(device: Box<dyn Device>, timing: Timing, transport: Transport) -> Model {
        let state = State { device, now: Time::ZERO, trail: Trail::new(), modelled: Default::default() };
        Model {
            timing,
            transport,
            started: Instant::now(),
            answered_at_once: AtomicU64::new(0),
            state: Mutex::new(state),
            seen: Mutex::default(),
        }
    }

    /// Whether answers wait for the model.
    pub fn is_timed(&self) -> bool {
        self.timing != Timing::None
    }

    /// Asks the device, at this moment; `None` where it is not to be asked.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn ask(&self, asked: Asked) -> Option<Verdict> {
        let Timing::Emulated { dilation } = self.timing else {
            self.answered_at_once.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let mut state = self.state();
        let arrived = Instant::now();
        let elapsed = (arrived - self.started).as_secs_f64() / dilation;
        let now = state.now.max(Time::from_secs_f64(elapsed));
        state.now = now;
        let completion = state.submit(now, asked);
        let latency = completion.0 - now;
        if let Op::Read | Op::Write = asked.op {
            state.modelled[asked.op as usize].record(latency);
        }
        let waits = Duration::from_secs_f64(latency.as_secs_f64() * dilation);
        let sent = arrived - self.transport.of(asked.bytes);
        Some(Verdict { sent, deadline: sent + waits, status: completion.1 })
    }

    /// An answer has left.
    #[expect(clippy::disallowed_methods, reason = "what the client sees is wall time")]
    pub fn answered(&self, op: Op, verdict: Verdict) {
        let left = Instant::now();
        let wall = left - verdict.sent;
        let mut seen = self.seen.lock().expect("nobody panics with the lock");
        if let Op::Read | Op::Write = op {
            seen.wall[op as usize].record(Time::from_secs_f64(wall.as_secs_f64()));
        }
        let late = left.saturating_duration_since(verdict.deadline);
        let wanted = verdict.deadline - verdict.sent;
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

    /// What the device did until this moment.
    pub fn report(&self) -> Reported {
        let state = self.state();
        let Timing::Emulated { dilation } = self.timing else {
            return Reported {
                now: state.now,
                stack: stack_report(state.device.report(state.now), state.now),
            };
        };
        let elapsed = self.started.elapsed().as_secs_f64() / dilation;
        let now = state.now.max(Time::from_secs_f64(elapsed));
        // What is charged includes work that no request waits for.
        let charged = now.max(state.device.busy_until());
        let report = state.device.report(charged);
        drop(state);
        Reported { now, stack: stack_report(report, charged) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a model that broke its own rules answers nobody")
    }
}

impl State {
    fn submit(&mut self, now: Time, asked: Asked) -> (Time, Status) {
        let Asked { op, offset, bytes, forced } = asked;
        self.device.advance(now);
        self.trail.clear();
        let request = Request { arrival: now, address: offset, bytes, volume: 0, op };
        let completion = self.device.submit(now, &request, &mut self.trail);
        if !forced {
            return (completion.done, completion.status);
        }
        let flush = Request { arrival: now, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        self.trail.clear();
        let flushed = self.device.submit(now, &flush, &mut self.trail);
        (completion.done.max(flushed.done), completion.status)
    }
}
