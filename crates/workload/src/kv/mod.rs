//! A transactional key-value store like Berkeley DB, as used in published comparisons of storage devices. The
//! model runs an implementation of the store, which generates the block requests.
//!
//! # Model
//! The store has `keys` key-value pairs in a hash table or a B+tree on pages of equal size, a page cache,
//! and a write-ahead log. The implementation is complete, except that the values do not contain data. Every
//! pair is stored on a particular page, a search reads all pages on its path, and swapped values stay
//! swapped. A key is a number, and a value represents `value` bytes.
//!
//! *Transaction*: a transaction selects two different random keys, gets both values, puts each value under
//! the other key, and commits. A transaction therefore performs four searches, changes two pairs, and appends
//! three log records.
//!
//! - `hash` is linear hashing (Litwin 1980, as in Seltzer and Yigit 1991). A search first reads a page that
//!   describes the table. Then the search reads the page of the bucket and the overflow pages of the bucket.
//!   If the table has more than `fill` pairs per bucket, the next bucket in order is split. Free overflow
//!   pages are reused.
//! - `btree` is a B+tree. A search reads the pages from the root to a leaf. A full page is split in the
//!   middle. However, if the new key is appended to the rightmost page of a level, this page stays full. Only
//!   the new key goes to a new page. Keys that are loaded in order therefore fill the leaves completely.
//! - *Page capacity*: the number of items in a page follows from the page format of Berkeley DB. A page has a
//!   header of 26 B. In addition to its data, each item has an index entry of 2 B and a header. The size of
//!   this header is 3 B for a leaf item, 12 B for a pointer, and 1 B for a bucket item. The sizes of leaf
//!   items and pointers are rounded up to multiples of 4 B. With the defaults, a leaf holds 31 pairs, an
//!   inner page holds 135 pointers, and a bucket page holds 33 pairs.
//! - *Page cache*: the cache holds `cache` bytes of pages and is empty at the start. On a miss, the store
//!   reads the page and evicts the least recently used page. If the evicted page is dirty, the store writes
//!   it first. While a page is read or written, other threads cannot use this page.
//! - *Log*: every change appends a log record, which consists of `log_record` bytes and the old and new
//!   values. The record must be durable before the changed page is written (write-ahead logging).
//! - *Commit*: a commit appends its record and makes the log durable. One write request stores all log blocks
//!   with new records, and a flush follows. Only one thread at a time writes the log. The other threads wait,
//!   and the next log write includes all records that were appended in the meantime (group commit).
//! - *Locks*: a transaction locks the two pages that it changes. These are leaves of the tree, or the first
//!   pages of buckets. The locks are held from the first get to the end of the commit. Locks are acquired in
//!   page order, so deadlocks are impossible.
//! - *Checkpoint*: a checkpoint starts after every `checkpoint` transactions, or when the log records that
//!   recovery needs occupy more than half of the log region. The pages that are dirty at that time are
//!   written in ascending order, up to `writers` pages in parallel. Transactions continue during the
//!   checkpoint. After a flush, a checkpoint record is appended to the log, written, and flushed. The log
//!   region is circular. If the log region is full, new transactions wait for the checkpoint.
//! - *Threads*: `threads` threads run transactions without pauses. A get or put uses the CPU time
//!   `operation`, and a commit uses the CPU time `commit`. A thread issues a request when its previous
//!   request has completed. The device therefore determines which threads continue, which threads wait, and
//!   which commits share a flush.
//!
//! *Addresses*: the log region starts at address 0, and the database pages follow it. Every database request
//! has the size of a page, and log writes consist of whole log blocks. The unit of work is a transaction. A
//! transaction completes when the flush that makes its commit durable completes.
//!
//! # Not modeled
//! - CPU contention: every thread has a separate CPU, and waking a thread takes no time. Threads never wait
//!   for data structures in memory (lists, log buffer).
//! - Deadlocks and shared locks. All locks are exclusive, even the lock on a page that is being written.
//! - Inserts and deletes during the run, values larger than half a page, prefix compression, and file system
//!   metadata.
//! - Torn pages after a power loss.
//! - Requests of the load phase. At the start, the device already contains the loaded store, and the page
//!   cache is empty.
//!
//! # Sources
//! akel-2011, section 3.1, describes the transaction that swaps two values, the hash table and the B-tree,
//! synchronous I/O, and the number of threads. The paper does not state the number and the size of pairs,
//! the page size, or the cache size. These values are defaults of Berkeley DB (berkeley-db) or assumed.
//! Linear hashing is from litwin-1980 and seltzer-1991, the B+tree from comer-1979, and write-ahead logging
//! from mohan-1992. The utilization of leaves under random insertions is from yao-1978. The hash function
//! is assumed: the model uses the finalizer of MurmurHash3, whereas Berkeley DB hashes the bytes of a key.
//! The CPU times are also assumed. Two further assumptions are that every search reads the page that
//! describes the table, and that every put performs a new search.
//!
//! # Checks
//! - After random insertions and swaps, the store contains the same pairs as a simple map.
//! - The tests check the order, depth, and utilization of the tree. After random insertions, the utilization
//!   of the leaves is ln 2, within 3 %. For the hash table, the tests check the addresses, the size, and the
//!   overflow pages.
//! - After a power loss at any time, recovery restores all committed data, regardless of which unflushed
//!   writes survive.
//! - With a single thread, the model issues the same requests as a simple reference implementation.
//! - If the cache holds only a fraction of the pages, the hit ratio equals a closed form. The log bytes and
//!   the page writes per transaction, and the number of group commits, equal values that were calculated by
//!   hand. The throughput of several threads also equals such a value.

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
use nacre_config::{Choice, Configuration, Descriptor, Model, Reader};
use nacre_kernel::{Bytes, Random, Time};
use transactions::Transactions;

/// Index structure of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum AccessMethod {
    /// Linear hashing. A search reads the page of a bucket and its overflow pages.
    Hash,
    /// A B+tree. A search reads the pages from the root to a leaf.
    Btree,
}

/// Order in which keys are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Load {
    /// Keys are inserted in key order, so leaves become full.
    Sorted,
    /// Keys are inserted in random order. Pages split in the middle, and leaves become about 69 % full.
    Random,
}

/// A transactional key-value store.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Total number of transactions. By default, settings of the run limit its length.
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
    /// Size of a key in bytes.
    #[config(
        default = "16 B",
        min = "4 B",
        max = "16 KiB",
        source = "assumed: as in LevelDB's db_bench; the paper does not state it"
    )]
    pub key: Bytes,
    /// Size of a value in bytes.
    #[config(
        default = "100 B",
        min = "1 B",
        max = "16 KiB",
        source = "assumed: as in LevelDB's db_bench; the paper does not state it"
    )]
    pub value: Bytes,
    /// Page size in bytes; a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "standard: berkeley-db, the block of the file system, usually 4 KiB"
    )]
    pub page: Bytes,
    /// Order in which keys are loaded before the run.
    #[config(default = "sorted", source = "assumed: benchmarks insert numbered keys in order")]
    pub load: Load,
    /// Mean number of pairs per bucket above which a hash table grows. By default, the number is (page - 32
    /// B) / (key + value + 8 B), as in the documentation of Berkeley DB.
    #[config(min = 1, max = 65536)]
    pub fill: Option<u32>,
    /// Size of the page cache in bytes.
    #[config(
        default = "256 KiB",
        min = "512 B",
        max = "1 TiB",
        source = "standard: berkeley-db, the default of DB->set_cachesize; the paper does not state it"
    )]
    pub cache: Bytes,
    /// Number of threads that run transactions.
    #[config(
        default = 4,
        min = 1,
        max = 1024,
        source = "paper: akel-2011, section 3.1: the number that maximizes throughput on Onyx"
    )]
    pub threads: u32,
    /// CPU time per get or put.
    #[config(
        default = "5 us",
        max = "1 s",
        source = "assumed: a get or put of a page in memory, with its lock and its log record"
    )]
    pub operation: Time,
    /// CPU time per commit.
    #[config(
        default = "10 us",
        max = "1 s",
        source = "assumed: the system calls of the log and the release of the locks"
    )]
    pub commit: Time,
    /// Size of the log region in bytes; a multiple of `log_block`.
    #[config(
        default = "10 MiB",
        min = "64 KiB",
        max = "1 GiB",
        source = "standard: berkeley-db, the default of DB_ENV->set_lg_max, the size of a log file"
    )]
    pub log: Bytes,
    /// Log block size in bytes, the unit of log writes; a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "assumed: synchronous writes consist of blocks of the file system"
    )]
    pub log_block: Bytes,
    /// Size of a log record in bytes, excluding its values.
    #[config(
        default = "68 B",
        min = "1 B",
        max = "64 KiB",
        source = "assumed: the fields of Berkeley DB's record of a replaced item"
    )]
    pub log_record: Bytes,
    /// Number of transactions between two checkpoints. By default, a checkpoint starts whenever the log
    /// is half full.
    #[config(min = 1)]
    pub checkpoint: Option<u64>,
    /// Number of pages that a checkpoint writes in parallel.
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

/// Descriptor and constructor of the component.
pub const MODEL: Model<WorkloadFamily> = Model {
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

/// Creates and loads the hash table of a validated configuration.
fn hash_of(config: &Config, order: Random) -> hash::Hash {
    let capacity = bucket_pairs(config.page, config.key, config.value);
    let method = hash::Hash::new(capacity as u32, fill(config) as u32);
    loaded(method, config, order)
}

/// Creates and loads the tree of a validated configuration.
fn btree_of(config: &Config, order: Random) -> btree::Btree {
    let leaf = leaf_pairs(config.page, config.key, config.value);
    let method = btree::Btree::new(leaf as u32, pointers(config.page, config.key) as u32);
    loaded(method, config, order)
}

/// Inserts every key. The initial value of each key is the key itself.
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
