//! A transactional key-value store, run for the requests it makes, as BerkeleyDB compares storage devices.
//!
//! # Models
//! A store of `keys` pairs on pages of one size, kept by a hash table or a B+tree, behind a page cache, with a
//! write-ahead log. The store is really there: its pages hold pairs, searches go from page to page, and what a
//! transaction swaps stays swapped. Only the bytes are left out: a key is its number and a value stands for
//! `value` bytes. A transaction draws two different keys, each as likely as any other, gets both, puts the
//! value of each under the other, and commits: four searches, two changed pairs, three log records.
//!
//! - `hash` is linear hashing (Litwin 1980, as in Seltzer and Yigit 1991): a page that describes the table, read
//!   first by every search; then the bucket's page, then overflow pages. When there are more than `fill` pairs
//!   for each bucket, the next bucket in a row splits. Overflow pages that fall free are used again.
//! - `btree` is a B+tree: a search goes from the root to a leaf. A full page splits in the middle; a page at the
//!   right end of its level that grows at its end stays full, so keys loaded in their order fill leaves whole.
//! - How much fits on a page follows from Berkeley DB's own format: 26 B of header; in a leaf 2 B of index and
//!   3 B of head for each item, in fours; 2 B and 12 B for each pointer, in fours; 2 B and 1 B for each item of a
//!   bucket. With the defaults 31 pairs on a leaf, 135 pointers on an inner page, 33 pairs on a bucket's page.
//! - The page cache holds `cache` bytes of pages, none of them at the start. A page that is not there is read. The
//!   page used longest ago leaves; a changed one is written first. A page that is being read or written is used
//!   by nobody else until that is done.
//! - Every change makes a log record of `log_record` and both values. It must be durable before its page is
//!   written (write-ahead logging). A commit appends its record and makes the log durable: one request writes
//!   every log block that has new records, then a flush. One client at a time does so. Who comes meanwhile waits,
//!   and whatever was appended by then goes out with the next write: group commit.
//! - A transaction locks the two pages it changes, a leaf or a bucket's first page, from its get to the end of
//!   its commit. It takes its keys in the order of those pages, so there is no deadlock.
//! - A checkpoint begins every `checkpoint` transactions, and when more than half of the log's region is needed
//!   for recovery. `writers` clients of their own write the pages that are dirty at that time, in the order of
//!   their numbers, while transactions continue; then they flush, and log, write and flush a mark. The region is
//!   used round and round; when it is full a transaction begins only after the checkpoint.
//! - `threads` threads run one transaction after the other, without a pause but for the processor's work:
//!   `operation` before each get and put, `commit` before each commit. Every request of a thread waits for the
//!   one before. The store is notified when each request is done, so which thread continues, who waits for whom and
//!   what one flush commits follow from the device.
//!
//! Addresses: the log from 0, then page 0 and all others. A unit of work is a transaction; it is done with the
//! flush that makes its commit durable. All requests of pages have the size of a page; log writes are whole log
//! blocks.
//!
//! # Leaves out
//! Processors are as many as there are threads, and what wakes a thread takes no time; a store's own data in
//! memory (its lists, its log buffer) is never waited for. Deadlocks, and locks shared by readers: all are
//! exclusive, also on a page that is being written. Inserts and deletes during the run; values larger than half a
//! page; prefix compression; file system metadata; a page torn by power failure. The loading itself makes no
//! requests: the device already holds the store, and the cache is cold.
//!
//! # Sources
//! akel-2011: section 3.1, the transaction that swaps the values of two keys, hash table and B-tree, synchronous
//! I/O, and the number of threads. The paper gives neither the number nor the size of pairs, nor pages nor cache;
//! those are Berkeley DB's own defaults (berkeley-db) or assumed. litwin-1980, seltzer-1991: linear hashing.
//! comer-1979: the B+tree. mohan-1992: write-ahead logging. yao-1978: how full random insertions leave leaves.
//! Assumed: the hash function, MurmurHash3's finaliser, instead of Berkeley DB's of the key's bytes; one lookup of
//! the table's page for each search; that put searches anew; processor times.
//!
//! # Checks
//! Contents against a plain map, under random insertions and under swaps; order, depth and fill of the tree,
//! among them ln 2 under random insertions; addresses, size and overflow of buckets; recovery from a power
//! failure at any moment, whatever writes survive it, gives what was committed; with one thread every request
//! against a plain program; hit ratio of a cache of a share of the pages; log bytes and page writes of a
//! transaction; group commit and throughput of threads by hand.

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

/// How a store finds its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum AccessMethod {
    /// Linear hashing: a bucket's page and its overflow pages.
    Hash,
    /// A B+tree, from the root to a leaf.
    Btree,
}

/// In what order a store is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Load {
    /// By key: leaves become full.
    Sorted,
    /// At random: pages split in the middle, and leaves become about 69 % full.
    Random,
}

/// A transactional key-value store.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// How many transactions there are in all. Absent: the run's own limit ends it.
    #[config(min = 1)]
    pub transactions: Option<u64>,
    /// How pairs are found.
    #[config(default = "hash", source = "assumed: the paper measures both, this one first")]
    pub method: AccessMethod,
    /// How many pairs there are.
    #[config(
        default = 1_000_000,
        min = 4,
        max = 67_108_864,
        source = "assumed: as in LevelDB's db_bench; the paper does not say"
    )]
    pub keys: u64,
    /// Bytes of a key.
    #[config(
        default = "16 B",
        min = "4 B",
        max = "16 KiB",
        source = "assumed: as in LevelDB's db_bench; the paper does not say"
    )]
    pub key: Bytes,
    /// Bytes of a value.
    #[config(
        default = "100 B",
        min = "1 B",
        max = "16 KiB",
        source = "assumed: as in LevelDB's db_bench; the paper does not say"
    )]
    pub value: Bytes,
    /// Bytes of a page; a power of two.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "64 KiB",
        source = "standard: berkeley-db, the file system's block, which is 4 KiB on the usual ones"
    )]
    pub page: Bytes,
    /// The order in which the store is loaded before the run.
    #[config(default = "sorted", source = "assumed: a benchmark numbers its keys and inserts them in a row")]
    pub load: Load,
    /// Of a hash table: mean pairs of a bucket above which it grows. Absent: (page - 32 B) / (key + value + 8 B),
    /// the rule of Berkeley DB's documentation.
    #[config(min = 1, max = 65536)]
    pub fill: Option<u32>,
    /// Bytes of the page cache.
    #[config(
        default = "256 KiB",
        min = "512 B",
        max = "1 TiB",
        source = "standard: berkeley-db, the default of DB->set_cachesize; the paper does not say"
    )]
    pub cache: Bytes,
    /// Threads that run transactions, each one after the other.
    #[config(
        default = 4,
        min = 1,
        max = 1024,
        source = "paper: akel-2011, section 3.1: the number that maximizes throughput on Onyx"
    )]
    pub threads: u32,
    /// Processor time of one get or put.
    #[config(
        default = "5 us",
        max = "1 s",
        source = "assumed: a get or put of a page in memory, with its lock and its log record"
    )]
    pub operation: Time,
    /// Processor time of one commit.
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
    /// Bytes of a log record besides the values.
    #[config(
        default = "68 B",
        min = "1 B",
        max = "64 KiB",
        source = "assumed: the fields of Berkeley DB's record of a replaced item"
    )]
    pub log_record: Bytes,
    /// Transactions between two checkpoints. Absent: there is one whenever the log is half full.
    #[config(min = 1)]
    pub checkpoint: Option<u64>,
    /// Pages a checkpoint writes at a time.
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
        let problem = format!("a page has no room for two keys of {key} with values of {value}");
        reader.conflict("page", &page.to_string(), &problem, "use larger pages, or smaller keys and values");
    }
    if cache < page {
        let problem = format!("it does not hold a page of {page}");
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
            "transactions under way may make {} of records, and half of it is for them",
            Bytes(at_once)
        );
        reader.conflict("log", &log.to_string(), &problem, "use a larger log, or fewer threads");
    }
}

/// The room.
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

/// Puts in every key, with its own number as its value.
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
