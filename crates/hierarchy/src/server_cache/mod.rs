//! A host-side block cache in front of a slower device, with one to four levels.
//!
//! # Model
//! The cache divides every request into blocks. A request completes when its last block completes. The lookup
//! of a request takes the time `lookup`. The slower device is the *backing* (setting `backing`). One to four
//! levels of faster devices hold the cached blocks. A level has the capacity of its device. The replacement
//! policy of the level decides which blocks the level keeps.
//!
//! ## Reads
//! - *Hit*: The cache reads each block from the device of its level, with one request for the requested
//!   portion. If the block then moves to another level, this request reads the whole block.
//! - *Miss*: If a request contains adjacent blocks that no level holds, the cache fetches all of them, as
//!   whole blocks, with one read of the backing.
//! - *Merge*: Other requests for a block that is being fetched wait until the block arrives. These requests
//!   then use the data in memory, without a second fetch.
//! - *Fill*: With `fill = "background"`, the request completes when the data arrives. Afterwards, the device
//!   of the level is busy with the write of the block. With `"foreground"`, the request waits for this write.
//!   Victims are selected when the lookup of the request ends.
//! - *Hedge*: With `hedge_after`, a read without a reply from the level after this time is also sent to the
//!   backing. Only reads of clean blocks that are not being written are hedged. The first reply counts, and
//!   the other read is canceled. If the device of the other read cannot cancel it, its reply is dropped. If
//!   the level returns an error, the hedge is canceled. Reads for moves, write-backs, and evictions are not
//!   hedged.
//!
//! ## Levels
//! - *Exclusive*: A block is in at most one level. A block that is accessed moves to the first level. The
//!   victim of each level moves to the next level: the cache reads the victim from its level and writes it to
//!   the next level.
//! - *Inclusive*: A lower level holds a copy of every block in the levels above it. A block that is accessed
//!   is written to every level above its level. If a level evicts a block, the block is also removed from the
//!   levels above. An access to an upper copy does not count as an access to the lower copies.
//!
//! If the policy of a level refuses a block, the cache offers the block to the next level.
//!
//! ## Write-through
//! Without `write_back`, a write goes to the backing and, in parallel, to every copy in the cache. The host
//! write takes as long as the slowest of these writes.
//!
//! - With `write_allocate`, a write of a whole block places the block in the first level.
//! - A partial write of a cached block updates the block in its level. If the block is being fetched, it is
//!   updated on arrival. A partial write never places a block in the cache.
//! - The cache removes the blocks that a trim touches from all levels and forwards the trim to the backing.
//!   The cache forwards a flush to the backing and does nothing else, because no level holds newer data.
//!
//! ## Write-back
//! With `write_back`, a write of a whole block that is placed in the cache goes only to the level of the
//! block. A write of any portion of a cached block also goes only to this level. The block is dirty until it
//! is written back. The following writes are written through to the backing as described above, with one
//! request for adjacent blocks:
//!
//! - partial writes that miss;
//! - blocks that no level accepts;
//! - writes that would raise the share of dirty blocks in the cache above `dirty`;
//! - partial writes of a block that is being fetched, which also go to the level after the block has arrived.
//!
//! A write-back reads the whole dirty block from its level and writes it to the backing, with one request for
//! adjacent blocks. The cache writes blocks back in three cases:
//!
//! - *In the background*: While the share of dirty blocks exceeds `clean_above`, the oldest `batch` dirty
//!   blocks are written in parallel. The next batch starts when the last of these writes has ended.
//!   Background write-back starts as soon as possible, even between requests, but not after the last request
//!   of a run.
//! - *Eviction*: If the policy evicts a dirty block, the cache writes the block back immediately. The block
//!   that takes the slot of the evicted block waits for this write-back.
//! - *Flush*: The cache writes all dirty blocks back and then forwards the flush to the backing.
//!
//! If a block is written during its write-back, it becomes dirty again and is written back a second time. A
//! trim does not remove dirty blocks. Otherwise, a read of the trimmed block could return an old version from
//! the backing, i.e. neither zeros nor the data before the trim.
//!
//! ## Errors
//! - If a level cannot return a dirty block, the block is lost. Reads of the block then fail with a media
//!   error until the whole block is written. The next flush after the loss also fails, but later flushes do
//!   not.
//! - If the backing rejects a write-back, or accepts it but cannot flush it, the block stays dirty. The cache
//!   writes the block back again with later requests. With a volatile table, flushes fail until the
//!   write-back succeeds. If the block must be evicted before the write-back succeeds, the block is lost.
//! - If a level cannot return a clean block, the copy is dropped, and the block is read from the backing. A
//!   block is also dropped if a level cannot accept it from the host, the backing, or another level.
//!
//! ## Placement on the devices
//! Every block of a level has a separate slot on the device. Block n takes the slot with the number n modulo
//! the capacity in blocks, if this slot is free. Adjacent blocks therefore stay adjacent. If the slot is in
//! use, the block takes the lowest free slot. If addresses have no effect on a device, the cache does not
//! assign slots and uses the first slot for every block. If victims move down through several levels, the
//! victim of the lowest level moves first and frees its slot for the victim from the level above.
//!
//! The cache stores data if its backing and all levels store data. A block that is being fetched is in
//! memory. Data that the host writes to this block in the meantime is in the level when the fetch completes.
//!
//! ## Power loss
//! - *Write-through, or a `volatile` table*: The table is in DRAM. After a power loss, all levels are empty,
//!   and the policies have no history. The recovery reports the number of lost cached blocks. With
//!   write-through, the durability guarantee of the cache is that of the backing. With `write_back`, dirty
//!   blocks are lost and reported as whole blocks, and only flushed writes survive.
//! - *A `persistent` table*: The cache must have only one level. The table entry of a block is stored next to
//!   the data of the block in this level. The device of the level must guarantee that acknowledged writes
//!   survive a power loss. A block is dirty from the completion of its write until it is durable in the
//!   backing. If the backing has a volatile buffer, the cache therefore flushes the backing after every
//!   batch. After a power loss, the cache reads the table: 8 bytes per block of the capacity, in reads of 1
//!   MiB. Dirty blocks are in the cache again, and clean blocks are dropped. A flush goes to the level and to
//!   the backing. The durability guarantee of the cache is the weaker of the guarantees of the level and the
//!   backing. The unit of atomic writes is at most one block.
//!
//! ## Order of operations
//! When the lookup of a request ends, the cache determines hits and misses, notifies the policies, selects
//! victims, and updates counters. Each operation on a device is submitted when it starts. An operation first
//! waits for these other operations:
//!
//! | operation | waits for |
//! |---|---|
//! | write of a block into a level | the source of its data: the fetch, a read of the level that the block leaves, or the host. Also all unfinished operations on its slot |
//! | host write to a copy | earlier writes to the same copy, and reads of the copy for the backing or another level. Such a read therefore never mixes old and new data |
//! | read of a copy that moves between levels or is written back | earlier writes to the same copy |
//! | read of a copy for the host | the data of a block that is being moved from another level. If the data is still in memory, the cache returns it from memory, in the time of a hit |
//! | write or trim of the backing | earlier writes and trims of the same blocks |
//! | fetch from the backing | writes and trims of the same blocks, including write-backs |
//! | write-back | the reads of its blocks and, in the background, the previous batch |
//! | flush | with a volatile table, all write-backs in progress |
//!
//! In a full level, a new block takes the slot of the evicted block. If a level has free slots, a new block
//! waits for the unfinished operations on all slots that were freed.
//!
//! # Counters
//! Counters are in blocks, unless they are described as requests. The hit ratio of reads is (`read_hits` +
//! `read_merged`) / (`read_hits` + `read_merged` + `read_misses`). Merged reads count as hits, because a
//! request that waits for a fetch in progress does not use the backing. If the cache has only one level, with
//! LRU and space for more blocks than are in flight, its hit ratio equals the hit ratio of a plain LRU cache,
//! at any request rate.
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_misses`, `read_merged` | blocks read that were in a level; in no level; being fetched |
//! | `write_hits`, `write_misses` | blocks written that were in a level; in no level |
//! | `write_merged` | partial writes of blocks that were being fetched |
//! | `write_parts` | `write_misses` that were not placed because only a portion of the block was written |
//! | `trimmed` | blocks removed by trims |
//! | `fills` | blocks from the backing that were offered to the levels, including refused blocks |
//! | `refusals` | blocks from the backing or the host that no level accepted |
//! | `bypassed` | blocks from the backing that were not offered because too many were in flight |
//! | `promotions` | blocks found in a lower level and moved to the first level |
//! | `demotions` | victims of a level that a lower level accepted |
//! | `evictions` | victims that left the cache |
//! | `back_invalidations` | blocks removed from a level because a lower level evicted them |
//! | `recovered` | copies that a level could not return or could not accept |
//! | `backing_reads`, `backing_writes` | requests to the backing |
//! | `hedges_sent`, `hedges_won` | with `hedge_after`: reads that were also sent to the backing (included in `backing_reads`); such reads that the backing answered first |
//! | `reads_canceled` | with `hedge_after`: reads that a device canceled because the other read had been answered |
//! | `dirtied`, `overwritten` | with `write_back`: writes that made a block dirty; writes of blocks that were already dirty |
//! | `write_backs` | blocks written back: the sum of `cleaned` (background), `flushed` (flush), and `dirty_evictions` (eviction) |
//! | `write_back_requests` | write-back requests to the backing (included in `backing_writes`) |
//! | `dirty_lost` | dirty blocks lost by a power loss or a failing level |
//! | `lost_pages` | dirty blocks that had to be evicted while the backing rejected or could not store them, or that a level could not return. Reads of these blocks fail |
//! | `levelN_read_hits`, `levelN_write_hits` | read and write hits whose first copy was in level N. Level 0 is the fastest |
//! | `levelN_entries`, `levelN_evictions` | blocks placed in level N from any source; victims of level N with any destination |
//!
//! # Not modeled
//! - Volumes. All requests use one address space, volume 0. The workload maps its volumes to separate ranges
//!   of this address space.
//! - The memory that the cache's tables use.
//! - The time to write an entry of a persistent table. The write of the block includes this time.
//! - Survival of clean blocks. With a persistent table, a power loss removes all clean blocks from the cache.
//! - Adaptive write-back. The cache writes dirty blocks back in order of age, regardless of the load of the
//!   backing. While the share of dirty blocks is at most `clean_above`, blocks stay dirty without a time
//!   limit.
//! - Cancellation of write-backs by trims.
//! - Preconditioning and wear-out of the levels. Preconditioning writes go to the backing, even with
//!   `write_back`. The repeated writes of `run.wear_out` also go to the backing. `run.wear_out` can be used
//!   only without `write_back`.
//! - Reads that wait for incomplete writes. A read of a block whose write has not completed takes the time of
//!   a hit.
//! - More than 65,536 blocks in flight. The backing serves further misses directly (`bypassed`).
//!
//! # Sources
//! - Kim, Seshadri, Dickey, Chiu, "Evaluating phase change memory for enterprise storage systems", FAST'14:
//!   write-through, LRU, 4 KiB, one or two levels.
//! - Koller et al., "Write policies for host-side flash caches", FAST'13: write-back and the resulting data
//!   loss.
//! - Linux, Documentation/admin-guide/bcache.rst: limits of write-back.
//! - Wong, Wilkes, "My cache or yours?", USENIX ATC'02: exclusive levels and demotion.
//! - Baer, Wang, "On the inclusion properties for multi-level cache hierarchies", ISCA'88: inclusive levels.
//! - Dean, Barroso, "The tail at scale", CACM 2013: hedged requests.
//!
//! # Checks
//! - For random overlapping requests, a naive model gives the same counts and completion times, with one
//!   level and with two levels. The data read from and written to each level is also the same.
//! - Data that is written into a level always comes from another level, the backing, or the host.
//! - Every block that becomes dirty is written back exactly once, is lost, or is still dirty at the end of
//!   the run. A flush sends each dirty block to the backing exactly once.
//! - In a cache full of dirty blocks, a write of an uncached block takes the time of one read, one
//!   write-back, and one write. The throughput of background write-back equals its closed form. With `dirty =
//!   "0 %"`, all times equal the times with write-through.
//! - With hit ratio h, cache latency d, and backing latency n, the mean read latency is h d + (1 - h) n.
//! - The tests compare a PCM cache with an eMLC cache of four times its capacity. The PCM cache is faster if
//!   and only if its hit ratio is above 0.889 times the hit ratio of the eMLC cache.
//! - Reads return the data of the last write. After a power loss at any time, reads return data that the
//!   durability guarantee allows. No two blocks share a slot, and all slots without a block are free.
//! - The hit ratio of LRU under Zipf requests follows Che's approximation. A larger LRU cache never has fewer
//!   hits than a smaller one.
//! - The latency of a hedged read has the distribution of the minimum of two latencies, one of which is
//!   delayed by `hedge_after`.

mod building;
mod cache;
mod cleaning;
mod config;
mod device;
mod dirty;
mod fetch;
mod fetching;
mod hedges;
mod hedging;
mod levels;
mod locations;
mod moving;
mod ops;
mod parts;
mod power;
mod reads;
mod report;
#[cfg(test)]
mod tests;
mod visits;
mod write_back;
mod writes;

pub use config::{Config, FillMode, Inclusion, LEVELS_MAX, LevelConfig, TableKind, WriteBackConfig};

use nacre_config::{Descriptor, Model};
use nacre_device::DeviceFamily;

/// The component's descriptor and constructor.
pub const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "server_cache",
        "a host-side block cache, write-through or write-back, with one to four levels",
        &["kim-2014", "wong-wilkes-2002", "baer-wang-1988", "dean-2013"],
        8,
        include_str!("mod.rs"),
    ),
    build: building::build,
};
