//! The part of the mapping that is in DRAM, where all of it does not fit.
//!
//! The mapping table lies in flash, in pages of many mappings each. What is cached of it is what was used last; what was
//! changed is programmed when it leaves. Data that cleaning moves changes mappings, too.

use nacre_kernel::state::State;

/// What looking a mapping up takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Nothing: it is cached.
    Hit,
    /// A page of the table is read.
    Miss {
        /// The number of the page.
        page: u32,
        /// The page that has to be programmed, since something of it that was changed left.
        programmed: Option<u32>,
    },
}

/// Which mappings are cached.
pub(crate) trait MappingCache: State + Send {
    /// Looks the mapping of `unit` up, to change it if it `changes`.
    fn look_up(&mut self, unit: u32, changes: bool) -> Lookup;

    /// Cleaning moved the data of `unit`.
    fn moved(&mut self, unit: u32);

    /// A page of the table that is to be programmed since cleaning moved data; it counts as programmed.
    fn take_moved(&mut self) -> Option<u32>;

    /// It could not be programmed yet.
    fn put_back(&mut self, page: u32);

    /// Whether a page has to be read before it is programmed, since not all of it is cached.
    fn merges(&self) -> bool;

    /// Power is lost: nothing is cached any more; what was changed is noted when the mapping is known again. Returns how
    /// many pages or mappings were cached.
    fn forget(&mut self) -> u64;
}
