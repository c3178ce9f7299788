//! A host-side block cache in front of a slower device, with one to four levels.
//!
//! # Model
//! The cache cuts every request into blocks. A request completes with its last block. Each request costs one
//! `lookup`. One to four levels of faster devices hold the blocks. The capacity of a level is that of its device,
//! and its replacement policy decides which blocks stay.
//!
//! ## Reads
//! - *Hit*: each block is read from the device of its level with one request, for the part that was requested. If
//!   the block moves to another level, the whole block is read.
//! - *Miss*: adjacent blocks of one request that are in no level are fetched from the backing with one request
//!   for the whole blocks.
//! - *Merge*: a block that is being fetched has an arrival time. Another request for it waits until then and
//!   takes it from memory, without a second fetch.
//! - *Fill*: with `fill = "background"`, the request completes when the data arrives, and the device of the level
//!   is busy with the write afterwards. With `"foreground"`, the request waits for that write. Victims are chosen
//!   when the request arrives.
//! - *Hedge*: with `hedge_after`, a read of a level that has no answer after this time is also sent to the backing, if
//!   the block is clean and is not being written. The first answer counts. The other read is canceled; if its device
//!   cannot cancel it, its answer is dropped. If the level returns an error, the hedge is canceled. Reads for moves,
//!   write-backs, and evictions are not hedged.
//!
//! ## Levels
//! - *Exclusive*: a block is in at most one level. A block that is used moves to the first level. The victim of
//!   the first level is read from it and written to the second, the victim of the second goes to the third, and
//!   so on.
//! - *Inclusive*: a lower level holds a copy of everything above it. A block that is used is written to every
//!   level above the one it was found in. A block that a level evicts is also removed from the levels above. A
//!   use of an upper copy does not count as a use of the lower ones.
//!
//! If the policy of a level refuses a block, the next level is asked.
//!
//! ## Write-through
//! Without `write_back`, a write goes to the backing and, in parallel, to every copy in the cache. The latency is
//! that of the slower one.
//!
//! - With `write_allocate`, blocks that are written as a whole are placed in the first level.
//! - A partial write updates the block where it is. If the block is being fetched, it is updated on arrival. A
//!   partial write never places a block in the cache.
//! - Trims remove the blocks they touch from all levels and are passed to the backing. Flushes are passed to the
//!   backing, since no level holds newer data.
//!
//! ## Write-back
//! With `write_back`, a write of a whole block that is placed in the cache, or of any part of a cached block,
//! goes to its level only. The block is dirty until it is written back. The following writes go through to the
//! backing as above, adjacent blocks with one request:
//!
//! - partial writes that miss;
//! - blocks that no level accepts;
//! - writes that would make more than the share `dirty` of the cache dirty;
//! - partial writes of a block that is being fetched; these also go to the level after the block has arrived.
//!
//! A write-back reads the whole dirty block from its level and writes it to the backing, adjacent blocks with one
//! request. It happens in three cases:
//!
//! - *In the background*: the oldest `batch` dirty blocks above `clean_above` are written in parallel. The next
//!   batch starts when the last of these is done. Background write-back starts as soon as it can, also between
//!   requests, but not after the last request of a run.
//! - *Eviction*: if the policy evicts a dirty block, it is written back at once, and the block that takes its
//!   slot waits.
//! - *Flush*: all dirty blocks are written back; then the flush goes to the backing.
//!
//! If a block is written during its write-back, it becomes dirty again and is written back a second time. A trim
//! leaves dirty blocks in place: the backing may have older data than a trimmed block may return.
//!
//! ## Errors
//! - If a level cannot return a dirty block, the block is lost. Reads of it get a media error until it is written
//!   as a whole, and the next flush fails once.
//! - If the backing rejects a write-back, or accepts it but cannot flush it, the block stays dirty and is tried
//!   again with later requests. Without a persistent table, flushes fail in the meantime. A block that must be
//!   evicted then is lost.
//! - If a level cannot return a clean block, its copy is dropped, and the block is read from the backing. If a
//!   level cannot accept a block from the host, the backing, or another level, the block is dropped, too.
//!
//! ## Placement on the devices
//! Every block of a level has its own slot on the device. Block n takes slot n modulo the capacity in blocks if
//! that slot is free, so adjacent blocks stay adjacent. Otherwise it takes the lowest free slot. If addresses
//! have no effect on a device, the cache sends none. In a chain of victims, the last one moves first, out of the
//! slot that the one above may take.
//!
//! The cache carries data if its backing and all levels do. A block that is being fetched is in memory; data that
//! is written to it is in its level when the fetch completes.
//!
//! ## Power loss
//! - *Write-through, or a `volatile` table*: the table is in DRAM. After a power loss, all levels are empty and
//!   the policies have no history. The recovery reports the number of forgotten blocks. Write-through keeps the
//!   durability guarantee of the backing. With `write_back`, dirty blocks are lost and reported as whole blocks;
//!   only flushed writes survive.
//! - *A `persistent` table*: the entry of a block is stored next to its data in the single level. The level keeps
//!   the writes that it acknowledged. A block is dirty from the completion of its write until the backing has it
//!   durably. A backing with a volatile buffer is therefore flushed after every batch. After a power loss, the
//!   table is read: 8 bytes per block of the capacity, 1 MiB at a time. Dirty blocks are in the cache again, and
//!   clean blocks are forgotten. A flush goes to the level and to the backing. The guarantee is the weaker of the
//!   two, and the atomic unit is at most a block.
//!
//! ## Order of operations
//! Lookups, policies, victims, and counters are decided when the lookup of a request ends. Each operation on a
//! device is submitted when it starts. It waits for these operations first:
//!
//! | operation | waits for |
//! |---|---|
//! | write of a block into a level | its data (from the fetch, the level it leaves, or the host), and all unfinished operations on its slot |
//! | host write to a copy | earlier writes to the same copy, and reads of it that are for the backing or another level, which return all of the old block or all of the new one |
//! | read of a copy that moves between levels or is written back | earlier writes to the same copy |
//! | read of a copy for the host | the data of a block that is being moved from another level; data in memory that is not written yet is returned from there, in the time of a hit |
//! | write or trim of the backing | earlier writes and trims of the same blocks |
//! | fetch from the backing | writes and trims of its blocks, including write-backs |
//! | write-back | the reads of its blocks; in the background, also the previous batch |
//! | flush | with a volatile table, all write-backs in progress |
//!
//! In a full level, the slot of an evicted block is given to the block that replaces it. If a level has free
//! slots, a new block waits for the unfinished operations on any slot that was freed.
//!
//! # Counters
//! Counters are in blocks, unless they are described as requests. The hit ratio of reads is (`read_hits` +
//! `read_merged`) / (`read_hits` + `read_merged` + `read_misses`): a request that waits for a fetch in progress
//! does not use the backing. With one LRU level that is larger than the blocks in flight, this is the hit ratio
//! of LRU alone, however dense the requests are.
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_misses`, `read_merged` | blocks read that were in a level, in no level, or being fetched |
//! | `write_hits`, `write_misses` | blocks written that were in a level, or in no level |
//! | `write_merged` | partial writes of blocks that were being fetched |
//! | `write_parts` | the `write_misses` that were not placed because only a part of the block was written |
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
//! | `hedges_sent`, `hedges_won` | with `hedge_after`: reads that were also sent to the backing, included in `backing_reads`, and those of them that answered first |
//! | `reads_canceled` | with `hedge_after`: reads that a device canceled because the other read had answered |
//! | `dirtied`, `overwritten` | with `write_back`: writes that made a block dirty, and writes of blocks that were already dirty |
//! | `write_backs` | blocks written back: the sum of `cleaned` (background), `flushed` (flush), and `dirty_evictions` (eviction) |
//! | `write_back_requests` | write-back requests to the backing; included in `backing_writes` |
//! | `dirty_lost` | dirty blocks lost by a power loss or a failing level |
//! | `lost_pages` | dirty blocks that had to be evicted while the backing rejected or could not save them, or that a level could not return: reads of them fail |
//! | `levelN_read_hits`, `levelN_write_hits` | hits whose first copy was in level N; level 0 is the fastest |
//! | `levelN_entries`, `levelN_evictions` | blocks placed in level N from any source, and its victims with any destination |
//!
//! # Not modeled
//! - Volumes: requests come from one address space, as volume 0. A workload first maps its volumes to separate
//!   ranges.
//! - The memory of the cache's tables.
//! - With a persistent table: the time to write an entry, which is included in that of its block, and clean
//!   blocks that would still be there after a power loss.
//! - Adaptive write-back: dirty blocks are written back in order of age, whatever the load of the backing.
//!   Blocks at or below `clean_above` stay dirty without a time limit.
//! - A trim does not cancel a write-back.
//! - Preconditioning and wear-out apply to the backing, which receives every write, also with `write_back`.
//! - A read of a block whose write has not completed takes the time of a hit.
//! - At most 65,536 blocks are in flight. Further misses are served by the backing alone (`bypassed`).
//!
//! # Sources
//! Kim, Seshadri, Dickey, Chiu, "Evaluating phase change memory for enterprise storage systems", FAST'14
//! (write-through, LRU, 4 KiB, one or two levels); Koller et al., "Write policies for host-side flash caches",
//! FAST'13 (write-back and its data loss); Linux, Documentation/admin-guide/bcache.rst (limits of write-back);
//! Wong, Wilkes, "My cache or yours?", USENIX ATC'02 (exclusive levels and demotion); Baer, Wang, "On the
//! inclusion properties for multi-level cache hierarchies", ISCA'88 (inclusive levels); Dean, Barroso, "The tail at
//! scale", CACM 2013 (hedged requests).
//!
//! # Checks
//! - Every count, every completion time, and all data read from and written to every level equal those of a naive
//!   model, with one level and two, on random overlapping requests.
//! - Data written into a level is read from another level or the backing, or comes from the host.
//! - Every block that became dirty is written back once, lost, or still dirty. The backing sees each dirty block
//!   once per flush.
//! - A full cache of dirty blocks serves a write in the time of one read, one write-back, and one write.
//!   Background write-back has the throughput of its closed form. With `dirty = "0 %"`, every time equals
//!   write-through.
//! - Mean read latency is h d + (1 - h) n. A PCM cache of a quarter of the size beats eMLC exactly above .889 of
//!   its hit ratio.
//! - Reads return the last write, also after power losses at any time. No two blocks share a slot, and all other
//!   slots are free.
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
