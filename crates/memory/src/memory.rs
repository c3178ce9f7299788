//! The memory: a device, its clock and its image.

use crate::error::MemoryError;
use crate::replay::replay;
use crate::settings::word_bytes;
use crate::step::Step;
use crate::stores;
use nacre_image::{Image, Opened};
use nacre_kernel::state::{State, StateReader, StateWriter};
use nacre_kernel::{
    Breakdown, Data, Device, Op, Persistence, Recovery, Refused, Request, Streams, Time, Transactions,
};
use nacre_machine::identity::identity;
use nacre_machine::record::{self, Component};
use nacre_machine::stack::{build_with_bytes, store_layouts};
use nacre_machine::{Checked, Files};
use std::path::Path;

/// Simulated time a memory may reach; [`Time`] itself ends a little later, so that no sum wraps.
const HORIZON: Time = Time::from_s(200 * 86_400);

/// What is longer is asked for as several requests, one after the other.
const REQUEST_MAX: usize = 1 << 20;

/// A simulated memory with real bytes.
pub struct Memory {
    device: Box<dyn Device>,
    image: Option<Image>,
    capacity: u64,
    page_bytes: u64,
    word_bytes: u64,
    clock: Clock,
    /// When this process opened it.
    opened_at: Time,
    has_power: bool,
    /// Losses of power so far: each has a random stream of its own.
    failures: u64,
    seed: u64,
    breakdown: Breakdown,
    /// For a record of the journal.
    record: Vec<u8>,
}

/// What time it is.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// For whoever uses the memory.
    now: Time,
    /// For the device: less by what reads took that its journal does not know.
    device: Time,
    /// How long the last operation took.
    latency: Time,
}

impl Clock {
    fn pass(&mut self, until: Time) {
        self.latency = until - self.device;
        self.device = until;
        self.now += self.latency;
    }
}

impl Memory {
    /// Opens the memory that the stack of `checked` is; its bytes are gone with it.
    ///
    /// Errors: the stack carries no bytes or cannot be built.
    pub fn open(checked: &Checked, files: &dyn Files) -> Result<Memory, MemoryError> {
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let stores = stores::in_memory(&layouts);
        let device = build_with_bytes(checked, files, stores).map_err(MemoryError::Scenario)?;
        Ok(Memory::new(checked, device, stores::geometry(&layouts).page_bytes, None))
    }

    /// Opens the memory that is kept in the image at `path`, and creates the image where there is none.
    ///
    /// Errors: those of [`Memory::open`] and of [`Image::open_or_create`]. Then nothing has changed.
    pub fn open_image(checked: &Checked, files: &dyn Files, path: &Path) -> Result<Memory, MemoryError> {
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let geometry = stores::geometry(&layouts);
        if !path.exists() {
            // A stack that cannot be built is to leave no image behind.
            build_with_bytes(checked, files, stores::in_memory(&layouts)).map_err(MemoryError::Scenario)?;
        }
        let Opened { image, state, records, .. } = Image::open_or_create(path, &identity(checked), geometry)?;
        let stores = stores::in_image(&layouts, &image);
        let device = build_with_bytes(checked, files, stores).map_err(MemoryError::Scenario)?;
        let mut memory = Memory::new(checked, device, geometry.page_bytes, Some(image.clone()));
        let unfit = |part: String, detail: String| MemoryError::Unfit {
            path: path.display().to_string(),
            part,
            detail,
        };
        if let Some(state) = state {
            memory.restore(&state).map_err(|error| unfit("its checkpoint".into(), error.to_string()))?;
        }
        replay(&mut memory, &records)
            .map_err(|(record, detail)| unfit(format!("record {record} of its journal"), detail))?;
        image.error().map_or(Ok(()), Err)?;
        memory.power_up()?;
        memory.device.restart_ledger();
        memory.opened_at = memory.clock.now;
        memory.clock.latency = Time::ZERO;
        Ok(memory)
    }

    fn new(checked: &Checked, device: Box<dyn Device>, page_bytes: u32, image: Option<Image>) -> Memory {
        Memory {
            capacity: device.capacity().expect("memory has an end").0,
            page_bytes: page_bytes.into(),
            word_bytes: word_bytes(checked).unwrap_or(1),
            device,
            image,
            clock: Clock::default(),
            opened_at: Time::ZERO,
            has_power: true,
            failures: 0,
            seed: checked.run.seed,
            breakdown: Breakdown::new(),
            record: Vec::new(),
        }
    }

    /// The power comes back where it was off. An open transaction ended with the process that began it.
    fn power_up(&mut self) -> Result<(), MemoryError> {
        if self.has_power && self.is_in_transaction() {
            self.change(Step::PowerFail)?;
        }
        if !self.has_power {
            self.change(Step::Recover)?;
        }
        Ok(())
    }

    /// Reads `size` bytes from `address` on. What was never written is zero.
    ///
    /// Errors: it does not lie within the memory, the power is off, the image fails.
    pub fn read(&mut self, address: u64, size: u64) -> Result<Vec<u8>, MemoryError> {
        self.check_range(address, size)?;
        self.check_usable()?;
        let mut bytes = vec![0; size as usize];
        if size > 0 {
            self.serve_read(address, &mut bytes);
        }
        // A page that could not be read was read as something else.
        self.check_usable()?;
        Ok(bytes)
    }

    /// Writes `bytes` from `address` on.
    ///
    /// Errors: it does not lie within the memory, the open transaction is too large, the power is off, the
    /// image fails.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.check_range(address, bytes.len() as u64)?;
        if bytes.is_empty() {
            return self.check_usable();
        }
        self.change(Step::Write { address, bytes }).map(|_| ())
    }

    /// From here on writes belong to a transaction. Errors: one is open, the power is off, the image fails.
    pub fn begin(&mut self) -> Result<(), MemoryError> {
        self.change(Step::Begin).map(|_| ())
    }

    /// Everything written since [`Memory::begin`] lasts, as one. Errors: no transaction is open, the power is
    /// off, the image fails.
    pub fn commit(&mut self) -> Result<(), MemoryError> {
        self.change(Step::Commit).map(|_| ())
    }

    /// Nothing was written since [`Memory::begin`]. Errors: as of [`Memory::commit`].
    pub fn abort(&mut self) -> Result<(), MemoryError> {
        self.change(Step::Abort).map(|_| ())
    }

    /// Whether a transaction is open.
    pub fn is_in_transaction(&mut self) -> bool {
        self.device.transactions().is_some_and(|transactions| transactions.is_open())
    }

    /// The power fails: what is under way is interrupted. Errors: it is off already, the image fails.
    pub fn power_fail(&mut self) -> Result<(), MemoryError> {
        self.change(Step::PowerFail).map(|_| ())
    }

    /// The power is back: what was interrupted is repaired, an open transaction taken back. Errors: it was
    /// not off, the image fails.
    pub fn recover(&mut self) -> Result<Recovery, MemoryError> {
        if self.has_power {
            self.check_usable()?;
            return Err(MemoryError::HasPower);
        }
        let recovery = self.change(Step::Recover)?;
        if self.device.capabilities().persistence != Persistence::OnAcknowledgement {
            // Its moment is not that of the journal, which knows no reads.
            self.checkpoint()?;
        }
        Ok(recovery)
    }

    /// Asks nothing for `time`, so that the device goes on with what it has to do. Errors: simulated time
    /// would end, the power is off, the image fails.
    pub fn idle(&mut self, time: Time) -> Result<(), MemoryError> {
        let Clock { now, .. } = self.clock;
        if now.checked_add(time).is_none_or(|until| until > HORIZON) {
            return Err(MemoryError::EndOfTime { now });
        }
        self.change(Step::Idle(time)).map(|_| ())
    }

    /// Everything so far survives a power failure, of the device, and with an image of this machine, when it
    /// returns. Errors: the power is off, the image fails.
    pub fn flush(&mut self) -> Result<(), MemoryError> {
        if self.device.capabilities().persistence == Persistence::OnFlush {
            self.change(Step::Flush)?;
        }
        self.image.as_ref().map_or(Ok(()), |image| Ok(image.sync()?))
    }

    /// Takes an open transaction back and brings the image to its shortest form. Errors: the image fails;
    /// what was acknowledged is in it nevertheless.
    pub fn close(mut self) -> Result<(), MemoryError> {
        let Some(image) = self.image.clone() else { return Ok(()) };
        image.error().map_or(Ok(()), Err)?;
        if !self.has_power {
            // The journal knows what was interrupted; a checkpoint would not.
            return Ok(image.sync()?);
        }
        if self.is_in_transaction() {
            self.change(Step::Abort)?;
        }
        self.checkpoint()
    }

    /// Bytes of the memory.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that one access carries.
    pub fn word_bytes(&self) -> u64 {
        self.word_bytes
    }

    /// Whether the power is on.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// Simulated time since the memory was new, its image included.
    pub fn now(&self) -> Time {
        self.clock.now
    }

    /// How long the last operation took; zero before the first.
    pub fn latency(&self) -> Time {
        self.clock.latency
    }

    /// What the device did since it was opened, as in a record.
    pub fn statistics(&self) -> Component {
        let elapsed = self.clock.now - self.opened_at;
        record::component(&self.device.report(elapsed), elapsed)
    }

    /// Does what changes something, and keeps it.
    fn change(&mut self, step: Step<'_>) -> Result<Recovery, MemoryError> {
        if step != Step::Recover {
            self.check_usable()?;
        }
        if self.clock.now > HORIZON && step != Step::Recover {
            return Err(MemoryError::EndOfTime { now: self.clock.now });
        }
        if self.has_power && self.image.as_ref().is_some_and(Image::wants_checkpoint) {
            self.checkpoint()?;
        }
        let at = self.clock.now;
        let recovery = self.apply(step).map_err(|refused| self.refusal(refused))?;
        self.keep(at, step)?;
        Ok(recovery)
    }

    /// Lets the device do it, and time pass.
    pub(crate) fn apply(&mut self, step: Step<'_>) -> Result<Recovery, Refusal> {
        let now = self.clock.device;
        if self.has_power {
            self.device.advance(now);
        }
        let mut recovery = Recovery::default();
        let done = match step {
            Step::Write { address, bytes } => self.serve_write(address, bytes)?,
            Step::Flush => self.serve(Op::Flush, now, 0, 0, Data::None),
            Step::Begin => self.transactions()?.begin(now)?.done,
            Step::Commit => self.transactions()?.commit(now)?.done,
            Step::Abort => self.transactions()?.abort(now)?.done,
            Step::PowerFail => {
                let mut chance = Streams::new(self.seed).stream(&format!("power failure {}", self.failures));
                self.device.power_fail(now, &mut chance);
                self.failures += 1;
                self.has_power = false;
                now
            }
            Step::Recover => {
                recovery = self.device.recover(now);
                self.has_power = true;
                recovery.done
            }
            Step::Idle(time) => {
                self.device.advance(now + time);
                now + time
            }
        };
        self.clock.pass(done);
        Ok(recovery)
    }

    fn transactions(&mut self) -> Result<&mut dyn Transactions, Refusal> {
        self.device.transactions().ok_or(Refusal::NoTransactions)
    }

    /// Reads took until `at` before the next step: a read stands for them, which ends idle time as they did.
    pub(crate) fn catch_up(&mut self, at: Time) {
        if at > self.clock.now && self.has_power {
            self.serve_read(0, &mut [0]);
        }
        self.clock.now = at;
    }

    fn serve_read(&mut self, address: u64, into: &mut [u8]) {
        let mut done = self.clock.device;
        self.device.advance(done);
        for (number, into) in into.chunks_mut(REQUEST_MAX).enumerate() {
            let address = address + (number * REQUEST_MAX) as u64;
            done = self.serve(Op::Read, done, address, into.len(), Data::Read(into));
        }
        self.clock.pass(done);
    }

    /// When the write is done. Errors: the open transaction has no room for it; then nothing was written.
    fn serve_write(&mut self, address: u64, bytes: &[u8]) -> Result<Time, Refusal> {
        if let Some(transactions) = self.device.transactions() {
            transactions.check(address, bytes.len() as u64)?;
        }
        let mut done = self.clock.device;
        for (number, bytes) in bytes.chunks(REQUEST_MAX).enumerate() {
            let address = address + (number * REQUEST_MAX) as u64;
            done = self.serve(Op::Write, done, address, bytes.len(), Data::Write(bytes));
        }
        Ok(done)
    }

    fn serve(&mut self, op: Op, now: Time, address: u64, bytes: usize, data: Data<'_>) -> Time {
        self.breakdown.clear();
        let request = Request { arrival: now, address, bytes: bytes as u32, volume: 0, op };
        self.device.submit(now, &request, data, &mut self.breakdown).done
    }

    /// Puts `step`, asked at `at`, into the journal. One that is too long for it becomes a checkpoint.
    fn keep(&mut self, at: Time, step: Step<'_>) -> Result<(), MemoryError> {
        let Some(image) = &self.image else { return Ok(()) };
        // A page may have failed to be written.
        image.error().map_or(Ok(()), Err)?;
        step.encode(at, &mut self.record);
        if self.record.len() > image.longest_record() {
            return self.checkpoint();
        }
        Ok(image.append(&self.record)?)
    }

    pub(crate) fn checkpoint(&self) -> Result<(), MemoryError> {
        let Some(image) = &self.image else { return Ok(()) };
        let mut state = StateWriter::new();
        state.section("memory");
        state.put_u64(self.clock.now.as_ps());
        state.put_u64(self.clock.device.as_ps());
        state.put_u64(self.failures);
        self.device.save(&mut state);
        Ok(image.checkpoint(&state.finished()?)?)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), nacre_kernel::state::StateError> {
        let mut state = StateReader::new(state);
        state.section("memory")?;
        self.clock.now = Time::from_ps(state.u64("what time it is")?);
        self.clock.device = Time::from_ps(state.u64("what time it is for the device")?);
        self.failures = state.u64("losses of power")?;
        self.device.restore(&mut state)?;
        state.finish()
    }

    fn check_range(&self, address: u64, size: u64) -> Result<(), MemoryError> {
        let capacity = self.capacity;
        match address.checked_add(size).is_some_and(|end| end <= capacity) {
            true => Ok(()),
            false => Err(MemoryError::OutOfRange { address, size, capacity }),
        }
    }

    fn check_usable(&self) -> Result<(), MemoryError> {
        self.image.as_ref().and_then(Image::error).map_or(Ok(()), Err)?;
        if self.has_power { Ok(()) } else { Err(MemoryError::NoPower) }
    }

    fn refusal(&self, refusal: Refusal) -> MemoryError {
        match refusal {
            Refusal::Refused(Refused::TransactionTooLarge { pages }) => {
                MemoryError::TransactionTooLarge { pages, page_bytes: self.page_bytes }
            }
            Refusal::Refused(Refused::TransactionOpen) => MemoryError::TransactionOpen,
            Refusal::Refused(Refused::NoTransaction) => MemoryError::NoTransaction,
            Refusal::NoTransactions => MemoryError::NoTransactions,
        }
    }
}

/// Why a step was not taken. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The device's transactions refused it.
    Refused(Refused),
    /// The device has no transactions.
    NoTransactions,
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        Refusal::Refused(refused)
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("image", &self.image)
            .field("capacity", &self.capacity)
            .field("clock", &self.clock)
            .field("has_power", &self.has_power)
            .finish_non_exhaustive()
    }
}
