//! A host-side cache of blocks before a slower device.
//!
//! # Models
//! Every request is cut into blocks, and a request is done when its last block is. A look-up costs
//! `lookup` per request. One to four levels of faster devices hold blocks; each level's capacity is that
//! of its device, and its policy decides which blocks stay. Blocks in a level are read from its device,
//! each with its own request for as much of the block as was asked for (the whole, if it moves to
//! another level). Adjacent blocks of one request
//! that are in no level are fetched from the backing with one request for the whole blocks.
//!
//! A block that is on its way has an arrival time. Another request for it waits until then and takes
//! it from memory, without asking the backing again (`merge`). With `fill = "background"` the request is
//! done when the data arrives, and the level's device is busy from then on with writing it; with
//! `"foreground"` the request waits for that too. Victims are chosen when the request comes.
//!
//! Exclusive levels: a block is in at most one. What is used comes into the first; its victim is read
//! from the first level and written to the second, whose victim goes to the third, and so on. Inclusive
//! levels: a lower level holds a copy of all that is above it. What is used is written into every
//! level above the one it was found in; what a level evicts leaves those above. A use of an upper
//! copy is not a use of the lower ones. Below a policy that refuses a block the next level is asked.
//!
//! Without `write_back`, writes go through: to the backing as they are, and next to it to every copy in the cache; the
//! slower of the two is the latency. With `write_allocate` whole blocks that are written come into the first level. A
//! block written only in part is updated where it is, or, if it is still on its way, together with its arrival; it
//! never comes in for a write. Trims take the blocks they touch out of all levels and go on to the backing; so do
//! flushes, since no level holds what the backing does not.
//!
//! With `write_back`, a write ends in the cache where it can: a whole block that comes in, or any part of a block
//! that is there, is written into its level only, and the block is dirty until it is written back. What misses in
//! part, what no level takes in, and what would make more than the share `dirty` of the cache dirty goes through as
//! above, neighbors with one request. A part of a block that is on its way goes through too, and into the
//! level after its arrival. A dirty block is read from its level as a whole and written to the backing as a
//! whole, neighbors with one request: in the background, the oldest `batch` of those above `clean_above` side by
//! side, and the next when the last of these is done; when the policy decides that it leaves, at once, while the
//! block that takes its place waits until that is done; and for a flush, all of them. The flush goes on to the
//! backing when the last is done. What is written while its block is written back makes it dirty again, and it is
//! written back a second time after the first. Cleaning in the background begins when it can, also between
//! requests, but what would begin after the last request of a run does not begin. A trim leaves dirty blocks
//! where they are: the backing may have older bytes than those that a trimmed block may still show.
//!
//! A dirty block that its level cannot return is lost: reads of it get the media error until it is written as a
//! whole, and so does the next flush. What the backing refuses stays dirty, and is tried again with later requests;
//! without a persistent table flushes fail meanwhile. So does what it takes and cannot flush. A block that has to leave
//! then is lost.
//! The copy of a clean block that a level cannot return is dropped, and the block is read from the backing. What a
//! level cannot take in, from the host, the backing or another level, is dropped too.
//!
//! Every block of a level has its own place on its device: place n modulo the capacity in blocks for block
//! n, so that neighbors stay neighbors, if it is free when the block comes in, and otherwise the lowest free
//! one. Where addresses change nothing in the device, none are told. Of a chain of victims the last moves first, out
//! of the place that the one above it may come into.
//!
//! It carries bytes if its backing and all levels do. A block is in memory while it is on its way; what is
//! written to it meanwhile is in its level when it arrives.
//!
//! Where writes go through, or with a `volatile` table, which block is where is known in DRAM: after a power loss
//! all levels are empty, the policies know nothing, and how many blocks were forgotten is in the recovery. Writes
//! that go through leave what the backing promises. With `write_back`, dirty blocks are lost, which the recovery
//! counts in whole blocks, and a write survives from the next flush on. With a `persistent` table the entry of a
//! block lies next to its data in the one level, which keeps what it acknowledges: a block is dirty from the moment
//! its write is done there, and no longer from the moment the backing has it for good, for which a backing with a
//! volatile buffer is flushed after every batch. After a power loss the table is read, 8 bytes for every block the
//! level can hold and 1 MiB at a time, the dirty blocks are in the cache again and everything clean is forgotten. A
//! flush then goes to the level and to the backing. No more is promised than by the weaker of the two, and no larger
//! atomic unit than a block.
//!
//! Lookup, policies, victims, and counters are decided when the look-up of a request ends. Every operation on a
//! device is submitted when it really begins. It is an entry of `ops`, which waits for the operations that must end
//! before it:
//!
//! | operation | waits for |
//! |---|---|
//! | write of a block into a level it comes into | its bytes: the fetch, the read of the level it leaves, or the host; and everything that is still done at the place it takes |
//! | write of the host to a copy | earlier writes to the same copy |
//! | read of a copy that goes down, up, or is written back | earlier writes to the same copy |
//! | read of a copy for the host | the bytes of a block that is on its way from another level; those that are in memory but not yet written are returned from there, in the time of a hit |
//! | write or trim of the backing | earlier writes and trims of the same blocks |
//! | fetch from the backing | writes and trims of its blocks, write-backs included |
//! | write-back | the reads of its blocks; of a batch, the batch before it |
//! | flush | with a volatile table, everything that is being written back |
//!
//! A place falls free when a block leaves a full level, for the block that came instead of it. A block that comes into a
//! level with free places waits for what is still done at any of those that were left.
//!
//! # Counters
//! In blocks, except where it says requests. The hit ratio of reads is (`read_hits` + `read_merged`) /
//! (`read_hits` + `read_merged` + `read_misses`): who waits for a block on its way does not ask the backing.
//! With one LRU level of more blocks than are on their way it is the hit ratio of LRU alone, however close
//! requests follow each other.
//!
//! | counter | counts |
//! |---|---|
//! | `read_hits`, `read_misses`, `read_merged` | blocks read that were in a level, in none, on their way |
//! | `write_hits`, `write_misses` | blocks written that were in a level, in none |
//! | `write_merged` | blocks written in part while on their way |
//! | `write_parts` | of `write_misses`, those that did not come in because only a part of the block was written |
//! | `trimmed` | blocks that trims took out |
//! | `fills` | blocks from the backing that were offered to the levels, those they refused included |
//! | `refusals` | blocks from the backing or the host that no level took in |
//! | `bypassed` | blocks from the backing that were not offered: too many were on their way |
//! | `promotions` | blocks found in a lower level that came into the first |
//! | `demotions` | victims of one level that a lower one took in |
//! | `evictions` | victims that left the cache |
//! | `back_invalidations` | blocks that left a level because one below evicted them |
//! | `recovered` | copies that a level could not return or could not take |
//! | `backing_reads`, `backing_writes` | requests to the backing |
//! | `dirtied`, `overwritten` | with `write_back`: writes of blocks that made them dirty, and of those that were to be written back anyway |
//! | `write_backs` | blocks written back: the sum of `cleaned` (in the background), `flushed` (for a flush) and `dirty_evictions` (since they left) |
//! | `write_back_requests` | requests to the backing that wrote back; they are among `backing_writes` |
//! | `dirty_lost` | dirty blocks that a power loss or a failing level took |
//! | `lost_pages` | dirty blocks that had to leave and that the backing refused or could not save, or that a level could not return: reads of them fail |
//! | `levelN_read_hits`, `levelN_write_hits` | hits whose first copy was in level N, the fastest being 0 |
//! | `levelN_entries`, `levelN_evictions` | blocks that came into level N from wherever, its victims wherever they went |
//!
//! # Leaves out
//! Volumes: requests come from one address space, as volume 0; a workload places its volumes apart first. The memory
//! of the cache's tables. With a persistent table: the time to write an entry, which is that of its block, and clean
//! blocks that would be there after a power loss. Dirty blocks are cleaned in order of age whatever the backing's
//! load is, and those at or below `clean_above` stay dirty for any time. A trim saves no write-back. Preconditioning
//! and wearing out are of the backing, which takes every write, also with `write_back`. A read of a block whose write
//! is not done yet takes the time of a hit. At most 65,536 blocks are on their way at one time; what misses then is
//! served by the backing alone (`bypassed`).
//!
//! # Sources
//! Kim, Seshadri, Dickey, Chiu, "Evaluating phase change memory for enterprise storage systems", FAST'14:
//! write-through, LRU, 4 KiB, one or two levels. Koller et al., "Write policies for host-side flash caches", FAST'13,
//! for write-back and what is lost with it; Linux, Documentation/admin-guide/bcache.rst, for its limits. Wong,
//! Wilkes, "My cache or yours?", USENIX ATC'02, for exclusive levels and demotion; Baer, Wang, "On the inclusion
//! properties for multi-level cache hierarchies", ISCA'88, for inclusive ones.
//!
//! # Checks
//! Every count and completion time equals a naive model's, one level and two, on random requests that overlap, and so
//! do the bytes read from and written to every level; what is written into a level is read from another level or the
//! backing or comes from the host; every block that became dirty is written back once, lost, or still dirty, and the
//! backing sees each dirty block once per flush; a full cache of dirty blocks takes a write in the time of one read,
//! one write-back and one write, and cleaning in the background gives the throughput of its closed form; with `dirty
//! = "0 %"` every time is that of write-through; mean read latency is h d + (1 - h) n; a PCM cache of a quarter of
//! the size beats eMLC exactly above .889 of its hit ratio; reads give what was written last, after power losses
//! at any moment too; no two blocks share a place, and all other places are free; LRU under Zipf requests meets Che's
//! law; a larger LRU cache never hits less.

mod building;
mod cache;
mod cleaning;
mod config;
mod device;
mod dirty;
mod fetch;
mod fetching;
mod levels;
mod moving;
mod ops;
mod parts;
mod places;
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

/// This room.
pub const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "server_cache",
        "a host-side cache of blocks, write-through or write-back, one level or more",
        &["kim-2014", "wong-wilkes-2002", "baer-wang-1988"],
        7,
        include_str!("mod.rs"),
    ),
    build: building::build,
};
