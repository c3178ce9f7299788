//! The image file: what keeps a simulated device's bytes and state when the process ends, however it ends.
//!
//! A device is deterministic, so its image need not follow every step. It holds a **checkpoint** (the
//! device's state as one blob, and the pages as they were then) and a **journal** (what was asked of the
//! device since, as records that only the driver understands). Opening gives both; the driver loads the
//! state and plays the records back.
//!
//! # What is promised
//! - A process may be killed at any moment: every record whose [`Image::append`] returned is there again.
//! - The machine may lose its power: every record appended before the last [`Image::sync`] that returned is
//!   there again. As a disk promises it: a write that was interrupted leaves, byte by byte, old or new.
//! - What opening gives is the result of some first records of the journal and of nothing else; a record
//!   that was torn, and all after it, are cut off. A record that was on the disk and is not good is damage, which is
//!   told.
//! - One process holds an image at a time, and a copy of it (`fork`) changes nothing.
//! - After a failed write or sync nothing more is written. What was acknowledged is in the file. A full disk refuses
//!   records, and lets pages wait in memory until there is room.
//!
//! Checksums guard superblocks, checkpoints, records and, unless it was made without, every page: bytes that the disk
//! changed later are told and not returned. A page is checked when it is read, and its checksum moves with its copies.
//! Raw bytes have none.
//!
//! # The file
//! Numbers are little-endian; lists and texts are those of [`nacre_kernel::state`]. The file is sparse: it
//! looks larger than what it takes.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 64 KiB | superblock, first copy |
//! | 64 KiB | 64 KiB | superblock, second copy |
//! | 128 KiB | 128 MiB | journal |
//! | after it | the device's, and 4 KiB of zeroes | raw bytes by host address, where no device is modeled |
//! | after them | | extents and both copies of the checkpoint, wherever there is room, in units of 4 KiB |
//!
//! **Superblock**: `NACREIMG`, format version (u32), CRC-32 of all that follows and of the version (u32),
//! length of the body (u64), body. These four stay where they are in every version. The body: its own
//! generation, the one that the journal begins with, size of the journal, geometry, whether pages have checksums, where
//! both copies of the checkpoint are with their lengths and CRC-32, and the device's identity as lines `path = value`.
//!
//! **Checkpoint**: the table of extents (number, offsets of both places, which pages are programmed, which of them are
//! in the second place, the CRC-32 of each programmed page), then the state; all of it twice. Pages that were programmed since have
//! their checksums in memory: who opens the image programs them again.
//!
//! **Record**: CRC-32 of its place in the journal and of what follows up to its tail (u32), length (u32), generation
//! (u64), bytes of the journal that were on the disk (u64), bytes; and a tail: the generation again (u32), CRC-32 of
//! place, length and generation (u32). A record that is not good was torn if one of its ends is missing, or if a
//! sector may be missing between them, and nothing behind it says that it was synced; otherwise it is damaged. A sync
//! appends an empty record, a **mark**, so that something says it of the last records that were synced. A power failure
//! may take the mark: a bit of these records that changes then is told where it cannot be taken for a torn record, and a
//! disk that loses them then is not found out. Nor is one that writes something else over the end of the journal with its
//! marks.
//!
//! **Extent**: the pages of one erase block, side by side, in two places of which the second is made when it is needed.
//!
//! # Why it holds
//! Nothing that the superblock on the disk leads to is overwritten. A page that the checkpoint knows as
//! programmed stays: its block, erased and programmed again, gets another extent, and the page, programmed again without
//! an erase, the other place of its extent; what is old is used again only after the next checkpoint. A page that the
//! checkpoint knows as erased may be programmed in place, since what is there counts only once the journal has been
//! played back up to it.
//!
//! For the same reason pages may wait in memory and be written many at a time: a kill takes them, and the
//! journal brings them back.
//!
//! What neither the superblock on the disk leads to nor a page uses may hold anything: on a full disk it goes back to the
//! file system. What only the last checkpoint uses goes with it. Where the disk is full there has to be room for the next
//! checkpoint next to it, so the journal has as much beyond its end as the last one took, and for the pages that wait.
//!
//! A checkpoint writes two copies of state and table to unused room, syncs, writes the first superblock, syncs, writes the
//! second, syncs. Until then old extents and old journal stay. So at every moment one readable superblock,
//! whichever, leads to everything acknowledged.
//!
//! Every process that appends first writes a new generation into the superblocks, and so does every
//! checkpoint. So no place of the journal is written twice in one generation, but for a record that was refused, and a
//! record older than its predecessor is a left-over: of before the checkpoint, or of a tail that was cut off. It ends
//! the journal.
//!
//! Raw bytes are written where they lie, and have no record.

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

pub use check::{Checked, JournalFound, PagesFound, Watch, check};
pub use disk::Disk;
pub use error::{ImageError, Problem};
pub use geometry::Geometry;
pub use image::{Image, Opened, Plan};
pub use journal::Records;
pub use raw::Raw;
pub use repair::repair;
pub use store::ImageStore;
pub use superblock::is_image;
