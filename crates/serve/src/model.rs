//! The device under the wall clock: when each request is done, and what a loss of power takes.

use crate::outage::{Outage, io_error};
use crate::transport::Transport;
use crate::turnaround::Beyond;
use nacre_image::Image;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Breakdown, Completion, Op, Persistence, Status, Time};
use nacre_machine::console::{ConsoleReply, ConsoleRequest, answered};
use nacre_machine::record::{StackReport, stack_report};
use nacre_memory::{Kept, NotTaken, Step};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Simulated time a device may reach; [`Time`] itself ends a little later, so that no sum wraps.
pub const HORIZON: Time = Time::from_s(200 * 86_400);

/// When requests are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// When the model says, every duration times `dilation`.
    Emulated {
        /// At least one.
        dilation: f64,
        /// What a duration is counted from.
        since: Since,
    },
    /// At once; no device is modelled.
    None,
}

/// The moment from which a device takes its time for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Its arrival at the server: no answer is early, and the way comes on top.
    Arrival,
    /// Its sending, as far as the server can tell: a client usually sees the time of the model. One whose way is shorter
    /// than usual sees less.
    Sending,
}

impl Timing {
    /// As its user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Timing::Emulated { since: Since::Arrival, .. } => "emulated",
            Timing::Emulated { since: Since::Sending, .. } => "compensated",
            Timing::None => "none",
        }
    }
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

/// The bytes of a request.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// There are none.
    None,
    /// What is written.
    Write(&'a [u8]),
    /// Zeroes are written.
    Zeroes,
    /// Where what is read goes.
    Read(&'a mut [u8]),
}

/// What the model says of one request.
#[derive(Clone, Copy, Debug)]
pub struct TimedReply {
    /// When its client sent it, as far as the server can tell: the whole way, there and back, lies before.
    pub sent: Instant,
    /// When it is to be answered.
    pub deadline: Instant,
    /// When it is done: what has to come after it is asked then.
    pub done: Instant,
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
    /// Whether the device did it.
    pub status: Status,
}

/// A device that real programs wait for.
pub struct Model {
    dilation: f64,
    since: Since,
    transport: Transport,
    started: Instant,
    /// The simulated time then.
    begin: Time,
    /// Losses of power so far. Who came before the last one is answered nothing more.
    outages: AtomicU64,
    /// Up to when, in simulated picoseconds, requests are done whose answers have left or are leaving.
    answered_until: AtomicU64,
    /// The image; what is synced is not asked of the device.
    image: Option<Image>,
    persistence: Persistence,
    state: Mutex<State>,
    seen: Mutex<Seen>,
}

struct State {
    kept: Kept,
    /// The latest time the device was asked at: it never goes back.
    now: Time,
    modelled: [LatencyHistogram; 2],
    /// When writes are done that may not be done yet.
    writes: BinaryHeap<Reverse<Time>>,
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
    /// The same for a client to whom the way is so much longer or shorter.
    pub(crate) fn moved(self, by: Beyond) -> TimedReply {
        match by {
            Beyond::Sooner(by) => TimedReply { sent: self.sent - by, deadline: self.deadline - by, ..self },
            Beyond::Later(by) => TimedReply { sent: self.sent + by, deadline: self.deadline + by, ..self },
        }
    }
}

impl Model {
    /// The device of `kept`, whose time goes on when all it was asked for is done. It takes `dilation` times its time,
    /// counted `since` then, for clients that are `transport` away.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn new(kept: Kept, dilation: f64, since: Since, transport: Transport) -> Model {
        let begin = kept.until();
        Model {
            dilation,
            since,
            transport,
            started: Instant::now(),
            begin,
            outages: AtomicU64::new(0),
            answered_until: AtomicU64::new(begin.as_ps()),
            image: kept.image().cloned(),
            persistence: kept.device().capabilities().persistence,
            state: Mutex::new(State {
                kept,
                now: begin,
                modelled: Default::default(),
                writes: BinaryHeap::new(),
            }),
            seen: Mutex::default(),
        }
    }

    /// What the way to its clients takes.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// When it answers.
    pub fn timing(&self) -> Timing {
        Timing::Emulated { dilation: self.dilation, since: self.since }
    }

    /// Whether its answers leave earlier by their way.
    pub(crate) fn subtracts_way(&self) -> bool {
        self.since == Since::Sending
    }

    /// The image that keeps it.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Losses of power so far; who comes now says it with each request.
    pub(crate) fn outages(&self) -> u64 {
        self.outages.load(Ordering::SeqCst)
    }

    /// Whether a write is safe only after a flush.
    pub(crate) fn needs_flushes(&self) -> bool {
        self.persistence != Persistence::OnAcknowledgement
    }

    /// Has the device do what is asked, not before the simulated time `after`, for a client that came after so many
    /// `outages`. What it did is in the image when this returns. Errors: it was not done, for it cannot be kept, or
    /// the power has failed meanwhile.
    pub(crate) fn ask(
        &self,
        asked: HostRequest,
        payload: Payload<'_>,
        after: Time,
        outages: u64,
    ) -> io::Result<TimedReply> {
        self.ask_held(&mut self.state(), asked, payload, after, outages)
    }

    /// As [`Model::ask`], of somebody who looks where the time went.
    pub(crate) fn step(
        &self,
        asked: HostRequest,
        payload: Payload<'_>,
        outages: u64,
    ) -> io::Result<(TimedReply, ConsoleReply)> {
        let mut state = self.state();
        let before = state.kept.device().report(state.now);
        state.kept.look_closely(true);
        let reply = self.ask_held(&mut state, asked, payload, Time::ZERO, outages);
        let breakdown = state.kept.breakdown().clone();
        state.kept.look_closely(false);
        let reply = reply?;
        let Outcome { now, done, status } = reply.said;
        let after = state.kept.device().report(done);
        let HostRequest { op, offset, bytes, .. } = asked;
        let request = ConsoleRequest { op, address: offset, bytes };
        let completion = Completion { done, status };
        let nothing = Breakdown::new();
        // What fails because somebody wished it was not asked of the device.
        let breakdown = if done == now { &nothing } else { &breakdown };
        Ok((reply, answered(request, now, completion, breakdown.spans(), [&before, &after])))
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    fn ask_held(
        &self,
        state: &mut State,
        asked: HostRequest,
        payload: Payload<'_>,
        after: Time,
        outages: u64,
    ) -> io::Result<TimedReply> {
        if self.outages() != outages {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let arrived = Instant::now();
        let at = self.simulated(arrived);
        let came = at.max(after);
        let said = state.ask(came, asked, payload)?;
        if let Op::Read | Op::Write = asked.op {
            state.modelled[asked.op as usize].record(said.done - came);
        }
        let waits = Duration::from_secs_f64((said.done - at).as_secs_f64() * self.dilation);
        let (sent, done) = (arrived - self.transport.of(asked.bytes), arrived + waits);
        let deadline = if self.subtracts_way() { sent + waits } else { done };
        Ok(TimedReply { sent, deadline, done, said })
    }

    /// Asks the device when it is `came`.
    #[cfg(test)]
    pub(crate) fn ask_at(&self, came: Time, asked: HostRequest, payload: Payload<'_>) -> Outcome {
        self.state().ask(came, asked, payload).expect("there is room")
    }

    /// The device and what keeps it.
    #[cfg(test)]
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Kept) -> T) -> T {
        look(&mut self.state().kept)
    }

    /// Everything acknowledged is on the disk when this returns.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let image = self.image.as_ref().filter(|image| !image.is_read_only());
        image.map_or(Ok(()), Image::sync).map_err(io_error)
    }

    /// The power fails at this moment and comes back at once: the device loses what its design loses, and recovers.
    /// From the moment on nothing is answered to those who came before. Errors: it cannot be kept, and nothing was
    /// lost.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn power_fail(&self) -> io::Result<Outage> {
        // First nothing more is answered, then it is the moment: no answer leaves after it.
        self.outages.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state();
        let at = self.simulated(Instant::now());
        // Answers may leave earlier than the device is done, by the time of their way.
        let answered = Time::from_ps(self.answered_until.load(Ordering::SeqCst));
        state.power_fail(at.max(answered))
    }

    /// The power fails when it is `at`, and is back at once.
    #[cfg(test)]
    pub(crate) fn power_fail_at(&self, at: Time) -> Outage {
        self.state().power_fail(at).expect("there is room")
    }

    /// From now on `range` fails, or works again.
    pub(crate) fn change(&self, step: Step<'_>) -> io::Result<()> {
        let mut state = self.state();
        let now = state.now;
        state.kept.change(now, step).map(|_| ()).map_err(refusal)
    }

    /// Does `work` while no request is served.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = self.state();
        work()
    }

    /// Whether anything of a range was ever written, and for how many bytes from its beginning on this is so.
    pub(crate) fn written(&self, range: std::ops::Range<u64>) -> (bool, u64) {
        self.state().kept.written(range)
    }

    /// Brings the image to its shortest form. Errors: what was acknowledged is in it nevertheless.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.state().kept.checkpoint().map_err(refusal)
    }

    fn simulated(&self, at: Instant) -> Time {
        self.begin + Time::from_secs_f64((at - self.started).as_secs_f64() / self.dilation)
    }

    /// Answers leave of requests that are done at `done` or before, to a client that came after so many `outages`;
    /// false where they may not.
    pub(crate) fn lets_leave(&self, done: Time, outages: u64) -> bool {
        // In this order: a loss of power that comes now either stops them or knows of them.
        self.answered_until.fetch_max(done.as_ps(), Ordering::SeqCst);
        self.outages() == outages
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
        Latencies { modelled, wall: seen.wall.clone(), late: seen.late, answered: seen.answered }
    }

    /// What the device did from its beginning until this moment.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn reported(&self) -> Reported {
        let state = self.state();
        let now = state.now.max(self.simulated(Instant::now()));
        // What is charged includes work that no request waits for.
        let device = state.kept.device();
        let charged = now.max(device.busy_until());
        let report = device.report(charged);
        drop(state);
        Reported { now, stack: stack_report(report, charged) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a model that broke its own rules answers nobody")
    }
}

impl State {
    /// Asks at `came`, or as soon as the device may be asked again.
    fn ask(&mut self, came: Time, asked: HostRequest, payload: Payload<'_>) -> io::Result<Outcome> {
        let HostRequest { op, offset, bytes, .. } = asked;
        let now = self.now.max(came);
        let failed = Outcome { now, done: now, status: Status::MediaError };
        if now > HORIZON {
            return Ok(failed);
        }
        let range = offset..offset + u64::from(bytes);
        if matches!(op, Op::Write | Op::Trim) && self.kept.harmed().fails_writes(&range) {
            return Ok(failed);
        }
        let completion = match (op, payload) {
            (Op::Read, Payload::Read(into)) => {
                let completion = self.kept.read(now, offset, into);
                // A page that the image could not give was read as something else.
                self.kept.image().and_then(Image::error).map_or(Ok(()), |error| Err(io_error(error)))?;
                completion
            }
            (op, payload) => {
                let step = match (op, payload) {
                    (Op::Write, Payload::Write(bytes)) => Step::Write { address: offset, bytes },
                    (Op::Write, _) => Step::Zero { address: offset, bytes },
                    (Op::Trim, _) => Step::Trim { address: offset, bytes },
                    (Op::Flush, _) => Step::Flush,
                    (Op::Read, _) => unreachable!("a read has a place for what is read"),
                };
                self.kept.change(now, step).map_err(refusal)?.completion
            }
        };
        self.now = now;
        if op == Op::Write {
            self.forget_done(now);
            self.writes.push(Reverse(completion.done));
        }
        let is_harmed = op == Op::Read && self.kept.harmed().fails_reads(&range);
        let status = if is_harmed { Status::MediaError } else { completion.status };
        Ok(Outcome { now, done: completion.done, status })
    }

    fn power_fail(&mut self, at: Time) -> io::Result<Outage> {
        let at = self.now.max(at);
        self.kept.change(at, Step::PowerFail).map_err(refusal)?;
        let recovery = self.kept.change(at, Step::Recover).map_err(refusal)?.recovery;
        self.now = at;
        self.forget_done(at);
        let under_way = self.writes.len() as u64;
        self.writes.clear();
        Ok(Outage {
            acknowledged_lost: recovery.programs_lost,
            bytes_lost: recovery.bytes_lost,
            under_way,
            ready_after: recovery.done.saturating_sub(at),
        })
    }

    fn forget_done(&mut self, now: Time) {
        while self.writes.peek().is_some_and(|&Reverse(done)| done <= now) {
            self.writes.pop();
        }
    }
}

/// Why a step was not taken, as an error of the system.
fn refusal(why: NotTaken) -> io::Error {
    match why {
        NotTaken::Image(error) => io_error(error),
        NotTaken::CannotSave(error) => io::Error::other(error),
        NotTaken::Refused(_) | NotTaken::NoTransactions { .. } => {
            unreachable!("what a client asks is no part of a transaction")
        }
    }
}
