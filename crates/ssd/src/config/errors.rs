//! Bit errors and the code that corrects them.

use nacre_config::{Configuration, Slot};
use nacre_controller::ecc::EccFamily;
use nacre_kernel::{Bytes, Ratio};

/// Bit errors caused by erases, retention, and reads, and the code that corrects them.
#[derive(Clone, Debug, Configuration)]
pub struct ErrorsConfig {
    /// Error-correcting code. A mapping unit consists of a whole number of codewords.
    pub ecc: Slot<EccFamily>,
    /// Spare bytes of a page. A code that needs more spare bytes is rejected. By default, the page
    /// has the spare bytes that the code needs.
    pub spare: Option<Bytes>,
    /// Bit error rate of a page right after programming, in a block with `cycles` erases.
    /// `fresh_bit_error_rate` is added to this rate.
    #[config(min = 0, max = 0.1)]
    pub bit_error_rate: f64,
    /// Bit error rate of a page right after programming in a block without erases.
    #[config(default = 0.0, min = 0, max = 0.1, source = "assumed: almost none with few bits per cell")]
    pub fresh_bit_error_rate: f64,
    /// Number of erases of a block at which `bit_error_rate` and `read_disturb` apply.
    #[config(min = 1, max = 4294967294)]
    pub cycles: u64,
    /// Exponent of the erases in the bit error rate; 0 means no dependence on erases.
    #[config(default = 3.0, min = 0, max = 20, source = "assumed: steep, as in hetzler-2012")]
    pub error_exponent: f64,
    /// Number of erases of every block before the simulation. Erases before the simulation affect bit errors,
    /// but not endurance.
    #[config(default = 0, max = 4294967294, source = "assumed: a new drive")]
    pub erases_before: u64,
    /// Increase of the bit error rate in the first day of retention, as a share of `bit_error_rate`, for a
    /// block with `cycles` erases.
    #[config(default = "0 %", max = "10000 %", source = "assumed: runs are far shorter than retention")]
    pub retention: Ratio,
    /// Exponent of the days of retention.
    #[config(default = 1.0, min = 0, max = 20, source = "assumed: linear in time")]
    pub retention_exponent: f64,
    /// Exponent of the erases in `retention`; the default is `error_exponent`.
    #[config(min = 0, max = 20)]
    pub retention_cycles_exponent: Option<f64>,
    /// Increase in the bit error rate of every page of a block, caused by one read of the block.
    #[config(default = 0.0, min = 0, max = 0.001, source = "assumed: off by default")]
    pub read_disturb: f64,
    /// Number of reads of a block after which the drive moves all data of its superblock; by default, never.
    #[config(min = 1, max = 4294967294)]
    pub refresh_reads: Option<u32>,
    /// Exponent of the erases in `read_disturb`.
    #[config(default = 1.5, min = 0, max = 20, source = "assumed: reads disturb worn cells more (cai-2015)")]
    pub disturb_exponent: f64,
    /// Exponent of the reads of a block in `read_disturb`.
    #[config(default = 1.0, min = 0, max = 20, source = "assumed: linear in reads")]
    pub disturb_reads_exponent: f64,
}
