//! A BCH code that corrects up to `t` bit errors per codeword.
//!
//! # Model
//! The binary BCH code over GF(2^m) is shortened to the size of the codeword. A codeword consists of data, an
//! optional CRC-32 of the data, and `m t` bits of parity, rounded up to bytes. In a simulation with data, the
//! model encodes and decodes the data. The encoder divides the data by the generator polynomial. The decoder
//! uses the Berlekamp-Massey algorithm and finds the roots of the error locator with Berlekamp's trace
//! algorithm.
//!
//! The decoding time and energy are those of a hardware decoder that always performs all steps for `t` bit
//! errors. They are proportional to `t` and to the amount of data in the codeword. One decoder processes the
//! codewords of a page one after the other. In a simulation without data, every codeword with more than `t`
//! bit errors is uncorrectable.
//!
//! # Not modeled
//! The model omits miscorrection in simulations without data. With a real code, a codeword with more than `t`
//! bit errors may decode to another codeword. For a codeword of `n` bits with `t + 1` bit errors, the
//! probability is about `C(n - t - 1, t) / 2^(m t)`. For a code that is not shortened, this probability is
//! about 1/t!. With the CRC-32, the probability is lower by a factor of 2^32. In simulations with data,
//! miscorrections occur as with a real decoder.
//!
//! # Sources
//! roberts-2009, section III, describes BCH and CRC in the controller. According to this paper, the
//! decoding time is proportional to the number of correctable bits. The decoding time is about 30 us for
//! t = 2 and 2 KiB of data. The code and the decoder are from lin-costello, chapter 6, and the search for
//! roots is from berlekamp-1970. Because roberts-2009 does not report the decoding energy, `decode_energy`
//! has no default. For comparison, a 65 nm decoder for a concatenated BCH code of 8 KiB uses 2.74 pJ per
//! bit of data (lee-2013).
//!
//! # Checks
//! - The decoder corrects any number of bit errors up to `t`, for many combinations of `m`, `t`, and
//!   shortened length.
//! - A bit-by-bit encoder computes the same parity. For tiny codes, a decoder that tries every codeword gives
//!   the same results.
//! - Codewords with `t + 1` bit errors decode to another codeword with the frequency that the formula above
//!   predicts.
//! - The share of uncorrectable pages equals the tail of the binomial distribution. At a bit error rate of
//!   1e-4, the share is 2.6e-2 for t = 4 and 5.7e-5 for t = 8.

mod closed;
mod code;
mod field;
mod locator;
mod polynomial;
mod remainder;
mod roots;
#[cfg(test)]
mod tests;

use super::{Codec, Decoding, Ecc, EccFamily, Layout, Misfit, Page, Verdict, Work};
use code::Code;
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem, Problems, Reader, Slot};
use nacre_kernel::{Bytes, Energy, Time};
use nacre_media::charge::check_work;

/// Maximum number of bit errors that a code corrects.
const STRENGTH_MAX: usize = 40;
/// Codeword size to which decoding times and energies refer, in bytes.
const REFERENCE: u64 = 2048;
/// Size of a CRC-32, in bytes.
const CRC: usize = 4;

/// A BCH code.
#[derive(Clone, Debug, Configuration)]
#[config(check = "energies_are_whole")]
pub struct Config {
    /// Bit errors that the code corrects per codeword.
    #[config(min = 1, max = 40)]
    pub t: u32,
    /// Degree of the field, 13 to 16. If absent, the degree of the smallest field that holds a codeword.
    #[config(min = 13, max = 16)]
    pub m: Option<u32>,
    /// Number of data bytes per codeword. If absent, a codeword has the data of a whole page.
    #[config(min = "1 B", max = "8 KiB")]
    pub codeword: Option<Bytes>,
    /// Store a CRC-32 of the data in each codeword. The CRC-32 detects miscorrections.
    #[config(
        default = false,
        source = "assumed: a code without a checksum; the controller of roberts-2009 also has a checksum"
    )]
    pub crc32: bool,
    /// Time to decode a codeword of 2 KiB, per correctable bit.
    #[config(
        default = "15 us",
        max = "1 s",
        source = "roberts-2009 section III: about 30 us at t = 2 for 2 KiB, and twice the time for twice the bits"
    )]
    pub decode: Time,
    /// Time to check that a codeword of 2 KiB has no bit error. By default, a codeword without bit
    /// errors takes the decoding time.
    #[config(max = "1 s")]
    pub check: Option<Time>,
    /// Time to encode a page, in addition to its transfer.
    #[config(default = "0 s", max = "1 s", source = "assumed: encoded during the transfer over the channel")]
    pub encode: Time,
    /// Energy to decode a codeword of 2 KiB, per correctable bit.
    pub decode_energy: Option<Energy>,
    /// Energy to encode a page.
    pub encode_energy: Option<Energy>,
}

fn energies_are_whole(config: &Config, reader: &mut Reader<'_>) {
    let energies = [("decode_energy", config.decode_energy), ("encode_energy", config.encode_energy)];
    check_work(reader, &energies);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<EccFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "bch",
        "corrects up to t bit errors per codeword",
        &["roberts-2009", "lin-costello", "berlekamp-1970"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, page| Ok(Box::new(Bch::new(slot, page)?)),
};

struct Bch {
    config: Config,
    code: Code,
    /// Number of data bytes per codeword.
    data_bytes: usize,
    codewords: usize,
}

impl Bch {
    fn new(slot: &Slot<EccFamily>, page: &Page<'_>) -> Result<Bch, Problems> {
        let config: Config = slot.config(page.families);
        let data = config.codeword.unwrap_or(page.bytes).0;
        if !page.bytes.0.is_multiple_of(data) {
            let text = format!("a page of {} is not a whole number of codewords", page.bytes);
            let problem =
                Problem::new(ErrorCode::ConflictingSettings, slot.path(), None, text).given(Bytes(data));
            return Err(problem.remedy("set codeword to a divisor of the page").into());
        }
        let code = Bch::code(&config, data as usize).map_err(|misfit| {
            let problem =
                Problem::new(ErrorCode::ConflictingSettings, slot.path(), None, misfit.0).given(Bytes(data));
            problem.remedy("set codeword to a part of the page, m to a larger field, or t to fewer bits")
        })?;
        let (data_bytes, codewords) = (data as usize, (page.bytes.0 / data) as usize);
        Ok(Bch { config, code, data_bytes, codewords })
    }

    /// Builds the code with these settings, by default over the smallest field that holds a codeword.
    fn code(config: &Config, data_bytes: usize) -> Result<Code, Misfit> {
        let head = if config.crc32 { CRC } else { 0 };
        let of_field = |m| Code::new(m, config.t, data_bytes, head);
        match config.m {
            Some(m) => of_field(m),
            None => (13..16).find_map(|m| of_field(m).ok()).map_or_else(|| of_field(16), Ok),
        }
    }

    /// Factor that converts a time or energy for 2 KiB to the size of this codeword.
    fn scale(&self) -> f64 {
        self.data_bytes as f64 / REFERENCE as f64
    }

    fn check_lengths(&self, page: &[u8], spare: &[u8]) -> Result<(), Misfit> {
        let wanted = [self.codewords * self.data_bytes, self.codewords * self.code.spare_bytes()];
        let misfit = Misfit::of_lengths("a page with a BCH code", [page.len(), spare.len()], wanted);
        misfit.map_or(Ok(()), Err)
    }
}

impl Ecc for Bch {
    fn layout(&self) -> Layout {
        Layout {
            codewords: self.codewords as u32,
            codeword_bits: u64::from(self.code.bits()),
            spare_bytes: (self.codewords * self.code.spare_bytes()) as u64,
        }
    }

    fn encoding(&self) -> Work {
        Work { time: self.config.encode, energy: self.config.encode_energy }
    }

    fn decoding(&self, errors: u32) -> Decoding {
        let strength = self.code.strength();
        let verdict = match errors {
            0 => Verdict::Clean,
            errors if errors <= strength => Verdict::Corrected(errors),
            _ => Verdict::Uncorrectable,
        };
        let check = self.config.check.filter(|_| errors == 0);
        let time = check.unwrap_or(self.config.decode * u64::from(strength));
        let time = Time::from_ps(time.as_ps() * self.data_bytes as u64 / REFERENCE);
        let energy =
            self.config.decode_energy.map(|each| Energy(each.0 * f64::from(strength) * self.scale()));
        Decoding { verdict, senses: 0, work: Work { time, energy } }
    }

    fn corrects(&self) -> u32 {
        self.code.strength()
    }

    fn of_strength(&self, bits: u32) -> Option<Box<dyn Ecc>> {
        let config = Config { t: bits, ..self.config.clone() };
        let code = Bch::code(&config, self.data_bytes).ok()?;
        Some(Box::new(Bch { config, code, data_bytes: self.data_bytes, codewords: self.codewords }))
    }

    fn codec(&self) -> Option<&dyn Codec> {
        Some(self)
    }
}

impl Codec for Bch {
    fn encode(&self, page: &[u8], spare: &mut [u8]) -> Result<(), Misfit> {
        self.check_lengths(page, spare)?;
        let spares = spare.chunks_exact_mut(self.code.spare_bytes());
        for (data, spare) in page.chunks_exact(self.data_bytes).zip(spares) {
            if self.config.crc32 {
                spare[..CRC].copy_from_slice(&crc32fast::hash(data).to_be_bytes());
            }
            self.code.encode(data, spare)?;
        }
        Ok(())
    }

    fn decode(&self, page: &mut [u8], spare: &mut [u8]) -> Result<Verdict, Misfit> {
        self.check_lengths(page, spare)?;
        let (mut corrected, mut uncorrectable) = (0, false);
        let spares = spare.chunks_exact_mut(self.code.spare_bytes());
        for (data, spare) in page.chunks_exact_mut(self.data_bytes).zip(spares) {
            match self.code.decode(data, spare)? {
                Verdict::Corrected(bits) => corrected += bits,
                Verdict::Uncorrectable => uncorrectable = true,
                Verdict::Clean | Verdict::Unnoticed => {}
            }
            uncorrectable |= self.config.crc32 && crc32fast::hash(data).to_be_bytes() != spare[..CRC];
        }
        Ok(match corrected {
            _ if uncorrectable => Verdict::Uncorrectable,
            0 => Verdict::Clean,
            bits => Verdict::Corrected(bits),
        })
    }
}
