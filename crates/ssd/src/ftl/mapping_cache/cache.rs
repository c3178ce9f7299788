//! Cache of a mapping table in flash.
//!
//! Each page of the table has many mappings. The cache holds the most recently used ones; changed ones are
//! programmed when they are evicted. Garbage collection changes mappings, too.

use nacre_kernel::state::State;

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The mapping is cached.
    Hit,
    /// A page of the table must be read.
    Miss {
        /// Number of that page.
        page: u32,
        /// A page that must be programmed because changed mappings of it were evicted.
        programmed: Option<u32>,
    },
}

/// Cache of mappings.
pub(crate) trait MappingCache: State + Send {
    /// Looks up the mapping of `unit`; `changes` means that it will be modified.
    fn look_up(&mut self, unit: u32, changes: bool) -> Lookup;

    /// Notes that garbage collection moved the data of `unit`.
    fn moved(&mut self, unit: u32);

    /// Removes a table page that must be programmed after garbage collection moved data; it counts as
    /// programmed.
    fn take_moved(&mut self) -> Option<u32>;

    /// Returns a page that could not be programmed yet.
    fn put_back(&mut self, page: u32);

    /// Whether a page must be read before it is programmed, since only part of it may be cached.
    fn merges(&self) -> bool;

    /// Clears the cache after a power loss; changed mappings are recorded when recovery has rebuilt the
    /// mapping. Returns the number of cached pages or mappings.
    fn forget(&mut self) -> u64;
}
