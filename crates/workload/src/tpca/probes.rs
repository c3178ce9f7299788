//! Words of a node that a binary search reads. They depend on the number of pointers and on the result.

/// Maximum number of words read per node: the header, 8 of 255 keys, and a pointer.
const WORDS_MAX: usize = 10;

/// Words read in a node, in this order: the header, keys, and the pointer to follow.
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

/// Size in bytes of a node: a header, `fanout - 1` keys, and `fanout` pointers of `word` bytes each, in this
/// order.
pub(super) fn node_bytes(fanout: u64, word: u64) -> u64 {
    2 * fanout * word
}

/// Paths to each of the first `pointers` pointers of a node with space for `fanout` pointers.
///
/// A search reads the header and finds the first key that is greater than the id. It follows the pointer with
/// the number of this key. Key `k` is the smallest id below pointer `k + 1`. If the id is below pointer
/// `slot`, exactly the keys with a number of at least `slot` are greater than the id.
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
