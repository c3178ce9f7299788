//! The journal: what was asked of the device since the checkpoint.

use crate::disk::Disk;
use crate::error::Problem;
use crate::superblock::{JOURNAL_START, Superblock};
use std::ops::Range;

/// Checksum, length, generation.
pub(crate) const HEAD_BYTES: usize = 16;
/// Bytes read at a time.
const READ_BYTES: u64 = 1 << 20;

/// The records to be played back, in the order in which they were appended.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Heads and contents, as in the file.
    journal: Vec<u8>,
    count: u64,
}

impl Records {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Each one as it was appended.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.journal[..];
        std::iter::from_fn(move || {
            let (head, after) = rest.split_at_checked(HEAD_BYTES)?;
            let (content, after) = after.split_at(Head::read(head).length as usize);
            rest = after;
            Some(content)
        })
    }
}

/// A journal as it was found.
pub(crate) struct Found {
    pub(crate) records: Records,
    /// Bytes of the records that count.
    pub(crate) bytes: u64,
    /// Whether a record that was not wholly written follows them.
    pub(crate) torn: bool,
}

/// Appends a record of `generation` to `into`, as it goes into the file.
pub(crate) fn encode(generation: u64, content: &[u8], into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(&[0; 4]);
    into.extend_from_slice(&(content.len() as u32).to_le_bytes());
    into.extend_from_slice(&generation.to_le_bytes());
    into.extend_from_slice(content);
    let checksum = crc32fast::hash(&into[start + 4..]).to_le_bytes();
    into[start..start + 4].copy_from_slice(&checksum);
}

/// Reads the records that count: from the first on, as long as each is whole and follows its predecessor.
pub(crate) fn read(disk: &dyn Disk, superblock: &Superblock) -> Result<Found, Problem> {
    let mut journal = Vec::new();
    let (mut end, mut count, mut torn) = (0, 0, false);
    let mut generations = superblock.journal_generation..superblock.generation + 1;
    while have(disk, superblock, &mut journal, end + HEAD_BYTES)? {
        let head = Head::read(&journal[end..]);
        // No place of the journal is written twice in one generation: what is older is a left-over.
        if head.generation < generations.start {
            break;
        }
        let content = end + HEAD_BYTES..end + HEAD_BYTES + head.length as usize;
        let whole = have(disk, superblock, &mut journal, content.end)?
            && crc32fast::hash(&journal[end + 4..content.end]) == head.checksum;
        if !whole {
            torn = generations.contains(&head.generation);
            break;
        }
        if !generations.contains(&head.generation) {
            return Err(newer(&generations, head.generation));
        }
        generations.start = head.generation;
        (end, count) = (content.end, count + 1);
    }
    journal.truncate(end);
    Ok(Found { records: Records { journal, count }, bytes: end as u64, torn })
}

/// Whether the journal has `bytes`; if so they are read.
fn have(
    disk: &dyn Disk,
    superblock: &Superblock,
    journal: &mut Vec<u8>,
    bytes: usize,
) -> Result<bool, Problem> {
    while journal.len() < bytes {
        let at = journal.len() as u64;
        let step = READ_BYTES.min(superblock.journal_bytes - at) as usize;
        journal.resize(journal.len() + step, 0);
        let read = disk.read_at(JOURNAL_START + at, &mut journal[at as usize..]);
        let read = read.map_err(|error| Problem::io("reading its journal", &error))?;
        journal.truncate(at as usize + read);
        if read == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A whole record newer than the superblock: the superblock is an old one, put back by somebody.
fn newer(generations: &Range<u64>, found: u64) -> Problem {
    Problem::Damaged {
        part: "the superblock, which is older than the journal,",
        at: 0,
        expected: format!("generation {found} or later"),
        found: (generations.end - 1).to_string(),
    }
}

struct Head {
    checksum: u32,
    length: u32,
    generation: u64,
}

impl Head {
    fn read(bytes: &[u8]) -> Head {
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a whole head"));
        let long = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("a whole head"));
        Head { checksum: word(0), length: word(4), generation: long(8) }
    }
}
