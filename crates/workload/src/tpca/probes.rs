//! Words of a node that a binary search reads, by the number of its pointers and its result.

/// Maximum words read per node: the header, 8 keys of 255, and a pointer.
const WORDS_MAX: usize = 10;

/// The words read in a node, in order: the header, keys, then the pointer to follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    count: u16,
    offsets: [u16; WORDS_MAX],
}

impl Path {
    /// Offsets of the words in the node, in bytes.
    #[inline]
    pub(super) fn offsets(&self) -> &[u16] {
        &self.offsets[..usize::from(self.count)]
    }

    fn read(&mut self, offset: u64) {
        self.offsets[usize::from(self.count)] = u16::try_from(offset).expect("a node has at most 8 KiB");
        self.count += 1;
    }
}

/// Bytes of a node: a header, `fanout - 1` keys and `fanout` pointers of `word` bytes each, in this order.
pub(super) fn node_bytes(fanout: u64, word: u64) -> u64 {
    2 * fanout * word
}

/// The paths to each of the first `pointers` of a node with space for `fanout`.
///
/// A search reads the header, then finds the first key greater than the id; the pointer with that number is
/// followed. Key `k` is the smallest id under pointer `k + 1`. The id is under pointer `slot`, so a key is
/// greater exactly if its number is at least `slot`.
pub(super) fn paths(pointers: u64, fanout: u64, word: u64) -> Vec<Path> {
    (0..pointers).map(|slot| path(pointers, slot, fanout, word)).collect()
}

fn path(pointers: u64, slot: u64, fanout: u64, word: u64) -> Path {
    let mut path = Path::default();
    path.read(0);
    let (mut low, mut high) = (0, pointers - 1);
    while low < high {
        let middle = (low + high) / 2;
        path.read(word * (1 + middle));
        if middle >= slot { high = middle } else { low = middle + 1 }
    }
    path.read(word * (fanout + slot));
    path
}
