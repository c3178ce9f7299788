//! Polynomials over GF(2) of up to 640 bits, and linear maps between them.

/// Number of words of a [`Wide`], enough for the parity of the strongest code.
pub(super) const WIDE_WORDS: usize = 10;

/// A polynomial modulo a polynomial of degree `r`. The coefficient of `x^(r - 1)` is in the most
/// significant bit of the first word.
pub(super) type Wide = [u64; WIDE_WORDS];

/// A modulus for the reduction of other polynomials.
pub(super) struct Modulus {
    /// Coefficients of a monic polynomial below the highest coefficient.
    low: Wide,
    degree: u32,
}

impl Modulus {
    /// The product of `factors`. Bit `i` of a factor is the coefficient of `x^i`.
    pub(super) fn product(factors: &[u32]) -> Modulus {
        let mut product = vec![true];
        for &factor in factors {
            let size = factor.ilog2() as usize;
            let mut next = vec![false; product.len() + size];
            for power in (0..=size).filter(|power| factor >> power & 1 == 1) {
                next[power..].iter_mut().zip(&product).for_each(|(sum, &term)| *sum ^= term);
            }
            product = next;
        }
        let degree = product.len() as u32 - 1;
        let mut low = [0; WIDE_WORDS];
        let powers = (0..degree).filter(|&power| product[power as usize]);
        powers.for_each(|power| add(&mut low, &place(degree - 1 - power)));
        Modulus { low, degree }
    }

    /// The coefficients below the highest coefficient.
    pub(super) fn low(&self) -> &Wide {
        &self.low
    }

    pub(super) fn degree(&self) -> u32 {
        self.degree
    }

    pub(super) fn one(&self) -> Wide {
        place(self.degree - 1)
    }

    /// `polynomial * x`.
    pub(super) fn times_x(&self, polynomial: &Wide) -> Wide {
        let mut product: Wide = std::array::from_fn(|at| {
            polynomial[at] << 1 | polynomial.get(at + 1).map_or(0, |next| next >> 63)
        });
        if polynomial[0] >> 63 == 1 {
            add(&mut product, &self.low);
        }
        product
    }

    /// `x^exponent`.
    pub(super) fn power(&self, exponent: u32) -> Wide {
        (0..exponent).fold(self.one(), |power, _| self.times_x(&power))
    }

    /// `left * right`.
    pub(super) fn times(&self, left: &Wide, right: &Wide) -> Wide {
        let bits = (0..self.degree).map(|at| right[(at / 64) as usize] << (at % 64) >> 63 == 1);
        self.sum_of_shifted(left, bits)
    }

    /// `polynomial * factor`. Bit `i` of `factor` is the coefficient of `x^i`.
    pub(super) fn times_factor(&self, polynomial: &Wide, factor: u32) -> Wide {
        self.sum_of_shifted(polynomial, (0..u32::BITS).rev().map(|power| factor >> power & 1 == 1))
    }

    /// The product of `polynomial` with the polynomial that has these coefficients, highest first.
    fn sum_of_shifted(&self, polynomial: &Wide, coefficients: impl Iterator<Item = bool>) -> Wide {
        coefficients.fold([0; WIDE_WORDS], |sum, coefficient| {
            let mut sum = self.times_x(&sum);
            if coefficient {
                add(&mut sum, polynomial);
            }
            sum
        })
    }

    /// Inverse of `polynomial`. The modulus must be a product of different irreducible polynomials of degree
    /// `m` that do not divide `polynomial`. The inverse is then `polynomial^(2^m - 2)`.
    pub(super) fn inverse(&self, polynomial: &Wide, m: u32) -> Wide {
        let (mut square, mut inverse) = (*polynomial, self.one());
        for _ in 1..m {
            square = self.times(&square, &square);
            inverse = self.times(&inverse, &square);
        }
        inverse
    }
}

fn add(sum: &mut Wide, term: &Wide) {
    sum.iter_mut().zip(term).for_each(|(sum, term)| *sum ^= term);
}

/// A polynomial with a single bit, at position `place` from the most significant end.
pub(super) fn place(place: u32) -> Wide {
    let mut bit = [0; WIDE_WORDS];
    bit[(place / 64) as usize] = 1 << (63 - place % 64);
    bit
}

/// Number of values of half a byte.
const VALUES: usize = 16;
/// Number of half bytes per word.
const HALVES: usize = 16;

/// A map between polynomials that is linear over GF(2), stored as one table per half byte.
#[derive(Debug)]
pub(super) struct LinearMap {
    words: usize,
    /// Images of all values of each half byte, starting with the most significant half byte.
    table: Vec<u64>,
}

impl LinearMap {
    /// The linear map that maps each bit to its image in `images`. The first image belongs to the most
    /// significant bit of the first word. Only the first `words` words of an image are used.
    pub(super) fn new(images: &[Wide], words: usize) -> LinearMap {
        let mut table = Vec::with_capacity(images.len() / 4 * VALUES * words);
        for four in images.chunks(4) {
            for value in 0..VALUES {
                let mut sum = [0; WIDE_WORDS];
                let chosen = four.iter().enumerate().filter(|(place, _)| value >> (3 - place) & 1 == 1);
                chosen.for_each(|(_, image)| add(&mut sum, image));
                table.extend_from_slice(&sum[..words]);
            }
        }
        LinearMap { words, table }
    }

    /// The image of `polynomial`.
    #[inline]
    pub(super) fn of(&self, polynomial: &[u64]) -> Wide {
        match self.words {
            1 => self.image::<1>(polynomial),
            2 => self.image::<2>(polynomial),
            3 => self.image::<3>(polynomial),
            4 => self.image::<4>(polynomial),
            5 => self.image::<5>(polynomial),
            6 => self.image::<6>(polynomial),
            7 => self.image::<7>(polynomial),
            8 => self.image::<8>(polynomial),
            9 => self.image::<9>(polynomial),
            _ => self.image::<WIDE_WORDS>(polynomial),
        }
    }

    /// Variant of [`LinearMap::of`] with the number of words as a compile-time constant.
    #[inline]
    fn image<const W: usize>(&self, polynomial: &[u64]) -> Wide {
        let mut sum = [0; W];
        let (rows, _) = self.table.as_chunks::<W>();
        for (word, rows) in polynomial.iter().zip(rows.chunks_exact(HALVES * VALUES)) {
            for (half, rows) in rows.as_chunks::<VALUES>().0.iter().enumerate() {
                let row = &rows[(word >> (60 - 4 * half)) as usize & (VALUES - 1)];
                sum.iter_mut().zip(row).for_each(|(sum, row)| *sum ^= row);
            }
        }
        let mut image = [0; WIDE_WORDS];
        image[..W].copy_from_slice(&sum);
        image
    }
}
