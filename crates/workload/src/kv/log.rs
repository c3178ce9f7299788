//! The write-ahead log: where records end, and how far they are on storage.

use nacre_kernel::{Op, Request, Time};

/// A log that runs round and round through its region, which begins at address 0.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// Bytes of the region, a whole number of blocks.
    size: u64,
    block: u64,
    /// Bytes of records made, handed to the device, and known to survive, since the start.
    appended: u64,
    written: u64,
    durable: u64,
}

impl Log {
    pub(super) fn new(size: u64, block: u64) -> Log {
        assert!(size.is_multiple_of(block) && size > 0, "a log is of whole blocks");
        Log { size, block, appended: 0, written: 0, durable: 0 }
    }

    /// Adds a record of `bytes` and returns where it ends.
    #[inline]
    pub(super) fn append(&mut self, bytes: u64) -> u64 {
        self.appended += bytes;
        self.appended
    }

    #[inline]
    pub(super) fn is_written(&self, lsn: u64) -> bool {
        lsn <= self.written
    }

    #[inline]
    pub(super) fn is_durable(&self, lsn: u64) -> bool {
        lsn <= self.durable
    }

    /// The write of every block that records were added to since they were written last, as far as the end
    /// of the region; what lies behind takes another write.
    #[inline]
    pub(super) fn write(&mut self) -> Request {
        let from = self.written / self.block * self.block;
        let end = (from / self.size + 1) * self.size;
        let to = self.appended.next_multiple_of(self.block).min(end);
        self.written = self.appended.min(to);
        request(Op::Write, from % self.size, (to - from) as u32)
    }

    /// The flush after which all that was written survives.
    #[inline]
    pub(super) fn flush(&mut self) -> Request {
        self.durable = self.written;
        request(Op::Flush, 0, 0)
    }
}

/// A request of a closed loop.
#[inline]
pub(super) fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}
