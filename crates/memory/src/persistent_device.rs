//! A device with stored data, and the image that stores its data and state. Memories and served devices share
//! this code.
//!
//! The driver supplies the time of each request. A step that changes data or state is appended to the image's
//! journal before it is performed. The process may therefore be killed at any time, and a step that cannot be
//! stored is not performed. Reads also change the state of a device (arm position, caches). Reads are stored
//! in the record of the next change. A kill loses the reads after the last record, including their time. A
//! checkpoint is written when a replay would take too long, and empties the journal.

mod journaling;
mod zones;

use crate::error::{MemoryError, NotTaken};
use crate::harm::Harmed;
use crate::step::{Step, When};
use nacre_crash::medium_faults::SharedFaults;
use nacre_image::{Image, ImageError};
use nacre_kernel::event::{Completions, Device, Payload, RequestId, Slab};
use nacre_kernel::state::{CannotSave, State, StateError, StateReader, StateWriter, Value};
use nacre_kernel::{
    Completion, Op, Random, Ranges, Recovery, Refused, Request, Status, Streams, Time, Transactions,
    ZoneAnswer,
};
use nacre_machine::saved::comes_to_rest;
use nacre_machine::{Checked, Files, Problems, SavedRun};
use std::ops::Range;

/// Maximum size of one write request in bytes, which also applies to zero writes.
pub const WRITE_MAX: usize = 32 << 20;
/// Amount of replay work that triggers a checkpoint: about two seconds on the slowest devices.
const WORK_MAX: u64 = 400_000;
/// Number of bytes that count as one unit of replay work: the smallest flash page.
const WORK_BYTES: u64 = 2 << 10;
/// Maximum size in bytes of the encoded reads that wait for the next journal record.
const READS_MAX: usize = 64 << 10;
/// Granularity in bytes at which written ranges are tracked.
const WRITTEN_UNIT: u64 = 1 << 20;

/// A device with stored data.
pub struct PersistentDevice {
    device: Box<dyn Device>,
    image: Option<Image>,
    bookkeeping: Bookkeeping,
    has_power: bool,
    capacity: u64,
    kind: &'static str,
    page_bytes: u32,
    seed: u64,
    /// Buffer for the completions of the request that the caller waits for.
    completions: Completions,
    /// Time of the last completions, and the number of completions at that time since the last request.
    completed: (Time, u64),
    /// Encoded reads that no record contains yet.
    reads: Vec<u8>,
    /// Number of steps since the last checkpoint, including those in `reads`.
    steps: u64,
    /// Units of work that a replay of the steps since the last checkpoint takes.
    work: u64,
    /// Whether a change could not be stored, so that a replay of the journal would not give the current
    /// state. In this case, the next step requires a checkpoint.
    is_behind: bool,
    /// Whether the device has changed since the last attempt to write a checkpoint. If so, another attempt
    /// may succeed on a full disk.
    has_changed: bool,
    /// Whether the journal ended with an incomplete record.
    pub(crate) was_torn: bool,
    /// Faults of the image's medium, which are not stored in its records.
    pub(crate) medium_faults: SharedFaults,
}

/// State that is saved next to the device's state.
#[derive(Debug, Default, State)]
struct Bookkeeping {
    /// Time of the last completion or submission.
    until: Time,
    outstanding: Slab<Outstanding>,
    /// Number of power losses so far. Each power loss uses a separate random stream.
    failures: u64,
    harmed: Harmed,
    written: Ranges,
}

/// A request that has not completed.
#[derive(Clone, Debug, Default, Value)]
struct Outstanding {
    op: Op,
    address: u64,
    bytes: u32,
}

/// Result of submitting a step to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// A request, which [`PersistentDevice::run`] completes.
    Request(RequestId),
    /// The step has completed, or its completion time is already known.
    Done(Done),
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Time at which the host may continue, and whether the device performed the step.
    pub completion: Completion,
    /// Outcome of the recovery, if the step restored power.
    pub recovery: Recovery,
    /// Reply of a zoned device.
    pub zone: ZoneAnswer,
}

impl PersistentDevice {
    pub(crate) fn new(
        checked: &Checked,
        device: Box<dyn Device>,
        page_bytes: u32,
        image: Option<Image>,
    ) -> PersistentDevice {
        PersistentDevice {
            capacity: device.capacity().expect("a stack with bytes has an end").0,
            device,
            image,
            kind: checked.scenario.stack.kind(),
            bookkeeping: Bookkeeping::default(),
            has_power: true,
            page_bytes,
            seed: checked.run.seed,
            completions: Completions::new(),
            completed: (Time::ZERO, 0),
            reads: Vec::new(),
            steps: 0,
            work: 0,
            is_behind: false,
            has_changed: true,
            was_torn: false,
            medium_faults: SharedFaults::default(),
        }
    }

    /// Reads data at `address` into `into` at `now`, and waits for completion. No other request may be
    /// outstanding.
    pub fn read(&mut self, now: Time, address: u64, into: &mut [u8]) -> Completion {
        let id = self.give_read(now, address, into.len() as u32);
        let (completion, data, _) = self.wait_for(id);
        match data.bytes() {
            Some(bytes) if bytes.len() == into.len() => into.copy_from_slice(bytes),
            _ => assert!(completion.status != Status::Done, "a read returns bytes"),
        }
        completion
    }

    /// Submits a read to the device at `now`. The device must have been run up to that time.
    /// [`PersistentDevice::run`] completes the read.
    pub fn give_read(&mut self, now: Time, address: u64, bytes: u32) -> RequestId {
        let step = Step::Read { address, bytes };
        if self.journal().is_some() {
            if self.reads.len() > READS_MAX || self.work > WORK_MAX {
                self.keep_reads();
            }
            step.encode(self.when(now), &mut self.reads);
        }
        self.arrive(now);
        self.submit(Op::Read, now, address, bytes as usize, Payload::NONE)
    }

    /// Processes events before `now`, for a new request at `now`. No outstanding request may complete before
    /// `now`.
    fn arrive(&mut self, now: Time) {
        let have_completed = self.bring_to(now.into()) != Ok(false);
        assert!(!have_completed, "the device was not run up to {now}");
    }

    /// Journals `step` at `now`, performs it, and waits for completion. No other request may be outstanding.
    /// Returns an error if the step was not performed.
    pub fn change(&mut self, now: Time, step: Step<'_>) -> Result<Done, NotTaken> {
        Ok(match self.give(now, step)? {
            Given::Done(done) => done,
            Given::Request(id) => {
                let (completion, _, zone) = self.wait_for(id);
                Done { completion, recovery: Recovery::default(), zone }
            }
        })
    }

    /// Journals `step` and submits it to the device at `now`. The device must have been run up to that time.
    /// Returns an error if the step was not performed.
    pub fn give(&mut self, now: Time, step: Step<'_>) -> Result<Given, NotTaken> {
        self.check(step)?;
        if let Some(image) = &self.image {
            image.error().map_or(Ok(()), Err)?;
        }
        if let Some(image) = self.journal().cloned() {
            if self.has_power {
                self.make_room(&image, step)?;
            }
            if !self.is_behind {
                self.append(&image, now, step)?;
            }
            self.has_changed = true;
        }
        self.arrive(if let Step::Idle(time) = step { now + time } else { now });
        Ok(self.apply(now, step))
    }

    /// Performs the journaled `step` on the device.
    pub(crate) fn apply(&mut self, now: Time, step: Step<'_>) -> Given {
        let mut recovery = Recovery::default();
        let at = |done| Completion { done, status: Status::Done };
        let completion = match step {
            Step::Read { address, bytes } => {
                return Given::Request(self.submit(Op::Read, now, address, bytes as usize, Payload::NONE));
            }
            Step::Write { address, bytes } => return self.write(now, address, bytes.to_vec()),
            Step::Zero { address, bytes } => return self.write(now, address, vec![0; bytes as usize]),
            Step::Trim { address, bytes } => {
                self.bookkeeping.harmed.overwritten(address..address + u64::from(bytes));
                return Given::Request(self.submit(Op::Trim, now, address, bytes as usize, Payload::NONE));
            }
            Step::Append { address, bytes } => return self.append_to_zone(now, address, bytes),
            Step::Zone { command, address } => return self.command_zone(now, command, address),
            Step::Flush => return Given::Request(self.submit(Op::Flush, now, 0, 0, Payload::NONE)),
            Step::Begin => self.transactions(|transactions| transactions.begin(now)),
            Step::Commit => self.transactions(|transactions| transactions.commit(now)),
            Step::Abort => self.transactions(|transactions| transactions.abort(now)),
            Step::PowerFail => {
                let mut chance = self.chance();
                self.device.power_fail(now, &mut chance);
                self.bookkeeping.failures += 1;
                self.has_power = false;
                // Interrupted work is dropped.
                self.bookkeeping.outstanding.clear();
                self.bookkeeping.until = now;
                at(now)
            }
            Step::Recover => {
                recovery = self.device.recover(now);
                self.has_power = true;
                at(recovery.done)
            }
            Step::Idle(time) => at(now + time),
            Step::Harm { harm, address, bytes } => {
                self.bookkeeping.harmed.apply(harm, address..address + bytes);
                at(now)
            }
        };
        self.completed.1 = 0;
        self.bookkeeping.until = self.bookkeeping.until.max(completion.done);
        Given::Done(Done { completion, recovery, zone: ZoneAnswer::default() })
    }

    /// Time of the next event without further requests, or [`Time::MAX`] if no event is pending.
    pub fn next_event(&self) -> Time {
        self.device.next_event()
    }

    /// Processes events before `until`, up to the first time at which requests complete.
    pub fn run(&mut self, until: Time, completions: &mut Completions) {
        completions.clear();
        self.device.run(until, completions);
        for completed in completions.iter() {
            let number = completed.id.0;
            let Outstanding { op, mut address, bytes } = self.bookkeeping.outstanding[number];
            if let Some(at) = completed.zone.as_ref().and_then(|zone| zone.written_at) {
                self.bookkeeping.written.insert(units_around(at..at + u64::from(bytes), self.capacity));
                address = at;
            }
            self.bookkeeping.outstanding.give_back(number);
            self.bookkeeping.until = self.bookkeeping.until.max(completed.at);
            if op == Op::Write && completed.status == Status::Done {
                self.bookkeeping.harmed.overwritten(address..address + u64::from(bytes));
            }
        }
        if let Some(last) = completions.iter().last() {
            let (at, times) = self.completed;
            self.completed = (last.at, if at == last.at { times + 1 } else { 1 });
        }
    }

    /// Completes all outstanding requests.
    pub fn complete_all(&mut self) {
        let mut completions = std::mem::take(&mut self.completions);
        while self.outstanding() > 0 {
            self.run(Time::MAX, &mut completions);
            assert!(!completions.is_empty(), "the device lost a request");
        }
        self.completions = completions;
    }

    /// Number of requests that have not completed.
    pub fn outstanding(&self) -> usize {
        self.bookkeeping.outstanding.len()
    }

    /// Number of writes that have not completed.
    pub fn writes_outstanding(&self) -> u64 {
        self.bookkeeping.outstanding.iter().filter(|(_, of)| of.op == Op::Write).count() as u64
    }

    /// Waits for request `id`, which must be the only outstanding request. Returns its completion, data, and
    /// zone reply.
    fn wait_for(&mut self, id: RequestId) -> (Completion, Payload, ZoneAnswer) {
        assert!(self.outstanding() == 1, "another request is outstanding");
        let mut completions = std::mem::take(&mut self.completions);
        self.run(Time::MAX, &mut completions);
        assert!(completions.len() == 1, "the device lost a request");
        let (completed, _) = completions.get(0);
        assert!(completed.id == id, "another request completes");
        let completion = Completion { done: completed.at, status: completed.status };
        let zone = completed.zone.as_deref().copied().unwrap_or_default();
        let data = completions.take_data(0);
        self.completions = completions;
        (completion, data, zone)
    }

    /// Runs the device to the time of a journaled step. Returns whether requests completed before that time.
    /// Returns an error if this device cannot have performed a step at that time.
    pub(crate) fn bring_to(&mut self, when: When) -> Result<bool, &'static str> {
        let When { at, behind } = when;
        let mut completions = std::mem::take(&mut self.completions);
        let mut have_completed = false;
        loop {
            self.run(at, &mut completions);
            if completions.is_empty() {
                break;
            }
            have_completed = true;
        }
        let mut fits = true;
        for _ in 0..behind {
            self.run(at + Time::from_ps(1), &mut completions);
            fits &= completions.iter().next().is_some_and(|completed| completed.at == at);
        }
        self.completions = completions;
        match fits {
            true => Ok(have_completed),
            false => Err("follows the completion of a request, but none completes then"),
        }
    }

    /// Time of a step at `now`, in journal format.
    fn when(&self, now: Time) -> When {
        let (at, times) = self.completed;
        When { at: now, behind: if at == now { times } else { 0 } }
    }

    /// Makes all data and state stored so far durable against a host power loss.
    pub fn sync(&self) -> Result<(), ImageError> {
        self.journal().map_or(Ok(()), Image::sync)
    }

    /// Writes a checkpoint with the current state.
    pub fn checkpoint(&mut self) -> Result<(), NotTaken> {
        let Some(image) = self.journal().cloned() else { return Ok(()) };
        self.has_changed = false;
        let mut state = StateWriter::new();
        state.section("device");
        self.bookkeeping.save(&mut state);
        self.device.save(&mut state);
        image.checkpoint(&state.finished().map_err(NotTaken::CannotSave)?)?;
        self.completed.1 = 0;
        self.reads.clear();
        (self.steps, self.work, self.is_behind) = (0, 0, false);
        Ok(())
    }

    /// Returns an error if the current state cannot be saved. Must be called before any request.
    pub fn check_saves(&self) -> Result<(), CannotSave> {
        let mut state = StateWriter::new();
        self.device.save(&mut state);
        state.finished().map(|_| ())
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The image, or `None` if the data is only in memory.
    pub fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Capacity of the device in bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Size in bytes of the smallest page of the device's media.
    pub fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    /// Whether power is on.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// Time of the last completion or submission.
    pub fn until(&self) -> Time {
        self.bookkeeping.until
    }

    /// Whether the end of the journal was torn when the image was opened, e.g. by a kill or a host power
    /// loss. The torn record was dropped, and contained no synced step.
    pub fn was_torn(&self) -> bool {
        self.was_torn
    }

    /// Number of steps since the last checkpoint, which is the maximum number of steps that opening the image
    /// would replay.
    pub fn steps_since_checkpoint(&self) -> u64 {
        self.steps
    }

    /// Injected media errors.
    pub fn harmed(&self) -> &Harmed {
        &self.bookkeeping.harmed
    }

    /// Faults of an image's medium, none by default. Their effects on data are permanent.
    pub fn medium_faults(&self) -> &SharedFaults {
        &self.medium_faults
    }

    /// Number of power losses since the device was created.
    pub fn power_failures(&self) -> u64 {
        self.bookkeeping.failures
    }

    /// Whether a transaction is open.
    pub fn is_in_transaction(&mut self) -> bool {
        self.device.transactions().is_some_and(|transactions| transactions.is_open())
    }

    /// Enables or disables stages in latency breakdowns.
    pub fn detail(&mut self, is_detailed: bool) {
        self.device.detail(is_detailed);
    }

    /// Resets all counters at `now`.
    pub fn restart_ledger(&mut self, now: Time) {
        self.device.restart_ledger(now);
    }

    /// Whether the start of `range` was ever written, and the number of bytes from this start to which the
    /// answer applies. Unwritten data reads as zeros.
    pub fn written(&self, range: Range<u64>) -> (bool, u64) {
        self.bookkeeping.written.run(range.start, range.end)
    }

    /// Saves a state from which a run can continue. Outstanding requests are completed first, and the device
    /// becomes idle.
    ///
    /// Returns an error if the state of a component cannot be saved.
    pub fn saved_run(&mut self, checked: &Checked) -> Result<Vec<u8>, MemoryError> {
        self.complete_all();
        let quiet = self.bookkeeping.until.max(comes_to_rest(&mut *self.device, 0));
        nacre_machine::saved::of_device(checked, &*self.device, quiet).map_err(MemoryError::Scenario)
    }

    /// The image, if it exists and is writable.
    fn journal(&self) -> Option<&Image> {
        self.image.as_ref().filter(|image| !image.is_read_only())
    }

    /// Rejects steps that the device's transactions would reject, and zone steps if the device has no zones.
    pub(crate) fn check(&mut self, step: Step<'_>) -> Result<(), NotTaken> {
        if matches!(step, Step::Append { .. } | Step::Zone { .. }) && self.device.zone_commands().is_none() {
            return Err(NotTaken::NoZones { kind: self.kind });
        }
        let transactions = self.device.transactions();
        match (step, transactions) {
            (Step::Begin | Step::Commit | Step::Abort, None) => {
                Err(NotTaken::NoTransactions { kind: self.kind })
            }
            (Step::Begin, Some(transactions)) if transactions.is_open() => {
                Err(Refused::TransactionOpen.into())
            }
            (Step::Commit | Step::Abort, Some(transactions)) if !transactions.is_open() => {
                Err(Refused::NoTransaction.into())
            }
            (Step::Write { address, bytes }, Some(transactions)) => {
                Ok(transactions.check(address, bytes.len() as u64)?)
            }
            _ => Ok(()),
        }
    }

    fn transactions(
        &mut self,
        ask: impl FnOnce(&mut dyn Transactions) -> Result<Completion, Refused>,
    ) -> Completion {
        self.steps += 1;
        self.work += 1;
        let transactions = self.device.transactions().expect("who asks looked before");
        ask(transactions).expect("who asks looked before")
    }

    fn write(&mut self, now: Time, address: u64, bytes: Vec<u8>) -> Given {
        let range = address..address + bytes.len() as u64;
        self.bookkeeping.written.insert(units_around(range, self.capacity));
        Given::Request(self.submit(Op::Write, now, address, bytes.len(), bytes.into()))
    }

    fn submit(&mut self, op: Op, now: Time, address: u64, bytes: usize, data: Payload) -> RequestId {
        let (id, request) = self.outstand(op, now, address, bytes);
        self.device.submit(now, id, &request, data);
        id
    }

    /// Adds an outstanding request and returns its number.
    fn outstand(&mut self, op: Op, now: Time, address: u64, bytes: usize) -> (RequestId, Request) {
        self.steps += 1;
        self.work += match op {
            Op::Read | Op::Write => (bytes as u64).div_ceil(WORK_BYTES).max(1),
            Op::Trim | Op::Flush => 1,
        };
        let (number, outstanding) = self.bookkeeping.outstanding.take();
        *outstanding = Outstanding { op, address, bytes: bytes as u32 };
        self.completed.1 = 0;
        self.bookkeeping.until = self.bookkeeping.until.max(now);
        let request = Request { arrival: now, address, bytes: bytes as u32, volume: 0, op };
        (RequestId(number), request)
    }

    /// Random stream for the effects of the next power loss on operations in progress.
    fn chance(&self) -> Random {
        Streams::new(self.seed).stream(&format!("power failure {}", self.bookkeeping.failures))
    }

    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let mut state = StateReader::new(state);
        state.section("device")?;
        self.bookkeeping.restore(&mut state)?;
        self.device.restore(&mut state)?;
        state.finish()
    }

    /// Loads the state `saved` of a run of `checked` that stored no data. Simulated time continues at the
    /// time when the loaded device becomes idle.
    pub(crate) fn begin_with(
        &mut self,
        checked: &Checked,
        files: &dyn Files,
        saved: &SavedRun<'_>,
    ) -> Result<(), Problems> {
        self.bookkeeping.until = saved.restore_device(checked, files, &mut *self.device)?;
        // Data of the run counts as never written, without a note.
        self.bookkeeping.written.insert(0..self.capacity);
        Ok(())
    }
}

/// The units of [`Bookkeeping::written`] that `range` touches.
fn units_around(range: Range<u64>, capacity: u64) -> Range<u64> {
    let end = range.end.next_multiple_of(WRITTEN_UNIT);
    range.start / WRITTEN_UNIT * WRITTEN_UNIT..end.min(capacity)
}

impl std::fmt::Debug for PersistentDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PersistentDevice")
            .field("image", &self.image)
            .field("capacity", &self.capacity)
            .field("bookkeeping", &self.bookkeeping)
            .field("has_power", &self.has_power)
            .finish_non_exhaustive()
    }
}
