//! The device as a memory of bytes.

use super::model::{Envy, Visit};
use super::page_table::Location;
use nacre_kernel::{Breakdown, Completion, MemoryDevice, Op, Recovery, Refused, Status, Time};
use nacre_media::store::Store;

/// The part of a request that lies in one page.
struct Piece {
    lpn: u32,
    offset: usize,
    /// Where it begins in the request, and where it ends.
    range: std::ops::Range<usize>,
}

impl<S: Store> Envy<S> {
    fn pieces(&self, address: u64, bytes: usize) -> impl Iterator<Item = Piece> + use<S> {
        let (shift, page_bytes) = (self.page_shift, 1_usize << self.page_shift);
        let mut start = 0;
        std::iter::from_fn(move || {
            if start == bytes {
                return None;
            }
            let at = address + start as u64;
            let offset = at as usize & (page_bytes - 1);
            let end = bytes.min(start + page_bytes - offset);
            let piece = Piece { lpn: (at >> shift) as u32, offset, range: start..end };
            start = end;
            Some(piece)
        })
    }

    fn words(&self, piece: &Piece) -> u64 {
        (piece.range.len() as u64).div_ceil(self.config.word.0)
    }

    fn copy_out(&self, piece: &Piece, into: &mut [u8]) {
        match self.array.table.get(piece.lpn) {
            Location::Nowhere => into.fill(0),
            Location::Flash(page) => self.array.flash.read(page, piece.offset, into),
            Location::Buffer(slot) => {
                into.copy_from_slice(&self.buffer.bytes(slot)[piece.offset..piece.offset + into.len()]);
            }
        }
    }

    /// Takes the time of one access to SRAM for each of `pages`.
    fn touch(&mut self, now: Time, pages: u64) -> Completion {
        let done = self.free_at.max(now) + Time::from_ps(self.config.access.as_ps() * pages);
        (self.free_at, self.worked_until) = (done, done);
        Completion { done, status: Status::Done }
    }

    fn check_power(&self) {
        assert!(!self.has_failed, "nothing may be asked of a device without power");
    }
}

impl<S: Store> MemoryDevice for Envy<S> {
    fn read(&mut self, now: Time, address: u64, into: &mut [u8], breakdown: &mut Breakdown) -> Completion {
        self.check_power();
        self.book.host.count(Op::Read, into.len() as u64);
        let mut visit = Visit { at: self.meet(now, breakdown), breakdown };
        for piece in self.pieces(address, into.len()) {
            self.access(&mut visit, Op::Read, piece.lpn, self.words(&piece));
            self.copy_out(&piece, &mut into[piece.range.clone()]);
        }
        let done = visit.at;
        (self.free_at, self.worked_until) = (done, done);
        Completion { done, status: Status::Done }
    }

    fn write(
        &mut self,
        now: Time,
        address: u64,
        bytes: &[u8],
        breakdown: &mut Breakdown,
    ) -> Result<Completion, Refused> {
        self.check_power();
        if !bytes.is_empty() {
            let last = address + bytes.len() as u64 - 1;
            self.check_transaction(address >> self.page_shift, last >> self.page_shift)?;
        }
        self.book.host.count(Op::Write, bytes.len() as u64);
        let mut visit = Visit { at: self.meet(now, breakdown), breakdown };
        for piece in self.pieces(address, bytes.len()) {
            let location = self.access(&mut visit, Op::Write, piece.lpn, self.words(&piece));
            let Location::Buffer(slot) = location else { unreachable!("writes go to the buffer") };
            let end = piece.offset + piece.range.len();
            self.buffer.bytes_mut(slot)[piece.offset..end].copy_from_slice(&bytes[piece.range]);
        }
        let done = visit.at;
        (self.free_at, self.worked_until) = (done, done);
        Ok(Completion { done, status: Status::Done })
    }

    fn begin(&mut self, now: Time) -> Result<Completion, Refused> {
        self.check_power();
        self.open_transaction()?;
        Ok(self.touch(now, 1))
    }

    fn commit(&mut self, now: Time) -> Result<Completion, Refused> {
        self.check_power();
        self.work_until(now);
        let pages = self.commit_transaction()?;
        Ok(self.touch(now, pages + 1))
    }

    fn abort(&mut self, now: Time) -> Result<Completion, Refused> {
        self.check_power();
        self.work_until(now);
        let pages = self.roll_back()?;
        Ok(self.touch(now, pages + 1))
    }

    fn is_in_transaction(&self) -> bool {
        self.is_transaction_open()
    }

    fn power_fail(&mut self, at: Time) {
        self.lose_power(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.repair(at)
    }
}
