//! Error correction of a controller: codewords in the beats of a read, their bit errors, and the decoder.
//!
//! The spare chips are read together with the data chips, on separate data lines. The decoder processes the
//! beats of a read one at a time, in the order of their arrival.

use super::Config;
use crate::ecc::{Ecc, Verdict, binomial_tail};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Energy, Ledger, Random, Time};

/// Limit of the table `at_most`. The table ends when, among the codewords with bit errors, the share with
/// more bit errors than the last entry covers is below this limit.
const NEGLIGIBLE: f64 = 1e-15;

/// The decoder of one controller.
#[derive(State)]
pub(super) struct Decoder {
    #[state(skip = "from the configuration")]
    code: Box<dyn Ecc>,
    /// Time and energy to decode a beat without bit errors.
    #[state(skip = "from the configuration")]
    beat: Time,
    #[state(skip = "from the configuration")]
    energy: Option<Energy>,
    /// Element `n` is the probability that a codeword with bit errors has at most `n + 1` bit errors.
    #[state(skip = "from the configuration")]
    at_most: Vec<f64>,
    /// Mean of an exponential distribution. Rounded down, a random value of this distribution is the number
    /// of codewords between two codewords with bit errors.
    #[state(skip = "from the configuration")]
    gap: f64,
    /// Number of codewords before the next codeword with bit errors.
    next: u64,
    pub(super) random: Random,
    free: Time,
    pub(super) counts: Decodings,
}

/// Statistics of decoding since measurement started.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Decodings {
    pub(super) ledger: Ledger,
    /// Number of corrected bit errors in reads of the host.
    pub(super) corrected: u64,
    /// Numbers of codewords with uncorrectable and with undetected bit errors, in reads of the host.
    pub(super) uncorrectable: u64,
    pub(super) undetected: u64,
}

/// Result of decoding a read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decoded {
    pub(super) done: Time,
    pub(super) is_uncorrectable: bool,
    /// Number of undetected bit errors.
    pub(super) wrong_bits: u32,
}

impl Decoder {
    /// A decoder for `code`, whose page is one beat.
    pub(super) fn new(config: &Config, code: Box<dyn Ecc>, random: Random) -> Decoder {
        let (layout, clean) = (code.layout(), code.decoding(0).work);
        let codewords = u64::from(layout.codewords);
        let tail = |most| binomial_tail(layout.codeword_bits, config.bit_error_rate, most);
        let any = tail(0);
        let mut at_most = Vec::new();
        for errors in 1.. {
            let more = if any > 0.0 { tail(errors) / any } else { 0.0 };
            at_most.push(1.0 - more);
            if more < NEGLIGIBLE {
                break;
            }
        }
        let mut decoder = Decoder {
            beat: clean.time * codewords,
            energy: clean.energy.map(|energy| Energy(energy.0 * codewords as f64)),
            at_most,
            gap: if any > 0.0 { -1.0 / libm::log1p(-any) } else { f64::INFINITY },
            next: u64::MAX,
            random,
            free: Time::ZERO,
            counts: Decodings::default(),
            code,
        };
        decoder.next = decoder.draw_gap();
        decoder
    }

    /// Random number of codewords before the next codeword with bit errors, geometrically distributed.
    fn draw_gap(&mut self) -> u64 {
        if self.gap.is_finite() { (self.random.exponential() * self.gap) as u64 } else { u64::MAX }
    }

    /// Whether the drive stores data with an error-correcting code.
    pub(super) fn is_used(&self) -> bool {
        self.code.layout().spare_bytes > 0
    }

    /// Whether the energy of the decoder is known. Without a code, it is known to be zero.
    pub(super) fn is_energy_known(&self) -> bool {
        !self.is_used() || self.energy.is_some()
    }

    /// Time to encode a beat.
    pub(super) fn encoding(&self) -> Time {
        self.code.encoding().time
    }

    /// Time that the decoder still needs after the last of `beats` beats has arrived, if the decoder was idle
    /// before the first beat. `read` is the time to read one beat.
    pub(super) fn tail(&self, beats: u64, read: Time) -> Time {
        self.beat.max((self.beat * beats).saturating_sub(read * (beats - 1)))
    }

    /// Decodes `beats` beats. A beat arrives every `read`, and the last beat arrives at `last`. Returns the
    /// end time and the bit errors. The model assumes that wear-leveling copies have no bit errors.
    pub(super) fn read(&mut self, activity: Activity, last: Time, read: Time, beats: u64) -> Decoded {
        let mut decoded = Decoded { done: last, ..Decoded::default() };
        let mut more = Time::ZERO;
        if activity == Activity::Read && self.gap.is_finite() {
            let mut left = beats * u64::from(self.code.layout().codewords);
            while self.next < left {
                left -= self.next + 1;
                self.next = self.draw_gap();
                more += self.wrong(&mut decoded);
            }
            self.next -= left;
        }
        if self.beat.is_zero() && more.is_zero() {
            return decoded;
        }
        let first = last.saturating_sub(read * (beats - 1));
        let time = self.beat * beats + more;
        decoded.done = (first.max(self.free) + time).max(last + self.beat);
        self.free = decoded.done;
        self.counts.ledger.charge(activity, time);
        if let Some(energy) = self.energy {
            self.counts.ledger.charge_energy(activity, Energy(energy.0 * beats as f64));
        }
        decoded
    }

    /// Decodes a codeword with bit errors. Returns the decoding time minus the decoding time of a codeword
    /// without bit errors.
    fn wrong(&mut self, decoded: &mut Decoded) -> Time {
        let place = self.random.unit();
        let errors = self.at_most.iter().position(|&share| place < share).unwrap_or(self.at_most.len());
        let decoding = self.code.decoding(errors as u32 + 1);
        match decoding.verdict {
            Verdict::Clean => {}
            Verdict::Corrected(bits) => self.counts.corrected += u64::from(bits),
            Verdict::Uncorrectable => {
                self.counts.uncorrectable += 1;
                decoded.is_uncorrectable = true;
            }
            Verdict::Unnoticed => {
                self.counts.undetected += 1;
                decoded.wrong_bits += errors as u32 + 1;
            }
        }
        decoding.work.time.saturating_sub(self.code.decoding(0).work.time)
    }

    /// Handles a power loss at `at` by dropping all beats.
    pub(super) fn power_fail(&mut self, at: Time) {
        self.free = at;
    }
}
