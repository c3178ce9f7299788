//! Sizes: pairs per page, log records, and locations of log and pages.

use super::Config;
use nacre_kernel::Bytes;

/// Bytes at the head of every page: `SIZEOF_PAGE` of Berkeley DB's `db_page.h`.
const HEADER: u64 = 26;
/// Bytes of an index entry of a page, the offset of an item.
const INDEX: u64 = 2;
/// Bytes before the data of an item in a leaf (`BKEYDATA`: length and type), before the key of a pointer
/// (`BINTERNAL`: length, type, page, records) and before an item of a bucket (`HKEYDATA`: type).
const LEAF_ITEM: u64 = 3;
const POINTER: u64 = 12;
const BUCKET_ITEM: u64 = 1;
/// Alignment of items of a tree.
const ALIGN: u64 = 4;

/// Pairs on a leaf.
pub(super) fn leaf_pairs(page: Bytes, key: Bytes, value: Bytes) -> u64 {
    let item = |bytes: Bytes| INDEX + (LEAF_ITEM + bytes.0).next_multiple_of(ALIGN);
    (page.0 - HEADER) / (item(key) + item(value))
}

/// Pointers on an inner page.
pub(super) fn pointers(page: Bytes, key: Bytes) -> u64 {
    (page.0 - HEADER) / (INDEX + (POINTER + key.0).next_multiple_of(ALIGN))
}

/// Pairs on a page of a bucket.
pub(super) fn bucket_pairs(page: Bytes, key: Bytes, value: Bytes) -> u64 {
    (page.0 - HEADER) / (2 * (INDEX + BUCKET_ITEM) + key.0 + value.0)
}

/// Pairs per bucket above which the table grows: the setting, or the rule in Berkeley DB's documentation of
/// `DB->set_h_ffactor`.
pub(super) fn fill(config: &Config) -> u64 {
    let rule = (config.page.0 - 32) / (config.key.0 + config.value.0 + 8);
    config.fill.map_or(rule.max(1), u64::from)
}

/// Bytes of the record of one changed value: the old and the new value.
pub(super) fn update_bytes(config: &Config) -> u64 {
    config.log_record.0 + 2 * config.value.0
}

/// Maximum bytes of all records of transactions and a checkpoint in progress: for each thread two changes and
/// the commit, and the checkpoint mark.
pub(super) fn log_reserve(config: &Config) -> u64 {
    let transaction = 2 * update_bytes(config) + config.log_record.0;
    u64::from(config.threads) * transaction + config.log_record.0
}

/// Address of page 0: the first multiple of the page size after the log.
pub(super) fn pages_start(config: &Config) -> u64 {
    config.log.0.next_multiple_of(config.page.0)
}
