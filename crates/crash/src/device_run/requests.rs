//! Handling of the requests of a run: submission, and results at completion.

use crate::auditor::{LogicalTime, Violation};
use crate::device_run::{DeviceRun, ENDS_WITHIN};
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Persistence, Request, Span, Status, Time, ZoneCommand};

/// Maximum number of outstanding requests. Further requests wait.
const QUEUE_MAX: usize = 32;

/// An outstanding request.
#[derive(Clone, Debug)]
pub(crate) struct OutstandingRequest {
    id: RequestId,
    pub(crate) request: Request,
    pub(crate) blocks: (u64, u64),
    pub(crate) command: Option<ZoneCommand>,
    pub(crate) began: LogicalTime,
    by: By,
    /// For a flush, the number of lost pages that the device counted at submission. A device that performs
    /// the flush immediately may count losses of later requests before the flush completes.
    lost_pages: u64,
}

/// Source of a request, which determines how its result is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A step of the run issued the request.
    Host,
    /// An audit after a power loss issued the request. The value is the offset in `found` at which the data
    /// is stored.
    Audit(usize),
    /// A caller issued the request and waits for its completion.
    Waiting,
}

/// Parameters of a request before its submission.
#[derive(Clone, Debug)]
pub(crate) struct NewRequest {
    pub(crate) op: Op,
    /// First block and number of blocks.
    pub(crate) blocks: (u64, u64),
    pub(crate) data: Payload,
    /// Zone command, and address of the first byte of its zone. `None` for other requests.
    pub(crate) command: Option<(ZoneCommand, u64)>,
}

impl NewRequest {
    pub(crate) fn read(first: u64, count: u64) -> NewRequest {
        NewRequest { op: Op::Read, blocks: (first, count), data: Payload::NONE, command: None }
    }
}

impl DeviceRun<'_> {
    /// Submits a request at `at`. The device must have been run up to this time.
    pub(crate) fn submit(&mut self, at: Time, new: NewRequest, began: LogicalTime, by: By) {
        let NewRequest { op, blocks: (first, count), data, command } = new;
        let size = self.auditor.block_bytes() as u64;
        let (address, bytes) = (first * size, (count * size) as u32);
        // If the device has several placement handles, the data is distributed over them.
        let volume = (address / 4096) as u32 + bytes;
        let request = Request { arrival: at, address, bytes, volume, op };
        self.requests += 1;
        self.ids = self.ids.wrapping_add(1);
        let id = RequestId(self.ids);
        if let Some((command, address)) = command {
            let bytes = if command == ZoneCommand::Append { bytes } else { 0 };
            let zones = self.device.zone_commands().expect("only devices with zones are given commands");
            zones.command(at, id, command, &Request { address, bytes, ..request }, data);
        } else {
            self.device.submit(at, id, &request, data);
        }
        let command = command.map(|(command, _)| command);
        let is_guarantee = op == Op::Flush && self.capabilities.persistence.needs_flush();
        let lost_pages = if is_guarantee { self.lost_pages(at) } else { 0 };
        self.outstanding.push(OutstandingRequest {
            id,
            request,
            blocks: (first, count),
            command,
            began,
            by,
            lost_pages,
        });
    }

    /// Submits a request of a step. Waits while too many requests are outstanding.
    pub(crate) fn submit_now(&mut self, new: NewRequest, began: LogicalTime) {
        self.submit(self.now, new, began, By::Host);
    }

    /// Waits until another request may be submitted.
    pub(crate) fn wait_for_queue_slot(&mut self) -> Result<(), Violation> {
        while self.outstanding.len() >= QUEUE_MAX {
            self.wait_for_one()?;
        }
        Ok(())
    }

    /// Waits until no request is outstanding.
    pub(crate) fn wait_for_all(&mut self) -> Result<(), Violation> {
        while !self.outstanding.is_empty() {
            self.wait_for_one()?;
        }
        if self.free_at > self.now {
            self.run_to(self.free_at)?;
        }
        Ok(())
    }

    /// Waits until a request completes. Returns an error if no request completes.
    pub(crate) fn wait_for_one(&mut self) -> Result<(), Violation> {
        let Some(oldest) = self.outstanding.first() else { return Ok(()) };
        let (request, within) = (oldest.request, oldest.request.arrival + ENDS_WITHIN);
        match self.run_once(within.max(self.now))? {
            Some(at) => self.now = self.now.max(at),
            None => return Err(Violation(format!("{request:?} has not completed by {within}"))),
        }
        Ok(())
    }

    /// Submits a request and waits for its completion. No other request may be outstanding. The data of a
    /// read is stored in the field `bytes`.
    pub(crate) fn ask(&mut self, at: Time, new: NewRequest) -> Result<(Time, Status), Violation> {
        self.run_to(at)?;
        self.submit(self.now, new, 0, By::Waiting);
        self.wait_for_all()?;
        Ok((self.now, self.answer))
    }

    /// Runs the device to `until` and handles all earlier completions.
    pub(crate) fn run_to(&mut self, until: Time) -> Result<(), Violation> {
        while self.run_once(until)?.is_some() {}
        self.now = self.now.max(until);
        Ok(())
    }

    /// Runs the device to `until`, or to the first completion. Returns the time of this completion, or
    /// `None` if no request completed.
    fn run_once(&mut self, until: Time) -> Result<Option<Time>, Violation> {
        let mut completions = std::mem::take(&mut self.completions);
        completions.clear();
        self.device.run(until, &mut completions);
        let result = self.complete(&completions);
        self.completions = completions;
        result
    }

    fn complete(&mut self, completions: &Completions) -> Result<Option<Time>, Violation> {
        let mut at = None;
        for completed in completions.iter() {
            at = Some(completed.at);
            let found = self.outstanding.iter().position(|pending| pending.id == completed.id);
            let Some(index) = found else {
                return Err(Violation(format!("a completion at {} has no request", completed.at)));
            };
            let pending = self.outstanding.remove(index);
            check(&pending.request, completed.at, completions.spans(completed))?;
            self.check_append(&pending, completed)?;
            self.completed(&pending, completed.at, (completed.status, &completed.data))?;
        }
        Ok(at)
    }

    fn completed(
        &mut self,
        pending: &OutstandingRequest,
        at: Time,
        (status, data): (Status, &Payload),
    ) -> Result<(), Violation> {
        match pending.by {
            By::Waiting => {
                self.answer = status;
                if let Some(bytes) = data.bytes() {
                    self.bytes.clear();
                    self.bytes.extend_from_slice(bytes);
                }
                Ok(())
            }
            By::Audit(position) => self.audited(pending.blocks, at, (status, data), position),
            By::Host => {
                self.latency = (at - pending.request.arrival).max(Time::from_ns(1));
                self.keep_auditor();
                self.served(pending, at, (status, data))
            }
        }
    }

    /// Handles the completion of a request of a step.
    fn served(
        &mut self,
        pending: &OutstandingRequest,
        at: Time,
        (status, data): (Status, &Payload),
    ) -> Result<(), Violation> {
        let &OutstandingRequest { request, blocks, began, .. } = pending;
        match request.op {
            // The only zone command that changes data is a reset.
            Op::Trim if pending.command.is_some_and(|command| command != ZoneCommand::Reset) => {}
            Op::Write if status == Status::Done => self.auditor.done(began, blocks, at),
            Op::Write => {
                self.refusals += 1;
                self.auditor.refused(began, blocks);
            }
            Op::Trim => self.auditor.done(began, blocks, at),
            Op::Flush => self.flushed((began, request.arrival), at, status, pending.lost_pages),
            Op::Read => self.check_read(pending, at, (blocks, status, data))?,
        }
        Ok(())
    }

    /// Handles the completion at `at` of a flush submitted at `submitted`.
    pub(crate) fn flushed(
        &mut self,
        submitted: (LogicalTime, Time),
        at: Time,
        status: Status,
        lost_pages: u64,
    ) {
        // Such a device relies on stored energy, so a flush adds no guarantee.
        if self.capabilities.persistence == Persistence::WithStoredEnergy {
            return;
        }
        match status {
            Status::Done => self.auditor.flushed(submitted, at, lost_pages),
            _ => self.auditor.flush_failed(),
        }
    }
}

/// Returns an error if the request took too long, or its breakdown does not sum to its latency.
fn check(request: &Request, at: Time, spans: &[Span]) -> Result<(), Violation> {
    let since = request.arrival;
    if at < since || at - since > ENDS_WITHIN {
        return Err(Violation(format!("{request:?} completed before its arrival or too late: at {at}")));
    }
    let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
    match total == at - since {
        true => Ok(()),
        false => {
            Err(Violation(format!("{request:?} took {}, but its breakdown adds up to {total}", at - since)))
        }
    }
}
