//! Reads and writes of the device's data.

use super::model::Envy;
use super::page_table::Location;
use nacre_kernel::event::Payload;
use nacre_media::store::Store;

impl<S: Store> Envy<S> {
    /// Writes `bytes` bytes of the first request's data to their page in the write buffer. The data starts
    /// at host address `address`.
    #[inline]
    pub(super) fn write_words(&mut self, address: u64, bytes: u64) {
        if !S::CARRIES_BYTES {
            return;
        }
        let visit = &self.visits[0];
        let first = (address - visit.request.address) as usize;
        let Some(new) = visit.data.bytes().map(|data| &data[first..first + bytes as usize]) else { return };
        let Location::Buffer(slot) = self.array.table.get((address >> self.page_shift) as u32) else {
            unreachable!("writes go to the buffer")
        };
        let offset = (address & ((1 << self.page_shift) - 1)) as usize;
        self.buffer.bytes_mut(slot)[offset..offset + new.len()].copy_from_slice(new);
    }

    /// Returns the current data of the `bytes` bytes that start at host address `address`.
    pub(super) fn read_newest(&self, address: u64, bytes: usize) -> Payload {
        let mut into = vec![0; bytes];
        let mut at = 0;
        while at < into.len() {
            let address = address + at as u64;
            let offset = (address & ((1 << self.page_shift) - 1)) as usize;
            let end = into.len().min(at + (1 << self.page_shift) - offset);
            let part = &mut into[at..end];
            match self.array.table.get((address >> self.page_shift) as u32) {
                Location::Nowhere => part.fill(0),
                Location::Flash(page) => self.array.flash.read(page, offset, part),
                Location::Buffer(slot) => {
                    part.copy_from_slice(&self.buffer.bytes(slot)[offset..offset + part.len()]);
                }
            }
            at = end;
        }
        into.into()
    }

    pub(super) fn check_power(&self) {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
    }
}
