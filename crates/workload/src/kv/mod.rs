//! A transactional key-value store, executed for its requests, as BerkeleyDB compares storage devices.
//!
//! # Model
//! A store has `keys` pairs on pages of one size, in a hash table or a B+tree, behind a page cache, with a
//! write-ahead log. The store is real except for the bytes: its pages hold pairs, searches go from page to page,
//! and swapped values stay swapped. A key is its number, and a value stands for `value` bytes.
//!
//! *Transaction*: selects two different keys with equal probability, gets both, puts the value of each under the
//! other, and commits. It has four searches, two changed pairs, and three log records.
//!
//! - `hash` is linear hashing (Litwin 1980, as in Seltzer and Yigit 1991). Every search first reads a page that
//!   describes the table, then the page of the bucket, then overflow pages. When there are more than `fill` pairs
//!   per bucket, the next bucket in order splits. Free overflow pages are reused.
//! - `btree` is a B+tree. A search goes from the root to a leaf. A full page splits in the middle. A page at the
//!   right end of its level that grows at its end stays full, so keys that are loaded in order fill leaves
//!   completely.
//! - *Page capacity* follows from the format of Berkeley DB. A page has a header of 26 B. A leaf item takes 2 B
//!   of index and 3 B of head in addition to its data, a pointer 2 B of index and 12 B, and a bucket item 2 B of
//!   index and 1 B. Leaf items and pointers are rounded up to 4 B. With the defaults, there are 31 pairs on a
//!   leaf, 135 pointers on an inner page, and 33 pairs on the page of a bucket.
//! - *Page cache*: it holds `cache` bytes of pages and is empty at the start. A missing page is read. The least
//!   recently used page is evicted; a changed one is written first. A page that is being read or written is not
//!   used by others until that is done.
//! - *Log*: every change makes a log record of `log_record` and both values. The record must be durable before
//!   its page is written (write-ahead logging).
//! - *Commit*: a commit appends its record and makes the log durable. One request writes every log block with new
//!   records, then a flush follows. One client does this at a time. Clients that arrive in the meantime wait, and
//!   the next write includes everything that was appended by then (group commit).
//! - *Locks*: a transaction locks the two pages that it changes, a leaf or the first page of a bucket, from its
//!   get to the end of its commit. It takes its keys in the order of those pages, so there is no deadlock.
//! - *Checkpoint*: a checkpoint starts every `checkpoint` transactions, and when recovery needs more than half of
//!   the log region. `writers` separate clients write the pages that are dirty at that time, in the order of
//!   their numbers, while transactions continue. Then they flush, and log, write, and flush a mark. The log
//!   region is circular. When it is full, a transaction starts only after the checkpoint.
//! - *Threads*: `threads` threads run one transaction after the other without a pause, except for CPU time:
//!   `operation` before each get and put, and `commit` before each commit. Every request of a thread waits for
//!   the previous one. The store is notified of each completion. Which thread continues, which threads wait for
//!   each other, and what one flush commits therefore depend on the device.
//!
//! *Addresses*: the log starts at 0, followed by page 0 and all other pages. A unit of work is a transaction; it
//! completes with the flush that makes its commit durable. Page requests have the size of a page. Log writes are
//! whole log blocks.
//!
//! # Not modeled
//! - CPU contention: there are as many CPUs as threads, and waking a thread takes no time. A store never waits
//!   for its data in memory (lists, log buffer).
//! - Deadlocks and shared locks: all locks are exclusive, also on a page that is being written.
//! - Inserts and deletes during the run, values larger than half a page, prefix compression, and file system
//!   metadata.
//! - A page torn by a power loss.
//! - Loading makes no requests: the device already holds the store, and the cache is cold.
//!
//! # Sources
//! akel-2011, section 3.1: the transaction that swaps the values of two keys, hash table and B-tree, synchronous
//! I/O, and the number of threads. The paper gives neither the number and size of pairs, nor pages and cache;
//! these are defaults of Berkeley DB (berkeley-db) or assumed. litwin-1980, seltzer-1991: linear hashing.
//! comer-1979: the B+tree. mohan-1992: write-ahead logging. yao-1978: fill of leaves under random insertions.
//! Assumed: the hash function (MurmurHash3's finalizer instead of Berkeley DB's hash of the key's bytes); one
//! lookup of the table's page per search; a new search for each put; CPU times.
//!
//! # Checks
//! - Contents against a plain map, under random insertions and swaps.
//! - Order, depth, and fill of the tree, including ln 2 under random insertions; addresses, size, and overflow of
//!   buckets.
//! - Recovery from a power loss at any time returns the committed data, whichever writes survive.
//! - With one thread, every request against a plain program.
//! - Hit ratio of a cache for a share of the pages; log bytes and page writes per transaction; group commit and
//!   throughput of threads, calculated by hand.

mod btree;
mod cache;
mod checkpoint;
mod clients;
mod hash;
mod layout;
mod locks;
mod log;
mod method;
mod pages;
mod searches;
mod store;
mod transactions;
mod waiting;

use crate::{Workload, WorkloadFamily};
use layout::{bucket_pairs, fill, leaf_pairs, log_reserve, pointers};
use method::Method;
use nacre_config::{Choice, Configuration, Descriptor, Reader, Room};
use nacre_kernel::{Bytes, Random, Time};
use transactions::Transactions;

/// Index structure of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum AccessMethod {
    /// Linear hashing: a bucket's page and its overflow pages.
    Hash,
    /// A B+tree, from the root to a leaf.
    Btree,
}

/// Order in which a store is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Load {
    /// In key order: leaves become full.
    Sorted,
    /// In random order: pages split in the middle, and leaves become about 69 % full.
    Random,
}

/// A transactional key-value store.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Total number of transactions; absent means the limit of the run.
    #[config(min = 1)]
    pub transactions: Option<u64>,
    /// Index structure.
    #[config(default = "hash", source = "assumed: the first of the two that the paper measures")]
    pub method: AccessMethod,
    /// Number of pairs.
    #[config(
        default = 1_000_000,
        min = 4,
        max = 67_108_864,
        source = "assumed: as in LevelDB's db_bench; the paper does not state it"
    )]
    pub keys: u64,
    /// Bytes of a key.
    #[config(
        default = "16 B",
        min = "4 B",
        max = "16 KiB",
        source = "assumed: as in LevelDB's db_bench; the paper does not state it"
    )]
    pub key: Bytes,
    /// Bytes of a value.
    #[config(
        default = "100 B",
        min = "1 B",
        max = "16 KiB",
        source = "assumed: as in LevelDB's db_bench; the paper does not state it"
    )]
    pub value: Bytes,
    /// Bytes of a page; a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "standard: berkeley-db, the block of the file system, usually 4 KiB"
    )]
    pub page: Bytes,
    /// Order in which the store is loaded before the run.
    #[config(default = "sorted", source = "assumed: benchmarks insert numbered keys in order")]
    pub load: Load,
    /// For a hash table: mean pairs per bucket above which it grows. Absent means (page - 32 B) / (key +
    /// value + 8 B), the rule of Berkeley DB's documentation.
    #[config(min = 1, max = 65536)]
    pub fill: Option<u32>,
    /// Bytes of the page cache.
    #[config(
        default = "256 KiB",
        min = "512 B",
        max = "1 TiB",
        source = "standard: berkeley-db, the default of DB->set_cachesize; the paper does not state it"
    )]
    pub cache: Bytes,
    /// Number of threads; each runs one transaction after the other.
    #[config(
        default = 4,
        min = 1,
        max = 1024,
        source = "paper: akel-2011, section 3.1: the number that maximizes throughput on Onyx"
    )]
    pub threads: u32,
    /// CPU time of one get or put.
    #[config(
        default = "5 us",
        max = "1 s",
        source = "assumed: a get or put of a page in memory, with its lock and its log record"
    )]
    pub operation: Time,
    /// CPU time of one commit.
    #[config(
        default = "10 us",
        max = "1 s",
        source = "assumed: the log's system calls and the locks' release"
    )]
    pub commit: Time,
    /// Bytes of the log's region; a whole number of log blocks.
    #[config(
        default = "10 MiB",
        min = "64 KiB",
        max = "1 GiB",
        source = "standard: berkeley-db, the default of DB_ENV->set_lg_max, the size of a log file"
    )]
    pub log: Bytes,
    /// Bytes of a log block, the unit of log writes; a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "assumed: synchronous writes go out in blocks of the file system"
    )]
    pub log_block: Bytes,
    /// Bytes of a log record without its values.
    #[config(
        default = "68 B",
        min = "1 B",
        max = "64 KiB",
        source = "assumed: the fields of Berkeley DB's record of a replaced item"
    )]
    pub log_record: Bytes,
    /// Transactions between two checkpoints; absent means a checkpoint whenever the log is half full.
    #[config(min = 1)]
    pub checkpoint: Option<u64>,
    /// Pages that a checkpoint writes in parallel.
    #[config(
        default = 1,
        min = 1,
        max = 1024,
        source = "assumed: one thread writes page by page, as Berkeley DB's DB_ENV->memp_sync does"
    )]
    pub writers: u32,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let Config { key, value, page, cache, log, log_block, .. } = config;
    for (field, bytes) in [("page", page), ("log_block", log_block)] {
        if !bytes.0.is_power_of_two() {
            let use_instead = Bytes(bytes.0.next_power_of_two());
            reader.conflict(
                field,
                &bytes.to_string(),
                "it is not a power of two",
                &format!("use {use_instead}"),
            );
        }
    }
    let least = match config.method {
        AccessMethod::Btree => leaf_pairs(*page, *key, *value).min(pointers(*page, *key)),
        AccessMethod::Hash => bucket_pairs(*page, *key, *value),
    };
    if least < 2 {
        let problem = format!("a page has no space for two keys of {key} with values of {value}");
        reader.conflict("page", &page.to_string(), &problem, "use larger pages, or smaller keys and values");
    }
    if cache < page {
        let problem = format!("it is smaller than a page of {page}");
        reader.conflict("cache", &cache.to_string(), &problem, &format!("use {page} or more"));
    }
    if log_block.0.is_power_of_two() && !log.0.is_multiple_of(log_block.0) {
        let problem = format!("it is not a whole number of blocks of {log_block}");
        let use_instead = Bytes(log.0.next_multiple_of(log_block.0));
        reader.conflict("log", &log.to_string(), &problem, &format!("use {use_instead}"));
    }
    let at_once = log_reserve(config) + log_block.0;
    if at_once > log.0 / 2 {
        let problem = format!(
            "records of transactions in progress may need {}, which must be at most half of the log",
            Bytes(at_once)
        );
        reader.conflict("log", &log.to_string(), &problem, "use a larger log, or fewer threads");
    }
}

/// The component's descriptor and constructor.
pub const ROOM: Room<WorkloadFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "kv",
        "a transactional key-value store on a hash table or a B+tree: threads swap the values of two keys",
        &["akel-2011", "berkeley-db", "litwin-1980", "seltzer-1991", "comer-1979", "mohan-1992", "yao-1978"],
        2,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let keys = builder.random(&format!("{}.keys", slot.path()));
        let order = builder.placement(&format!("{}.load", slot.path()));
        let workload: Box<dyn Workload> = match config.method {
            AccessMethod::Hash => Box::new(Transactions::new(hash_of(&config, order), &config, keys)),
            AccessMethod::Btree => Box::new(Transactions::new(btree_of(&config, order), &config, keys)),
        };
        Ok(workload)
    },
};

/// The loaded hash table of checked settings.
fn hash_of(config: &Config, order: Random) -> hash::Hash {
    let capacity = bucket_pairs(config.page, config.key, config.value);
    let method = hash::Hash::new(capacity as u32, fill(config) as u32);
    loaded(method, config, order)
}

/// The loaded tree of checked settings.
fn btree_of(config: &Config, order: Random) -> btree::Btree {
    let leaf = leaf_pairs(config.page, config.key, config.value);
    let method = btree::Btree::new(leaf as u32, pointers(config.page, config.key) as u32);
    loaded(method, config, order)
}

/// Inserts every key, with its own number as value.
fn loaded<M: Method>(mut method: M, config: &Config, mut order: Random) -> M {
    let mut keys: Vec<u32> = (0..config.keys as u32).collect();
    if config.load == Load::Random {
        for place in (1..keys.len()).rev() {
            keys.swap(place, order.below(place as u64 + 1) as usize);
        }
    }
    for key in keys {
        method.insert(key, key);
    }
    method
}

#[cfg(test)]
mod tests;
