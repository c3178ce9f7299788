//! Cache of the mapping table.

use nacre_config::{Choice, Configuration};
use nacre_kernel::Bytes;

/// Unit of caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Cached {
    /// A page of the mapping table.
    Pages,
    /// One mapping.
    Entries,
}

/// A mapping table in flash with a cache in DRAM.
#[derive(Clone, Debug, Configuration)]
pub struct MappingCacheConfig {
    /// DRAM that caches mappings, at most the size of the table.
    #[config(min = "8 B", max = "1 PiB")]
    pub size: Bytes,
    /// Unit of caching: pages of the table, or single mappings.
    #[config(default = "pages", source = "assumed: a miss reads a page anyway")]
    pub cached: Cached,
}
