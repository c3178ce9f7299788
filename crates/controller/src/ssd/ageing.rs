//! What makes bits go wrong: settings, and the law of their share.

use crate::ecc::EccFamily;
use nacre_config::{Configuration, Slot};
use nacre_kernel::{Bytes, Ratio, Time};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Bits that go wrong with cycles, time and reads, and the code that puts them right.
#[derive(Clone, Debug, Configuration)]
pub struct ErrorsConfig {
    /// The code beside each mapping unit, which is a whole number of its codewords.
    pub ecc: Slot<EccFamily>,
    /// Bytes that a page has beside its data; a code that needs more is refused. Absent means as many as it needs.
    pub spare: Option<Bytes>,
    /// Share of bits that are wrong in a page just programmed, in a block with as many erases as `cycles`.
    #[config(min = 0, max = 0.1)]
    pub bit_error_rate: f64,
    /// The erases that `bit_error_rate` and `read_disturb` are given for.
    #[config(min = 1, max = 4294967294)]
    pub cycles: u64,
    /// The power of the erases with which that share grows; 0 is the same share at any age.
    #[config(
        default = 3.0,
        min = 0,
        max = 20,
        source = "assumed: steep, as hetzler-2012 finds; results say how much hangs on it"
    )]
    pub error_exponent: f64,
    /// Erases that every block has behind it when the drive is new to the simulation. They wear out nothing.
    #[config(default = 0, max = 4294967294, source = "assumed: a new drive")]
    pub erases_before: u64,
    /// By what share of itself the share of wrong bits grows in a day of lying.
    #[config(default = "0 %", max = "10000 %", source = "assumed: runs are far shorter than retention")]
    pub retention: Ratio,
    /// Share of bits that one read of a block makes wrong in each of its pages.
    #[config(default = 0.0, min = 0, max = 0.001, source = "assumed: off unless told otherwise")]
    pub read_disturb: f64,
    /// Reads of a block after which all data of its superblock is moved; absent means never.
    #[config(min = 1, max = 4294967294)]
    pub refresh_reads: Option<u32>,
    /// The power of the erases with which `read_disturb` grows.
    #[config(
        default = 1.5,
        min = 0,
        max = 20,
        source = "assumed: cai-2015 finds reads to disturb worn cells more"
    )]
    pub disturb_exponent: f64,
}

/// How the share of wrong bits follows from erases, time and reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    rate: f64,
    exponent: f64,
    cycles: f64,
    before: f64,
    retention: f64,
    disturb: f64,
    disturb_exponent: f64,
}

impl Law {
    pub(super) fn of(config: &ErrorsConfig) -> Law {
        Law {
            rate: config.bit_error_rate,
            exponent: config.error_exponent,
            cycles: config.cycles as f64,
            before: config.erases_before as f64,
            retention: config.retention.0,
            disturb: config.read_disturb,
            disturb_exponent: config.disturb_exponent,
        }
    }

    /// Share of wrong bits of a page whose block has so many `erases` in the simulation, that lies since `lying` and
    /// whose block was read so many times since its erase.
    pub(super) fn share(&self, erases: u32, lying: Time, reads: u32) -> f64 {
        let worn = (self.before + f64::from(erases)) / self.cycles;
        let days = lying.as_secs_f64() / DAY_S;
        let share = self.rate * libm::pow(worn, self.exponent) * (1.0 + self.retention * days);
        let disturbed = match self.disturb > 0.0 && reads > 0 {
            true => self.disturb * libm::pow(worn, self.disturb_exponent) * f64::from(reads),
            false => 0.0,
        };
        // Half of the bits are right by chance.
        (share + disturbed).min(0.5)
    }
}
