//! Settings of the mapping table.

use nacre_config::{Configuration, Kinds};
use nacre_kernel::Bytes;

/// Location of the mapping table.
#[derive(Clone, Debug, Kinds)]
pub enum MappingTable {
    /// The whole mapping table is in DRAM.
    InDram(TableEntries),
    /// The mapping table is in flash, and DRAM holds an LRU cache of its pages, as in DFTL.
    ///
    /// On a cache miss, the drive reads a page of the table. The drive programs a changed page when the cache
    /// evicts it. The table pages that garbage collection changes are programmed once per victim. Table pages
    /// are stored among the pages of host data, and garbage collection moves them like host data. With
    /// allocation by plane, table pages are placed like host data: by their page number, or on the die that
    /// is free first. Table pages that garbage collection changed stay in their plane.
    CachedPages(CachedTable),
    /// The mapping table is in flash, and DRAM holds an LRU cache of its entries, as in MQSim.
    ///
    /// `cached_entries` works like `cached_pages`, but on a miss, the drive caches only one mapping of the
    /// table page that it has read.
    CachedEntries(CachedTable),
}

/// Entries and checkpoints of the table.
#[derive(Clone, Debug, Configuration)]
pub struct TableEntries {
    /// Size of one mapping in bytes.
    #[config(default = "4 B", min = "1 B", max = "64 B", source = "assumed: 32 bits, up to 16 TiB")]
    pub entry: Bytes,
    /// Amount of data programmed between two checkpoints of the mapping. After a power loss, recovery reads
    /// the spare areas of data programmed after the last checkpoint.
    #[config(
        default = "1 GiB",
        min = "512 B",
        max = "1 PiB",
        source = "assumed: a scan of the writes of a few seconds; drives are ready within a second or two"
    )]
    pub checkpoint_every: Bytes,
}

/// A table in flash with a cache in DRAM.
#[derive(Clone, Debug, Configuration)]
pub struct CachedTable {
    /// Size of the DRAM cache of mappings, not including the keys of the mappings. If the cache is larger
    /// than the table, it holds the whole table.
    #[config(min = "8 B", max = "1 PiB")]
    pub size: Bytes,
    /// Entries and checkpoints.
    #[config(flatten)]
    pub entries: TableEntries,
}

impl MappingTable {
    /// Returns the settings of entries and checkpoints.
    pub(crate) fn entries(&self) -> &TableEntries {
        match self {
            MappingTable::InDram(entries) => entries,
            MappingTable::CachedPages(table) | MappingTable::CachedEntries(table) => &table.entries,
        }
    }

    /// Returns the settings of a table in flash with its cache, or `None` if the whole table is in DRAM.
    pub(crate) fn cached(&self) -> Option<&CachedTable> {
        match self {
            MappingTable::InDram(_) => None,
            MappingTable::CachedPages(table) | MappingTable::CachedEntries(table) => Some(table),
        }
    }

    /// Reduces the size of the cache to the fraction `share`, but not below `least` bytes.
    pub(crate) fn shrink_cache(&mut self, share: f64, least: u64) {
        if let MappingTable::CachedPages(table) | MappingTable::CachedEntries(table) = self {
            table.size = Bytes(((table.size.0 as f64 * share) as u64).max(least));
        }
    }
}
