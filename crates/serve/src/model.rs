//! A modeled device in wall-clock time: completions of requests, and power losses.

mod faults;
mod state;

pub(crate) use crate::asked::{Answer, Payload, Ticket};
pub use crate::asked::{HostRequest, Outcome, Since, TIMED, Timed, TimedReply, Timing};
use crate::outage::{Outage, Permille, io_error};
use crate::transport::Transport;
use crate::turnaround::Beyond;
use crate::under::Under;
use nacre_image::Image;
use nacre_kernel::event::Completions;
use nacre_kernel::{Completion, ComponentId, Persistence, Time};
use nacre_machine::Checked;
use nacre_machine::console::{ConsoleReply, ConsoleRequest, answered};
use nacre_machine::faults::Layer;
use nacre_machine::record::{StackReport, stack_report};
use nacre_memory::{PersistentDevice, Step};
use state::{State, refusal};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Maximum simulated time of a device. The largest [`Time`] is slightly later, so that no sum overflows.
pub const HORIZON: Time = Time::from_s(200 * 86_400);

/// A device that is served to real programs.
pub struct Model {
    /// Scenario of the stack.
    checked: Checked,
    dilation: f64,
    since: Since,
    transport: Transport,
    started: Instant,
    /// Simulated time at the start of the server.
    begin: Time,
    /// Number of power losses so far. Clients that connected before the latest power loss get no more
    /// replies.
    outages: AtomicU64,
    /// Latest completion time of the replies that were released to clients, in simulated picoseconds.
    answered_until: AtomicU64,
    /// The image, to which `sync` needs direct access.
    image: Option<Image>,
    persistence: Persistence,
    state: Mutex<State>,
    seen: Mutex<Seen>,
}

/// Wall-clock latencies, from sending a request to receiving its reply, and counts of replies.
#[derive(Debug, Default)]
struct Seen {
    wall: Timed,
    late: u64,
    answered: u64,
}

/// Modeled and measured latencies of each request type in [`TIMED`].
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// Modeled latencies, without dilation.
    pub modeled: Timed,
    /// Wall-clock time from sending a request to the arrival of its reply. The time includes the transport
    /// delay, which was measured when the server started. The histograms are empty if replies are immediate,
    /// because no clock is read in this case.
    pub wall: Timed,
    /// Number of replies that were late by more than 10 % of their latency and by more than 50 us.
    pub late: u64,
    /// Number of replies sent.
    pub answered: u64,
}

/// State of a device since its creation.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Simulated time since the creation of the image.
    pub now: Time,
    /// Report of the components.
    pub stack: StackReport,
    /// Number of power losses over the lifetime of the device.
    pub unsafe_shutdowns: u64,
}

impl Model {
    /// Creates the model of the device `of`. Simulated time continues at the time of the last completion or
    /// submission. `pace` contains the dilation factor, and the instant from which the modeled latency of a
    /// request is counted. `transport` is the transport delay of the clients.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn new(of: PersistentDevice, checked: Checked, pace: (f64, Since), transport: Transport) -> Model {
        let (device, (dilation, since)) = (of, pace);
        let begin = device.until();
        Model {
            checked,
            dilation,
            since,
            transport,
            started: Instant::now(),
            begin,
            outages: AtomicU64::new(0),
            answered_until: AtomicU64::new(begin.as_ps()),
            image: device.image().cloned(),
            persistence: device.device().capabilities().persistence,
            state: Mutex::new(State {
                layer: Layer::new(ComponentId(0), Vec::new(), Some(device.capacity())),
                settings: Vec::new(),
                ids: 0,
                under: Under::new(device),
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

    /// Returns the transport delay of the clients.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Returns the timing of replies.
    pub fn timing(&self) -> Timing {
        Timing::Emulated { dilation: self.dilation, since: self.since }
    }

    /// Returns whether replies are sent early by the transport delay.
    pub(crate) fn subtracts_way(&self) -> bool {
        self.since == Since::Sending
    }

    /// Returns the image that stores the device.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Returns the number of power losses so far. A new client passes this number with each request.
    pub(crate) fn outages(&self) -> u64 {
        self.outages.load(Ordering::SeqCst)
    }

    /// Returns whether a write is durable only after a flush.
    pub(crate) fn needs_flushes(&self) -> bool {
        self.persistence != Persistence::OnAcknowledgement
    }

    /// Submits a request of a client that connected after `outages` power losses. The request is submitted at
    /// the simulated time `after` or later. On return, the image contains the request. [`Model::look`]
    /// returns the reply. Returns an error if the image cannot store the request, or if power has failed
    /// since the client connected.
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

    /// Runs the device up to the current wall-clock time, and also processes events up to `ahead` later.
    /// Passes the available replies of `tickets` to `take`, each with the index of its ticket. Returns the
    /// time of the next event minus `ahead`, or `None` if there is no event.
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
                let failure = state.under.device.image().and_then(Image::error);
                take(place, Answer { failure, ..answer });
            }
        }
        let next = state.next_event();
        (next < Time::MAX).then(|| self.wall(next).checked_sub(ahead).unwrap_or(self.started))
    }

    /// Discards the reply of `ticket`.
    pub(crate) fn forget(&self, ticket: Ticket) {
        let Ok(mut state) = self.state.lock() else { return };
        state.answers.remove(&ticket.number);
        for waiting in state.waiting.values_mut().filter(|of| of.ticket == Some(ticket.number)) {
            waiting.ticket = None;
        }
    }

    /// Returns the reply to the request of `ticket`, which transfers `bytes` bytes, with the time to send the
    /// reply. This time precedes the completion by `early`.
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

    /// Performs one request on the device. Calls `wait` repeatedly until the request completes, or until
    /// `wait` returns false to cancel the request. Returns the time at which the reply may be sent, and the
    /// latency breakdown. Returns the errors of [`Model::ask`], and an error if the request was canceled.
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
            state.under.device.device().report(state.now)
        };
        let answer = self.ask(asked, payload, Time::ZERO, outages).and_then(|ticket| {
            let answer = self.wait_for(ticket, wait);
            answer.map(|answer| (ticket, answer)).inspect_err(|_| self.forget(ticket))
        });
        let mut state = self.state();
        state.detail(false);
        let (ticket, Answer { said, spans, .. }) = answer?;
        let Outcome { now, done, status } = said;
        let after = state.under.device.device().report(done);
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

    /// Submits a request at the simulated time `came`.
    #[cfg(test)]
    pub(crate) fn begin_at(&self, came: Time, asked: HostRequest, payload: Payload<'_>) -> u64 {
        let mut state = self.state();
        state.run_to(came);
        state.give(came, asked, payload).expect("there is room")
    }

    /// Submits a request at the simulated time `came` and waits for its completion.
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

    /// Calls `look` with the device.
    #[cfg(test)]
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut PersistentDevice) -> T) -> T {
        look(&mut self.state().under.device)
    }

    /// Makes all acknowledged data durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let image = self.image.as_ref().filter(|image| !image.is_read_only());
        image.map_or(Ok(()), Image::sync).map_err(io_error)
    }

    /// Cuts power at the current time and restores it immediately. Connected clients get no more replies.
    /// Returns an error if the power loss cannot be stored. In this case, no data is lost. If `again` is
    /// given, power fails a second time at that point of the recovery.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub(crate) fn power_fail(&self, again: Option<Permille>) -> io::Result<Outage> {
        // Replies are stopped before the time is read, so that no reply is sent after that time.
        self.outages.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state();
        let at = self.simulated(Instant::now());
        // Replies may precede the completion of the device by the transport delay.
        let answered = Time::from_ps(self.answered_until.load(Ordering::SeqCst));
        state.power_fail(at.max(answered), again)
    }

    /// Cuts power at the simulated time `at` and restores it immediately.
    #[cfg(test)]
    pub(crate) fn power_fail_at(&self, at: Time) -> Outage {
        self.state().power_fail(at, None).expect("there is room")
    }

    /// Cuts power at the simulated time `at`, and a second time at the point `again` of the recovery.
    #[cfg(test)]
    pub(crate) fn power_fail_twice_at(&self, at: Time, again: Permille) -> Outage {
        self.state().power_fail(at, Some(again)).expect("there is room")
    }

    /// Applies `step`, which injects or clears media errors of a range.
    pub(crate) fn change(&self, step: Step<'_>) -> io::Result<()> {
        let mut state = self.state();
        let now = state.now;
        state.under.device.change(now, step).map(|_| ()).map_err(refusal)
    }

    /// Calls `work`. No request is served during the call.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = self.state();
        work()
    }

    /// Returns whether the start of `range` was ever written, and the number of bytes from this start to
    /// which the answer applies.
    pub(crate) fn written(&self, range: std::ops::Range<u64>) -> (bool, u64) {
        self.state().under.device.written(range)
    }

    /// Writes a checkpoint. If this fails, the image's journal still contains all acknowledged data.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.state().under.device.checkpoint().map_err(refusal)
    }

    fn simulated(&self, at: Instant) -> Time {
        self.begin + Time::from_secs_f64((at - self.started).as_secs_f64() / self.dilation)
    }

    fn wall(&self, at: Time) -> Instant {
        let since = at.saturating_sub(self.begin).as_secs_f64() * self.dilation;
        // The time is rounded up, so that no reply is early.
        self.started + Duration::from_secs_f64(since) + Duration::from_nanos(1)
    }

    /// Permits a client that connected after `outages` power losses to receive its replies with completion
    /// times up to `done`. Returns `false` if power has failed since the client connected.
    pub(crate) fn lets_leave(&self, done: Time, outages: u64) -> bool {
        // The order ensures that a concurrent power loss either stops the replies or includes them.
        self.answered_until.fetch_max(done.as_ps(), Ordering::SeqCst);
        self.outages() == outages
    }

    /// Records that `reply` was sent at `left`. The duration of the sending is part of the transport delay.
    pub fn answered(&self, asked: HostRequest, reply: TimedReply, left: Instant) {
        let wall = left - reply.sent;
        let mut seen = self.seen.lock().expect("the lock is not poisoned");
        asked.record(Time::from_secs_f64(wall.as_secs_f64()), &mut seen.wall);
        let late = left.saturating_duration_since(reply.deadline);
        let wanted = reply.deadline - reply.sent;
        seen.late += u64::from(late > wanted / 10 && late > Duration::from_micros(50));
        seen.answered += 1;
    }

    /// Records the completion of a forced write at `done`, after the flush that makes its data durable.
    pub(crate) fn forced(&self, asked: HostRequest, first: Ticket, done: Time) {
        asked.record(done - first.came, &mut self.state().modeled);
    }

    /// Returns the modeled and measured latencies so far.
    pub fn latencies(&self) -> Latencies {
        let modeled = self.state().modeled.clone();
        let seen = self.seen.lock().expect("the lock is not poisoned");
        Latencies { modeled, wall: seen.wall.clone(), late: seen.late, answered: seen.answered }
    }

    /// Returns the report of the device from its creation until now.
    #[expect(clippy::disallowed_methods, reason = "this is where the wall clock meets the model")]
    pub fn reported(&self) -> Reported {
        let mut state = self.state();
        state.run_to(self.simulated(Instant::now()));
        let now = state.now;
        // Work is charged when it starts, so a busy device is reported at the time of its next event.
        let next = state.under.device.next_event();
        let charged = if next < Time::MAX { now.max(next) } else { now };
        let report = state.under.device.device().report(charged);
        let unsafe_shutdowns = state.under.device.power_failures();
        drop(state);
        Reported { now, stack: stack_report(report, charged), unsafe_shutdowns }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is not poisoned")
    }
}

/// Time by which a reply precedes the completion of the request in the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Early {
    /// Replies are not sent early.
    Not,
    /// Replies are sent early by the transport delay, which is adjusted for the client.
    By(Beyond),
}
