//! A BCH code over the bytes of one codeword: encoder and decoder.
//!
//! A codeword consists of the data, the head of its spare bytes, if any, and the parity. The first bit of a
//! byte is its most significant bit. Encoding and checking are the same operation: the parity is the
//! remainder of the message divided by the generator. If the stored parity differs, the difference yields
//! the syndromes.

use super::super::{Misfit, Verdict};
use super::STRENGTH_MAX;
use super::closed::Closed;
use super::field::Field;
use super::locator::locator;
use super::polynomial::{LinearMap, WIDE_WORDS, Wide};
use super::remainder::Division;
use super::roots::roots;

/// Number of bytes per word.
const WORD: usize = 8;
/// Number of field elements per word.
const PACKED: usize = 4;

/// A BCH encoder and decoder.
pub(super) struct Code {
    field: Field,
    closed: Closed,
    t: u32,
    data_bytes: usize,
    head_bytes: usize,
    division: Division,
    /// Map from a remainder to its values at `a`, `a^3`, `a^5`, and so on, [`PACKED`] per word.
    syndromes: LinearMap,
}

impl Code {
    /// A code over GF(2^`m`) that corrects `t` bit errors per codeword. A codeword consists of `data_bytes`
    /// data bytes, the first `head_bytes` spare bytes, and the parity. Returns an error if `m` or `t` is out
    /// of range, or if the codeword is too long for the field.
    pub(super) fn new(m: u32, t: u32, data_bytes: usize, head_bytes: usize) -> Result<Code, Misfit> {
        let Some(field) = Field::new(m) else {
            return Err(Misfit(format!("m is {m}; the fields are GF(2^13) to GF(2^16)")));
        };
        if t == 0 || t as usize > STRENGTH_MAX {
            return Err(Misfit(format!("t is {t}; codes correct 1 to {STRENGTH_MAX} bits")));
        }
        let (message, parity) = (8 * (data_bytes as u64 + head_bytes as u64), u64::from(m * t));
        if data_bytes == 0 || message + parity > u64::from(field.order()) {
            return Err(Misfit(format!(
                "a codeword over GF(2^{m}) has up to {} bits; {message} bits and {parity} bits of parity are {}",
                field.order(),
                if message == 0 { "no data".into() } else { (message + parity).to_string() }
            )));
        }
        Ok(Code::over(field, t, data_bytes, head_bytes))
    }

    /// A code over a `field` that is large enough for the codeword and for `t` minimal polynomials of full
    /// degree.
    pub(super) fn over(field: Field, t: u32, data_bytes: usize, head_bytes: usize) -> Code {
        let minimal: Vec<u32> = (0..t).map(|number| field.minimal(2 * number + 1)).collect();
        assert!(minimal.iter().all(|polynomial| polynomial.ilog2() == field.m()), "of full degree");
        let division = Division::new(&minimal, field.m());
        let syndromes = syndromes(&field, t, t * field.m());
        let closed = Closed::new(&field);
        Code { field, closed, t, data_bytes, head_bytes, division, syndromes }
    }

    /// Number of bit errors that the code corrects.
    pub(super) fn strength(&self) -> u32 {
        self.t
    }

    /// Number of bits of a codeword: data, head of the spare bytes, and parity.
    pub(super) fn bits(&self) -> u32 {
        8 * (self.data_bytes + self.head_bytes) as u32 + self.parity_bits()
    }

    /// Number of parity bytes. Unused bits of the last byte are written as zero and assumed to be zero on
    /// reads.
    pub(super) fn parity_bytes(&self) -> usize {
        self.parity_bits().div_ceil(8) as usize
    }

    /// Number of spare bytes: head and parity.
    pub(super) fn spare_bytes(&self) -> usize {
        self.head_bytes + self.parity_bytes()
    }

    fn parity_bits(&self) -> u32 {
        self.field.m() * self.t
    }

    /// Writes the parity of `data` and the head of `spare` into `spare` after that head. Returns an error if
    /// the length of the data or of the spare bytes is wrong.
    pub(super) fn encode(&self, data: &[u8], spare: &mut [u8]) -> Result<(), Misfit> {
        self.check_lengths(data, spare)?;
        let (head, parity) = spare.split_at_mut(self.head_bytes);
        let words = self.division.remainder(data, head);
        for (bytes, word) in parity.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes()[..bytes.len()]);
        }
        Ok(())
    }

    /// Corrects bit errors in `data` and `spare`. Returns an error if the length of the data or of the spare
    /// bytes is wrong.
    pub(super) fn decode(&self, data: &mut [u8], spare: &mut [u8]) -> Result<Verdict, Misfit> {
        self.check_lengths(data, spare)?;
        let unused = 8 * self.parity_bytes() as u32 - self.parity_bits();
        let (head, parity) = spare.split_at_mut(self.head_bytes);
        *parity.last_mut().expect("a code has parity") &= 0xff << unused;
        let mut difference = self.division.remainder(data, head);
        for (word, bytes) in difference.iter_mut().zip(parity.chunks(WORD)) {
            let mut read = [0; WORD];
            read[..bytes.len()].copy_from_slice(bytes);
            *word ^= u64::from_be_bytes(read);
        }
        if difference == [0; WIDE_WORDS] {
            return Ok(Verdict::Clean);
        }
        let mut places = Vec::with_capacity(self.t as usize);
        if !self.places(&difference, &mut places) {
            return Ok(Verdict::Uncorrectable);
        }
        for &place in &places {
            let place = place + unused as usize;
            let from_end = place / 8;
            let byte = match spare.len().checked_sub(1 + from_end) {
                Some(at) => &mut spare[at],
                None => &mut data[self.data_bytes + spare.len() - 1 - from_end],
            };
            *byte ^= 1 << (place % 8);
        }
        Ok(Verdict::Corrected(places.len() as u32))
    }

    /// Finds the positions of the bit errors, counted from the last bit of the codeword. Returns false if no
    /// set of at most `t` bit errors causes this `difference` of the parity.
    fn places(&self, difference: &Wide, places: &mut Vec<usize>) -> bool {
        let mut syndromes = [0; 2 * STRENGTH_MAX];
        let odd = self.syndromes.of(difference);
        for number in 0..self.t as usize {
            syndromes[2 * number] = (odd[number / PACKED] >> (16 * (number % PACKED))) as u16;
        }
        let syndromes = &mut syndromes[..2 * self.t as usize];
        for number in 0..self.t as usize {
            syndromes[2 * number + 1] = self.field.square(syndromes[number]);
        }
        let Some((low, errors)) = locator(&self.field, syndromes) else { return false };
        let mut locators = Vec::with_capacity(STRENGTH_MAX);
        if !roots(&self.field, &self.closed, &low[..errors], &mut locators) {
            return false;
        }
        places.extend(locators.iter().map(|&locator| self.field.log(locator) as usize));
        places.iter().all(|&place| place < self.bits() as usize)
    }

    fn check_lengths(&self, data: &[u8], spare: &[u8]) -> Result<(), Misfit> {
        let (given, wanted) = ([data.len(), spare.len()], [self.data_bytes, self.spare_bytes()]);
        Misfit::of_lengths(format_args!("a BCH codeword with t = {}", self.t), given, wanted)
            .map_or(Ok(()), Err)
    }
}

/// The map from a remainder of the given `degree` to its syndromes.
fn syndromes(field: &Field, t: u32, degree: u32) -> LinearMap {
    let mut images = vec![[0; WIDE_WORDS]; 64 * degree.div_ceil(64) as usize];
    for (image, power) in images.iter_mut().zip((0..degree).rev()) {
        for number in 0..t {
            let value = field.exp((2 * number + 1) * power % field.order());
            image[number as usize / PACKED] |= u64::from(value) << (16 * (number as usize % PACKED));
        }
    }
    LinearMap::new(&images, (t as usize).div_ceil(PACKED))
}
