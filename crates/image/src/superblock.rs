//! The superblock, which contains the locations of all other data. At least one of its two copies is always
//! readable.

use crate::disk::{self, Disk};
use crate::error::Problem;
use crate::geometry::Geometry;
use crate::space::{UNIT_BYTES, units};
use nacre_kernel::state::{StateError, StateReader, StateWriter};
use std::io;
use std::path::Path;

const MAGIC: &[u8; 8] = b"NACREIMG";
const OLD_SERVED: &[u8; 8] = b"NACREBLK";
/// Version of the format that the documentation of the crate describes.
const VERSION: u32 = 7;
/// File space of one copy, in bytes.
pub(crate) const SLOT_BYTES: u64 = 64 << 10;
/// Offsets of both copies.
pub(crate) const SLOTS: [u64; 2] = [0, SLOT_BYTES];
/// Offset of the journal.
pub const JOURNAL_START: u64 = 2 * SLOT_BYTES;
/// Size of the head in bytes: magic number, version, checksum, and length of the body.
const HEAD_BYTES: usize = 24;
/// Maximum size of a device identity in bytes. The rest of a copy suffices for the other fields.
pub(crate) const IDENTITY_BYTES: usize = SLOT_BYTES as usize - 1024;

/// Location of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Offsets of both copies.
    pub(crate) offsets: [u64; 2],
    pub(crate) table_bytes: u64,
    pub(crate) state_bytes: u64,
    /// CRC-32 of the table and the state.
    pub(crate) checksum: u32,
}

impl Checkpoint {
    /// Returns the size of the table and the state in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.table_bytes.saturating_add(self.state_bytes)
    }

    /// Returns the file space of both copies, in bytes.
    pub(crate) fn room(&self) -> u64 {
        2 * units(self.bytes())
    }

    /// Returns the file length that the checkpoint requires.
    pub(crate) fn end(&self) -> u64 {
        self.offsets.map(|offset| offset.saturating_add(self.bytes())).into_iter().fold(0, u64::max)
    }
}

/// Contents of a superblock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    /// Generation, which every write of the superblock increments.
    pub(crate) generation: u64,
    /// Generation at the start of the journal. Records of earlier generations are ignored.
    pub(crate) journal_generation: u64,
    /// Journal size in bytes.
    pub(crate) journal_bytes: u64,
    pub(crate) geometry: Geometry,
    /// Whether the checkpoint contains a checksum of every page.
    pub(crate) has_checksums: bool,
    /// Location of the checkpoint, or `None` if the device is new and has no checkpoint.
    pub(crate) checkpoint: Option<Checkpoint>,
    pub(crate) identity: String,
}

impl Superblock {
    /// Returns the end of the journal, which is the start of the raw bytes.
    pub(crate) fn journal_end(&self) -> u64 {
        JOURNAL_START.saturating_add(self.journal_bytes)
    }

    /// Returns the start of the extents. It is after the raw bytes and one unit that is always zero, or at
    /// the end of the journal if there are no raw bytes.
    pub(crate) fn raw_end(&self) -> u64 {
        let raw = match self.geometry.raw_bytes {
            0 => 0,
            bytes => units(bytes) + UNIT_BYTES,
        };
        self.journal_end().saturating_add(raw)
    }

    /// Returns the superblock in the format of the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = StateWriter::new();
        body.put_u64(self.generation);
        body.put_u64(self.journal_generation);
        body.put_u64(self.journal_bytes);
        body.put_u32(self.geometry.page_bytes);
        body.put_u64(self.geometry.pages_per_extent);
        body.put_u64(self.geometry.pages);
        body.put_u64(self.geometry.raw_bytes);
        body.put_bool(self.has_checksums);
        body.put_bool(self.checkpoint.is_some());
        let checkpoint = self.checkpoint.unwrap_or_default();
        checkpoint.offsets.iter().for_each(|&offset| body.put_u64(offset));
        body.put_u64(checkpoint.table_bytes);
        body.put_u64(checkpoint.state_bytes);
        body.put_u32(checkpoint.checksum);
        body.put_bytes(self.identity.as_bytes());
        let body = body.finish();
        let length = (body.len() as u64).to_le_bytes();
        let version = VERSION.to_le_bytes();
        let sum = checksum(version, length, &body).to_le_bytes();
        let copy = [&MAGIC[..], &version, &sum, &length, &body].concat();
        assert!(copy.len() as u64 <= SLOT_BYTES, "the length of an identity is checked when it comes in");
        copy
    }
}

/// Content of the file space for one copy.
enum Slot {
    Valid(Box<Superblock>),
    /// A complete superblock with the given format version, which this version of Nacre does not support.
    OtherVersion(u32),
    /// A damaged superblock, with its expected and actual checksums.
    Damaged(u32, u32),
    /// An image in the format of an earlier server.
    OldServed,
    /// The first bytes of the file, which are not the magic number.
    Foreign([u8; 8]),
    /// Zeros, or no bytes because the file is shorter. The copy was never written.
    Blank,
}

/// Returns whether the file at `path` starts with the magic number of an image.
pub fn is_image(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    disk::open_read_only(path)
        .is_ok_and(|file| Disk::read_at(&file, 0, &mut magic).is_ok() && magic == *MAGIC)
}

/// The newest superblock, and whether each copy is readable.
pub(crate) struct Copies {
    pub(crate) newest: Superblock,
    pub(crate) good: [bool; 2],
}

/// Reads the newest readable superblock of the file.
pub(crate) fn read(disk: &dyn Disk) -> Result<Superblock, Problem> {
    read_copies(disk).map(|copies| copies.newest)
}

/// Like [`read`], but also returns whether each copy is readable.
pub(crate) fn read_copies(disk: &dyn Disk) -> Result<Copies, Problem> {
    let copies = [read_slot(disk, SLOTS[0]), read_slot(disk, SLOTS[1])];
    let [first, second] =
        copies.map(|copy| copy.map_err(|error| Problem::io("reading its superblocks", &error)));
    let (first, second) = (first?, second?);
    let good = [&first, &second].map(|copy| matches!(copy, Slot::Valid(_)));
    newest(first, second).map(|newest| Copies { newest, good })
}

fn newest(first: Slot, second: Slot) -> Result<Superblock, Problem> {
    match (first, second) {
        (Slot::Valid(one), Slot::Valid(other)) => {
            Ok(if one.generation >= other.generation { *one } else { *other })
        }
        (Slot::Valid(one), _) | (_, Slot::Valid(one)) => Ok(*one),
        (Slot::OtherVersion(found), _) | (_, Slot::OtherVersion(found)) => {
            Err(Problem::OtherVersion { found, known: VERSION })
        }
        (Slot::OldServed, _) => Err(Problem::OldServed),
        // Creation ends with the second copy, so the creation of a file without it was interrupted.
        (Slot::Damaged(..) | Slot::Blank, Slot::Blank) => Err(Problem::Unfinished),
        (Slot::Damaged(expected, found), _) | (_, Slot::Damaged(expected, found)) => Err(Problem::Damaged {
            part: "checksum of the superblock, in both copies,",
            at: 0,
            expected: format!("{expected:08x}"),
            found: format!("{found:08x}"),
        }),
        (_, Slot::OldServed) => Err(Problem::OldServed),
        (Slot::Foreign(head), _) | (_, Slot::Foreign(head)) => {
            Err(Problem::NotAnImage { found: format!("\"{}\"", head.escape_ascii()) })
        }
    }
}

fn read_slot(disk: &dyn Disk, offset: u64) -> io::Result<Slot> {
    let mut copy = vec![0; SLOT_BYTES as usize];
    // Bytes that the file lacks remain zero.
    disk.read_at(offset, &mut copy)?;
    let mut head = StateReader::new(&copy[MAGIC.len()..HEAD_BYTES]);
    let magic = *copy.first_chunk().expect("a copy is longer than its head");
    // The file is empty or has an incomplete magic number.
    let begun = magic.iter().zip(MAGIC).take_while(|(found, known)| found == known).count();
    if copy[begun..].iter().all(|&byte| byte == 0) {
        return Ok(Slot::Blank);
    }
    if magic == *OLD_SERVED {
        return Ok(Slot::OldServed);
    }
    if magic != *MAGIC {
        return Ok(Slot::Foreign(magic));
    }
    let all = "the head was read as a whole";
    let (version, stored) = (head.u32("version").expect(all), head.u32("checksum").expect(all));
    let length = head.u64("length").expect(all);
    let room = copy.len() - HEAD_BYTES;
    let body = &copy[HEAD_BYTES..HEAD_BYTES + length.min(room as u64) as usize];
    let computed = checksum(version.to_le_bytes(), length.to_le_bytes(), body);
    Ok(match decode(body) {
        _ if computed != stored => Slot::Damaged(stored, computed),
        _ if version != VERSION => Slot::OtherVersion(version),
        Ok(superblock) => Slot::Valid(Box::new(superblock)),
        Err(_) => Slot::Damaged(stored, computed),
    })
}

fn decode(body: &[u8]) -> Result<Superblock, StateError> {
    let mut body = StateReader::new(body);
    let generation = body.u64("generation")?;
    let journal_generation = body.u64("generation of the journal")?;
    let journal_bytes = body.u64("size of the journal")?;
    let geometry = Geometry {
        page_bytes: body.u32("bytes of a page")?,
        pages_per_extent: body.u64("pages of an extent")?,
        pages: body.u64("pages")?,
        raw_bytes: body.u64("raw bytes")?,
    };
    let has_checksums = body.bool("whether pages have checksums")?;
    let present = body.bool("whether there is a checkpoint")?;
    let checkpoint = Checkpoint {
        offsets: [
            body.u64("offset of the checkpoint")?,
            body.u64("offset of the second copy of the checkpoint")?,
        ],
        table_bytes: body.u64("length of the table")?,
        state_bytes: body.u64("length of the state")?,
        checksum: body.u32("checksum of the checkpoint")?,
    };
    let identity = String::from_utf8_lossy(body.bytes("identity")?).into_owned();
    body.finish()?;
    let checkpoint = present.then_some(checkpoint);
    Ok(Superblock {
        generation,
        journal_generation,
        journal_bytes,
        geometry,
        has_checksums,
        checkpoint,
        identity,
    })
}

fn checksum(version: [u8; 4], length: [u8; 8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&version);
    hasher.update(&length);
    hasher.update(body);
    hasher.finalize()
}
