//! Data of rows, and data of writes that are in controllers but not yet in their rows.

use super::drive::{Active, Drive};
use super::part::Row;
use crate::wear_leveling::Move;
use nacre_kernel::Request;
use nacre_kernel::event::Payload;
use nacre_media::store::Store;

impl<S: Store> Drive<S> {
    /// Index in the store of the page that contains a physical row.
    fn page(&self, controller: u32, physical: u64) -> u64 {
        u64::from(controller) * self.controllers[controller as usize].rows.count() + physical
    }

    /// Address in the store of the first byte of a part.
    pub(super) fn place(&self, part: &Row) -> u64 {
        let physical = self.controllers[part.controller as usize].leveller.physical(part.row);
        self.page(part.controller, physical) * self.config.row.0 + part.offset
    }

    /// Copies the data of a row that wear leveling moves.
    pub(super) fn copy_bytes(&mut self, controller: u32, moved: Move) {
        if S::CARRIES_BYTES {
            let (from, to) = (self.page(controller, moved.from), self.page(controller, moved.to));
            self.rows.copy_page(from, to);
        }
    }

    /// Bytes that a part writes.
    pub(super) fn data_of(&self, part: &Row) -> Payload {
        let Active { request, data, .. } = &self.active[part.request];
        let first = (part.address - request.address) as usize;
        data.slice(first, first + part.bytes as usize)
    }

    /// Number of nonzero words in each chunk that a part writes. The list is empty if the time of a program
    /// does not depend on the data, or if the device stores no data.
    pub(super) fn words_of(&self, part: u32) -> Vec<u32> {
        let row = &self.parts[part];
        let timing = &self.controllers[row.controller as usize].timing;
        if !S::CARRIES_BYTES || !timing.is_by_data() {
            return Vec::new();
        }
        let data = self.data_of(row);
        data.bytes().map_or_else(Vec::new, |bytes| timing.rank.written_words(row.offset, bytes))
    }

    /// Number of nonzero words in each chunk of the row that wear leveling has moved to `physical`.
    pub(super) fn words_of_row(&self, controller: u32, physical: u64) -> Vec<u32> {
        let timing = &self.controllers[controller as usize].timing;
        if !S::CARRIES_BYTES || !timing.is_by_data() {
            return Vec::new();
        }
        let mut bytes = vec![0; timing.row_bytes as usize];
        self.rows.read(self.page(controller, physical) * timing.row_bytes, &mut bytes);
        timing.rank.written_words(0, &bytes)
    }

    /// Inverts `wrong_bits` bits of `bytes` at random positions, to simulate undetected bit errors.
    pub(super) fn read_wrong(&mut self, bytes: Payload, wrong_bits: u32) -> Payload {
        let Some(found) = bytes.bytes().filter(|_| wrong_bits > 0) else { return bytes };
        let mut wrong = found.to_vec();
        for _ in 0..wrong_bits {
            let bit = self.controllers[0].decoder.random.below(wrong.len() as u64 * 8);
            wrong[bit as usize / 8] ^= 1 << (bit % 8);
        }
        wrong.into()
    }

    /// Applies completed writes to the medium. The writes to each row keep their order.
    pub(super) fn land(&mut self) {
        let mut waits: Vec<(u32, u64)> = Vec::new();
        for number in std::mem::take(&mut self.buffered) {
            let part = &self.parts[number];
            let row = (part.controller, part.row);
            if !part.is_written || waits.contains(&row) {
                waits.push(row);
                self.buffered.push(number);
                continue;
            }
            let (place, data) = (self.place(part), self.data_of(part));
            if let Some(bytes) = data.bytes() {
                self.rows.write(place, bytes);
            }
            self.parts[number].is_landed = true;
            self.settle(number);
        }
    }

    /// Returns the data of a read: the data of the medium, overwritten with the writes in controllers.
    pub(super) fn read_bytes(&self, request: &Request) -> Payload {
        let mut into = vec![0; request.bytes as usize];
        let (start, end) = (request.address, request.address + u64::from(request.bytes));
        let mut address = start;
        while address < end {
            let row = self.row(address, end - address);
            let first = (address - start) as usize;
            self.rows.read(self.place(&row), &mut into[first..first + row.bytes as usize]);
            address += row.bytes;
        }
        for &number in &self.buffered {
            let part = &self.parts[number];
            let (from, to) = (part.address.max(start), (part.address + part.bytes).min(end));
            if from < to
                && let Some(data) = self.data_of(part).bytes()
            {
                into[(from - start) as usize..(to - start) as usize]
                    .copy_from_slice(&data[(from - part.address) as usize..(to - part.address) as usize]);
            }
        }
        into.into()
    }
}
