//! What a long polynomial leaves divided by the generator: the loop over every byte of a page.
//!
//! A step takes a word of 64 bits; eight tables give what its bytes leave. A step waits for the one before, so
//! the page is cut into a few stretches that are divided side by side, and brought together by linear maps.
//! The words of a remainder are a constant of the compiler, for speed: there is one division for each.

use super::polynomial::{LinearMap, WIDE_WORDS, Wide, place, times_x};

/// Bytes of a word.
const WORD: usize = 8;
/// Words a stretch has at least: shorter ones are not worth bringing together.
const WORTHWHILE: usize = 8;

/// Division by a generator.
pub(super) trait Division: Send + Sync {
    /// What `(message of data and head) * x^r` leaves, for the generator's degree `r`.
    fn remainder(&self, data: &[u8], head: &[u8]) -> Wide;
}

/// Division by the polynomial of the given `degree` whose coefficients below the highest are `low`, for messages
/// of `data_bytes` and more.
pub(super) fn division(low: &Wide, degree: u32, data_bytes: usize) -> Box<dyn Division> {
    match degree.div_ceil(64) {
        1 => Box::new(Words::<1, 4>::new(low, degree, data_bytes)),
        2 => Box::new(Words::<2, 4>::new(low, degree, data_bytes)),
        3 => Box::new(Words::<3, 4>::new(low, degree, data_bytes)),
        4 => Box::new(Words::<4, 4>::new(low, degree, data_bytes)),
        5 => Box::new(Words::<5, 2>::new(low, degree, data_bytes)),
        6 => Box::new(Words::<6, 2>::new(low, degree, data_bytes)),
        7 => Box::new(Words::<7, 2>::new(low, degree, data_bytes)),
        8 => Box::new(Words::<8, 2>::new(low, degree, data_bytes)),
        9 => Box::new(Words::<9, 2>::new(low, degree, data_bytes)),
        10 => Box::new(Words::<10, 2>::new(low, degree, data_bytes)),
        words => panic!("a generator of {words} words is longer than that of the strongest code"),
    }
}

/// Division that leaves `W` words, over `S` stretches at a time.
struct Words<const W: usize, const S: usize> {
    /// By the place of a byte in its word, and its value: what it leaves.
    step: Box<[[[u64; W]; 256]; WORD]>,
    /// Words of a stretch; none where the data is too short.
    stretch: usize,
    /// What a remainder leaves when a stretch follows it.
    over_stretch: LinearMap,
}

impl<const W: usize, const S: usize> Words<W, S> {
    fn new(low: &Wide, degree: u32, data_bytes: usize) -> Words<W, S> {
        let words = data_bytes / WORD / S;
        let stretch = if words < WORTHWHILE { 0 } else { words };
        // What `x^(r + power)` leaves.
        let units = std::iter::successors(Some(*low), |left| Some(times_x(left, low)));
        let units: Vec<Wide> = units.take(64).collect();
        let mut step = vec![[[0; W]; 256]; WORD].into_boxed_slice();
        for (place, row) in step.iter_mut().enumerate() {
            let units = &units[8 * (WORD - 1 - place)..][..8];
            for byte in 1..256usize {
                let unit = &units[byte.trailing_zeros() as usize];
                let rest = row[byte & (byte - 1)];
                row[byte] = std::array::from_fn(|at| rest[at] ^ unit[at]);
            }
        }
        let step = step.try_into().expect("as many rows as a word has bytes");
        Words { step, stretch, over_stretch: over(low, degree, 64 * stretch) }
    }

    #[inline(always)]
    fn stepped(&self, remainder: [u64; W], word: u64) -> [u64; W] {
        let bytes = (remainder[0] ^ word).to_be_bytes();
        let mut next = [0; W];
        next[..W - 1].copy_from_slice(&remainder[1..]);
        for (row, byte) in self.step.iter().zip(bytes) {
            let left = &row[usize::from(byte)];
            for (next, left) in next.iter_mut().zip(left) {
                *next ^= left;
            }
        }
        next
    }

    /// Division of the stretches, side by side.
    #[inline(always)]
    fn stretches(&self, words: &[[u8; WORD]]) -> [u64; W] {
        let stretches: [&[[u8; WORD]]; S] =
            std::array::from_fn(|number| &words[number * self.stretch..][..self.stretch]);
        let mut remainders = [[0; W]; S];
        for at in 0..self.stretch {
            for (remainder, stretch) in remainders.iter_mut().zip(stretches) {
                *remainder = self.stepped(*remainder, u64::from_be_bytes(stretch[at]));
            }
        }
        let [first, others @ ..] = remainders.as_slice() else { unreachable!("there is a stretch") };
        others.iter().fold(*first, |before, remainder| {
            let before = self.over_stretch.of(&before);
            std::array::from_fn(|at| before[at] ^ remainder[at])
        })
    }

    fn continued(&self, remainder: [u64; W], bytes: &[u8]) -> [u64; W] {
        let (words, rest) = bytes.as_chunks::<WORD>();
        let remainder = words
            .iter()
            .fold(remainder, |remainder, word| self.stepped(remainder, u64::from_be_bytes(*word)));
        rest.iter().fold(remainder, |remainder, byte| {
            // A byte alone is the last of a word whose others are zero.
            let left = &self.step[WORD - 1][usize::from((remainder[0] >> 56) as u8 ^ byte)];
            std::array::from_fn(|at| {
                let below = remainder.get(at + 1).map_or(0, |below| below >> 56);
                remainder[at] << 8 ^ below ^ left[at]
            })
        })
    }
}

impl<const W: usize, const S: usize> Division for Words<W, S> {
    fn remainder(&self, data: &[u8], head: &[u8]) -> Wide {
        let (words, _) = data.as_chunks::<WORD>();
        let side_by_side = self.stretch * S;
        let remainder = self.stretches(&words[..side_by_side]);
        let remainder = self.continued(remainder, &data[side_by_side * WORD..]);
        let remainder = self.continued(remainder, head);
        let mut wide = [0; WIDE_WORDS];
        wide[..W].copy_from_slice(&remainder);
        wide
    }
}

/// The map that multiplies a remainder by `x^bits`; nothing where there are none.
fn over(low: &Wide, degree: u32, bits: usize) -> LinearMap {
    let mut images = vec![[0; WIDE_WORDS]; if bits == 0 { 0 } else { 64 * degree.div_ceil(64) as usize }];
    let one = place(degree - 1);
    let mut image = (0..bits).fold(one, |power, _| times_x(&power, low));
    for place in images.iter_mut().take(degree as usize).rev() {
        *place = image;
        image = times_x(&image, low);
    }
    LinearMap::new(&images, degree.div_ceil(64) as usize)
}
