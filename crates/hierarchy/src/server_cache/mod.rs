//! A host-side block cache in front of a slower device, with one to four levels.
//!
//! # Model
//! The cache divides every request into blocks. A request completes with its last block. Each request costs
//! one `lookup`. One to four levels of faster devices hold the blocks. The capacity of a level is that of its
//! device, and its replacement policy decides which blocks it keeps.
//!
//! ## Reads
//! - *Hit*: each block is read from the device of its level with one request, for the requested portion. If
//!   the block then moves to another level, the whole block is read.
//! - *Miss*: adjacent blocks of one request that are in no level are fetched from the backing with one
//!   request for the whole blocks.
//! - *Merge*: a block that is being fetched has an arrival time. Another request for it waits until then and
//!   uses the data in memory, without a second fetch.
//! - *Fill*: with `fill = "background"`, the request completes when the data arrives, and the device of the
//!   level is busy with the write afterwards. With `"foreground"`, the request waits for that write. Victims
//!   are selected when the request arrives.
//! - *Hedge*: with `hedge_after`, a level read without a reply after this time is also sent to the backing,
//!   if the block is clean and is not being written. The first reply counts. The other read is canceled. If
//!   its device cannot cancel it, its reply is dropped. If the level returns an error, the hedge is canceled.
//!   Reads for moves, write-backs, and evictions are not hedged.
//!
//! ## Levels
//! - *Exclusive*: a block is in at most one level. A used block moves to the first level. The victim of the
//!   first level is read from it and written to the second, the victim of the second moves to the third, and
//!   so on.
//! - *Inclusive*: a lower level holds a copy of every block above it. A used block is written to every level
//!   above the one where it was found. A block that a level evicts is also removed from the levels above. A
//!   use of an upper copy does not count as a use of the lower copies.
//!
//! If the policy of a level refuses a block, the block is offered to the next level.
//!
//! ## Write-through
//! Without `write_back`, a write goes to the backing and, in parallel, to every copy in the cache. The
//! latency is that of the slower write.
//!
//! - With `write_allocate`, blocks that are written as a whole are placed in the first level.
//! - A partial write updates the block at its location. If the block is being fetched, it is updated on
//!   arrival. A partial write never places a block in the cache.
//! - Trims remove the blocks that they touch from all levels and are passed to the backing. Flushes are
//!   passed to the backing, because no level holds newer data.
//!
//! ## Write-back
//! With `write_back`, a write of a whole block that is placed in the cache, or of any portion of a cached
//! block, goes only to its level. The block is dirty until it is written back. The following writes go
//! through to the backing as described above, with one request for adjacent blocks:
//!
//! - partial writes that miss;
//! - blocks that no level accepts;
//! - writes that would raise the share of dirty blocks in the cache above `dirty`;
//! - partial writes of a block that is being fetched, which also go to the level after the block has arrived.
//!
//! A write-back reads the whole dirty block from its level and writes it to the backing, with one request for
//! adjacent blocks. It happens in three cases:
//!
//! - *In the background*: the oldest `batch` dirty blocks above `clean_above` are written in parallel. The
//!   next batch starts when the last of these writes has ended. Background write-back starts as soon as it
//!   can, even between requests, but not after the last request of a run.
//! - *Eviction*: if the policy evicts a dirty block, it is written back immediately, and the block that takes
//!   its slot waits.
//! - *Flush*: all dirty blocks are written back, and then the flush is passed to the backing.
//!
//! If a block is written during its write-back, it becomes dirty again and is written back a second time. A
//! trim does not remove dirty blocks. Otherwise, reads would return the data of the backing, which may be
//! older than the data that a trimmed block may return.
//!
//! ## Errors
//! - If a level cannot return a dirty block, the block is lost. Reads of it get a media error until it is
//!   written as a whole, and the next flush fails once.
//! - If the backing rejects a write-back, or accepts it but cannot flush it, the block stays dirty and is
//!   written back again with later requests. Without a persistent table, flushes fail in the meantime. A
//!   block that must be evicted in the meantime is lost.
//! - If a level cannot return a clean block, its copy is dropped, and the block is read from the backing. If
//!   a level cannot accept a block from the host, the backing, or another level, the block is also dropped.
//!
//! ## Placement on the devices
//! Every block of a level has a separate slot on the device. Block n takes slot n modulo the capacity in
//! blocks if that slot is free, so adjacent blocks stay adjacent. Otherwise, it takes the lowest free slot.
//! If addresses have no effect on a device, the cache does not send them. In a chain of victims, the last one
//! moves first, which frees its slot for the block above.
//!
//! The cache stores data if its backing and all levels do. A block that is being fetched is in memory, and
//! data that is written to it is in its level when the fetch completes.
//!
//! ## Power loss
//! - *Write-through, or a `volatile` table*: the table is in DRAM. After a power loss, all levels are empty
//!   and the policies have no history. The recovery reports the number of lost cached blocks. Write-through
//!   keeps the durability guarantee of the backing. With `write_back`, dirty blocks are lost and reported as
//!   whole blocks, and only flushed writes survive.
//! - *A `persistent` table*: the entry of a block is stored next to its data in the single level. The level
//!   must keep the writes that it acknowledged. A block is dirty from the completion of its write until the
//!   backing has it durably. A backing with a volatile buffer is therefore flushed after every batch. After a
//!   power loss, the table is read: 8 bytes per block of the capacity, 1 MiB at a time. Dirty blocks are in
//!   the cache again, and clean blocks are dropped. A flush goes to the level and to the backing. The
//!   guarantee is the weaker of the two, and the atomic unit is at most a block.
//!
//! ## Order of operations
//! Lookups, policies, victims, and counters are decided when the lookup of a request ends. Each operation on
//! a device is submitted when it starts. It waits for these operations first:
//!
//! | operation | waits for |
//! |---|---|
//! | write of a block into a level | the source of its data (the fetch, a read of the level that the block leaves, or the host), and all unfinished operations on its slot |
//! | host write to a copy | earlier writes to the same copy, and reads of the copy for the backing or another level, so that such a read never mixes old and new data |
//! | read of a copy that moves between levels or is written back | earlier writes to the same copy |
//! | read of a copy for the host | the data of a block that is being moved from another level. Data that is still in memory is returned from there, in the time of a hit |
//! | write or trim of the backing | earlier writes and trims of the same blocks |
//! | fetch from the backing | writes and trims of the same blocks, including write-backs |
//! | write-back | the reads of its blocks and, in the background, the previous batch |
//! | flush | with a volatile table, all write-backs in progress |
//!
//! In a full level, the slot of an evicted block is assigned to the block that replaces it. If a level has
//! free slots, a new block waits for the unfinished operations on any slot that was freed.
//!
//! # Counters
//! Counters are in blocks, unless they are described as requests. The hit ratio of reads is (`read_hits` +
//! `read_merged`) / (`read_hits` + `read_merged` + `read_misses`), because a request that waits for a fetch
//! in progress does not use the backing. With one LRU level that is larger than the blocks in flight, this is
//! the hit ratio of a single LRU cache, regardless of the request rate.
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_misses`, `read_merged` | blocks read that were in a level; in no level; being fetched |
//! | `write_hits`, `write_misses` | blocks written that were in a level; in no level |
//! | `write_merged` | partial writes of blocks that were being fetched |
//! | `write_parts` | `write_misses` that were not placed because only a portion of the block was written |
//! | `trimmed` | blocks removed by trims |
//! | `fills` | blocks from the backing that were offered to the levels, including refused ones |
//! | `refusals` | blocks from the backing or the host that no level accepted |
//! | `bypassed` | blocks from the backing that were not offered because too many were in flight |
//! | `promotions` | blocks found in a lower level and moved to the first |
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
//! - Volumes: requests come from one address space, volume 0. A workload first maps its volumes to separate
//!   ranges.
//! - The memory of the cache's tables.
//! - With a persistent table: the time to write an entry separately, because it is included in the write of
//!   the block; and clean blocks that survive a power loss.
//! - Adaptive write-back: dirty blocks are written back in order of age, regardless of the load of the
//!   backing. Blocks at or below `clean_above` stay dirty without a time limit.
//! - Cancellation of write-backs by trims.
//! - Preconditioning and wear-out of the levels. Preconditioning writes go to the backing, even with
//!   `write_back`. Repeated writes until a device wears out also go to the backing, and only without
//!   `write_back`.
//! - Waits for incomplete writes: a read of a block whose write has not completed takes the time of a hit.
//! - More than 65,536 blocks in flight. Further misses are served by the backing only (`bypassed`).
//!
//! # Sources
//! Kim, Seshadri, Dickey, Chiu, "Evaluating phase change memory for enterprise storage systems", FAST'14
//! (write-through, LRU, 4 KiB, one or two levels); Koller et al., "Write policies for host-side flash
//! caches", FAST'13 (write-back and its data loss); Linux, Documentation/admin-guide/bcache.rst (limits of
//! write-back); Wong, Wilkes, "My cache or yours?", USENIX ATC'02 (exclusive levels and demotion); Baer,
//! Wang, "On the inclusion properties for multi-level cache hierarchies", ISCA'88 (inclusive levels); Dean,
//! Barroso, "The tail at scale", CACM 2013 (hedged requests).
//!
//! # Checks
//! - Every count, every completion time, and all data read from and written to every level equal those of a
//!   naive model, with one level and two, on random overlapping requests.
//! - Data written into a level was read from another level or the backing, or comes from the host.
//! - Every block that became dirty is written back once, lost, or still dirty. The backing receives each
//!   dirty block once per flush.
//! - A cache full of dirty blocks serves a write in the time of one read, one write-back, and one write.
//!   Background write-back has the throughput of its closed form. With `dirty = "0 %"`, every time equals
//!   write-through.
//! - Mean read latency is h d + (1 - h) n. A PCM cache of a quarter of the size is faster than an eMLC cache
//!   exactly if its hit ratio is above .889 of that of the eMLC cache.
//! - Reads return the last write, even after power losses at any time. No two blocks share a slot, and all
//!   other slots are free.
//! - LRU under Zipf requests follows Che's approximation. A larger LRU cache never has fewer hits.
//! - Hedged reads have the distribution of the minimum of two latencies, one of which starts later.

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

use nacre_config::{Descriptor, Room};
use nacre_device::DeviceFamily;

/// The component's descriptor and constructor.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "server_cache",
        "a host-side block cache, write-through or write-back, with one to four levels",
        &["kim-2014", "wong-wilkes-2002", "baer-wang-1988", "dean-2013"],
        8,
        include_str!("mod.rs"),
    ),
    build: building::build,
};
