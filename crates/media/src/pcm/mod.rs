//! Phase-change memory: rows that are written in place and wear with every program.
//!
//! # Model
//! The chips of a *rank* operate together. A read of one *beat* returns one page of words from every chip. A
//! program of one *chunk* commits the write buffer of every chip. Both take the time of the chip, regardless
//! of the previous content, and nothing is erased. With `program_zeros`, a program of zeros takes
//! `program_zeros`. Every word of the rank that is not zero adds an equal share of the difference between
//! `program` and `program_zeros`. A word has 2 bytes of every data chip, which the data lines carry in one
//! transfer. If only a part of a chunk is written, the rest is assumed to have the same share of zeros. The
//! energy of a program is proportional to its time. A row consists of whole chunks. Every write to a row
//! counts as one program of the row, even if it covers only some of its chunks. Only rows that were written
//! have counters. A row with more programs than its endurance is worn out, but stays usable.
//!
//! # Not modeled
//! - Bits that keep their value, and the number of ones in a word. All words that are not zero count equally.
//! - Bit errors, drift, and stuck cells.
//! - Wear of single chunks.
//!
//! # Sources
//! akel-2011, section 2.2, on the Micron P8P: 16 B are read in 314 ns, 64 B are programmed in 120 us, and a
//! cell endures a million programs; "writes of all zeros are faster", without a number.
//!
//! # Checks
//! The numbers of beats and chunks of unaligned accesses, and the bandwidths as products of the component
//! rates, are checked. The total number of programs equals the sum over all rows. The number of words that
//! are not zero is compared with a byte-by-byte count. Program times are checked for data from all zeros to
//! no zeros.

mod cells;
mod chips;

pub use cells::{Cells, Operation};
pub use chips::Chips;

use nacre_kernel::Time;
use nacre_kernel::state::State;
use prefetch_index::prefetch_index;

/// Number of kinds of counted work: each [`Operation`], and programmed nonzero words.
pub const KINDS: usize = Operation::COUNT + 1;
/// Index of the kind for programmed nonzero words.
pub const WRITTEN_WORD: usize = Operation::COUNT;
/// Number of bytes that the data lines of a chip transfer at a time.
pub const CHIP_WORD: u64 = 2;

/// Number of rows whose counters are allocated together.
const ROWS_PER_PART: usize = 4096;

/// A rank: chips that operate together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Number of bytes of one read, over all data chips.
    pub beat: u64,
    /// Time of one read.
    pub read: Time,
    /// Number of bytes of one program, over all data chips.
    pub chunk: u64,
    /// Time of one program of arbitrary data, after the write buffers of the chips are filled.
    pub program: Time,
    /// Time of one program of zeros.
    pub zeros: Time,
    /// Number of bytes of a word, over all data chips.
    pub word: u64,
}

impl Rank {
    /// Number of reads for the bytes `offset..offset + bytes`.
    #[inline]
    pub fn beats(&self, offset: u64, bytes: u64) -> u64 {
        divided(offset + bytes - 1, self.beat) - divided(offset, self.beat) + 1
    }

    /// Index of the first chunk of the bytes `offset..offset + bytes`, and number of chunks.
    #[inline]
    pub fn chunks(&self, offset: u64, bytes: u64) -> (u64, u64) {
        let first = divided(offset, self.chunk);
        (first, divided(offset + bytes - 1, self.chunk) - first + 1)
    }

    /// Number of words per chunk.
    #[inline]
    pub fn words(&self) -> u64 {
        self.chunk.div_ceil(self.word)
    }

    /// Time of a program with `written` nonzero words.
    #[inline]
    pub fn program_of(&self, written: u32) -> Time {
        if self.zeros == self.program {
            return self.program;
        }
        let more = (self.program - self.zeros).as_ps() * u64::from(written) / self.words();
        self.zeros + Time::from_ps(more)
    }

    /// Number of nonzero words in each chunk if `bytes` are written at `offset`. If a chunk is only partly
    /// written, the rest is assumed to have the same share of nonzero words. Fractions of a word are rounded
    /// up.
    pub fn written_words(&self, offset: u64, bytes: &[u8]) -> Vec<u32> {
        let (mut chunks, mut from, end) = (Vec::new(), offset, offset + bytes.len() as u64);
        while from < end {
            let chunk_end = (from / self.chunk + 1) * self.chunk;
            let (mut words, mut written) = (0, 0);
            while from < end.min(chunk_end) {
                let to = (from / self.word + 1) * self.word;
                let to = to.min(end).min(chunk_end);
                let word = &bytes[(from - offset) as usize..(to - offset) as usize];
                words += 1;
                written += u64::from(word.iter().any(|&byte| byte != 0));
                from = to;
            }
            chunks.push((self.words() * written).div_ceil(words) as u32);
        }
        chunks
    }
}

/// Quotient `bytes / unit`. Most units are powers of two, for which a shift takes 10 % of the time of a
/// division.
#[inline]
fn divided(bytes: u64, unit: u64) -> u64 {
    if unit.is_power_of_two() { bytes >> unit.trailing_zeros() } else { bytes / unit }
}

/// Number of programs of each row.
#[derive(Debug, State)]
pub struct Rows {
    #[state(same)]
    count: u64,
    #[state(same)]
    endurance: u64,
    #[state(elements_vary)]
    parts: Vec<Option<Box<[u32; ROWS_PER_PART]>>>,
    programs: u64,
    worn_out: u64,
}

impl Rows {
    /// Memory in bytes that `count` rows take before any write, and after writes to all rows.
    pub fn memory_bytes(count: u64) -> (u64, u64) {
        let places = count.div_ceil(ROWS_PER_PART as u64);
        let (place, part) =
            (size_of::<Option<Box<[u32; ROWS_PER_PART]>>>(), size_of::<[u32; ROWS_PER_PART]>());
        (places.saturating_mul(place as u64), places.saturating_mul((place + part) as u64))
    }

    /// Creates `count` rows that were never written, with an endurance of `endurance` programs.
    pub fn new(count: u64, endurance: u64) -> Rows {
        let parts = (0..count.div_ceil(ROWS_PER_PART as u64)).map(|_| None).collect();
        Rows { count, endurance, parts, programs: 0, worn_out: 0 }
    }

    /// Records one program of `row`.
    #[inline]
    pub fn program(&mut self, row: u64) {
        let count = &mut self.part(row)[row as usize % ROWS_PER_PART];
        *count = count.saturating_add(1);
        let programs = u64::from(*count);
        self.worn_out += u64::from(programs == self.endurance + 1);
        self.programs += 1;
    }

    /// Records `times` programs of `row`.
    pub fn program_often(&mut self, row: u64, times: u64) {
        let programs = &mut self.part(row)[row as usize % ROWS_PER_PART];
        let before = u64::from(*programs);
        *programs = u32::try_from(before + times).unwrap_or(u32::MAX);
        self.worn_out += u64::from(before <= self.endurance && before + times > self.endurance);
        self.programs += times;
    }

    /// Records one program for each of `count` rows: `row` and the rows before it.
    pub fn program_down(&mut self, row: u64, count: u64) {
        let (mut end, mut left, endurance) = (row as usize + 1, count as usize, self.endurance);
        while left > 0 {
            let to = (end - 1) % ROWS_PER_PART + 1;
            let from = to.saturating_sub(left);
            let counts = &mut self.part(end as u64 - 1)[from..to];
            // Two passes over a few cache lines. The compiler vectorizes each pass.
            counts.iter_mut().for_each(|count| *count = count.saturating_add(1));
            let worn = counts.iter().filter(|&&count| u64::from(count) == endurance + 1).count();
            self.worn_out += worn as u64;
            (end, left) = (end - (to - from), left - (to - from));
        }
        self.programs += count;
    }

    /// Searches `count` rows, from `row` downward, for a row that one more program would wear out. Returns
    /// the distance of the first such row from `row`, if any.
    pub fn first_worn_down(&self, row: u64, count: u64) -> Option<u64> {
        let is_worn = |&index: &u64| u64::from(self.programs_of(row - index)) == self.endurance;
        match self.programs_in(row + 1 - count, row + 1).1 {
            most if u64::from(most) < self.endurance => None,
            _ => (0..count).find(is_worn),
        }
    }

    /// Prefetches the program counter of `row`.
    #[inline]
    pub fn prefetch(&self, row: u64) {
        if let Some(counts) = &self.parts[row as usize / ROWS_PER_PART] {
            prefetch_index(counts.as_slice(), row as usize % ROWS_PER_PART);
        }
    }

    /// Number of programs of `row` over its lifetime.
    #[inline]
    pub fn programs_of(&self, row: u64) -> u32 {
        let part = self.parts[row as usize / ROWS_PER_PART].as_ref();
        part.map_or(0, |counts| counts[row as usize % ROWS_PER_PART])
    }

    /// Number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Endurance of a row in programs.
    pub fn endurance(&self) -> u64 {
        self.endurance
    }

    /// Total number of programs of all rows.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Number of rows that were programmed more often than their endurance allows.
    pub fn worn_out(&self) -> u64 {
        self.worn_out
    }

    /// Number of programs of each row over its lifetime.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        let count = |row: u64| self.programs_of(row);
        (0..self.count).map(count)
    }

    /// Total number of programs of the rows `first..end`, and the maximum number of a single row.
    pub fn programs_in(&self, first: u64, end: u64) -> (u64, u32) {
        let (mut sum, mut most) = (0, 0);
        let (mut row, end) = (first as usize, end.min(self.count) as usize);
        while row < end {
            let (part, from) = (row / ROWS_PER_PART, row % ROWS_PER_PART);
            let to = (from + end - row).min(ROWS_PER_PART);
            if let Some(counts) = &self.parts[part] {
                sum += counts[from..to].iter().map(|&count| u64::from(count)).sum::<u64>();
                most = counts[from..to].iter().fold(most, |most, &count| most.max(count));
            }
            row += to - from;
        }
        (sum, most)
    }

    /// Counters of the part that contains `row`.
    #[inline]
    fn part(&mut self, row: u64) -> &mut [u32; ROWS_PER_PART] {
        debug_assert!(row < self.count, "row {row} of {}", self.count);
        self.parts[row as usize / ROWS_PER_PART].get_or_insert_with(|| Box::new([0; ROWS_PER_PART]))
    }

    /// Panics if the total number of programs differs from the sum over all rows.
    pub fn check_invariants(&self) {
        let counted: u64 =
            self.parts.iter().flatten().flat_map(|part| part.iter()).map(|&count| u64::from(count)).sum();
        assert_eq!(counted, self.programs, "every program is of a row");
    }
}

#[cfg(test)]
mod tests;
