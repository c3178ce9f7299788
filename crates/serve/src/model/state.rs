//! The served device with its outstanding requests, in simulated time.

use super::HORIZON;
use crate::asked::{Answer, HostRequest, Outcome, Payload, Timed};
use crate::outage::{Outage, Permille, io_error};
use crate::under::Under;
use nacre_kernel::event::{Completions, Payload as Bytes, RequestId};
use nacre_kernel::{Op, Recovery, Request, Status, Time};
use nacre_machine::faults::Layer;
use nacre_memory::persistent_device::Given;
use nacre_memory::{NotTaken, Step};
use std::collections::BTreeMap;
use std::io;

/// The device with its outstanding requests.
pub(super) struct State {
    /// The device and its storage, below the added faults.
    pub(super) under: Under,
    /// Added faults, and the requests that pass through them.
    pub(super) layer: Layer,
    /// Settings of the added faults, as the user specified them.
    pub(super) settings: Vec<String>,
    /// Identifier of the most recent request.
    pub(super) ids: u32,
    /// Simulated time that the device has reached.
    pub(super) now: Time,
    pub(super) modeled: Timed,
    /// Outstanding requests, indexed by identifier.
    pub(super) waiting: BTreeMap<u32, Waiting>,
    /// Replies that are not yet collected by the threads of clients, indexed by ticket number.
    pub(super) answers: BTreeMap<u64, Answer>,
    pub(super) tickets: u64,
    pub(super) completions: Completions,
    /// Whether latency breakdowns are recorded.
    pub(super) is_detailed: bool,
    /// Number of flushes that were acknowledged but not performed, if the drive ignores flushes.
    pub(super) lies: Option<u64>,
}

/// An outstanding request.
pub(super) struct Waiting {
    /// Ticket of the request, or `None` if its client has disconnected.
    pub(super) ticket: Option<u64>,
    pub(super) came: Time,
    pub(super) now: Time,
    pub(super) asked: HostRequest,
}

impl State {
    /// Submits a request at `came`, or as soon as possible if the device is past that time. Returns the
    /// ticket number of the request.
    pub(super) fn give(&mut self, came: Time, asked: HostRequest, payload: Payload<'_>) -> io::Result<u64> {
        let HostRequest { op, offset, bytes, .. } = asked;
        let now = self.now.max(came);
        self.tickets += 1;
        let ticket = self.tickets;
        let range = offset..offset + u64::from(bytes);
        let is_harmed = matches!(op, Op::Write | Op::Trim) && self.under.device.harmed().fails_writes(&range);
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
            // Without faults, zeros do not access the bytes of the image.
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

    /// Returns the time of the next event.
    pub(super) fn next_event(&self) -> Time {
        self.layer.next_event(&self.under)
    }

    /// Processes all events before `until`.
    pub(super) fn run_to(&mut self, until: Time) {
        while until > self.now && self.run_once(until) {}
        self.now = self.now.max(until);
    }

    /// Processes events before `until` while requests are outstanding. The time of the device does not
    /// advance beyond the last event, so that requests that arrive before `until` can be submitted at their
    /// arrival times.
    pub(super) fn run_ahead(&mut self, until: Time) {
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

    /// Processes events before `until`, up to the first instant at which requests complete. Returns whether
    /// requests completed.
    pub(super) fn run_once(&mut self, until: Time) -> bool {
        let mut completions = std::mem::take(&mut self.completions);
        completions.clear();
        self.layer.run(&mut self.under, until, &mut completions);
        // The completion status reports a rejection even if the completion was delayed.
        self.under.refused = None;
        for index in 0..completions.len() {
            let (completed, spans) = completions.get(index);
            let (id, done, status) = (completed.id, completed.at, completed.status);
            // A request that was rejected when it was submitted already has its reply.
            let Some(Waiting { ticket, came, now, asked }) = self.waiting.remove(&id.0) else { continue };
            let spans = if self.is_detailed { spans.to_vec() } else { Vec::new() };
            self.now = self.now.max(done);
            if !asked.forced {
                asked.record(done - came, &mut self.modeled);
            }
            let range = asked.offset..asked.offset + u64::from(asked.bytes);
            let is_harmed = asked.op == Op::Read && self.under.device.harmed().fails_reads(&range);
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

    /// Sets whether latency breakdowns are recorded.
    pub(super) fn detail(&mut self, is_detailed: bool) {
        self.is_detailed = is_detailed;
        self.under.device.detail(is_detailed);
    }

    /// Cuts power at `at` and restores it. With `again`, cuts power again after this share of the recovery.
    pub(super) fn power_fail(&mut self, at: Time, again: Option<Permille>) -> io::Result<Outage> {
        self.run_to(at);
        let at = self.now;
        let under_way = self.under.device.writes_outstanding();
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

    /// Cuts power at `at` and restores it immediately. The caller has processed all events before `at`.
    fn lose_power(&mut self, at: Time) -> io::Result<Recovery> {
        let given = self.under.device.give(at, Step::PowerFail).map_err(refusal)?;
        assert!(matches!(given, Given::Done(_)), "a power loss completes at once");
        self.layer.power_fail();
        self.under.forget();
        self.waiting.clear();
        self.answers.clear();
        Ok(self.under.device.change(at, Step::Recover).map_err(refusal)?.recovery)
    }
}

/// Converts the reason for a rejected request into an OS error.
pub(super) fn refusal(why: NotTaken) -> io::Error {
    match why {
        NotTaken::Image(error) => io_error(error),
        NotTaken::CannotSave(error) => io::Error::other(error),
        NotTaken::Refused(_) | NotTaken::NoTransactions { .. } | NotTaken::NoZones { .. } => {
            unreachable!("client requests are not part of a transaction")
        }
    }
}
