//! Content of a medium: none (for the simulation of time, wear, and energy only) or bytes.
//!
//! A medium is generic over its [`Store`]. Cleaning and wear leveling call the same methods in both cases;
//! with [`Nothing`] they compile to no code.

mod in_place;
mod memory;
#[cfg(test)]
mod tests;

pub use in_place::InPlace;
pub use memory::Memory;

/// The data of a medium's pages.
///
/// Pages are numbered over the whole medium, and all have [`Store::page_bytes`] bytes. A store is notified of
/// operations and never rejects one: the medium knows which pages may be programmed. A store on a file
/// reports failures at the end of an operation, outside this trait.
pub trait Store: Send {
    /// Whether there is data at all.
    const CARRIES_BYTES: bool;

    /// Bytes per page; 0 without data.
    fn page_bytes(&self) -> usize;

    /// Copies the bytes of `page` from `offset` into `into`. An unprogrammed page reads as 0xFF, and returns
    /// `false`.
    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool;

    /// Programs a whole page.
    fn program(&mut self, page: u64, bytes: &[u8]);

    /// Programs page `to` with the bytes of page `from`.
    fn copy(&mut self, from: u64, to: u64);

    /// Erases `count` pages from `first`.
    fn erase(&mut self, first: u64, count: u64);
}

/// A store selected when a stack is built; the methods are those of [`Store`].
pub trait Pages: Send {
    /// As [`Store::page_bytes`].
    fn page_bytes(&self) -> usize;
    /// As [`Store::read`].
    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool;
    /// As [`Store::program`].
    fn program(&mut self, page: u64, bytes: &[u8]);
    /// As [`Store::copy`].
    fn copy(&mut self, from: u64, to: u64);
    /// As [`Store::erase`].
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

/// Size of the store of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages that are erased together.
    pub pages_per_extent: u64,
    /// Pages of the whole medium.
    pub pages: u64,
}

/// A store without data: every operation is free.
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
