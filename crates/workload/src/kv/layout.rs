//! Sizes: number of pairs per page, size of log records, and locations of the log and the pages.

use super::Config;
use nacre_kernel::Bytes;

/// Size of the page header in bytes: `SIZEOF_PAGE` of Berkeley DB's `db_page.h`.
const HEADER: u64 = 26;
/// Size of an index entry in bytes. An index entry is the offset of an item in the page.
const INDEX: u64 = 2;
/// Number of bytes before the data of a leaf item (`BKEYDATA`: length and type).
const LEAF_ITEM: u64 = 3;
/// Number of bytes before the key of a pointer (`BINTERNAL`: length, type, page, records).
const POINTER: u64 = 12;
/// Number of bytes before the data of a bucket item (`HKEYDATA`: type).
const BUCKET_ITEM: u64 = 1;
/// Alignment of tree items in bytes.
const ALIGN: u64 = 4;

/// Number of pairs on a leaf.
pub(super) fn leaf_pairs(page: Bytes, key: Bytes, value: Bytes) -> u64 {
    let item = |bytes: Bytes| INDEX + (LEAF_ITEM + bytes.0).next_multiple_of(ALIGN);
    (page.0 - HEADER) / (item(key) + item(value))
}

/// Number of pointers on an inner page.
pub(super) fn pointers(page: Bytes, key: Bytes) -> u64 {
    (page.0 - HEADER) / (INDEX + (POINTER + key.0).next_multiple_of(ALIGN))
}

/// Number of pairs on a page of a bucket.
pub(super) fn bucket_pairs(page: Bytes, key: Bytes, value: Bytes) -> u64 {
    (page.0 - HEADER) / (2 * (INDEX + BUCKET_ITEM) + key.0 + value.0)
}

/// Mean number of pairs per bucket above which the table grows. If the setting is absent, the number follows
/// from the formula in the documentation of Berkeley DB's `DB->set_h_ffactor`.
pub(super) fn fill(config: &Config) -> u64 {
    let rule = (config.page.0 - 32) / (config.key.0 + config.value.0 + 8);
    config.fill.map_or(rule.max(1), u64::from)
}

/// Size in bytes of the log record of a changed value. The record contains the old and the new value.
pub(super) fn update_bytes(config: &Config) -> u64 {
    config.log_record.0 + 2 * config.value.0
}

/// Maximum total size, in bytes, of the log records of all transactions and of a checkpoint in progress. Each
/// thread writes two changes and a commit. The checkpoint writes one record.
pub(super) fn log_reserve(config: &Config) -> u64 {
    let transaction = 2 * update_bytes(config) + config.log_record.0;
    u64::from(config.threads) * transaction + config.log_record.0
}

/// Address of page 0: the first multiple of the page size after the log.
pub(super) fn pages_start(config: &Config) -> u64 {
    config.log.0.next_multiple_of(config.page.0)
}
