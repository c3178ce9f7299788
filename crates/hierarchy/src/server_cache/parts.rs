//! Requests in parts: the keys and places of their blocks, and which part is done last.

use super::levels::Level;
use nacre_kernel::{Completion, Request, Status, Time, Trail};

/// Bits of a block number; the volume sits above them.
const BLOCK_BITS: u32 = 44;

/// The parts of one request, served side by side: the trail keeps the one that is done last.
pub(super) struct Parts {
    pub(super) start: Time,
    pub(super) from: usize,
    done: Time,
    status: Status,
}

impl Parts {
    #[inline]
    pub(super) fn new(start: Time, trail: &Trail) -> Parts {
        Parts { start, from: trail.mark(), done: start, status: Status::Done }
    }

    /// Adds a part whose segments begin at mark `from`.
    #[inline]
    pub(super) fn add(&mut self, part: Completion, from: usize, trail: &mut Trail) {
        if part.done > self.done {
            self.done = part.done;
            trail.drop_range(self.from, from);
        } else {
            trail.drop_range(from, trail.mark());
        }
        if part.status != Status::Done {
            self.status = part.status;
        }
    }

    #[inline]
    pub(super) fn completion(&self) -> Completion {
        Completion { done: self.done, status: self.status }
    }
}

/// Block numbers carry their volume, so that volumes never alias.
#[inline]
pub(super) fn key(volume: u32, block: u64) -> u64 {
    assert!(
        block >> BLOCK_BITS == 0 && volume >> (64 - BLOCK_BITS) == 0,
        "block {block} of volume {volume} has no key"
    );
    u64::from(volume) << BLOCK_BITS | block
}

impl Level {
    /// The place of a block on the device of this level. See "Leaves out".
    #[inline]
    pub(super) fn place(&self, key: u64) -> u64 {
        key % self.blocks
    }

    /// The same part of a block, where this level keeps it.
    #[inline]
    pub(super) fn at(&self, part: Request, shift: u32) -> Request {
        let offset = part.address & ((1 << shift) - 1);
        let key = u64::from(part.volume) << BLOCK_BITS | part.address >> shift;
        Request { address: self.place(key) << shift | offset, volume: 0, ..part }
    }
}
