//! The device in wall-clock time: completion of each request, and power losses.

mod faults;

pub(crate) use crate::asked::{Answer, Payload, Ticket};
pub use crate::asked::{HostRequest, Outcome, Since, TIMED, Timed, TimedReply, Timing};
use crate::outage::{Outage, Permille, io_error};
use crate::transport::Transport;
use crate::turnaround::Beyond;
use crate::under::Under;
use nacre_image::Image;
use nacre_kernel::event::{Completions, Payload as Bytes, RequestId};
use nacre_kernel::{Completion, ComponentId, Op, Persistence, Recovery, Request, Status, Time};
use nacre_machine::Checked;
use nacre_machine::console::{ConsoleReply, ConsoleRequest, answered};
use nacre_machine::faults::Layer;
use nacre_machine::record::{StackReport, stack_report};
use nacre_memory::kept::Given;
use nacre_memory::{Kept, NotTaken, Step};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Simulated time a device may reach; [`Time`] itself ends a little later, so that no sum wraps.
pub const HORIZON: Time = Time::from_s(200 * 86_400);

/// A device served to real programs.
pub struct Model {
    /// The scenario of its stack.
    checked: Checked,
    dilation: f64,
    since: Since,
    transport: Transport,
    started: Instant,
    /// The simulated time at that moment.
    begin: Time,
    /// Power losses so far. Clients connected before the last one get no more replies.
    outages: AtomicU64,
    /// Time, in simulated picoseconds, up to which replies have been released.
    answered_until: AtomicU64,
    /// The image; syncs bypass the device.
    image: Option<Image>,
    persistence: Persistence,
    state: Mutex<State>,
    seen: Mutex<Seen>,
}

struct State {
    /// The device and its storage, below the faults.
    under: Under,
    /// Faults added while serving, and requests passing them.
    layer: Layer,
    /// Their settings, as added.
    settings: Vec<String>,
    /// Identifier of the last request.
    ids: u32,
    /// The latest time of a request or of running the device, which never decreases.
    now: Time,
    modeled: Timed,
    /// Outstanding requests by identifier.
    waiting: BTreeMap<u32, Waiting>,
    /// Replies that were not collected yet, by ticket.
    answers: BTreeMap<u64, Answer>,
    tickets: u64,
    completions: Completions,
    /// Whether latency breakdowns are recorded.
    is_detailed: bool,
    /// Flushes that were acknowledged but not performed, if the drive ignores flushes.
    lies: Option<u64>,
}

/// An outstanding request.
struct Waiting {
    /// `None` if its client has disconnected.
    ticket: Option<u64>,
    came: Time,
    now: Time,
    asked: HostRequest,
}

/// Latencies seen by clients.
#[derive(Debug, Default)]
struct Seen {
    wall: Timed,
    late: u64,
    answered: u64,
}

/// Latencies by kind of request ([`TIMED`]), as modeled and as measured by the wall clock.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// Modeled latencies, without dilation.
    pub modeled: Timed,
    /// From sending a request to the arrival of its reply, with the transport delay measured at the start of
    /// the server. Empty if replies are immediate: no clock is read.
    pub wall: Timed,
    /// Replies that left more than 10 % of their latency, and more than 50 us, late.
    pub late: u64,
    /// Replies sent.
    pub answered: u64,
}

/// Report of a device.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Simulated time since the creation of its image.
    pub now: Time,
    /// Its components.
    pub stack: StackReport,
    /// Power losses over its lifetime.
    pub unsafe_shutdowns: u64,
}

impl Model {
    /// The device of `kept`, whose time continues after all its requests have completed. It runs slower by
    /// the factor `dilation`, relative to `since`, for clients with delay `transport`.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn new(kept: Kept, checked: Checked, (dilation, since): (f64, Since), transport: Transport) -> Model {
        let begin = kept.until();
        Model {
            checked,
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
                layer: Layer::new(ComponentId(0), Vec::new(), Some(kept.capacity())),
                settings: Vec::new(),
                ids: 0,
                under: Under::new(kept),
                now: begin,
                modeled: Default::default(),
                waiting: BTreeMap::new(),
                answers: BTreeMap::new(),
                tickets: 0,
                completions: Completions::new(),
                is_detailed: false,
                lies: None,
            }),
            seen: Mutex::default(),
        }
    }

    /// Transport delay of its clients.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Timing of replies.
    pub fn timing(&self) -> Timing {
        Timing::Emulated { dilation: self.dilation, since: self.since }
    }

    /// Whether replies leave earlier by their transport delay.
    pub(crate) fn subtracts_way(&self) -> bool {
        self.since == Since::Sending
    }

    /// The image that stores it.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Power losses so far, which new clients pass with each request.
    pub(crate) fn outages(&self) -> u64 {
        self.outages.load(Ordering::SeqCst)
    }

    /// Whether a write is durable only after a flush.
    pub(crate) fn needs_flushes(&self) -> bool {
        self.persistence != Persistence::OnAcknowledgement
    }

    /// Submits a request to the device, not before the simulated time `after`, for a client that connected
    /// after `outages` power losses. It is in the image on return; [`Model::look`] returns its reply. Errors:
    /// it was not performed, because it cannot be stored, or power has failed since.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn ask(
        &self,
        asked: HostRequest,
        payload: Payload<'_>,
        after: Time,
        outages: u64,
    ) -> io::Result<Ticket> {
        let mut state = self.state();
        if self.outages() != outages {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let arrived = Instant::now();
        let at = self.simulated(arrived);
        state.run_to(at);
        let came = at.max(after);
        let number = state.give(came, asked, payload)?;
        Ok(Ticket { number, arrived, came })
    }

    /// Runs the device up to the wall-clock time, and through events at most `ahead` of it. Passes the
    /// replies of `tickets` to `take`, with the index of the ticket; returns the time of the next event,
    /// minus `ahead`.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn look(
        &self,
        ahead: Duration,
        tickets: impl Iterator<Item = Ticket>,
        mut take: impl FnMut(usize, Answer),
    ) -> Option<Instant> {
        let mut state = self.state();
        let now = self.simulated(Instant::now());
        state.run_to(now);
        state.run_ahead(now + Time::from_secs_f64(ahead.as_secs_f64() / self.dilation));
        for (place, ticket) in tickets.enumerate() {
            if let Some(answer) = state.answers.remove(&ticket.number) {
                let failure = state.under.kept.image().and_then(Image::error);
                take(place, Answer { failure, ..answer });
            }
        }
        let next = state.next_event();
        (next < Time::MAX).then(|| self.wall(next).checked_sub(ahead).unwrap_or(self.started))
    }

    /// Drops the reply of `ticket`.
    pub(crate) fn forget(&self, ticket: Ticket) {
        let Ok(mut state) = self.state.lock() else { return };
        state.answers.remove(&ticket.number);
        for waiting in state.waiting.values_mut().filter(|of| of.ticket == Some(ticket.number)) {
            waiting.ticket = None;
        }
    }

    /// When the reply of `ticket` leaves, due this much `early`, for a request with `bytes` to transfer.
    pub(crate) fn reply(&self, ticket: Ticket, bytes: u32, early: Early, said: Outcome) -> TimedReply {
        let way = self.transport.of(bytes);
        let (sent, deadline) = (ticket.arrived - way, self.wall(said.done));
        match early {
            Early::Not => TimedReply { sent, deadline, said },
            Early::By(Beyond::Sooner(by)) => {
                TimedReply { sent: sent - by, deadline: deadline - way - by, said }
            }
            Early::By(Beyond::Later(by)) => {
                TimedReply { sent: sent + by, deadline: deadline - way + by, said }
            }
        }
    }

    /// Performs one request on the device, and waits for it with `wait`, which may stop that. Returns when
    /// the reply may leave, and the latency breakdown. Errors: those of [`Model::ask`]; the wait was stopped.
    pub(crate) fn step(
        &self,
        asked: HostRequest,
        payload: Payload<'_>,
        outages: u64,
        wait: &mut dyn FnMut(Duration) -> bool,
    ) -> io::Result<(TimedReply, ConsoleReply)> {
        let before = {
            let mut state = self.state();
            state.detail(true);
            state.under.kept.device().report(state.now)
        };
        let answer = self.ask(asked, payload, Time::ZERO, outages).and_then(|ticket| {
            let answer = self.wait_for(ticket, wait);
            answer.map(|answer| (ticket, answer)).inspect_err(|_| self.forget(ticket))
        });
        let mut state = self.state();
        state.detail(false);
        let (ticket, Answer { said, spans, .. }) = answer?;
        let Outcome { now, done, status } = said;
        let after = state.under.kept.device().report(done);
        drop(state);
        let HostRequest { op, offset, bytes, .. } = asked;
        let request = ConsoleRequest { op, address: offset, bytes };
        let completion = Completion { done, status };
        let told = answered(request, now, completion, &spans, [&before, &after]);
        Ok((self.reply(ticket, bytes, Early::Not, said), told))
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    fn wait_for(&self, ticket: Ticket, wait: &mut dyn FnMut(Duration) -> bool) -> io::Result<Answer> {
        loop {
            let mut found = None;
            let next = self.look(Duration::ZERO, std::iter::once(ticket), |_, answer| found = Some(answer));
            match found {
                Some(Answer { failure: Some(failure), .. }) => return Err(io_error(failure)),
                Some(answer) => return Ok(answer),
                None => {}
            }
            let left = next.map_or(Duration::MAX, |next| next.saturating_duration_since(Instant::now()));
            if !wait(left) {
                return Err(io::Error::other("power failed before it completed"));
            }
        }
    }

    /// Submits a request at `came`.
    #[cfg(test)]
    pub(crate) fn begin_at(&self, came: Time, asked: HostRequest, payload: Payload<'_>) -> u64 {
        let mut state = self.state();
        state.run_to(came);
        state.give(came, asked, payload).expect("there is room")
    }

    /// As before, and waits for it.
    #[cfg(test)]
    pub(crate) fn ask_at(&self, came: Time, asked: HostRequest, payload: Payload<'_>) -> Answer {
        let number = self.begin_at(came, asked, payload);
        let mut state = self.state();
        loop {
            if let Some(answer) = state.answers.remove(&number) {
                return answer;
            }
            assert!(state.run_once(Time::MAX), "the device lost a request");
        }
    }

    /// The device and its storage.
    #[cfg(test)]
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Kept) -> T) -> T {
        look(&mut self.state().under.kept)
    }

    /// Makes everything acknowledged durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let image = self.image.as_ref().filter(|image| !image.is_read_only());
        image.map_or(Ok(()), Image::sync).map_err(io_error)
    }

    /// Cuts power now and restores it at once: the device loses volatile data, and recovers. Clients
    /// connected before get no more replies. Errors: it cannot be stored, and nothing was lost. With `again`,
    /// power fails once more at that point of the recovery.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn power_fail(&self, again: Option<Permille>) -> io::Result<Outage> {
        // First stop all replies, then take the time: no reply leaves after it.
        self.outages.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state();
        let at = self.simulated(Instant::now());
        // Replies may leave before the device completes, by the transport delay.
        let answered = Time::from_ps(self.answered_until.load(Ordering::SeqCst));
        state.power_fail(at.max(answered), again)
    }

    /// Cuts power at `at`, and restores it at once.
    #[cfg(test)]
    pub(crate) fn power_fail_at(&self, at: Time) -> Outage {
        self.state().power_fail(at, None).expect("there is room")
    }

    /// Cuts power at `at`, and again at that point of the recovery.
    #[cfg(test)]
    pub(crate) fn power_fail_twice_at(&self, at: Time, again: Permille) -> Outage {
        self.state().power_fail(at, Some(again)).expect("there is room")
    }

    /// Injects or clears media errors of a range.
    pub(crate) fn change(&self, step: Step<'_>) -> io::Result<()> {
        let mut state = self.state();
        let now = state.now;
        state.under.kept.change(now, step).map(|_| ()).map_err(refusal)
    }

    /// Runs `work` while no request is served.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = self.state();
        work()
    }

    /// Whether the start of a range was ever written, and for how many bytes this holds.
    pub(crate) fn written(&self, range: std::ops::Range<u64>) -> (bool, u64) {
        self.state().under.kept.written(range)
    }

    /// Writes a checkpoint of the image. Errors: acknowledged data is in it nevertheless.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.state().under.kept.checkpoint().map_err(refusal)
    }

    fn simulated(&self, at: Instant) -> Time {
        self.begin + Time::from_secs_f64((at - self.started).as_secs_f64() / self.dilation)
    }

    fn wall(&self, at: Time) -> Instant {
        let since = at.saturating_sub(self.begin).as_secs_f64() * self.dilation;
        // Rounded up: no reply is early.
        self.started + Duration::from_secs_f64(since) + Duration::from_nanos(1)
    }

    /// Releases replies of requests completed at `done` or before, to a client that connected after `outages`
    /// power losses; returns false if they must not leave.
    pub(crate) fn lets_leave(&self, done: Time, outages: u64) -> bool {
        // In this order: a concurrent power loss either stops them or includes them.
        self.answered_until.fetch_max(done.as_ps(), Ordering::SeqCst);
        self.outages() == outages
    }

    /// A reply was sent at `left`. The time to send it is part of the measured transport delay.
    pub fn answered(&self, asked: HostRequest, reply: TimedReply, left: Instant) {
        let wall = left - reply.sent;
        let mut seen = self.seen.lock().expect("the lock is not poisoned");
        asked.record(Time::from_secs_f64(wall.as_secs_f64()), &mut seen.wall);
        let late = left.saturating_duration_since(reply.deadline);
        let wanted = reply.deadline - reply.sent;
        seen.late += u64::from(late > wanted / 10 && late > Duration::from_micros(50));
        seen.answered += 1;
    }

    /// Records the completion at `done` of a forced write, including the flush that makes it durable.
    pub(crate) fn forced(&self, asked: HostRequest, first: Ticket, done: Time) {
        asked.record(done - first.came, &mut self.state().modeled);
    }

    /// Modeled and measured latencies so far.
    pub fn latencies(&self) -> Latencies {
        let modeled = self.state().modeled.clone();
        let seen = self.seen.lock().expect("the lock is not poisoned");
        Latencies { modeled, wall: seen.wall.clone(), late: seen.late, answered: seen.answered }
    }

    /// Report of the device from its creation until now.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn reported(&self) -> Reported {
        let mut state = self.state();
        state.run_to(self.simulated(Instant::now()));
        let now = state.now;
        // Work is charged at its start.
        let next = state.under.kept.next_event();
        let charged = if next < Time::MAX { now.max(next) } else { now };
        let report = state.under.kept.device().report(charged);
        let unsafe_shutdowns = state.under.kept.power_failures();
        drop(state);
        Reported { now, stack: stack_report(report, charged), unsafe_shutdowns }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is not poisoned")
    }
}

impl State {
    /// Submits a request at `came`, or as soon as possible; returns the number of the ticket.
    fn give(&mut self, came: Time, asked: HostRequest, payload: Payload<'_>) -> io::Result<u64> {
        let HostRequest { op, offset, bytes, .. } = asked;
        let now = self.now.max(came);
        self.tickets += 1;
        let ticket = self.tickets;
        let range = offset..offset + u64::from(bytes);
        let is_harmed = matches!(op, Op::Write | Op::Trim) && self.under.kept.harmed().fails_writes(&range);
        if now > HORIZON || is_harmed {
            let said = Outcome { now, done: now, status: Status::MediaError };
            self.answers.insert(ticket, Answer { said, data: Bytes::NONE, spans: Vec::new(), failure: None });
            return Ok(ticket);
        }
        self.run_to(now);
        if let (Op::Flush, Some(lies)) = (op, &mut self.lies) {
            *lies += 1;
            let said = Outcome { now, done: now, status: Status::Done };
            self.answers.insert(ticket, Answer { said, data: Bytes::NONE, spans: Vec::new(), failure: None });
            return Ok(ticket);
        }
        let data = match (op, payload) {
            (Op::Write, Payload::Write(bytes)) => bytes.to_vec().into(),
            // Zeros without faults do not touch the image's bytes.
            (Op::Write, _) if !self.layer.faults().is_empty() => vec![0; bytes as usize].into(),
            _ => Bytes::NONE,
        };
        self.ids = self.ids.wrapping_add(1);
        let request = Request { arrival: now, address: offset, bytes, volume: 0, op };
        self.now = now;
        self.layer.submit(&mut self.under, now, (RequestId(self.ids), &request), data);
        if let Some(why) = self.under.refused.take() {
            return Err(refusal(why));
        }
        self.waiting.insert(self.ids, Waiting { ticket: Some(ticket), came, now, asked });
        Ok(ticket)
    }

    /// Time of the next event.
    fn next_event(&self) -> Time {
        self.layer.next_event(&self.under)
    }

    /// Processes all events before `until`.
    fn run_to(&mut self, until: Time) {
        while until > self.now && self.run_once(until) {}
        self.now = self.now.max(until);
    }

    /// Processes events before `until`, without advancing between them: requests until then can be submitted
    /// at their times.
    fn run_ahead(&mut self, until: Time) {
        loop {
            let next = self.next_event();
            if next >= until || self.waiting.is_empty() {
                return;
            }
            let end = next + Time::from_ps(1);
            if !self.run_once(end) {
                self.now = self.now.max(end);
            }
        }
    }

    /// Processes events before `until`, up to the first time at which requests complete; returns whether
    /// there was one.
    fn run_once(&mut self, until: Time) -> bool {
        let mut completions = std::mem::take(&mut self.completions);
        completions.clear();
        self.layer.run(&mut self.under, until, &mut completions);
        // The status of the completion reports a rejection after a delay, too.
        self.under.refused = None;
        for index in 0..completions.len() {
            let (completed, spans) = completions.get(index);
            let (id, done, status) = (completed.id, completed.at, completed.status);
            // A request rejected at submission already has its reply.
            let Some(Waiting { ticket, came, now, asked }) = self.waiting.remove(&id.0) else { continue };
            let spans = if self.is_detailed { spans.to_vec() } else { Vec::new() };
            self.now = self.now.max(done);
            if !asked.forced {
                asked.record(done - came, &mut self.modeled);
            }
            let range = asked.offset..asked.offset + u64::from(asked.bytes);
            let is_harmed = asked.op == Op::Read && self.under.kept.harmed().fails_reads(&range);
            let status = if is_harmed { Status::MediaError } else { status };
            if let Some(ticket) = ticket {
                let said = Outcome { now, done, status };
                let data = completions.take_data(index);
                self.answers.insert(ticket, Answer { said, data, spans, failure: None });
            }
        }
        let have_completed = !completions.is_empty();
        self.completions = completions;
        have_completed
    }

    fn detail(&mut self, is_detailed: bool) {
        self.is_detailed = is_detailed;
        self.under.kept.detail(is_detailed);
    }

    fn power_fail(&mut self, at: Time, again: Option<Permille>) -> io::Result<Outage> {
        self.run_to(at);
        let at = self.now;
        let under_way = self.under.kept.writes_outstanding();
        let mut recovery = self.lose_power(at)?;
        if let Some(share) = again {
            let whole = u128::from(recovery.done.saturating_sub(at).as_ps());
            let again = at + Time::from_ps((whole * u128::from(share) / 1000) as u64);
            self.run_to(again);
            recovery = recovery.in_parallel_with(self.lose_power(self.now)?);
        }
        Ok(Outage {
            acknowledged_lost: recovery.programs_lost,
            bytes_lost: recovery.bytes_lost,
            under_way,
            ready_after: recovery.done.saturating_sub(at),
        })
    }

    /// Cuts power at `at`, up to which everything was processed, and restores it at once.
    fn lose_power(&mut self, at: Time) -> io::Result<Recovery> {
        let given = self.under.kept.give(at, Step::PowerFail).map_err(refusal)?;
        assert!(matches!(given, Given::Done(_)), "a power loss completes at once");
        self.layer.power_fail();
        self.under.forget();
        self.waiting.clear();
        self.answers.clear();
        Ok(self.under.kept.change(at, Step::Recover).map_err(refusal)?.recovery)
    }
}

/// Time by which replies leave before the device completes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Early {
    /// None.
    Not,
    /// The transport delay, plus the client's additional time.
    By(Beyond),
}

/// Converts the reason of a failed step into a system error.
fn refusal(why: NotTaken) -> io::Error {
    match why {
        NotTaken::Image(error) => io_error(error),
        NotTaken::CannotSave(error) => io::Error::other(error),
        NotTaken::Refused(_) | NotTaken::NoTransactions { .. } | NotTaken::NoZones { .. } => {
            unreachable!("client requests are not part of a transaction")
        }
    }
}
