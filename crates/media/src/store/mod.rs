//! Content of a medium. If only time, wear, and energy are simulated, a medium stores no data.
//!
//! A medium is generic over its [`Store`]. Garbage collection and wear leveling call the same methods with
//! and without data. With [`Nothing`], the compiler removes these calls.

mod in_place;
mod memory;
#[cfg(test)]
mod tests;

pub use in_place::InPlace;
pub use memory::Memory;

/// The data of a medium's pages.
///
/// Pages are numbered across the whole medium, and all have [`Store::page_bytes`] bytes. A store never
/// rejects an operation, because the medium checks which pages may be programmed. A store on a file reports
/// failures after an operation, outside this trait.
pub trait Store: Send {
    /// Whether the store has data.
    const CARRIES_BYTES: bool;

    /// Size of a page in bytes, or 0 if the store has no data.
    fn page_bytes(&self) -> usize;

    /// Copies the bytes of `page` to `into`, starting at `offset`. A page that is not programmed reads as
    /// 0xFF. Returns whether the page is programmed.
    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool;

    /// Programs a whole page.
    fn program(&mut self, page: u64, bytes: &[u8]);

    /// Programs page `to` with the bytes of page `from`.
    fn copy(&mut self, from: u64, to: u64);

    /// Erases `count` pages, starting at `first`.
    fn erase(&mut self, first: u64, count: u64);
}

/// A store that is selected when a stack is built. It has the methods of [`Store`].
pub trait Pages: Send {
    /// See [`Store::page_bytes`].
    fn page_bytes(&self) -> usize;
    /// See [`Store::read`].
    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool;
    /// See [`Store::program`].
    fn program(&mut self, page: u64, bytes: &[u8]);
    /// See [`Store::copy`].
    fn copy(&mut self, from: u64, to: u64);
    /// See [`Store::erase`].
    fn erase(&mut self, first: u64, count: u64);
}

impl<S: Store> Pages for S {
    fn page_bytes(&self) -> usize {
        Store::page_bytes(self)
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        Store::read(self, page, offset, into)
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        Store::program(self, page, bytes);
    }

    fn copy(&mut self, from: u64, to: u64) {
        Store::copy(self, from, to);
    }

    fn erase(&mut self, first: u64, count: u64) {
        Store::erase(self, first, count);
    }
}

impl Store for Box<dyn Pages> {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        (**self).page_bytes()
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        (**self).read(page, offset, into)
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        (**self).program(page, bytes);
    }

    fn copy(&mut self, from: u64, to: u64) {
        (**self).copy(from, to);
    }

    fn erase(&mut self, first: u64, count: u64) {
        (**self).erase(first, count);
    }
}

/// Page size and number of pages of a device's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size of a page, in bytes.
    pub page_bytes: u32,
    /// Number of pages that are erased together.
    pub pages_per_extent: u64,
    /// Number of pages in the whole medium.
    pub pages: u64,
}

/// A store without data, whose operations have no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Store for Nothing {
    const CARRIES_BYTES: bool = false;

    #[inline]
    fn page_bytes(&self) -> usize {
        0
    }

    #[inline]
    fn read(&self, _page: u64, _offset: usize, _into: &mut [u8]) -> bool {
        false
    }

    #[inline]
    fn program(&mut self, _page: u64, _bytes: &[u8]) {}

    #[inline]
    fn copy(&mut self, _from: u64, _to: u64) {}

    #[inline]
    fn erase(&mut self, _first: u64, _count: u64) {}
}
