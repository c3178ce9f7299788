//! The memory: a device with its clock and image.

use crate::error::MemoryError;
use crate::error::NotTaken;
use crate::opening::Access;
use crate::persistent_device::{Done, PersistentDevice};
use crate::settings::word_bytes;
use crate::step::Step;
use nacre_image::Image;
use nacre_kernel::{Recovery, Status, Time, Zone, ZoneRefusal};
use nacre_machine::record::{self, Component};
use nacre_machine::{Checked, Files, SavedRun};
use std::path::Path;

/// Maximum simulated time of a memory. The maximum of [`Time`] is slightly later, so that no sum overflows.
const HORIZON: Time = Time::from_s(200 * 86_400);

/// Maximum request size in bytes. Longer operations are divided into several serial requests.
pub(crate) const REQUEST_MAX: usize = 1 << 20;

/// A simulated memory with stored data.
pub struct Memory {
    pub(crate) device: PersistentDevice,
    word_bytes: u64,
    now: Time,
    /// Latency of the last operation.
    latency: Time,
    /// Simulated time at which this process opened the memory.
    opened_at: Time,
}

impl Memory {
    /// Opens the stack of `checked` as a memory. The data is lost when the memory is dropped.
    ///
    /// Returns an error if the stack stores no data or cannot be built.
    pub fn open(checked: &Checked, files: &dyn Files) -> Result<Memory, MemoryError> {
        Ok(Memory::new(checked, PersistentDevice::in_memory(checked, files)?))
    }

    /// Opens the memory in the image at `path`, or creates the image, with or without page checksums.
    ///
    /// Returns the errors of [`Memory::open`] and of [`Image::open_or_create`]. If an error is returned, the
    /// image is unchanged.
    pub fn open_image(
        checked: &Checked,
        files: &dyn Files,
        path: &Path,
        page_checksums: bool,
    ) -> Result<Memory, MemoryError> {
        let access = Access { page_checksums, ..Access::default() };
        let mut memory = Memory::new(checked, PersistentDevice::open(checked, files, path, access)?);
        memory.power_up()?;
        memory.device.restart_ledger(memory.now);
        (memory.opened_at, memory.latency) = (memory.now, Time::ZERO);
        Ok(memory)
    }

    /// Opens the memory in the state `saved`, which a run has saved. Data written by the run reads as zeros.
    /// With an image, the memory is stored in a new file, with or without page checksums.
    ///
    /// Returns the errors of [`Memory::open`] and of [`PersistentDevice::create_from`], and an error if the
    /// bytes are not a saved state. If an error is returned, no file is left behind.
    pub fn open_from(
        checked: &Checked,
        files: &dyn Files,
        image: Option<(&Path, bool)>,
        saved: &[u8],
    ) -> Result<Memory, MemoryError> {
        let saved = SavedRun::read(saved).map_err(|why| MemoryError::NoState(why.to_string()))?;
        let device = match image {
            Some((path, page_checksums)) => {
                PersistentDevice::create_from(checked, files, path, page_checksums, &saved)?
            }
            None => PersistentDevice::in_memory_from(checked, files, &saved)?,
        };
        let mut memory = Memory::new(checked, device);
        memory.power_up()?;
        memory.device.restart_ledger(memory.now);
        (memory.opened_at, memory.latency) = (memory.now, Time::ZERO);
        Ok(memory)
    }

    fn new(checked: &Checked, device: PersistentDevice) -> Memory {
        Memory {
            word_bytes: word_bytes(checked).unwrap_or(1),
            now: device.until(),
            device,
            latency: Time::ZERO,
            opened_at: Time::ZERO,
        }
    }

    /// Restores power if it is off. Rolls back an open transaction, because the process that began it has
    /// ended.
    fn power_up(&mut self) -> Result<(), MemoryError> {
        if self.has_power() && self.is_in_transaction() {
            self.change(Step::PowerFail)?;
        }
        if !self.has_power() {
            self.change(Step::Recover)?;
        }
        Ok(())
    }

    /// Reads `size` bytes at `address`. Unwritten data reads as zeros.
    ///
    /// Returns an error if the range is outside the memory, the device has lost data in the range, power is
    /// off, or the image fails.
    pub fn read(&mut self, address: u64, size: u64) -> Result<Vec<u8>, MemoryError> {
        self.check_range(address, size)?;
        self.check_usable()?;
        let mut bytes = vec![0; size as usize];
        let (began, mut at, mut is_whole) = (self.now, address, true);
        for part in bytes.chunks_mut(REQUEST_MAX) {
            let completion = self.device.read(self.now, at, part);
            self.now = completion.done;
            is_whole &= completion.status == Status::Done;
            at += part.len() as u64;
        }
        self.latency = self.now - began;
        if !is_whole || self.device.harmed().fails_reads(&(address..address + size)) {
            return Err(MemoryError::MediaError { address, size });
        }
        // Reading a damaged page returned other data, and the image reports the damage here.
        self.check_usable()?;
        Ok(bytes)
    }

    /// Writes `bytes` at `address`.
    ///
    /// Returns an error if the range is outside the memory, the open transaction is too large, the device
    /// rejects the write or needs lost data for it, power is off, or the image fails.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.check_range(address, bytes.len() as u64)?;
        if bytes.is_empty() {
            return self.check_usable();
        }
        let size = bytes.len() as u64;
        if self.device.harmed().fails_writes(&(address..address + size)) {
            return Err(MemoryError::MediaError { address, size });
        }
        // Either the open transaction has space for the whole write, or no byte is written.
        self.device.check(Step::Write { address, bytes }).map_err(|why| self.refusal(why))?;
        let (began, mut at) = (self.now, address);
        for bytes in bytes.chunks(REQUEST_MAX) {
            self.change(Step::Write { address: at, bytes })?;
            at += bytes.len() as u64;
        }
        self.latency = self.now - began;
        Ok(())
    }

    /// Begins a transaction for the following writes. Returns an error if a transaction is open, power is
    /// off, or the image fails.
    pub fn begin(&mut self) -> Result<(), MemoryError> {
        self.change(Step::Begin).map(|_| ())
    }

    /// Commits all writes since [`Memory::begin`] atomically. Returns an error if no transaction is open,
    /// power is off, or the image fails.
    pub fn commit(&mut self) -> Result<(), MemoryError> {
        self.change(Step::Commit).map(|_| ())
    }

    /// Rolls back all writes since [`Memory::begin`]. Returns the errors of [`Memory::commit`].
    pub fn abort(&mut self) -> Result<(), MemoryError> {
        self.change(Step::Abort).map(|_| ())
    }

    /// Whether a transaction is open.
    pub fn is_in_transaction(&mut self) -> bool {
        self.device.is_in_transaction()
    }

    /// Cuts power, which interrupts operations in progress. Returns an error if power is already off or the
    /// image fails.
    pub fn power_fail(&mut self) -> Result<(), MemoryError> {
        self.change(Step::PowerFail).map(|_| ())
    }

    /// Restores power, repairs interrupted operations, and rolls back an open transaction. Returns an error
    /// if power was not off or the image fails.
    pub fn recover(&mut self) -> Result<Recovery, MemoryError> {
        if self.has_power() {
            self.check_usable()?;
            return Err(MemoryError::HasPower);
        }
        self.change(Step::Recover)
    }

    /// Advances simulated time by `time` without requests, so that the device performs background work.
    /// Returns an error if simulated time would overflow, power is off, or the image fails.
    pub fn idle(&mut self, time: Time) -> Result<(), MemoryError> {
        let now = self.now;
        if now.checked_add(time).is_none_or(|until| until > HORIZON) {
            return Err(MemoryError::EndOfTime { now });
        }
        self.change(Step::Idle(time)).map(|_| ())
    }

    /// Makes all writes durable, so that they survive a power loss of the device and, with an image, of the
    /// host. Returns an error if the device lost accepted data, power is off, or the image fails.
    pub fn flush(&mut self) -> Result<(), MemoryError> {
        // A device that does not need flushes is also flushed, because a flush reports losses.
        let flushed = self.change(Step::Flush).map(|_| ());
        self.device.sync()?;
        flushed
    }

    /// Rolls back an open transaction and writes a checkpoint. If power is off, only syncs the image. Returns
    /// an error if the image fails; the image still contains all acknowledged data.
    pub fn close(mut self) -> Result<(), MemoryError> {
        self.check_image()?;
        if !self.has_power() {
            // The journal records the interrupted operations, but a checkpoint would not.
            return Ok(self.device.sync()?);
        }
        if self.is_in_transaction() {
            self.change(Step::Abort)?;
        }
        self.checkpoint()
    }

    /// Capacity in bytes.
    pub fn capacity(&self) -> u64 {
        self.device.capacity()
    }

    /// Size in bytes of one memory access by a program (setting `stack.word`), or 1 if the stack has no such
    /// setting.
    pub fn word_bytes(&self) -> u64 {
        self.word_bytes
    }

    /// Whether power is on.
    pub fn has_power(&self) -> bool {
        self.device.has_power()
    }

    /// Simulated time since the memory was created, including the time before the image was last opened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Latency of the last operation, or zero before the first operation.
    pub fn latency(&self) -> Time {
        self.latency
    }

    /// Statistics of the device since the memory was opened, in the format of a record.
    pub fn statistics(&self) -> Component {
        let elapsed = self.now - self.opened_at;
        record::component(&self.device.device().report(elapsed), elapsed)
    }

    pub(crate) fn checkpoint(&mut self) -> Result<(), MemoryError> {
        self.device.checkpoint().map_err(|why| self.refusal(why))
    }

    /// Journals a change and performs it.
    pub(crate) fn change(&mut self, step: Step<'_>) -> Result<Recovery, MemoryError> {
        if step != Step::Recover {
            self.check_usable()?;
        }
        if self.now > HORIZON && step != Step::Recover {
            return Err(MemoryError::EndOfTime { now: self.now });
        }
        let done = self.device.change(self.now, step).map_err(|why| self.refusal(why))?;
        let Done { completion, recovery, zone } = done;
        self.latency = completion.done - self.now;
        self.now = completion.done;
        match (step, completion.status) {
            (_, Status::Done) => Ok(recovery),
            (Step::Write { address, bytes } | Step::Append { address, bytes }, status) => {
                Err(self.write_error(address, bytes.len() as u64, status, zone.refusal))
            }
            (Step::Zone { address, .. }, status) => Err(self.write_error(address, 0, status, zone.refusal)),
            _ => Err(MemoryError::LostData),
        }
    }

    /// Creates the error for a write, or for a zone command without data, that the device did not perform.
    fn write_error(
        &self,
        address: u64,
        size: u64,
        status: Status,
        refusal: Option<ZoneRefusal>,
    ) -> MemoryError {
        match (status, self.device.zone(address).zip(refusal)) {
            (Status::WriteRefused, Some((Zone { write_pointer, end, .. }, refusal))) => {
                MemoryError::ZoneRefused { address, size, write_pointer, end, refusal }
            }
            (Status::WriteRefused, None) => MemoryError::WriteRefused { address, size },
            _ => MemoryError::MediaError { address, size },
        }
    }

    /// Sets the latency of the last operation, which began at `began`.
    pub(crate) fn took_since(&mut self, began: Time) {
        self.latency = self.now - began;
    }

    pub(crate) fn check_range(&self, address: u64, size: u64) -> Result<(), MemoryError> {
        let capacity = self.capacity();
        match address.checked_add(size).is_some_and(|end| end <= capacity) {
            true => Ok(()),
            false => Err(MemoryError::OutOfRange { address, size, capacity }),
        }
    }

    pub(crate) fn check_usable(&self) -> Result<(), MemoryError> {
        self.check_image()?;
        if self.has_power() { Ok(()) } else { Err(MemoryError::NoPower) }
    }

    fn check_image(&self) -> Result<(), MemoryError> {
        self.device.image().and_then(Image::error).map_or(Ok(()), |error| Err(error.into()))
    }

    fn refusal(&self, why: NotTaken) -> MemoryError {
        MemoryError::of(why, self.device.page_bytes())
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("device", &self.device).field("now", &self.now).finish_non_exhaustive()
    }
}
