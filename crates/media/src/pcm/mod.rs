//! Phase change memory: rows that are written in place and wear by it.
//!
//! # Models
//! Chips of a *rank* work in concert. A read of one *beat* gives every chip's page of words; a program of
//! one *chunk* commits every chip's write buffer. Both are as long as the chip's timing says, whatever was
//! there before: nothing has to be erased. A row is a whole number of chunks. Every write to a row, of all its
//! chunks or of some, counts as one program of the row; counters exist for the rows that were ever written.
//! A row that was programmed more often than its endurance is worn out and goes on.
//!
//! # Leaves out
//! Bytes; that a program of zeros is faster; bit errors, drift and stuck cells; wear of single chunks.
//!
//! # Sources
//! akel-2011 section 2.2, of the Micron P8P: 16 B are read in 314 ns, 64 B are programmed in 120 us, a cell
//! is programmed a million times.
//!
//! # Checks
//! Beats and chunks of unaligned accesses; bandwidths as the product of their parts; programs conserved.

use nacre_kernel::Time;

/// Rows that have their counters together.
const ROWS_PER_PART: usize = 4096;

/// Chips that work in concert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Bytes of one read, over all chips that hold data.
    pub beat: u64,
    /// How long one read takes.
    pub read: Time,
    /// Bytes of one program, over all chips that hold data.
    pub chunk: u64,
    /// How long one program takes, once the chips' write buffers are filled.
    pub program: Time,
}

impl Rank {
    /// Reads that bytes `offset..offset + bytes` take.
    #[inline]
    pub fn beats(&self, offset: u64, bytes: u64) -> u64 {
        (offset + bytes - 1) / self.beat - offset / self.beat + 1
    }

    /// The first chunk that bytes `offset..offset + bytes` touch, and how many they do.
    #[inline]
    pub fn chunks(&self, offset: u64, bytes: u64) -> (u64, u64) {
        let first = offset / self.chunk;
        (first, (offset + bytes - 1) / self.chunk - first + 1)
    }
}

/// The wear of rows.
#[derive(Debug)]
pub struct Rows {
    count: u64,
    endurance: u64,
    parts: Vec<Option<Box<[u32; ROWS_PER_PART]>>>,
    programs: u64,
    worn_out: u64,
}

impl Rows {
    /// `count` rows that were never written and are made for `endurance` programs.
    pub fn new(count: u64, endurance: u64) -> Rows {
        let parts = (0..count.div_ceil(ROWS_PER_PART as u64)).map(|_| None).collect();
        Rows { count, endurance, parts, programs: 0, worn_out: 0 }
    }

    /// Programs `row`.
    #[inline]
    pub fn program(&mut self, row: u64) {
        debug_assert!(row < self.count, "row {row} of {}", self.count);
        let part = &mut self.parts[row as usize / ROWS_PER_PART];
        let counts = part.get_or_insert_with(|| Box::new([0; ROWS_PER_PART]));
        let count = &mut counts[row as usize % ROWS_PER_PART];
        *count = count.saturating_add(1);
        self.worn_out += u64::from(u64::from(*count) == self.endurance + 1);
        self.programs += 1;
    }

    /// How often `row` was programmed in its life.
    pub fn programs_of(&self, row: u64) -> u32 {
        let part = self.parts[row as usize / ROWS_PER_PART].as_ref();
        part.map_or(0, |counts| counts[row as usize % ROWS_PER_PART])
    }

    /// How many rows there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Programs of all rows since the first day.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Rows that were programmed more often than their endurance.
    pub fn worn_out(&self) -> u64 {
        self.worn_out
    }

    /// Programs of rows `first..end`: of all together, and of the one programmed most.
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

    /// Panics unless every program is in the count of a row.
    pub fn check_invariants(&self) {
        let counted: u64 =
            self.parts.iter().flatten().flat_map(|part| part.iter()).map(|&count| u64::from(count)).sum();
        assert_eq!(counted, self.programs, "every program is of a row");
    }
}

#[cfg(test)]
mod tests;
