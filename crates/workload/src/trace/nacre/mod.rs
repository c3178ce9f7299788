//! Nacre's trace format: columns of bit-packed integers in blocks with checksums.
//!
//! # Model
//! A file consists of a header, blocks of up to 65,536 requests, and a trailer. `docs/formats/nacre-trace.md`
//! defines every byte. In a block, each of the five fields of a request is a column of integers of equal
//! width, so decoding is a shift and a mask. Arrivals are stored as differences, in the largest decimal unit
//! that represents them exactly. Addresses are stored as differences, or as offsets from the smallest
//! address, in units of the largest power of two that divides them all. Every field of a
//! [`nacre_kernel::Request`] is kept exactly. Checksums detect and locate damage. A damaged block is skipped.
//! A truncated file is read up to its last complete block.
//!
//! # Not modeled
//! The format has no general-purpose compression. A file has about 1/5 of the size of the vscsi file from
//! which it was converted, and zstd reduces it further.
//!
//! # Sources
//! Lemire and Boytsov, "Decoding billions of integers per second through vectorization", Software: Practice
//! and Experience 45(1), 2015 (frame of reference, zigzag differences); the CRC-32 of IEEE 802.3.
//!
//! # Checks
//! The tests read a file that was assembled byte by byte from the layout. They also check round trips of
//! arbitrary requests, and every type of truncation and damage.

mod column;
mod read;
mod write;

use crate::trace::{Format, Head, Several, TimeUnit};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "nacre",
    summary: "Nacre's compact columns: exact, checksummed, about 7 bytes a request; picoseconds",
    extensions: &["nacre"],
    time_unit: Some(TimeUnit::Ns),
    unit_varies: false,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: |head: Head<'_>| if head.bytes.starts_with(&MAGIC[..4]) { 100 } else { 0 },
    open: |_| Ok(Box::new(read::Reader::new())),
    create: Some(|sink, options| Ok(Box::new(write::Writer::new(sink, options)?))),
};

/// Magic bytes of a file. The first byte is not text. If a file transfer converts line ends, these bytes
/// change, so the damage is detected.
const MAGIC: [u8; 8] = *b"\x89NCR\r\n\x1a\n";
/// Version of the format that Nacre writes and reads.
const VERSION: u16 = 1;
/// Size of the file header without the provenance, in bytes.
const HEADER: usize = 32;
/// Maximum size of the provenance in bytes.
const LONGEST_PROVENANCE: usize = 64 << 10;
/// First bytes of a block.
const BLOCK_MARK: [u8; 4] = *b"BLCK";
/// First bytes of the trailer.
const TRAILER_MARK: [u8; 4] = *b"DONE";
/// Maximum number of requests in a block.
const BLOCK_RECORDS: usize = 65_536;
/// Number of columns of a request: arrival, address, bytes, volume, and operation.
const COLUMNS: usize = 5;
/// Size of a block without its payload, in bytes.
const BLOCK_HEADER: usize = 16 + COLUMNS * column::Layout::BYTES + 8;
/// Maximum size of a payload in bytes.
const LONGEST_PAYLOAD: usize = COLUMNS * BLOCK_RECORDS * 8 + column::PADDING;
/// Size of the trailer without the names, in bytes.
const TRAILER: usize = 16;
/// Maximum size of the names in bytes.
const LONGEST_NAMES: usize = 64 << 20;

#[cfg(test)]
mod tests;
