//! Cache of a mapping table in flash: whole pages, or single mappings.

mod cache;
mod cached_entries;
mod cached_pages;
mod recency;

pub(crate) use cache::{Lookup, MappingCache};
pub(crate) use cached_entries::CachedEntries;
pub(crate) use cached_pages::CachedPages;
