//! The page table: location of the current version of every logical page.

use nacre_kernel::state::{State, Value};
use prefetch_index::prefetch_index;

/// Location of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Location {
    /// The page was never written and reads as zeros.
    Nowhere,
    /// The page is in the flash page with this number.
    Flash(u32),
    /// The page is in the slot of the write buffer with this number.
    Buffer(u32),
}

/// A table with four bytes per page. The value 0 means [`Location::Nowhere`]. Flash pages are numbered upward
/// from 1, and buffer slots downward from the maximum.
#[derive(State)]
pub(super) struct PageTable {
    /// Host memory for the table is allocated on the first write (docs/decisions/0022).
    #[state(sparse)]
    entries: Vec<u32>,
    #[state(skip = "from the configuration")]
    flash_pages: u64,
}

impl PageTable {
    /// A table of `pages` unmapped logical pages, for a device with `flash_pages` flash pages.
    pub(super) fn new(pages: u64, flash_pages: u64) -> PageTable {
        let pages = usize::try_from(pages).expect("a table fits the address space");
        PageTable { entries: vec![0; pages], flash_pages }
    }

    /// Maximum number of flash pages and buffer slots that four bytes can represent. One value is reserved
    /// for [`Location::Nowhere`].
    pub(super) const PAGES_MAX: u64 = u32::MAX as u64;

    /// Location of page `lpn`.
    #[inline]
    pub(super) fn get(&self, lpn: u32) -> Location {
        self.decode(self.entries[lpn as usize])
    }

    /// Maps page `lpn` to `location`.
    #[inline]
    pub(super) fn set(&mut self, lpn: u32, location: Location) {
        let entry = match location {
            Location::Nowhere => 0,
            Location::Flash(page) => page + 1,
            Location::Buffer(slot) => u32::MAX - slot,
        };
        self.entries[lpn as usize] = entry;
    }

    /// Prefetches the entry of page `lpn`.
    #[inline]
    pub(super) fn prefetch(&self, lpn: u32) {
        prefetch_index(&self.entries, lpn as usize);
    }

    /// Estimated host memory in bytes, for a system that allocates 4 KiB on the first write.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let is_written = |page: &&[u32]| page.iter().any(|&entry| entry != 0);
        self.entries.chunks(1024).filter(is_written).count() * 4096
    }

    /// Returns every mapped page with its location, in the order of page numbers.
    pub(super) fn mapped(&self) -> impl Iterator<Item = (u32, Location)> + '_ {
        let mapped = self.entries.iter().enumerate().filter(|&(_, &entry)| entry != 0);
        mapped.map(|(lpn, &entry)| (lpn as u32, self.decode(entry)))
    }

    #[inline]
    fn decode(&self, entry: u32) -> Location {
        if entry == 0 {
            Location::Nowhere
        } else if u64::from(entry) <= self.flash_pages {
            Location::Flash(entry - 1)
        } else {
            Location::Buffer(u32::MAX - entry)
        }
    }
}
