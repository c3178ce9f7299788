//! Recent request counts of blocks: a count-min sketch with a doorkeeper, aged by halving.
//!
//! The four counters and two doorkeeper bits of a block are in one 64-byte line, so a request accesses only
//! one cache line. The sketch grows with the number of resident blocks. The top bits of a block's hash select
//! its line, and growing copies every line into two lines, which preserves all estimates.

use nacre_kernel::state::{State, Value};
use prefetch_index::prefetch_index;

/// Number of rows of counters. A block has one counter in each row.
const ROWS: usize = 4;

/// Maximum of a four-bit counter.
const MOST: u64 = 15;

/// Number of blocks per line. A line provides 8 counters and 32 doorkeeper bits for each block.
const BLOCKS_PER_LINE: usize = 8;

/// Mask of the lower three bits of every counter, used to halve all counters of a word at once.
const HALVED: u64 = 0x7777_7777_7777_7777;

/// A line of the sketch: one row of 16 counters in each of four words, and 256 doorkeeper bits.
#[derive(Clone, Copy, Debug, Value)]
#[repr(align(64))]
struct Line {
    counters: [u64; ROWS],
    doorkeeper: [u64; 4],
}

const EMPTY: Line = Line { counters: [0; ROWS], doorkeeper: [0; 4] };

/// Approximate frequencies of blocks, each between 0 and 16.
#[derive(Debug, State)]
#[state(after = "Sketch::check_restored")]
pub(super) struct Sketch {
    /// Lines of the sketch, whose number is a power of two.
    #[state(varies)]
    lines: Vec<Line>,
    /// Maximum number of blocks for which the sketch is sized.
    #[state(same)]
    capacity: usize,
    /// Number of recorded requests. When all counts are halved, this number is halved, too.
    noted: u64,
    /// Number of requests per block of the cache after which all counts are halved.
    #[state(same)]
    sample: u64,
}

/// Location of the counts of one block.
#[derive(Clone, Copy)]
struct Position {
    line: usize,
    hash: u64,
}

impl Position {
    /// Shift in bits to the counter in the word of `row`.
    #[inline]
    fn shift(self, row: usize) -> u32 {
        ((self.hash >> (4 * row)) & 15) as u32 * 4
    }

    /// Positions of the two doorkeeper bits of the block, as words and bit masks.
    #[inline]
    fn bits(self) -> [(usize, u64); 2] {
        [16, 24].map(|from| {
            let bit = (self.hash >> from) & 255;
            ((bit >> 6) as usize, 1 << (bit & 63))
        })
    }
}

/// Hashes a block number. Every bit of the hash depends on the whole number.
#[inline]
pub(super) fn spread(block: u64) -> u64 {
    const MULTIPLIER: u64 = 0xd6e8_feb8_6659_fd93;
    let mut hash = block;
    hash = (hash ^ (hash >> 32)).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> 32)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 32)
}

impl Sketch {
    /// Creates a small sketch that grows with the cache, up to `capacity` blocks. All counts are halved after
    /// `sample` requests per block.
    pub(super) fn new(capacity: usize, sample: u32) -> Sketch {
        Sketch { lines: vec![EMPTY], capacity, noted: 0, sample: u64::from(sample) }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let lines = self.lines.len();
        if lines.is_power_of_two() { Ok(()) } else { Err(format!("{lines} lines, not a power of two")) }
    }

    /// Doubles the sketch if it is too small for `resident` blocks.
    #[inline]
    pub(super) fn fit(&mut self, resident: usize) {
        if resident > self.lines.len() * BLOCKS_PER_LINE {
            self.lines = self.lines.iter().flat_map(|line| [*line, *line]).collect();
        }
    }

    #[inline]
    fn place(&self, block: u64) -> Position {
        let hash = spread(block);
        // A shift by 64 is divided into two shifts, because there may be only one line.
        let line = (hash >> 32 >> (32 - self.lines.len().trailing_zeros())) as usize;
        Position { line, hash }
    }

    /// Records a request for `block`. The doorkeeper records the first request since the last halving, and
    /// the counters record further requests. Only the smallest counters of the block are incremented
    /// (conservative update).
    #[inline]
    pub(super) fn note(&mut self, block: u64) {
        let place = self.place(block);
        let line = &mut self.lines[place.line];
        let bits = place.bits();
        if bits.iter().all(|&(word, bit)| line.doorkeeper[word] & bit != 0) {
            let least = least(line, place);
            if least < MOST {
                for row in 0..ROWS {
                    let shift = place.shift(row);
                    if (line.counters[row] >> shift) & MOST == least {
                        line.counters[row] += 1 << shift;
                    }
                }
            }
        } else {
            bits.iter().for_each(|&(word, bit)| line.doorkeeper[word] |= bit);
        }
        self.noted += 1;
        if self.noted >= self.sample * self.capacity.min(self.lines.len() * BLOCKS_PER_LINE) as u64 {
            self.age();
        }
    }

    /// Estimated number of recent requests for `block`, at most 16. Never less than the smaller of 16 and the
    /// number of requests since the last halving.
    #[inline]
    pub(super) fn estimate(&self, block: u64) -> u64 {
        let place = self.place(block);
        let line = &self.lines[place.line];
        let known = place.bits().iter().all(|&(word, bit)| line.doorkeeper[word] & bit != 0);
        least(line, place) + u64::from(known)
    }

    /// Halves all counts and clears the doorkeeper.
    #[cold]
    fn age(&mut self) {
        for line in &mut self.lines {
            line.counters = line.counters.map(|word| (word >> 1) & HALVED);
            line.doorkeeper = [0; 4];
        }
        self.noted /= 2;
    }

    /// Prefetches the lines of `blocks`.
    #[inline]
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        blocks.iter().for_each(|&block| prefetch_index(&self.lines, self.place(block).line));
    }
}

#[inline]
fn least(line: &Line, place: Position) -> u64 {
    let counts = line.counters.iter().enumerate().map(|(row, word)| (word >> place.shift(row)) & MOST);
    counts.fold(MOST, u64::min)
}
