//! Error-correcting codes: additional data in the spare bytes of a page to detect and correct bit errors. One
//! module per code.
//!
//! A page holds one or more codewords, each with a portion of the spare bytes. A device that stores no
//! data passes the number of bit errors of a codeword to the code, which returns the result of decoding. A
//! device that stores data encodes and decodes pages.

pub mod bch;
pub mod crc32;
pub mod ldpc;
pub mod none;
mod tail;
#[cfg(test)]
mod tests;

pub use tail::binomial_tail;

use nacre_config::{Families, Family, Problems, Slot, Table, model_of};
use nacre_kernel::{Bytes, Energy, Time};

/// The family of error-correcting codes.
#[derive(Debug)]
pub struct EccFamily;

impl Family for EccFamily {
    const NAME: &'static str = "ecc";
    type Built = Box<dyn Ecc>;
    type Context<'a> = Page<'a>;
}

/// The page that a code protects.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    /// All component families, needed to read the configuration of a slot.
    pub families: &'a dyn Families,
    /// Number of data bytes per page.
    pub bytes: Bytes,
}

impl std::fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a page of {}", self.bytes)
    }
}

/// The codes, in documentation order.
pub static MODELS: &Table<EccFamily> = &[none::MODEL, crc32::MODEL, bch::MODEL, ldpc::MODEL];

/// Builds the code that `slot` describes, for `page`. Returns an error if the code has no codewords that fit
/// the page.
pub fn build(slot: &Slot<EccFamily>, mut page: Page<'_>) -> Result<Box<dyn Ecc>, Problems> {
    (model_of(MODELS, slot).build)(slot, &mut page)
}

/// A code for pages of one size.
pub trait Ecc: Send + Sync {
    /// Layout of a page.
    fn layout(&self) -> Layout;

    /// Time and energy to encode a page.
    fn encoding(&self) -> Work;

    /// Result of decoding one codeword with `errors` bit errors.
    fn decoding(&self, errors: u32) -> Decoding;

    /// Maximum number of bit errors that the code corrects in a codeword.
    fn corrects(&self) -> u32;

    /// Returns the code for pages of the same size that corrects `bits` bit errors per codeword. Returns
    /// `None` if the code cannot have that strength.
    fn of_strength(&self, bits: u32) -> Option<Box<dyn Ecc>>;

    /// Encoder and decoder for bytes, or `None` if only the strength of the code is known.
    fn codec(&self) -> Option<&dyn Codec>;

    /// Probability that a page has a codeword with more bit errors than the code can correct. Each bit fails
    /// independently with the probability `bit_error_rate`.
    fn page_failure(&self, bit_error_rate: f64) -> f64 {
        let layout = self.layout();
        let codeword = binomial_tail(layout.codeword_bits, bit_error_rate, u64::from(self.corrects()));
        // 1 - (1 - p)^n, which is accurate even for small p.
        -libm::expm1(f64::from(layout.codewords) * libm::log1p(-codeword))
    }
}

/// Layout of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of codewords of a page.
    pub codewords: u32,
    /// Number of bits of a codeword, including data and spare bytes.
    pub codeword_bits: u64,
    /// Number of spare bytes per page.
    pub spare_bytes: u64,
}

/// Time and energy of one encoding or decoding operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Duration.
    pub time: Time,
    /// Energy, if known.
    pub energy: Option<Energy>,
}

/// Result of decoding a codeword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoding {
    /// Verdict of the decoder.
    pub verdict: Verdict,
    /// Number of read retries of the page.
    pub senses: u32,
    /// Time and energy of the decoding.
    pub work: Work,
}

/// Verdict of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The codeword has no bit errors.
    Clean,
    /// All bit errors were corrected. The value is the number of bit errors.
    Corrected(u32),
    /// The codeword has too many bit errors to correct, and its data is returned as read.
    Uncorrectable,
    /// Bit errors exist but were not detected.
    Unnoticed,
}

/// Encodes and decodes the bytes of a page.
pub trait Codec: Send + Sync {
    /// Writes the spare bytes for `page`. Returns an error if the length of the page or of the spare bytes is
    /// wrong.
    fn encode(&self, page: &[u8], spare: &mut [u8]) -> Result<(), Misfit>;

    /// Corrects bit errors in `page` and `spare`. If one codeword is uncorrectable, the others are still
    /// corrected. Returns an error if the length of the page or of the spare bytes is wrong.
    fn decode(&self, page: &mut [u8], spare: &mut [u8]) -> Result<Verdict, Misfit>;
}

/// Reason why a code or codeword cannot be built, as text for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit(pub String);

impl Misfit {
    /// Checks the lengths of data and spare bytes. Returns `None` if they are correct.
    fn of_lengths(what: impl std::fmt::Display, given: [usize; 2], wanted: [usize; 2]) -> Option<Misfit> {
        let text = || {
            let [data, spare] = given;
            format!(
                "{data} bytes of data and {spare} spare bytes; {what} takes {} and {}",
                wanted[0], wanted[1]
            )
        };
        (given != wanted).then(|| Misfit(text()))
    }
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}
