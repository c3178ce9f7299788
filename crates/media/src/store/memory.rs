//! Data in memory.

use super::Store;
use rustc_hash::FxHashMap;

/// Number of pages per chunk, which equals the number of bits in a word.
const CHUNK_PAGES: u64 = 64;

/// Data of programmed pages in memory. Memory is allocated in chunks of 64 pages.
#[derive(Clone, Debug)]
pub struct Memory {
    page_bytes: usize,
    chunks: FxHashMap<u64, Chunk>,
}

/// Adjacent pages, at least one of which is programmed.
#[derive(Clone, Debug)]
struct Chunk {
    /// Bit `i` is set when page `i` is programmed.
    programmed: u64,
    bytes: Box<[u8]>,
}

impl Memory {
    /// A store of erased pages with `page_bytes` bytes each.
    pub fn new(page_bytes: usize) -> Memory {
        Memory { page_bytes, chunks: FxHashMap::default() }
    }

    /// Offset of `page` in its chunk in bytes, and bit of the page in [`Chunk::programmed`].
    fn place(&self, page: u64) -> (usize, u64) {
        let slot = page % CHUNK_PAGES;
        (slot as usize * self.page_bytes, 1 << slot)
    }

    /// Data of `page`, if the page is programmed.
    pub fn programmed(&self, page: u64) -> Option<&[u8]> {
        let (start, bit) = self.place(page);
        let chunk = self.chunks.get(&(page / CHUNK_PAGES))?;
        (chunk.programmed & bit != 0).then(|| &chunk.bytes[start..start + self.page_bytes])
    }

    /// Marks `page` as programmed, and returns a mutable reference to its data.
    fn claim(&mut self, page: u64) -> &mut [u8] {
        let ((start, bit), page_bytes) = (self.place(page), self.page_bytes);
        let chunk = self.chunks.entry(page / CHUNK_PAGES).or_insert_with(|| Chunk {
            programmed: 0,
            bytes: vec![0; page_bytes * CHUNK_PAGES as usize].into_boxed_slice(),
        });
        chunk.programmed |= bit;
        &mut chunk.bytes[start..start + page_bytes]
    }

    /// Erases pages of chunk `number`. `erased` has one bit per page.
    fn erase_in(&mut self, number: u64, erased: u64) {
        if let Some(chunk) = self.chunks.get_mut(&number) {
            chunk.programmed &= !erased;
            if chunk.programmed == 0 {
                self.chunks.remove(&number);
            }
        }
    }
}

impl Store for Memory {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        let programmed = self.programmed(page);
        match programmed {
            Some(bytes) => into.copy_from_slice(&bytes[offset..offset + into.len()]),
            None => into.fill(0xFF),
        }
        programmed.is_some()
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.page_bytes, "a page is programmed as a whole");
        self.claim(page).copy_from_slice(bytes);
    }

    fn copy(&mut self, from: u64, to: u64) {
        let (source, target) = (from / CHUNK_PAGES, to / CHUNK_PAGES);
        let ((start, _), (goal, mark)) = (self.place(from), self.place(to));
        let page = start..start + self.page_bytes;
        if self.programmed(from).is_none() {
            self.erase_in(target, mark);
        } else if source == target {
            self.claim(to);
            let chunk = self.chunks.get_mut(&source).expect("the page was just claimed");
            chunk.bytes.copy_within(page, goal);
        } else {
            self.claim(to);
            let [Some(source), Some(target)] = self.chunks.get_disjoint_mut([&source, &target]) else {
                unreachable!("one page is programmed and the other was just claimed");
            };
            target.bytes[goal..goal + page.len()].copy_from_slice(&source.bytes[page]);
        }
    }

    fn erase(&mut self, first: u64, count: u64) {
        let end = first + count;
        let mut page = first;
        while page < end {
            let slot = page % CHUNK_PAGES;
            let pages = (CHUNK_PAGES - slot).min(end - page);
            self.erase_in(page / CHUNK_PAGES, (u64::MAX >> (CHUNK_PAGES - pages)) << slot);
            page += pages;
        }
    }
}
