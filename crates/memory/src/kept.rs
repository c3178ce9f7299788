//! A device with bytes, and the image that keeps both bytes and state: what a program's memory and a served device
//! have in common.
//!
//! Whoever drives it says when each thing is asked. What changes something goes into the image's journal first and is
//! done then, so a process may be killed at any moment and what could not be kept was not done. Reads change a device
//! too (its arm, its caches): they are in the next record, and those after the last record are forgotten with their
//! time. A checkpoint is made when playing the journal back would take long; the journal is empty after it.

use crate::error::{MemoryError, NotTaken};
use crate::harm::Harmed;
use crate::step::Step;
use nacre_image::{Image, ImageError};
use nacre_kernel::state::{CannotSave, State, StateError, StateReader, StateWriter};
use nacre_kernel::{
    Breakdown, Completion, Data, Device, Op, Random, Ranges, Recovery, Refused, Request, Status, Streams,
    Time, Transactions,
};
use nacre_machine::{Checked, Problems, SavedRun};
use std::ops::Range;

/// The longest write, and the most zeroes, that are asked for at once.
pub const WRITE_MAX: usize = 32 << 20;
/// The device may forget what is past after so many steps, which bounds its memory.
const FORGETS_EVERY: u64 = 32;
/// With so much work to be played back a checkpoint is due: the slowest devices take about two seconds for it.
const WORK_MAX: u64 = 400_000;
/// A step is as much work as it has of these; the smallest pages of flash are as large.
const WORK_BYTES: u64 = 2 << 10;
/// Bytes of reads that wait for a record.
const READS_MAX: usize = 64 << 10;
/// In what pieces it is remembered which bytes were ever written.
const WRITTEN_UNIT: u64 = 1 << 20;

/// A device with bytes.
pub struct Kept {
    device: Box<dyn Device>,
    image: Option<Image>,
    books: Books,
    has_power: bool,
    capacity: u64,
    kind: &'static str,
    page_bytes: u32,
    seed: u64,
    breakdown: Breakdown,
    /// Reads that are in no record yet, as they go into one.
    reads: Vec<u8>,
    /// Steps since the last checkpoint, those in `reads` included.
    steps: u64,
    /// What playing them back takes.
    work: u64,
    /// Something was not kept, so that the journal does not lead to what the device is: a checkpoint comes first.
    is_behind: bool,
    /// Something changed since a checkpoint was last tried: where the disk is full another one may make room.
    has_changed: bool,
    /// Whether the journal ended in a record that was not wholly written.
    pub(crate) was_torn: bool,
}

/// What is saved beside the device.
#[derive(Debug, Default, State)]
struct Books {
    /// When the last of everything asked so far is done.
    until: Time,
    /// Losses of power so far: each has a random stream of its own.
    failures: u64,
    harmed: Harmed,
    written: Ranges,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// When the host may go on, and whether the device did it.
    pub completion: Completion,
    /// What a recovery did.
    pub recovery: Recovery,
}

impl Kept {
    pub(crate) fn new(
        checked: &Checked,
        device: Box<dyn Device>,
        page_bytes: u32,
        image: Option<Image>,
    ) -> Kept {
        Kept {
            capacity: device.capacity().expect("a stack with bytes has an end").0,
            device,
            image,
            kind: checked.scenario.stack.kind(),
            books: Books::default(),
            has_power: true,
            page_bytes,
            seed: checked.run.seed,
            breakdown: Breakdown::new(),
            reads: Vec::new(),
            steps: 0,
            work: 0,
            is_behind: false,
            has_changed: true,
            was_torn: false,
        }
    }

    /// Reads into `into` what lies from `address` on, asked at `now`.
    pub fn read(&mut self, now: Time, address: u64, into: &mut [u8]) -> Completion {
        let step = Step::Read { address, bytes: into.len() as u32 };
        if self.journal().is_some() {
            if self.reads.len() > READS_MAX || self.work > WORK_MAX {
                self.keep_reads();
            }
            step.encode(now, &mut self.reads);
        }
        self.submit(Op::Read, now, address, into.len(), Data::Read(into))
    }

    /// Keeps `step`, asked at `now`, and has the device do it. Errors: it was not done.
    pub fn change(&mut self, now: Time, step: Step<'_>) -> Result<Done, NotTaken> {
        self.check(step)?;
        if let Some(image) = &self.image {
            image.error().map_or(Ok(()), Err)?;
        }
        if let Some(image) = self.journal().cloned() {
            if self.has_power {
                self.make_room(&image, now, step)?;
            }
            if !self.is_behind {
                self.append(&image, now, step)?;
            }
            self.has_changed = true;
        }
        Ok(self.apply(now, step, &mut []))
    }

    /// Has the device do `step`, which is kept already. What is read goes into `into`.
    pub(crate) fn apply(&mut self, now: Time, step: Step<'_>, into: &mut [u8]) -> Done {
        let mut recovery = Recovery::default();
        let at = |done| Completion { done, status: Status::Done };
        let completion = match step {
            Step::Read { address, .. } => self.submit(Op::Read, now, address, into.len(), Data::Read(into)),
            Step::Write { address, bytes } => self.write(now, address, bytes),
            Step::Zero { address, bytes } => self.write(now, address, &vec![0; bytes as usize]),
            Step::Trim { address, bytes } => {
                self.books.harmed.overwritten(address..address + u64::from(bytes));
                self.submit(Op::Trim, now, address, bytes as usize, Data::None)
            }
            Step::Flush => self.submit(Op::Flush, now, 0, 0, Data::None),
            Step::Begin => self.transactions(|transactions| transactions.begin(now)),
            Step::Commit => self.transactions(|transactions| transactions.commit(now)),
            Step::Abort => self.transactions(|transactions| transactions.abort(now)),
            Step::PowerFail => {
                let mut chance = self.chance();
                self.device.power_fail(now, &mut chance);
                self.books.failures += 1;
                self.has_power = false;
                // What was under way will not be done.
                self.books.until = now;
                at(now)
            }
            Step::Recover => {
                recovery = self.device.recover(now);
                self.has_power = true;
                at(recovery.done)
            }
            Step::Idle(time) => {
                self.device.advance(now + time);
                at(now + time)
            }
            Step::Harm { harm, address, bytes } => {
                self.books.harmed.apply(harm, address..address + bytes);
                at(now)
            }
        };
        self.books.until = self.books.until.max(completion.done);
        Done { completion, recovery }
    }

    /// Everything kept so far survives a loss of power of this machine when this returns.
    pub fn sync(&self) -> Result<(), ImageError> {
        self.journal().map_or(Ok(()), Image::sync)
    }

    /// Makes the device as it is the beginning of the journal.
    pub fn checkpoint(&mut self) -> Result<(), NotTaken> {
        let Some(image) = self.journal().cloned() else { return Ok(()) };
        self.has_changed = false;
        let mut state = StateWriter::new();
        state.section("device");
        self.books.save(&mut state);
        self.device.save(&mut state);
        image.checkpoint(&state.finished().map_err(NotTaken::CannotSave)?)?;
        self.reads.clear();
        (self.steps, self.work, self.is_behind) = (0, 0, false);
        Ok(())
    }

    /// Whether the device as it is can be kept: what refuses is said before anything is asked of it.
    pub fn check_saves(&self) -> Result<(), CannotSave> {
        let mut state = StateWriter::new();
        self.device.save(&mut state);
        state.finished().map(|_| ())
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The image; none where the bytes end with the process.
    pub fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Bytes of the device.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes of the smallest page of its media.
    pub fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    /// Whether the power is on.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// When the last of everything asked so far is done.
    pub fn until(&self) -> Time {
        self.books.until
    }

    /// Whether the end of the journal was torn when it was opened, as a kill or a loss of power of the machine leaves it:
    /// it was cut off, and nothing that was synced was in it.
    pub fn was_torn(&self) -> bool {
        self.was_torn
    }

    /// Steps since the last checkpoint: so many are played back when the image is opened now, at most.
    pub fn steps_since_checkpoint(&self) -> u64 {
        self.steps
    }

    /// What fails because somebody wished it.
    pub fn harmed(&self) -> &Harmed {
        &self.books.harmed
    }

    /// Whether a transaction is open.
    pub fn is_in_transaction(&mut self) -> bool {
        self.device.transactions().is_some_and(|transactions| transactions.is_open())
    }

    /// Whether somebody looks closely where the time of requests goes.
    pub fn look_closely(&mut self, is_close: bool) {
        self.breakdown = if is_close { Breakdown::close() } else { Breakdown::new() };
    }

    /// Where the time of the last request went.
    pub fn breakdown(&self) -> &Breakdown {
        &self.breakdown
    }

    /// What is counted begins now.
    pub fn restart_ledger(&mut self) {
        self.device.restart_ledger();
    }

    /// Whether anything of `range` from its first byte on was ever written, and for how many bytes this is so. What was
    /// not reads as zeroes.
    pub fn written(&self, range: Range<u64>) -> (bool, u64) {
        self.books.written.run(range.start, range.end)
    }

    /// The device as a run can go on from it, when all its work is done.
    ///
    /// Errors: a part of it cannot be saved.
    pub fn saved_run(&mut self, checked: &Checked) -> Result<Vec<u8>, MemoryError> {
        let quiet = self.books.until.max(self.device.busy_until());
        self.device.advance(quiet);
        nacre_machine::saved::of_device(checked, &*self.device, quiet).map_err(MemoryError::Scenario)
    }

    /// Sees to it that there is room for `step`, which may need a checkpoint first. A trim or a flush needs none: where
    /// the disk is full it is done and not kept, for a trimmed byte may be as it was.
    fn make_room(&mut self, image: &Image, now: Time, step: Step<'_>) -> Result<(), NotTaken> {
        let takes_room = matches!(step, Step::Write { .. } | Step::Zero { .. });
        let is_pressed = takes_room && self.has_changed && image.is_full();
        if self.is_behind || self.work > WORK_MAX || image.wants_checkpoint() || is_pressed {
            match self.checkpoint_at(now) {
                Err(NotTaken::Image(error)) if error.is_full() && is_done_without_room(step) => {
                    self.is_behind = true;
                }
                made => made?,
            }
        }
        if takes_room && image.is_full() {
            image.retry()?;
        }
        Ok(())
    }

    /// A checkpoint before what is asked at `now`: what landed until then takes no room in it.
    fn checkpoint_at(&mut self, now: Time) -> Result<(), NotTaken> {
        self.device.advance(now);
        self.checkpoint()
    }

    /// Puts `step` into a record, after the reads before it. A full disk may have room for it when the journal is empty.
    fn append(&mut self, image: &Image, now: Time, step: Step<'_>) -> Result<(), NotTaken> {
        let mut reads = self.reads.len();
        step.encode(now, &mut self.reads);
        let mut kept = image.append(&self.reads);
        if kept.as_ref().is_err_and(ImageError::is_full) {
            if is_done_without_room(step) {
                self.is_behind = true;
                kept = Ok(());
            } else if self.has_power && self.has_changed {
                self.reads.truncate(reads);
                self.checkpoint_at(now)?;
                reads = 0;
                step.encode(now, &mut self.reads);
                kept = image.append(&self.reads);
            }
        }
        match kept {
            Ok(()) => self.reads.clear(),
            Err(_) => self.reads.truncate(reads),
        }
        Ok(kept?)
    }

    /// Puts the reads so far into a record. Where they cannot be kept they are forgotten: nobody waits for that.
    fn keep_reads(&mut self) {
        let Some(image) = self.journal().cloned() else { return };
        let is_due = self.work > WORK_MAX || image.wants_checkpoint();
        let is_kept = match is_due {
            true => self.has_power && self.checkpoint().is_ok(),
            false => image.append(&self.reads).is_ok(),
        };
        self.is_behind |= !is_kept;
        self.reads.clear();
        if !is_kept {
            // The next try comes after as many reads.
            (self.steps, self.work) = (0, 0);
        }
    }

    /// The image, if it is to be written.
    fn journal(&self) -> Option<&Image> {
        self.image.as_ref().filter(|image| !image.is_read_only())
    }

    /// Refuses what the device's transactions would refuse.
    pub(crate) fn check(&mut self, step: Step<'_>) -> Result<(), NotTaken> {
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

    fn write(&mut self, now: Time, address: u64, bytes: &[u8]) -> Completion {
        let range = address..address + bytes.len() as u64;
        let completion = self.submit(Op::Write, now, address, bytes.len(), Data::Write(bytes));
        if completion.status == Status::Done {
            self.books.harmed.overwritten(range.clone());
        }
        let units = range.start / WRITTEN_UNIT * WRITTEN_UNIT..range.end.next_multiple_of(WRITTEN_UNIT);
        self.books.written.insert(units.start..units.end.min(self.capacity));
        completion
    }

    fn submit(&mut self, op: Op, now: Time, address: u64, bytes: usize, data: Data<'_>) -> Completion {
        if self.steps.is_multiple_of(FORGETS_EVERY) {
            self.device.advance(now);
        }
        self.steps += 1;
        self.work += match op {
            Op::Read | Op::Write => (bytes as u64).div_ceil(WORK_BYTES).max(1),
            Op::Trim | Op::Flush => 1,
        };
        self.breakdown.clear();
        let request = Request { arrival: now, address, bytes: bytes as u32, volume: 0, op };
        let completion = self.device.submit(now, &request, data, &mut self.breakdown);
        self.books.until = self.books.until.max(completion.done);
        completion
    }

    /// Chooses what the next loss of power leaves of what is under way.
    fn chance(&self) -> Random {
        Streams::new(self.seed).stream(&format!("power failure {}", self.books.failures))
    }

    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let mut state = StateReader::new(state);
        state.section("device")?;
        self.books.restore(&mut state)?;
        self.device.restore(&mut state)?;
        state.finish()
    }

    /// The device takes on what `saved` left of a run of `checked`, which carried no bytes.
    pub(crate) fn begin_with(&mut self, checked: &Checked, saved: &SavedRun<'_>) -> Result<(), Problems> {
        self.books.until = saved.restore_device(checked, &mut *self.device)?;
        // Nobody is told that what the run wrote was never written.
        self.books.written.insert(0..self.capacity);
        Ok(())
    }
}

/// Whether the device may do `step` though it is not kept: a trimmed byte may be as it was.
fn is_done_without_room(step: Step<'_>) -> bool {
    matches!(step, Step::Trim { .. } | Step::Flush)
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept")
            .field("image", &self.image)
            .field("capacity", &self.capacity)
            .field("books", &self.books)
            .field("has_power", &self.has_power)
            .finish_non_exhaustive()
    }
}
