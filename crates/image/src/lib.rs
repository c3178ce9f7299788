//! The image file, which preserves the data and state of a simulated device after the process ends or is
//! killed.
//!
//! A device is deterministic, so its image does not store every step. It has a **checkpoint** (the state of
//! the device as one blob, and its pages at that time) and a **journal** (the later requests to the device,
//! as records that only the driver interprets). Opening an image returns both. The driver loads the state
//! and replays the records.
//!
//! # Guarantees
//! - The process may be killed at any time: every record whose [`Image::append`] returned is restored.
//! - After a host power loss, every record appended before the last completed [`Image::sync`] is restored.
//!   This assumes that each byte of an interrupted disk write is old or new.
//! - Opening restores a prefix of the journal. A torn record and all records after it are dropped. A synced
//!   record that is invalid is reported as damage.
//! - Only one process at a time has an image open. A fork of the process cannot change it.
//! - After a failed write or sync, all writes stop. All acknowledged data is in the file. If the disk is
//!   full, records are rejected, and pages wait in memory until space is freed.
//!
//! Superblocks, checkpoints, records, and, by default, pages have checksums. Data that the disk has changed
//! is reported and not returned. A page is checked when it is read, and its checksum is copied with it. Raw
//! bytes have no checksums.
//!
//! # File format
//! Numbers are little-endian. Lists and texts have the format of [`nacre_kernel::state`]. The file is sparse,
//! so its length exceeds its disk space.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 64 KiB | superblock, first copy |
//! | 64 KiB | 64 KiB | superblock, second copy |
//! | 128 KiB | 128 MiB | journal |
//! | after the journal | size of the device, and 4 KiB of zeros | raw bytes by host address, if no device is modeled |
//! | after the raw bytes | | extents and both copies of the checkpoint, in any order, in units of 4 KiB |
//!
//! **Superblock**: `NACREIMG`, format version (u32), CRC-32 of the version and of all following bytes (u32),
//! length of the body (u64), body. Every format version starts with these four fields. The body has the
//! generation of the superblock, the generation at the start of the journal, the size of the journal, the
//! geometry, whether pages have checksums, the offsets of both copies of the checkpoint with their lengths
//! and CRC-32, and the identity of the device as lines `path = value`.
//!
//! **Checkpoint**: the table of extents (number, offsets of both slots, the programmed pages, which of
//! these pages are in the second slot, and the CRC-32 of each programmed page), followed by the state.
//! There are two copies. Checksums of pages programmed since then are in memory, and replaying the journal
//! programs these pages again.
//!
//! **Record**: CRC-32 of its position in the journal and of all bytes up to its tail (u32), length (u32),
//! generation (u64), synced bytes of the journal (u64), content, and a tail: the generation again (u32), and
//! CRC-32 of position, length, and generation (u32). An invalid record is torn if one of its ends is missing,
//! or if a sector between them may be missing, and no later record states that it was synced. Otherwise, it
//! is damaged. A sync appends an empty record, a **mark**, which states that the records before it were
//! synced. A power loss may lose the mark. A later bit error in these records is then reported unless it
//! looks like a torn record. A disk that loses these records is not detected, and neither is a disk that
//! overwrites the end of the journal together with its marks.
//!
//! **Extent**: the adjacent pages of one erase block, in two slots. The second slot is allocated on first
//! use.
//!
//! # Correctness Data that is reachable from the superblock on the disk is never overwritten. A page that
//! is programmed in the checkpoint is kept. If its block is erased and programmed again, the block gets
//! another extent. If the page is programmed again without an erase, it is written to the other slot of its
//! extent. Old locations are reused only after the next checkpoint. A page that is erased in the checkpoint
//! may be programmed in place, because its content matters only after the journal has been replayed up to
//! this program operation.
//!
//! For the same reason, pages may wait in memory and be written together: after a kill, replaying the journal
//! restores them.
//!
//! Space that is neither reachable from the superblock on the disk nor used by a page has undefined
//! content. On a full disk, it is returned to the file system. Space that only the last checkpoint uses is
//! returned with the next checkpoint. On a full disk, the next checkpoint needs space in addition to the
//! space of the last checkpoint. The journal therefore reserves as much space after its end as the last
//! checkpoint took, and space for waiting pages.
//!
//! A checkpoint writes two copies of state and table to unused space, syncs, writes the first superblock,
//! syncs, writes the second superblock, and syncs. Old extents and the old journal are kept until then. At
//! any time, at least one superblock is therefore readable, and all acknowledged data is reachable from it.
//!
//! Before its first append, every process writes a new generation to the superblocks. Every checkpoint does
//! the same. No position of the journal is therefore written twice in one generation, except for a record
//! that was rejected. A record with an older generation than its predecessor is a leftover from before the
//! checkpoint or from a dropped tail, and ends the journal.
//!
//! Raw bytes are written in place and not journaled.

mod buffers;
mod check;
mod disk;
mod error;
mod extents;
mod geometry;
mod identity;
mod image;
mod journal;
mod raw;
mod repair;
mod snapshot;
mod space;
mod store;
mod superblock;
pub mod tape;
#[cfg(test)]
mod tests;

pub use check::{Checked, JournalChecked, PagesChecked, Watch, check};
pub use disk::Disk;
pub use error::{ImageError, Problem};
pub use geometry::Geometry;
pub use image::{Image, NewImage, Opened};
pub use journal::Records;
pub use raw::Raw;
pub use repair::repair;
pub use store::ImageStore;
pub use superblock::is_image;
