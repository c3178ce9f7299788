//! A low-density parity-check (LDPC) code: a hard decision is followed by soft decisions if necessary. The
//! model represents the correction strength and the latency of a code, but not the code itself.
//!
//! # Model
//! The decoder first uses the bits of the first read (hard decision). If decoding fails, the page is read
//! again at other reference voltages (read retry). The codeword is then decoded with the information of all
//! reads (soft decision). A page is read again at most `senses` times. With each retry, the correctable bit
//! error rate increases by the same amount, from `hard` to `soft`. If a codeword has too many bit errors even
//! for the last retry, it is uncorrectable. Every decoding attempt takes time. The ECC model determines the
//! number of reads, and the medium performs them.
//!
//! # Not modeled
//! - Data: the model does not encode or decode the data.
//! - Failure probability: in a real decoder, the failure probability rises steeply around a certain number of
//!   bit errors and has an error floor. This model has a sharp limit on the number of bit errors instead.
//! - Remembered decoding levels: real drives store the decoding level that a page needed last (Du et al.,
//!   MSST 2017). In this model, every read starts with the hard decision.
//!
//! # Sources
//! In zhao-2013, decoding starts with a hard decision. If the hard decision fails, retries follow, and each
//! retry takes the time of a read. The strength and the decoding time differ between codes, so all defaults
//! are assumed.
//!
//! # Checks
//! For each number of retries, the tests use a codeword with the maximum number of correctable bit errors,
//! and another codeword with one more bit error. The second codeword needs one more retry, including its
//! decoding time. The share of pages that are uncorrectable after the last retry equals the tail of the
//! binomial distribution.

use super::{Codec, Decoding, Ecc, EccFamily, Layout, Verdict, Work};
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem, Reader};
use nacre_kernel::{Bytes, Energy, Ratio, Time};
use nacre_media::charge::check_work;

#[cfg(test)]
mod tests;

/// A low-density parity-check code.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Data bytes of a codeword.
    #[config(
        default = "2 KiB",
        min = "64 B",
        max = "64 KiB",
        source = "assumed: drives of that time had codewords of 1 to 4 KiB"
    )]
    pub codeword: Bytes,
    /// Parity, as a share of the data.
    #[config(default = "12.5 %", min = "1 %", max = "100 %", source = "assumed: a code of rate 8/9")]
    pub parity: Ratio,
    /// Bit error rate up to which hard decisions correct a codeword.
    #[config(
        default = "0.4 %",
        max = "20 %",
        source = "assumed: about the limit of a BCH code of this rate"
    )]
    pub hard: Ratio,
    /// Bit error rate up to which soft decisions correct a codeword after the last read retry. Without
    /// retries, the setting has no effect.
    #[config(
        default = "1.1 %",
        max = "20 %",
        source = "assumed: two to three times the limit of hard decisions"
    )]
    pub soft: Ratio,
    /// Number of read retries for soft decisions.
    #[config(default = 6, max = 64, source = "assumed: three reads on each side of a reference voltage")]
    pub senses: u32,
    /// Time to decode a codeword by hard decisions.
    #[config(default = "2 us", max = "1 s", source = "assumed: 1 GB/s")]
    pub hard_decode: Time,
    /// Time per attempt to decode a codeword by soft decisions.
    #[config(default = "10 us", max = "1 s", source = "assumed: five times the time of a hard decision")]
    pub soft_decode: Time,
    /// Time to encode a page, in addition to its transfer.
    #[config(default = "0 s", max = "1 s", source = "assumed: encoded during the transfer over the channel")]
    pub encode: Time,
    /// Energy per attempt to decode a codeword.
    pub decode_energy: Option<Energy>,
    /// Energy to encode a page.
    pub encode_energy: Option<Energy>,
}

/// Default of `soft`.
const SOFT: f64 = 0.011;
/// Default of `soft_decode`.
const SOFT_DECODE: Time = Time::from_us(10);

fn check(config: &Config, reader: &mut Reader<'_>) {
    if config.senses == 0 {
        check_without_senses(config, reader);
    } else if config.soft < config.hard {
        let problem = format!("soft decisions are weaker than hard ones, which correct {}", config.hard.0);
        reader.conflict("soft", &config.soft.0.to_string(), &problem, "use at least the value of `hard`");
    }
    let energies = [("decode_energy", config.decode_energy), ("encode_energy", config.encode_energy)];
    check_work(reader, &energies);
}

/// Rejects settings for soft decisions if the code has no read retries, because they would have no effect.
fn check_without_senses(config: &Config, reader: &mut Reader<'_>) {
    const PROBLEM: &str = "without read retries there are only hard decisions";
    const REMEDY: &str = "remove it, or set senses to at least 1";
    let Config { hard, soft, soft_decode, .. } = *config;
    let is_given = (soft.0 - SOFT).abs() > 1e-9 && soft != hard;
    if is_given {
        reader.conflict("soft", &soft.0.to_string(), PROBLEM, REMEDY);
    }
    if soft_decode != SOFT_DECODE {
        reader.conflict("soft_decode", &soft_decode.to_string(), PROBLEM, REMEDY);
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<EccFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "ldpc",
        "LDPC, modeled by its strength and latency: a hard decision, then soft decisions",
        &["zhao-2013"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, page| {
        let config: Config = slot.config(page.families);
        if !page.bytes.0.is_multiple_of(config.codeword.0) {
            let text = format!("a page of {} is not a whole number of codewords", page.bytes);
            let problem =
                Problem::new(ErrorCode::ConflictingSettings, slot.path(), None, text).given(config.codeword);
            return Err(problem.remedy("set codeword to a divisor of the page").into());
        }
        Ok(Box::new(Ldpc { codewords: (page.bytes.0 / config.codeword.0) as u32, config }))
    },
};

struct Ldpc {
    codewords: u32,
    config: Config,
}

impl Ldpc {
    fn parity_bytes(&self) -> u64 {
        (self.config.codeword.0 as f64 * self.config.parity.0).ceil() as u64
    }

    fn codeword_bits(&self) -> u64 {
        8 * (self.config.codeword.0 + self.parity_bytes())
    }

    /// Maximum number of bit errors that the code corrects after `senses` read retries.
    fn limit(&self, senses: u32) -> u32 {
        let Config { hard, soft, .. } = self.config;
        let step = if senses == 0 { 0.0 } else { f64::from(senses) / f64::from(self.config.senses) };
        (self.codeword_bits() as f64 * (hard.0 + (soft.0 - hard.0) * step)) as u32
    }
}

impl Ecc for Ldpc {
    fn layout(&self) -> Layout {
        let spare_bytes = u64::from(self.codewords) * self.parity_bytes();
        Layout { codewords: self.codewords, codeword_bits: self.codeword_bits(), spare_bytes }
    }

    fn encoding(&self) -> Work {
        Work { time: self.config.encode, energy: self.config.encode_energy }
    }

    fn decoding(&self, errors: u32) -> Decoding {
        let enough = (0..=self.config.senses).find(|&senses| errors <= self.limit(senses));
        let verdict = match enough {
            None => Verdict::Uncorrectable,
            Some(_) if errors == 0 => Verdict::Clean,
            Some(_) => Verdict::Corrected(errors),
        };
        let senses = enough.unwrap_or(self.config.senses);
        let time = self.config.hard_decode + self.config.soft_decode * u64::from(senses);
        let energy = self.config.decode_energy.map(|energy| Energy(energy.0 * f64::from(senses + 1)));
        Decoding { verdict, senses, work: Work { time, energy } }
    }

    fn corrects(&self) -> u32 {
        self.limit(self.config.senses)
    }

    fn of_strength(&self, _bits: u32) -> Option<Box<dyn Ecc>> {
        None
    }

    fn codec(&self) -> Option<&dyn Codec> {
        None
    }
}
