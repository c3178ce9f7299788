//! Lists of unit numbers. A number takes four bytes, or 4.25 bytes in a drive with more than 2^32 units.

use crate::config::UNITS_MAX;
use nacre_kernel::state::State;
use prefetch_index::prefetch_index;

/// Number of entries of a chunk.
pub(crate) const CHUNK: usize = 1 << 20;
/// Number of bytes for the highest bits of the entries of a chunk.
const HIGH: usize = CHUNK / 4;

/// A list of fixed length. All numbers are initially zero, and memory is unused until a number is set.
#[derive(Clone, Debug, State)]
pub(crate) enum Numbers {
    /// Numbers below 2^32.
    Narrow(#[state(sparse)] Vec<u32>),
    /// Larger numbers, in chunks. A chunk is empty until one of its numbers is set. A single list is not
    /// used, because operating systems may reject a list that is larger than the memory of the machine.
    Wide(Vec<Packed>),
}

/// A chunk of numbers with 34 bits.
#[derive(Clone, Debug, Default, State)]
#[state(after = "Self::check_restored")]
pub(crate) struct Packed {
    #[state(sparse, varies)]
    low: Vec<u32>,
    /// Highest two bits of each number. A byte holds the bits of four numbers.
    #[state(sparse, varies)]
    high: Vec<u8>,
}

impl Numbers {
    /// Creates a list of `count` zeros for numbers below `end`.
    pub(crate) fn new(count: usize, end: u64) -> Numbers {
        match is_wide(end) {
            false => Numbers::Narrow(vec![0; count]),
            true => Numbers::Wide(vec![Packed::default(); count.div_ceil(CHUNK)]),
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        match self {
            Numbers::Narrow(list) => list.number(at),
            Numbers::Wide(chunks) => match &chunks[at / CHUNK] {
                chunk if chunk.count() == 0 => 0,
                chunk => chunk.number(at % CHUNK),
            },
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, at: usize, number: u64) {
        match self {
            Numbers::Narrow(list) => list.put(at, number),
            Numbers::Wide(chunks) => {
                let chunk = &mut chunks[at / CHUNK];
                if chunk.count() == 0 {
                    *chunk = Packed::zeros(CHUNK);
                }
                chunk.put(at % CHUNK, number);
            }
        }
    }

    /// Returns the largest number in the list.
    pub(crate) fn largest(&self) -> u64 {
        match self {
            Numbers::Narrow(list) => list.iter().fold(0, |largest, &number| largest.max(number)).into(),
            Numbers::Wide(chunks) => {
                let largest = |chunk: &Packed| (0..chunk.count()).map(|at| chunk.number(at)).max();
                chunks.iter().filter_map(largest).max().unwrap_or(0)
            }
        }
    }

    /// Prefetches a number.
    #[inline]
    pub(crate) fn prefetch(&self, at: usize) {
        match self {
            Numbers::Narrow(list) => list.prefetch(at),
            Numbers::Wide(chunks) => chunks[at / CHUNK].prefetch(at % CHUNK),
        }
    }

    /// Returns the memory that the list takes, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Numbers::Narrow(list) => 4 * list.len() as u64,
            Numbers::Wide(chunks) => chunks.iter().map(List::bytes).sum(),
        }
    }
}

/// Exclusive upper bound of the numbers that are stored in four bytes. In the tests of this crate, small
/// drives also use wider numbers.
const NARROW: u64 = if cfg!(test) { 1 << 16 } else { 1 << 32 };

/// Returns whether a list of numbers below `end` stores more than 32 bits per number.
pub(crate) fn is_wide(end: u64) -> bool {
    end > NARROW
}

/// A list of numbers that all have the same width.
pub(crate) trait List: Clone + Default {
    /// Largest number that an entry can hold.
    const MASK: u64;

    fn zeros(count: usize) -> Self;
    fn count(&self) -> usize;
    fn number(&self, at: usize) -> u64;
    fn put(&mut self, at: usize, number: u64);
    fn prefetch(&self, at: usize);

    /// Returns the memory that the list takes, in bytes.
    #[cfg(test)]
    fn bytes(&self) -> u64;
}

impl List for Vec<u32> {
    const MASK: u64 = u32::MAX as u64;

    fn zeros(count: usize) -> Vec<u32> {
        vec![0; count]
    }

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn number(&self, at: usize) -> u64 {
        self[at].into()
    }

    #[inline]
    fn put(&mut self, at: usize, number: u64) {
        self[at] = number as u32;
    }

    #[inline]
    fn prefetch(&self, at: usize) {
        prefetch_index(self, at);
    }

    #[cfg(test)]
    fn bytes(&self) -> u64 {
        4 * self.capacity() as u64
    }
}

impl List for Packed {
    const MASK: u64 = UNITS_MAX;

    fn zeros(count: usize) -> Packed {
        Packed { low: vec![0; count], high: vec![0; count.div_ceil(4)] }
    }

    #[inline]
    fn count(&self) -> usize {
        self.low.len()
    }

    #[inline]
    fn number(&self, at: usize) -> u64 {
        u64::from(self.high[at / 4] >> (at % 4 * 2) & 3) << 32 | u64::from(self.low[at])
    }

    #[inline]
    fn put(&mut self, at: usize, number: u64) {
        self.low[at] = number as u32;
        let (byte, shift) = (&mut self.high[at / 4], at % 4 * 2);
        *byte = *byte & !(3 << shift) | ((number >> 32) as u8) << shift;
    }

    #[inline]
    fn prefetch(&self, at: usize) {
        prefetch_index(&self.low, at);
    }

    #[cfg(test)]
    fn bytes(&self) -> u64 {
        (4 * self.low.capacity() + self.high.capacity()) as u64
    }
}

impl Packed {
    fn check_restored(&mut self) -> Result<(), String> {
        match (self.low.len(), self.high.len()) {
            (0, 0) | (CHUNK, HIGH) => Ok(()),
            (low, high) => Err(format!("{low} and {high} entries of a chunk")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_either_width_are_those_set_last() {
        for end in [NARROW, UNITS_MAX + 1] {
            let mut numbers = Numbers::new(3 * CHUNK, end);
            let mut naive = std::collections::BTreeMap::new();
            for step in 0..100_000_u64 {
                let at = (step * 7_919_993) as usize % (2 * CHUNK);
                let number = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) % end;
                numbers.set(at, number);
                naive.insert(at, number);
            }
            assert!(
                (0..3 * CHUNK).all(|at| numbers.get(at) == naive.get(&at).copied().unwrap_or(0)),
                "{end}"
            );
            assert_eq!(Some(numbers.largest()), naive.values().copied().max());
        }
        assert_eq!(Numbers::new(3 * CHUNK, UNITS_MAX).bytes(), 0, "of an unused list");
    }
}
