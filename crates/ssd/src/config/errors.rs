//! Bits that go wrong, and the code that puts them right.

use nacre_config::{Configuration, Slot};
use nacre_controller::ecc::EccFamily;
use nacre_kernel::{Bytes, Ratio};

/// Bits that go wrong with cycles, time and reads, and the code that puts them right.
#[derive(Clone, Debug, Configuration)]
pub struct ErrorsConfig {
    /// The code beside each mapping unit, which is a whole number of its codewords.
    pub ecc: Slot<EccFamily>,
    /// Bytes that a page has beside its data; a code that needs more is refused. Absent means as many as it needs.
    pub spare: Option<Bytes>,
    /// Share of bits that are wrong in a page just programmed, in a block with as many erases as `cycles`, beyond
    /// `fresh_bit_error_rate`.
    #[config(min = 0, max = 0.1)]
    pub bit_error_rate: f64,
    /// Share of bits that are wrong in a page just programmed, whatever its block has behind it.
    #[config(default = 0.0, min = 0, max = 0.1, source = "assumed: cells of few bits have next to none")]
    pub fresh_bit_error_rate: f64,
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
    /// By what share of `bit_error_rate` the share of wrong bits grows in the first day of lying, in a block with as
    /// many erases as `cycles`.
    #[config(default = "0 %", max = "10000 %", source = "assumed: runs are far shorter than retention")]
    pub retention: Ratio,
    /// The power of the days of lying with which `retention` grows.
    #[config(default = 1.0, min = 0, max = 20, source = "assumed: as much every day")]
    pub retention_exponent: f64,
    /// The power of the erases with which `retention` grows; absent means `error_exponent`.
    #[config(min = 0, max = 20)]
    pub retention_cycles_exponent: Option<f64>,
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
    /// The power of the reads of a block with which `read_disturb` grows.
    #[config(default = 1.0, min = 0, max = 20, source = "assumed: as much with every read")]
    pub disturb_reads_exponent: f64,
}
