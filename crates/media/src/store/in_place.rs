//! Data that is written in place, for cells that need no erase.

use super::Store;

/// Bytes that are accessed by address, stored in the pages of a store.
///
/// Bits are stored inverted: unprogrammed bytes read as ones in a store, but must read as zeros here.
#[derive(Debug)]
pub struct InPlace<S> {
    store: S,
    page: Vec<u8>,
}

impl<S: Store> InPlace<S> {
    /// Creates data that is stored in the pages of `store`.
    pub fn new(store: S) -> InPlace<S> {
        let page = vec![0; store.page_bytes()];
        InPlace { store, page }
    }

    /// Copies bytes to `into`, starting at `address`.
    pub fn read(&self, address: u64, into: &mut [u8]) {
        for (page, offset, range) in pieces(address, into.len(), self.page.len()) {
            let into = &mut into[range];
            self.store.read(page, offset, into);
            into.iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// Writes `bytes`, starting at `address`.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        for (page, offset, range) in pieces(address, bytes.len(), self.page.len()) {
            let bytes = &bytes[range];
            if bytes.len() < self.page.len() {
                self.store.read(page, 0, &mut self.page);
            }
            let kept = &mut self.page[offset..offset + bytes.len()];
            kept.iter_mut().zip(bytes).for_each(|(kept, &byte)| *kept = !byte);
            self.store.program(page, &self.page);
        }
    }

    /// Sets `bytes` bytes to zero, starting at `address`. Pages that are set to zero completely use no
    /// memory.
    pub fn clear(&mut self, address: u64, bytes: u64) {
        let page_bytes = self.page.len() as u64;
        let end = address + bytes;
        let (first, last) = (address.next_multiple_of(page_bytes), end / page_bytes * page_bytes);
        if first >= last {
            return self.write(address, &vec![0; bytes as usize]);
        }
        self.write(address, &vec![0; (first - address) as usize]);
        self.store.erase(first / page_bytes, (last - first) / page_bytes);
        self.write(last, &vec![0; (end - last) as usize]);
    }

    /// Copies page `from` to page `to`.
    pub fn copy_page(&mut self, from: u64, to: u64) {
        self.store.copy(from, to);
    }

    /// Size of a page in bytes, or 0 if the store has no data.
    pub fn page_bytes(&self) -> usize {
        self.page.len()
    }
}

/// Divides `bytes` bytes from `address` into ranges within pages. Each range has the number of its page,
/// its offset in the page, and its position within the `bytes` bytes.
fn pieces(
    address: u64,
    bytes: usize,
    page_bytes: usize,
) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == bytes {
            return None;
        }
        let at = address + start as u64;
        let offset = (at % page_bytes as u64) as usize;
        let end = bytes.min(start + page_bytes - offset);
        let piece = (at / page_bytes as u64, offset, start..end);
        start = end;
        Some(piece)
    })
}
