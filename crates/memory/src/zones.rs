//! Zones of a memory.

use crate::error::MemoryError;
use crate::memory::{Memory, REQUEST_MAX};
use crate::step::Step;
use nacre_kernel::{Zone, ZoneCommand, ZoneRefusal};

impl Memory {
    /// Returns the zone that contains `address`. Returns an error if the address is outside the memory, the
    /// device has no zones, or power is off.
    pub fn zone(&self, address: u64) -> Result<Zone, MemoryError> {
        self.check_usable()?;
        self.check_range(address, 1)?;
        self.device.zone(address).ok_or_else(|| MemoryError::NoZones { kind: self.device.kind() })
    }

    /// Appends `bytes` to the zone that starts at `address`. Returns the address of the data.
    ///
    /// Returns an error if the zone rejects the append or does not have enough space for it, and the errors
    /// of [`Memory::write`].
    pub fn append(&mut self, address: u64, bytes: &[u8]) -> Result<u64, MemoryError> {
        let Zone { start, write_pointer, end, .. } = self.zone(address)?;
        let size = bytes.len() as u64;
        if start != address {
            let refusal = ZoneRefusal::NotZoneStart;
            return Err(MemoryError::ZoneRefused { address, size, write_pointer, end, refusal });
        }
        if bytes.is_empty() {
            return self.check_usable().map(|()| write_pointer);
        }
        if self.device.harmed().fails_writes(&(write_pointer..write_pointer.saturating_add(size))) {
            return Err(MemoryError::MediaError { address: write_pointer, size });
        }
        if let Some(refusal) = self.refused_as_a_whole(size, end - write_pointer) {
            return Err(MemoryError::ZoneRefused { address, size, write_pointer, end, refusal });
        }
        let began = self.now();
        for bytes in bytes.chunks(REQUEST_MAX) {
            self.change(Step::Append { address, bytes })?;
        }
        self.took_since(began);
        Ok(write_pointer)
    }

    /// Reason to reject an append of `size` bytes as a whole if its zone has `space` bytes left. A long
    /// append is divided into several requests, and the device would reject only one of the later requests.
    /// If the result is `None`, the device decides.
    fn refused_as_a_whole(&self, size: u64, space: u64) -> Option<ZoneRefusal> {
        let unit = u64::from(self.device.device().capabilities().atomic_unit);
        if size > REQUEST_MAX as u64 && space > 0 && !size.is_multiple_of(unit) {
            return Some(ZoneRefusal::NotWholeUnits);
        }
        (0 < space && space < size).then_some(ZoneRefusal::Boundary)
    }

    /// Sends `command`, other than an append, to the zone that starts at `address`.
    ///
    /// Returns an error if the zone rejects the command, the device has no zones, power is off, or the image
    /// fails.
    pub fn zone_command(&mut self, command: ZoneCommand, address: u64) -> Result<(), MemoryError> {
        self.zone(address)?;
        self.change(Step::Zone { command, address }).map(|_| ())
    }
}
