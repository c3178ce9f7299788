//! The part of the mapping table that is cached.

use nacre_config::{Choice, Configuration};
use nacre_kernel::Bytes;

/// What is cached as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Cached {
    /// A page of the mapping table.
    Pages,
    /// One mapping.
    Entries,
}

/// A mapping table in flash, a part of which is in DRAM.
#[derive(Clone, Debug, Configuration)]
pub struct MappingCacheConfig {
    /// DRAM that caches mappings, no more than there are.
    #[config(min = "8 B", max = "1 PiB")]
    pub size: Bytes,
    /// What is cached as a whole: pages of the table, or single mappings.
    #[config(default = "pages", source = "assumed: a miss reads a page anyway")]
    pub cached: Cached,
}
