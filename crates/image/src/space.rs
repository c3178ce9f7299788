//! Unused space of the file. The file does not list it, because it can be derived from the checkpoint.

use std::collections::BTreeMap;

/// Allocation unit in bytes, a multiple of the file system's block size.
pub(crate) const UNIT_BYTES: u64 = 4096;

/// Unused ranges of the file. The last range is unbounded.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Size of each unused range, by offset. No two ranges are adjacent.
    unused: BTreeMap<u64, u64>,
}

/// Rounds `bytes` up to whole units.
pub(crate) fn units(bytes: u64) -> u64 {
    bytes.next_multiple_of(UNIT_BYTES)
}

impl Space {
    /// Creates a space in which all bytes at and after `start` are unused.
    pub(crate) fn from(start: u64) -> Space {
        // The end of this range is beyond any file and far from an overflow.
        Space { unused: BTreeMap::from([(start, (1 << 62) - start)]) }
    }

    /// Allocates `bytes` bytes in the first unused range that is large enough. Returns their offset.
    pub(crate) fn take(&mut self, bytes: u64) -> u64 {
        let found = self.unused.iter().find(|&(_, &room)| room >= units(bytes));
        let (&offset, _) = found.expect("room has no end");
        let taken = self.claim(offset, bytes);
        assert!(taken, "the room at {offset} was just found unused");
        offset
    }

    /// Allocates `bytes` at `offset`. Returns false if some of them are in use.
    pub(crate) fn claim(&mut self, offset: u64, bytes: u64) -> bool {
        let Some((&start, &room)) = self.unused.range(..=offset).next_back() else { return false };
        let Some(end) = bytes.checked_next_multiple_of(UNIT_BYTES).and_then(|size| offset.checked_add(size))
        else {
            return false;
        };
        if end > start + room {
            return false;
        }
        self.unused.remove(&start);
        for (start, end) in [(start, offset), (end, start + room)] {
            if start < end {
                self.unused.insert(start, end - start);
            }
        }
        true
    }

    /// Returns the unused ranges before `end`, each as its offset and size in bytes.
    pub(crate) fn unused_before(&self, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.unused.range(..end).map(move |(&offset, &room)| (offset, room.min(end - offset)))
    }

    /// Releases `bytes` bytes at `offset`.
    pub(crate) fn give(&mut self, offset: u64, bytes: u64) {
        let (mut start, mut end) = (offset, offset + units(bytes));
        if let Some((&before, &room)) = self.unused.range(..offset).next_back() {
            assert!(before + room <= offset, "the room at {offset} was in use");
            if before + room == offset {
                self.unused.remove(&before);
                start = before;
            }
        }
        if let Some((&after, &room)) = self.unused.range(offset..).next() {
            assert!(end <= after, "the room at {offset} was in use");
            if end == after {
                self.unused.remove(&after);
                end = after + room;
            }
        }
        self.unused.insert(start, end - start);
    }
}
