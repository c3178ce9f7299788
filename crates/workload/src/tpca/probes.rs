//! Which words of a node a binary search reads, by the size of the node and the entry it ends at.

/// Words read of one node at most: 9 keys of 256, and a pointer.
const WORDS_MAX: usize = 10;

/// The words read of a node, in order: keys, then the pointer to follow.
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

/// The paths to each of the `entries` of a node whose keys and pointers, `word` bytes each, alternate.
///
/// It looks for the first key greater than the id; the entry before is the one to follow. The id lies in
/// `slot`, so a key is greater exactly where it stands behind that slot.
pub(super) fn paths(entries: u64, word: u64) -> Vec<Path> {
    (0..entries).map(|slot| path(entries, slot, word)).collect()
}

fn path(entries: u64, slot: u64, word: u64) -> Path {
    let mut path = Path::default();
    let (mut low, mut high) = (0, entries);
    while low < high {
        let middle = (low + high) / 2;
        path.read(2 * word * middle);
        if middle > slot { high = middle } else { low = middle + 1 }
    }
    path.read(2 * word * slot + word);
    path
}
