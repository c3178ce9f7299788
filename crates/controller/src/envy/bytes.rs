//! The bytes of the device.

use super::model::{Envy, Piece};
use super::page_table::Location;
use nacre_kernel::{Data, Time};
use nacre_media::persistence::{Program, Write};
use nacre_media::store::Store;

impl<S: Store> Envy<S> {
    /// Moves the bytes of `piece`, which was just read or written.
    pub(super) fn carry(&mut self, piece: &Piece, data: Data<'_>) {
        match data {
            Data::None => {}
            Data::Read(into) => self.read_newest(piece.address, into),
            Data::Write(new) => {
                let Location::Buffer(slot) = piece.location else { unreachable!("writes go to the buffer") };
                let offset = self.offset(piece.address);
                let held = &mut self.buffer.bytes_mut(slot)[offset..offset + new.len()];
                let old = held.to_vec();
                held.copy_from_slice(new);
                let programs =
                    vec![Program { first: 0, count: new.len(), begin: piece.begin, end: piece.end }];
                // Its request says when it is acknowledged, once it is known.
                self.pending.push(Write { address: piece.address, old, programs }, Time::MAX);
            }
        }
    }

    fn offset(&self, address: u64) -> usize {
        (address & ((1 << self.page_shift) - 1)) as usize
    }

    pub(super) fn check_power(&self) {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
    }

    /// The newest version from `address` of the host on.
    fn read_newest(&self, address: u64, into: &mut [u8]) {
        let mut at = 0;
        while at < into.len() {
            let address = address + at as u64;
            let offset = self.offset(address);
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
    }

    /// The newest version from `address` of the host on is `bytes` again.
    pub(super) fn put_back(&mut self, address: u64, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let address = address + at as u64;
            let offset = self.offset(address);
            let end = bytes.len().min(at + (1 << self.page_shift) - offset);
            let part = &bytes[at..end];
            match self.array.table.get((address >> self.page_shift) as u32) {
                // Trimmed since.
                Location::Nowhere => {}
                // The write was drained before its time had come: the drain takes with it what there was then.
                Location::Flash(page) => {
                    let mut whole = vec![0; 1 << self.page_shift];
                    self.array.flash.read(page, 0, &mut whole);
                    whole[offset..offset + part.len()].copy_from_slice(part);
                    self.array.flash.fill(page, &whole);
                }
                Location::Buffer(slot) => {
                    self.buffer.bytes_mut(slot)[offset..offset + part.len()].copy_from_slice(part);
                }
            }
            at = end;
        }
    }
}
