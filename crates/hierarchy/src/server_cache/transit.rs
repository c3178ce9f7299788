//! The bytes of blocks that are on their way from the backing. Empty where no bytes are carried.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::BTreeMap;

/// Blocks that may be there before those that have arrived are looked for.
const BLOCKS_MIN: usize = 64;

/// Blocks in memory: each as the backing has it, in the order of calls.
///
/// A block that is written in part while it is on its way comes into its level as it is then. Its level was
/// written when the block set out, in the order of calls, so from then on this has its bytes.
#[derive(Debug, State)]
pub(super) struct Transit {
    #[state(varies)]
    blocks: BTreeMap<u64, Arriving>,
    /// Blocks from which on those that have arrived are looked for.
    limit: usize,
}

#[derive(Debug, Value)]
struct Arriving {
    bytes: Vec<u8>,
    until: Time,
    /// Whether the levels have other bytes than these.
    is_ahead: bool,
}

impl Transit {
    /// Nothing is on its way.
    pub(super) fn new() -> Transit {
        Transit { blocks: BTreeMap::new(), limit: BLOCKS_MIN }
    }

    /// Whether nothing is there.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// `block` arrives at `until` with these bytes.
    pub(super) fn insert(&mut self, block: u64, bytes: &[u8], until: Time) {
        self.blocks.insert(block, Arriving { bytes: bytes.to_vec(), until, is_ahead: false });
    }

    /// Whether blocks that have arrived are to be taken out.
    pub(super) fn is_large(&self) -> bool {
        self.blocks.len() >= self.limit
    }

    /// Nothing is asked about times before `floor`: takes out what has arrived, and no level has otherwise.
    pub(super) fn settle(&mut self, floor: Time, is_held: impl Fn(u64) -> bool) {
        self.blocks.retain(|&block, of| of.until > floor || of.is_ahead && is_held(block));
        self.limit = (2 * self.blocks.len()).max(BLOCKS_MIN);
    }

    /// Reads from byte `from` of `block` on, if it is there. Whether it is.
    pub(super) fn read(&self, block: u64, from: usize, into: &mut [u8]) -> bool {
        let Some(of) = self.blocks.get(&block) else { return false };
        into.copy_from_slice(&of.bytes[from..from + into.len()]);
        true
    }

    /// `block` is written from byte `from` on; so are the levels that hold it, if `with_levels`.
    pub(super) fn write(&mut self, block: u64, from: usize, bytes: &[u8], with_levels: bool) {
        let Some(of) = self.blocks.get_mut(&block) else { return };
        of.bytes[from..from + bytes.len()].copy_from_slice(bytes);
        let is_whole = bytes.len() == of.bytes.len();
        of.is_ahead = !with_levels || of.is_ahead && !is_whole;
    }
}
