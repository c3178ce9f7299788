//! A run, which starts with a new device and consists of steps, power losses, and audits.

pub(crate) mod requests;
mod zones;

use crate::auditor::{Audit, Auditor, Violation};
use crate::fault::Fault;
use crate::media::Media;
use crate::sequence::{Action, PowerLoss, Sequence, Step};
use nacre_kernel::event::{Completions, Device};
use nacre_kernel::state;
use nacre_kernel::{Capabilities, Op, Recovery, Refused, Request, Status, Streams, Time};
use requests::{NewRequest, OutstandingRequest};
use std::collections::BTreeSet;

/// A stack under test.
pub trait Stack {
    /// Builds the device on the stores of `media`. All calls must build identical devices.
    fn build(&mut self, media: &Media) -> Box<dyn Device>;
}

/// Maximum duration of a request or a recovery. Without faults, every request and recovery ends within this
/// time.
pub const ENDS_WITHIN: Time = Time::from_s(3600);
/// On average, 1 in `CHECKED_ONE_IN` final power losses is followed by a test that the device still works.
pub(crate) const CHECKED_ONE_IN: u64 = 8;
/// Maximum number of events that [`DeviceRun::look_ahead`] processes to find starts and ends of operations.
const EVENTS_AHEAD: usize = 32;

pub(crate) struct DeviceRun<'a> {
    stack: &'a mut dyn Stack,
    pub(crate) media: Media,
    pub(crate) device: Box<dyn Device>,
    pub(crate) capabilities: Capabilities,
    pub(crate) auditor: Auditor,
    /// Whether flushes are acknowledged without reaching the device.
    ignores_flushes: bool,
    /// Number of flushes that were acknowledged without reaching the device.
    pub(crate) ignored_flushes: u64,
    /// Current time. All earlier events were processed.
    pub(crate) now: Time,
    /// Latency of the last request.
    pub(crate) latency: Time,
    /// Earliest time at which the host may continue after the last commit or abort.
    pub(crate) free_at: Time,
    /// Future times at which an operation starts or ends.
    pub(crate) event_times: Vec<Time>,
    /// Requests that have not completed, oldest first.
    pub(crate) outstanding: Vec<OutstandingRequest>,
    pub(crate) ids: u32,
    pub(crate) completions: Completions,
    /// Status of the last completed request for which a caller waited.
    pub(crate) answer: Status,
    pub(crate) requests: u64,
    pub(crate) restarts: u64,
    /// Number of rejected writes.
    pub(crate) refusals: u64,
    /// Number of single-block reads that failed because of an injected fault.
    pub(crate) failed_reads: u64,
    pub(crate) bytes: Vec<u8>,
    /// Time of the power loss before the last audit.
    pub(crate) failed: Time,
    /// Data that the last audit read.
    pub(crate) found: Vec<u8>,
    /// Blocks that the device reported as lost in the last audit.
    pub(crate) unread: BTreeSet<u64>,
    pub(crate) runs: Vec<(u64, u64)>,
    marked: Option<Marked>,
}

/// A state of a run, to which each branch returns after its power loss.
struct Marked {
    state: Vec<u8>,
    now: Time,
    latency: Time,
    free_at: Time,
    outstanding: Vec<OutstandingRequest>,
    /// State of the auditor at the mark. `None` until the first request completes after the mark, because the
    /// auditor has not changed before.
    auditor: Option<Auditor>,
}

/// Outcome of a power loss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossResult {
    pub(crate) audit: Audit,
    pub(crate) recovery: Recovery,
    /// Duration of the recovery, from restored power until the device was ready.
    pub(crate) took: Time,
    pub(crate) ready: Time,
    pub(crate) was_recovering: bool,
    pub(crate) audited: u64,
}

impl<'a> DeviceRun<'a> {
    pub(crate) fn new(stack: &'a mut dyn Stack, media: Media, sequence: &Sequence) -> DeviceRun<'a> {
        let Sequence { block_bytes, preconditioned, .. } = *sequence;
        media.again();
        let mut device = stack.build(&media);
        precondition(&mut *device, preconditioned);
        let capabilities = device.capabilities();
        assert!(capabilities.carries_bytes, "the device stores data");
        let Capabilities { atomic_unit, persistence, .. } = capabilities;
        DeviceRun {
            stack,
            media,
            device,
            capabilities,
            auditor: Auditor::new(block_bytes, atomic_unit, persistence),
            ignores_flushes: false,
            ignored_flushes: 0,
            now: Time::ZERO,
            latency: Time::from_us(1),
            free_at: Time::ZERO,
            event_times: Vec::new(),
            outstanding: Vec::new(),
            ids: 0,
            completions: Completions::new(),
            answer: Status::Done,
            requests: 0,
            restarts: 0,
            refusals: 0,
            failed_reads: 0,
            bytes: Vec::new(),
            failed: Time::ZERO,
            found: Vec::new(),
            unread: BTreeSet::new(),
            runs: Vec::new(),
            marked: None,
        }
    }

    /// If `fault` is the lying flush, all flushes of the run are acknowledged without reaching the device.
    pub(crate) fn set_lying_flushes(&mut self, fault: Fault) {
        self.ignores_flushes = fault == Fault::LyingFlush;
        if self.ignores_flushes {
            self.auditor.allow_reported_losses();
        }
    }

    /// Performs `step`. Returns an error if the device violates a guarantee.
    pub(crate) fn step(&mut self, step: &Step) -> Result<Option<LossResult>, Violation> {
        self.run_to(self.now + step.pause)?;
        let reads = self.outstanding.iter().filter(|pending| pending.request.op == Op::Read);
        let oldest = reads.map(|pending| pending.began).min().unwrap_or(u64::MAX);
        self.auditor.settle(self.now, oldest);
        let survived = self.act(step.action)?;
        self.event_times.clear();
        self.event_times.extend(Some(self.device.next_event()).filter(|&next| next < Time::MAX));
        Ok(survived)
    }

    fn act(&mut self, action: Action) -> Result<Option<LossResult>, Violation> {
        match action {
            Action::Write(first, count) => self.write(first, count)?,
            Action::Read(first, count) => {
                self.wait_for_queue_slot()?;
                let began = self.auditor.advance();
                self.submit_now(NewRequest::read(first, count), began);
            }
            Action::Append(zone, count) => self.append(zone, count)?,
            Action::Zone(command, zone) => self.command(command, zone)?,
            Action::Trim(first, count) if !self.auditor.is_open() => {
                self.wait_for_appends()?;
                self.wait_for_queue_slot()?;
                let began = self.auditor.trims(first, count);
                self.submit_now(NewRequest { op: Op::Trim, ..NewRequest::read(first, count) }, began);
            }
            Action::Flush => self.flush()?,
            Action::Begin | Action::Commit | Action::Abort => self.transact(action)?,
            Action::Trim(..) => {}
            Action::Restart => self.restart()?,
            Action::PowerLoss(loss) => {
                let at = self.now + loss.after;
                let survived = self.cut_power(&loss)?;
                self.auditor.rebase(at, &self.found, &self.unread);
                self.run_to(survived.ready)?;
                return Ok(Some(survived));
            }
        }
        Ok(None)
    }

    fn write(&mut self, first: u64, count: u64) -> Result<(), Violation> {
        self.wait_for_appends()?;
        self.wait_for_queue_slot()?;
        let size = self.auditor.block_bytes() as u64;
        if let Some(transactions) = self.device.transactions()
            && transactions.check(first * size, count * size).is_err()
        {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let began = self.auditor.writes(first, count, &mut bytes);
        let write = NewRequest { op: Op::Write, data: bytes.into(), ..NewRequest::read(first, count) };
        self.submit_now(write, began);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Violation> {
        self.wait_for_queue_slot()?;
        let began = self.auditor.advance();
        if self.ignores_flushes {
            self.ignored_flushes += 1;
            // Unlike a real flush, a lying flush cannot report earlier losses.
            self.flushed((began, self.now), self.now, Status::Done, 0);
        } else {
            self.submit_now(NewRequest { op: Op::Flush, ..NewRequest::read(0, 0) }, began);
        }
        Ok(())
    }

    fn transact(&mut self, action: Action) -> Result<(), Violation> {
        if self.device.transactions().is_none() {
            return Ok(());
        }
        self.wait_for_all()?;
        let Some(transactions) = self.device.transactions() else { return Ok(()) };
        let answer = match action {
            Action::Begin => transactions.begin(self.now),
            Action::Commit => transactions.commit(self.now),
            _ => transactions.abort(self.now),
        };
        match (action, answer, self.auditor.is_open()) {
            (Action::Begin, Ok(_), false) => self.auditor.began(),
            (Action::Commit, Ok(completion), true) => self.auditor.committed(completion.done),
            (Action::Abort, Ok(_), true) => self.auditor.aborted(),
            (Action::Begin, Err(Refused::TransactionOpen), true)
            | (Action::Commit | Action::Abort, Err(Refused::NoTransaction), false) => {}
            (action, answer, is_open) => {
                return Err(Violation(format!(
                    "{action:?} returned {answer:?}; a transaction is open: {is_open}"
                )));
            }
        }
        if let Ok(completion) = answer {
            self.free_at = completion.done;
            self.latency = (completion.done - self.now).max(Time::from_ns(1));
        }
        Ok(())
    }

    /// Cuts power, and reads the remaining content into `found`.
    fn cut_power(&mut self, loss: &PowerLoss) -> Result<LossResult, Violation> {
        let at = self.now + loss.after;
        let mut random = Streams::new(loss.seed).stream("loss");
        self.run_to(at)?;
        self.outstanding.clear();
        self.free_at = Time::ZERO;
        self.device.power_fail(at, &mut random);
        let mut back = at + loss.off;
        let mut recovery = self.recover(back)?;
        if let Some((share, off)) = loss.again {
            let whole = u128::from((recovery.done - back).as_ps());
            let again = back + Time::from_ps(((whole * u128::from(share)) >> 16) as u64);
            self.run_to(again)?;
            self.device.power_fail(again, &mut random);
            back = again + off;
            recovery = recovery.in_parallel_with(self.recover(back)?);
        }
        let read_at = if loss.is_early { back } else { recovery.done };
        let audited = self.read_all(read_at, at)?;
        let audit = self.auditor.check_loss(at, &self.found, &self.unread, &recovery)?;
        let took = recovery.done - back;
        let was_recovering = loss.again.is_some();
        let ready = self.now.max(recovery.done);
        Ok(LossResult { audit, recovery, took, ready, was_recovering, audited })
    }

    pub(crate) fn recover(&mut self, back: Time) -> Result<Recovery, Violation> {
        let recovery = self.device.recover(back);
        if recovery.done < back || recovery.done - back > ENDS_WITHIN {
            return Err(Violation(format!(
                "power was restored at {back}, and the device reported that it is ready at {}",
                recovery.done
            )));
        }
        Ok(recovery)
    }

    /// Simulates a restart: builds a new device that continues with the saved state.
    fn restart(&mut self) -> Result<(), Violation> {
        let saved = state::saved(&*self.device).map_err(|error| Violation(error.to_string()))?;
        self.media.again();
        let mut device = self.stack.build(&self.media);
        state::restored(&mut *device, &saved)
            .map_err(|error| Violation(format!("the device rejects its saved state: {error}")))?;
        let reports = [&self.device, &device].map(|device| format!("{:?}", device.report(self.now)));
        if reports[0] != reports[1] {
            return Err(Violation("a restart changed the report of the device".into()));
        }
        if state::saved(&*device).as_ref() != Ok(&saved) {
            return Err(Violation("the restored state differs from the saved state".into()));
        }
        self.device = device;
        self.restarts += 1;
        Ok(())
    }

    /// Panics if the state of the device is inconsistent.
    pub(crate) fn check_invariants(&self) {
        self.device.check_invariants();
    }

    /// Sets a mark: saves the state of the device. Returns the size of the state in bytes.
    pub(crate) fn mark(&mut self) -> Result<usize, Violation> {
        let state = state::saved(&*self.device).map_err(|error| Violation(error.to_string()))?;
        let bytes = state.len();
        self.media.mark();
        let outstanding = self.outstanding.clone();
        let (now, latency, free_at) = (self.now, self.latency, self.free_at);
        self.marked = Some(Marked { state, now, latency, free_at, outstanding, auditor: None });
        Ok(bytes)
    }

    /// Saves the state of the auditor, to be restored after the current branch.
    pub(crate) fn keep_auditor(&mut self) {
        if let Some(marked) = &mut self.marked {
            marked.auditor.get_or_insert_with(|| self.auditor.clone());
        }
    }

    /// Finds the times after the mark at which operations start or end without further requests.
    pub(crate) fn look_ahead(&mut self) -> Result<(), Violation> {
        self.event_times.clear();
        for _ in 0..EVENTS_AHEAD {
            let next = self.device.next_event();
            if next == Time::MAX {
                break;
            }
            self.event_times.push(next);
            self.completions.clear();
            self.device.run(next + Time::from_ps(1), &mut self.completions);
            for completed in self.completions.iter() {
                // The spans of a completion give the phases of an operation, which are not events of the
                // device.
                let spans = self.completions.spans(completed);
                let mut time = completed.at;
                for span in spans.iter().rev() {
                    self.event_times.push(time);
                    time = time.saturating_sub(span.time);
                }
            }
        }
        let now = self.now;
        self.event_times.retain(|&time| time >= now);
        if self.event_times.is_empty() { Ok(()) } else { self.roll_back() }
    }

    fn roll_back(&mut self) -> Result<(), Violation> {
        let marked = self.marked.as_mut().expect("there is a mark");
        self.media.roll_back();
        (self.now, self.latency, self.free_at) = (marked.now, marked.latency, marked.free_at);
        self.outstanding.clone_from(&marked.outstanding);
        if let Some(auditor) = marked.auditor.take() {
            self.auditor = auditor;
        }
        state::restored(&mut *self.device, &marked.state)
            .map_err(|error| Violation(format!("the device rejects its saved state: {error}")))
    }

    /// Discards the mark. The run continues from the current state.
    pub(crate) fn forget_mark(&mut self) {
        self.marked = None;
        self.media.forget_mark();
    }

    /// Performs one power loss, and returns to the state at the mark.
    pub(crate) fn branch(&mut self, loss: &PowerLoss) -> Result<LossResult, Violation> {
        let survived = self.cut_power_and_check(loss)?;
        self.roll_back()?;
        Ok(survived)
    }

    /// Returns an error if the device differs from its state at the mark.
    pub(crate) fn check_mark(&self) -> Result<(), Violation> {
        let marked = self.marked.as_ref().expect("there is a mark");
        match state::saved(&*self.device).is_ok_and(|state| state == marked.state) {
            true => Ok(()),
            false => {
                Err(Violation("the state after an undone power loss differs from the state before it".into()))
            }
        }
    }

    /// Performs the final power loss of a run, sometimes followed by a test that the device still works.
    pub(crate) fn cut_power_and_check(&mut self, loss: &PowerLoss) -> Result<LossResult, Violation> {
        let survived = self.cut_power(loss)?;
        if loss.seed.is_multiple_of(CHECKED_ONE_IN) {
            self.check_works(survived.ready, loss)?;
        }
        Ok(survived)
    }
}

/// Writes random blocks of 4 KiB across the whole device, without advancing simulated time.
fn precondition(device: &mut dyn Device, writes: u64) {
    const BYTES: u32 = 4096;
    let places = device.capacity().map_or(1, |capacity| capacity.0 / u64::from(BYTES)).max(1);
    let mut random = Streams::new(writes).stream("precondition");
    let mut request = |_| {
        let address = random.below(places) * u64::from(BYTES);
        Request { arrival: Time::ZERO, address, bytes: BYTES, volume: 0, op: Op::Write }
    };
    let requests: Vec<Request> = (0..writes).map(&mut request).collect();
    if let Some(preconditioning) = device.preconditioning() {
        preconditioning.precondition(&requests);
    }
}
