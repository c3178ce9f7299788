//! Sizes: how many pairs fit on a page, how long log records are, and where log and pages lie.

use super::Config;
use nacre_kernel::Bytes;

/// Bytes at the head of every page: `SIZEOF_PAGE` of Berkeley DB's `db_page.h`.
const HEADER: u64 = 26;
/// Bytes of an entry of a page's index, which says where an item begins.
const INDEX: u64 = 2;
/// Bytes before the data of an item in a leaf (`BKEYDATA`: length and type), before the key of a pointer
/// (`BINTERNAL`: length, type, page, records) and before an item of a bucket (`HKEYDATA`: type).
const LEAF_ITEM: u64 = 3;
const POINTER: u64 = 12;
const BUCKET_ITEM: u64 = 1;
/// Items of a tree begin at multiples of this.
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

/// Pairs for each bucket above which the table grows: what is set, or the rule of Berkeley DB's
/// documentation of `DB->set_h_ffactor`.
pub(super) fn fill(config: &Config) -> u64 {
    let rule = (config.page.0 - 32) / (config.key.0 + config.value.0 + 8);
    config.fill.map_or(rule.max(1), u64::from)
}

/// Bytes of the record of one changed value: the old one and the new one.
pub(super) fn update_bytes(config: &Config) -> u64 {
    config.log_record.0 + 2 * config.value.0
}

/// Bytes of all records that transactions under way and a checkpoint may make: for each thread two changes and
/// the commit, and the mark.
pub(super) fn log_reserve(config: &Config) -> u64 {
    let transaction = 2 * update_bytes(config) + config.log_record.0;
    u64::from(config.threads) * transaction + config.log_record.0
}

/// Address of page 0: the first multiple of a page behind the log.
pub(super) fn pages_start(config: &Config) -> u64 {
    config.log.0.next_multiple_of(config.page.0)
}
