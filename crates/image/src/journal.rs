//! The journal of requests to the device since the checkpoint.

use crate::disk::Disk;
use crate::error::Problem;
use crate::superblock::{JOURNAL_START, Superblock};
use std::io;
use std::ops::Range;

/// Size of the head of a record in bytes: checksum, length, generation, and synced position.
pub(crate) const HEAD_BYTES: usize = 24;
/// Size in bytes of the head up to and including its length and generation.
const GENERATION_END: usize = 16;
/// Size in bytes of the tail: generation and mark. The tail shows that the end of a record was written.
pub(crate) const TAIL_BYTES: usize = 8;
/// Atomic unit of a disk write, in bytes.
const SECTOR_BYTES: u64 = 512;
/// Number of bytes that are read at a time.
const READ_BYTES: u64 = 1 << 20;

/// Records to replay, in the order in which they were appended. Empty records, which mark syncs, are not
/// included.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Heads and contents of the records, in the format of the file.
    journal: Vec<u8>,
    count: u64,
}

impl Records {
    /// Returns the number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the contents of the records, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.journal[..];
        let all = std::iter::from_fn(move || {
            let (head, after) = rest.split_at_checked(HEAD_BYTES)?;
            let (content, after) = after.split_at(Head::read(head).length as usize);
            rest = &after[TAIL_BYTES..];
            Some(content)
        });
        all.filter(|content| !content.is_empty())
    }
}

/// Extent of the valid part of a journal.
pub(crate) struct Contents {
    pub(crate) records: Records,
    /// Number of bytes of valid records.
    pub(crate) bytes: u64,
    /// Whether an incomplete record follows the valid ones.
    pub(crate) torn: bool,
}

/// Position of a record: its generation, its offset in the journal, and the synced position when the record
/// was appended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) generation: u64,
    pub(crate) at: u64,
    /// Number of journal bytes that are synced.
    pub(crate) synced: u64,
}

/// Appends a record to `into`, in the format of the file.
pub(crate) fn encode(position: Position, content: &[u8], into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(&[0; 4]);
    into.extend_from_slice(&(content.len() as u32).to_le_bytes());
    into.extend_from_slice(&position.generation.to_le_bytes());
    into.extend_from_slice(&position.synced.to_le_bytes());
    into.extend_from_slice(content);
    let checksum = checksum(position.at, &into[start + 4..]).to_le_bytes();
    into[start..start + 4].copy_from_slice(&checksum);
    into.extend_from_slice(&tail(position.generation as u32, position.at, content.len() as u32));
}

/// Returns the tail of a record of `length` bytes at `at`. The tail shows that both ends of the record were
/// written.
fn tail(generation: u32, at: u64, length: u32) -> [u8; TAIL_BYTES] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&at.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(&generation.to_le_bytes());
    let mark = u64::from(hasher.finalize());
    (mark << 32 | u64::from(generation)).to_le_bytes()
}

/// Returns the checksum of a record. It includes the position of the record, so user data in the image is
/// never mistaken for a record.
fn checksum(at: u64, record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&at.to_le_bytes());
    hasher.update(record);
    hasher.finalize()
}

/// Reads valid records, starting with the first, as long as each is complete and follows its predecessor.
///
/// The first invalid record is torn unless a later mark shows that it was synced, because a power loss can
/// destroy unsynced records in any order. Returns an error if the first invalid record was synced and is
/// therefore damaged, or if the superblock is outdated.
pub(crate) fn read(disk: &dyn Disk, superblock: &Superblock) -> Result<Contents, Problem> {
    let (found, damage) = read_as_far_as_it_is_good(disk, superblock)?;
    damage.map_or(Ok(found), Err)
}

/// Like [`read`], but returns damage together with the records before the damage.
pub(crate) fn read_as_far_as_it_is_good(
    disk: &dyn Disk,
    superblock: &Superblock,
) -> Result<(Contents, Option<Problem>), Problem> {
    let mut journal = Vec::new();
    let (mut end, mut count) = (0, 0);
    let mut generations = superblock.journal_generation..superblock.generation + 1;
    while have(disk, superblock, &mut journal, end + HEAD_BYTES)? {
        let head = Head::read(&journal[end..]);
        // No journal position is written twice in one generation, so a record of an older generation is a
        // leftover.
        if head.generation < generations.start {
            break;
        }
        let content = end + HEAD_BYTES..end + HEAD_BYTES + head.length as usize;
        let whole = have(disk, superblock, &mut journal, content.end + TAIL_BYTES)?
            && checksum(end as u64, &journal[end + 4..content.end]) == head.checksum;
        if !whole {
            break;
        }
        if !generations.contains(&head.generation) {
            return Err(newer(&generations, head.generation));
        }
        generations.start = head.generation;
        (end, count) = (content.end + TAIL_BYTES, count + u64::from(head.length > 0));
    }
    have(disk, superblock, &mut journal, end + 2 * SECTOR_BYTES as usize)?;
    let rest = &journal[end..];
    let (torn, damage) = match follows(disk, superblock, end as u64, &generations) {
        Ok(_) if was_whole(rest, end as u64, &generations) => (false, Some(altered(end as u64))),
        Ok(torn) => (torn, None),
        Err(damage @ Problem::Damaged { .. }) => (false, Some(damage)),
        Err(problem) => return Err(problem),
    };
    journal.truncate(end);
    Ok((Contents { records: Records { journal, count }, bytes: end as u64, torn }, damage))
}

/// Returns whether the invalid data at `at` was a complete record: both of its ends exist, and no sector
/// between them could be missing. If its head is invalid, both ends must be in one sector.
fn was_whole(rest: &[u8], at: u64, generations: &Range<u64>) -> bool {
    // Returns the generation in the tail of a record whose content has this length.
    let tail_behind = |length: usize| {
        let found = rest.get(HEAD_BYTES + length..)?.first_chunk::<TAIL_BYTES>()?;
        let generation = u32::from_le_bytes(*found.first_chunk().expect("a tail is longer"));
        let is_one = *found == tail(generation, at, length as u32);
        is_one.then_some(u64::from(generation)).filter(|generation| generations.contains(generation))
    };
    let sector = |byte: u64| byte / SECTOR_BYTES;
    let last = |length: usize| sector(at + (HEAD_BYTES + length + TAIL_BYTES) as u64 - 1);
    // If the head spans two sectors, the length and generation are in the second sector, which does not prove
    // that the first one was written.
    let shows_first = sector(at + GENERATION_END as u64 - 1) == sector(at);
    let has_both = |head: &Head| {
        let length = head.length as usize;
        let reach = sector(at) + u64::from(shows_first);
        length < rest.len() && last(length) <= reach && tail_behind(length) == Some(head.generation)
    };
    rest.len() >= HEAD_BYTES && has_both(&Head::read(rest))
        || (0..SECTOR_BYTES as usize)
            .any(|length| last(length) == sector(at) && tail_behind(length).is_some())
}

/// Returns the number of intact records after byte `end`, at which the journal is damaged.
pub(crate) fn good_behind(disk: &dyn Disk, superblock: &Superblock, end: u64) -> Result<u64, Problem> {
    let failed = |error| Problem::io("reading its journal", &error);
    let generations = superblock.journal_generation..superblock.generation + 1;
    let (mut count, mut at, mut part) = (0, end + 1, Vec::new());
    while let Some(data) = disk.next_data(JOURNAL_START + at).map_err(failed)? {
        at = at.max(data.saturating_sub(JOURNAL_START));
        let length = READ_BYTES.min(superblock.journal_bytes.saturating_sub(at));
        part.resize(length as usize, 0);
        let read = disk.read_at(JOURNAL_START + at, &mut part).map_err(failed)?;
        let mut place = 0;
        while let Some(head) = part[..read].get(place..place + HEAD_BYTES) {
            let (head, here) = (Head::read(head), at + place as u64);
            let is_good = generations.contains(&head.generation)
                && head.synced <= here
                && is_whole(disk, superblock, here, &head).map_err(failed)?;
            count += u64::from(is_good && head.length > 0);
            place += if is_good { HEAD_BYTES + head.length as usize + TAIL_BYTES } else { 1 };
        }
        if read < HEAD_BYTES {
            break;
        }
        // A head may start in this buffer and end in the next buffer, and a record may extend beyond it.
        at += place as u64;
    }
    Ok(count)
}

/// Returns whether the journal has records of these generations after byte `end`. Returns an error if such
/// a record shows that the journal was synced beyond `end`.
fn follows(
    disk: &dyn Disk,
    superblock: &Superblock,
    end: u64,
    generations: &Range<u64>,
) -> Result<bool, Problem> {
    let failed = |error| Problem::io("reading its journal", &error);
    let (mut torn, mut at, mut part) = (false, end, Vec::new());
    while let Some(data) = disk.next_data(JOURNAL_START + at).map_err(failed)? {
        at = at.max(data.saturating_sub(JOURNAL_START));
        let length = READ_BYTES.min(superblock.journal_bytes.saturating_sub(at));
        part.resize(length as usize, 0);
        let read = disk.read_at(JOURNAL_START + at, &mut part).map_err(failed)?;
        if read < HEAD_BYTES {
            break;
        }
        for (place, head) in part[..read].windows(HEAD_BYTES).enumerate() {
            let place = at + place as u64;
            let head = Head::read(head);
            if !generations.contains(&head.generation) {
                continue;
            }
            torn |= place == end;
            if head.synced > place
                || head.synced <= end && torn
                || !is_whole(disk, superblock, place, &head).map_err(failed)?
            {
                continue;
            }
            torn = true;
            if head.synced > end {
                return Err(lost(end, head.synced));
            }
        }
        // A head may start in this buffer and end in the next buffer.
        at += (read - HEAD_BYTES + 1) as u64;
    }
    Ok(torn)
}

fn is_whole(disk: &dyn Disk, superblock: &Superblock, place: u64, head: &Head) -> io::Result<bool> {
    let bytes = HEAD_BYTES as u64 + u64::from(head.length);
    if place + bytes + TAIL_BYTES as u64 > superblock.journal_bytes {
        return Ok(false);
    }
    let mut record = vec![0; bytes as usize];
    let read = disk.read_at(JOURNAL_START + place, &mut record)?;
    Ok(read == record.len() && checksum(place, &record[4..]) == head.checksum)
}

/// Returns the error for synced records that are missing at and after byte `end`.
fn lost(end: u64, synced: u64) -> Problem {
    Problem::Damaged {
        part: "its journal",
        at: JOURNAL_START + end,
        expected: format!("synced records up to byte {}", JOURNAL_START + synced),
        found: "an invalid record before intact ones".into(),
    }
}

/// Returns the error for a record at byte `end` that is invalid although both of its ends exist.
fn altered(end: u64) -> Problem {
    Problem::Damaged {
        part: "its journal",
        at: JOURNAL_START + end,
        expected: "an intact record".into(),
        found: "a complete record with a wrong checksum".into(),
    }
}

/// Reads the journal until `journal` has `bytes` bytes. Returns false if the journal or the file ends
/// earlier.
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

/// Returns the error for a complete record that is newer than the superblock. Such a record means that an
/// old superblock was restored.
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
    synced: u64,
}

impl Head {
    fn read(bytes: &[u8]) -> Head {
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a whole head"));
        let long = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("a whole head"));
        Head { checksum: word(0), length: word(4), generation: long(8), synced: long(16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a record at byte `at` is recognized as complete after its byte `altered` has changed.
    fn was_whole_with(at: u64, altered: usize) -> bool {
        let mut record = Vec::new();
        encode(Position { generation: 1, at, synced: 0 }, &[7; 100], &mut record);
        record[altered] ^= 1;
        was_whole(&record, at, &(1..2))
    }

    #[test]
    fn a_sector_that_may_be_missing_makes_a_record_torn_and_not_damaged() {
        assert!(was_whole_with(0, 60), "in one sector");
        assert!(
            was_whole_with(SECTOR_BYTES - 16, 60),
            "the first of two has its generation, the second its tail"
        );
        assert!(!was_whole_with(SECTOR_BYTES - 1, 0), "the first has nothing that shows that it was written");
        assert!(!was_whole_with(SECTOR_BYTES - 15, 0));
    }
}
