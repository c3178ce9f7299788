//! The bytes of the drive: a physical unit is a page of the store.

use super::flash_ops::Untimed;
use super::model::Ssd;
use super::versions::Version;
use nacre_kernel::{Data, Time};
use nacre_media::store::Store;

impl<S: Store> Ssd<S> {
    /// Gives the bytes of a read from `address` on.
    #[inline]
    pub(super) fn give(&self, address: u64, data: Data<'_>) {
        if S::CARRIES_BYTES
            && let Data::Read(into) = data
        {
            self.read_bytes(address, into);
        }
    }

    fn read_bytes(&self, address: u64, into: &mut [u8]) {
        let unit_bytes = self.array.geometry.unit_bytes as usize;
        let mut at = 0;
        while at < into.len() {
            let place = address + at as u64;
            let offset = place as usize % unit_bytes;
            let end = into.len().min(at + unit_bytes - offset);
            self.read_unit_bytes(
                (place >> self.array.geometry.unit_shift) as u32,
                offset,
                &mut into[at..end],
            );
            at = end;
        }
    }

    /// What is mapped to nothing is zero.
    fn read_unit_bytes(&self, unit: u32, offset: usize, into: &mut [u8]) {
        match self.array.table[unit as usize] {
            0 => into.fill(0),
            entry => self.array.flash.read(entry - 1, offset, into),
        }
    }

    /// Writes `unit` into the buffer, with what is for it of the bytes of a request at `address`, which came at
    /// `now`, from `at` on; `false` where nothing can be written any more.
    #[inline(always)]
    pub(super) fn put(&mut self, (now, at): (Time, Time), unit: u32, address: u64, data: &Data<'_>) -> bool {
        match S::CARRIES_BYTES {
            true => self.put_bytes((now, at), unit, address, data),
            false => self.array.write(unit, &[], &mut self.schedule.from(now, at)),
        }
    }

    #[inline(never)]
    fn put_bytes(&mut self, (now, at): (Time, Time), unit: u32, address: u64, data: &Data<'_>) -> bool {
        let mut page = std::mem::take(&mut self.page);
        self.read_unit_bytes(unit, 0, &mut page);
        let before = (self.array.table[unit as usize] != 0).then(|| page.clone());
        if let Data::Write(new) = data {
            overlay(&mut page, u64::from(unit) << self.array.geometry.unit_shift, new, address);
        }
        let is_written = self.array.write(unit, &page, &mut self.schedule.from(now, at));
        self.page = page;
        if is_written {
            let page = self.array.table[unit as usize] - 1;
            let (superblock, operation) = self.array.locate(page);
            let safe = if self.config.power_protected { at } else { Time::MAX };
            let version = Version { unit, superblock, operation, program: None, safe, before };
            self.versions.push(version, self.array.is_held(page), &mut self.schedule);
        }
        is_written
    }

    /// Writes `unit` in no time, with the bytes that it has.
    #[inline]
    pub(super) fn put_untimed(&mut self, unit: u32) -> bool {
        if !S::CARRIES_BYTES {
            return self.array.write(unit, &[], &mut Untimed);
        }
        let mut page = std::mem::take(&mut self.page);
        self.read_unit_bytes(unit, 0, &mut page);
        let is_written = self.array.write(unit, &page, &mut Untimed);
        self.page = page;
        is_written
    }
}

/// Replaces what lies in `page`, which begins at `begin`, by `new`, which begins at `address`.
fn overlay(page: &mut [u8], begin: u64, new: &[u8], address: u64) {
    let from = begin.max(address);
    let to = (begin + page.len() as u64).min(address + new.len() as u64);
    if from < to {
        let (into, of) = ((from - begin) as usize, (from - address) as usize);
        let count = (to - from) as usize;
        page[into..into + count].copy_from_slice(&new[of..of + count]);
    }
}
