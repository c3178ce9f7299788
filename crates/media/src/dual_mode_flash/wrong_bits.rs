//! Number and positions of bit errors.

use super::Mode;
use nacre_config::Configuration;
use nacre_kernel::{Random, Time};

/// Number of seconds in a day.
const DAY_S: f64 = 86_400.0;

/// Bit error rate as a function of wear.
#[derive(Clone, Copy, Debug, PartialEq, Configuration)]
pub struct ErrorModel {
    /// Bit error rate at the rated endurance of a slot.
    #[config(
        default = 0.000001,
        min = 0,
        max = 0.1,
        source = "assumed: one page of 2 KiB in 60 has a bit error; order of magnitude of mielke-2008"
    )]
    pub bit_error_rate: f64,
    /// Exponent of the erase count in the bit error rate.
    #[config(default = 3.0, min = 0.1, max = 20, source = "assumed: steep, as in hetzler-2012")]
    pub error_exponent: f64,
    /// Standard deviation of the logarithm of the slots' endurance.
    #[config(
        default = 0.1,
        min = 0,
        max = 2,
        source = "assumed: the companion paper varies the lifetime of pages by 5 to 20 %"
    )]
    pub endurance_spread: f64,
}

impl ErrorModel {
    /// Bit error rate of cells of median strength after the share `worn` of their rated endurance.
    #[inline]
    pub fn rate_at(&self, worn: f64) -> f64 {
        self.bit_error_rate * libm::pow(worn, self.error_exponent)
    }

    /// Random factor by which the bit error rate of one group of cells is multiplied. The endurance is
    /// log-normally distributed.
    pub(crate) fn weakness(&self, random: &mut Random) -> f32 {
        libm::exp(-self.error_exponent * self.endurance_spread * random.normal()) as f32
    }
}

/// Bit errors of a medium as a function of erase cycles and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aging {
    /// Endurance of each mode in erases: SLC, then MLC.
    pub endurance: [f64; 2],
    /// Bit error rate as a function of erase cycles.
    pub errors: ErrorModel,
    /// Relative increase of the bit error rate per day of retention.
    pub drift: f64,
}

impl Aging {
    /// Bit error rate of a slot of median strength after `erases` erases, in each mode.
    pub fn rates(&self, erases: u32) -> [f64; 2] {
        [Mode::Slc, Mode::Mlc].map(|mode| self.rate_at(mode, f64::from(erases)))
    }

    /// Bit error rate of a slot of median strength in one mode after `erases` erases.
    pub fn rate_at(&self, mode: Mode, erases: f64) -> f64 {
        self.errors.rate_at(erases / self.endurance[mode as usize])
    }

    /// Random factors by which the bit error rate of a slot is multiplied, one per mode.
    pub(super) fn weakness(&self, random: &mut Random) -> [f32; 2] {
        [0, 1].map(|_| self.errors.weakness(random))
    }

    /// Relative increase of the bit error rate after `time` of retention.
    #[inline]
    pub(super) fn drifted(&self, time: Time) -> f64 {
        self.drift * time.as_secs_f64() / DAY_S
    }
}

/// Random number with a Poisson distribution of mean `mean`, computed by inversion.
#[inline]
pub(crate) fn poisson(mean: f64, random: &mut Random) -> u32 {
    let draw = random.unit();
    // e^-m is greater than 1 - m, so this test is nearly always sufficient.
    if draw < 1.0 - mean {
        return 0;
    }
    /// Mean above which a normal distribution approximates the Poisson distribution accurately enough.
    const NORMAL: f64 = 200.0;
    if mean > NORMAL {
        return (mean + mean.sqrt() * random.normal()).max(0.0) as u32;
    }
    let (mut count, mut term) = (0, libm::exp(-mean));
    let mut sum = term;
    while draw >= sum && term > 0.0 {
        count += 1;
        term *= mean / f64::from(count);
        sum += term;
    }
    count
}

/// Inverts `count` different bits among the first `bits` bits of `bytes`. `key` determines the positions.
pub(crate) fn invert(bytes: &mut [u8], bits: u32, count: u32, key: u64) {
    if count == 0 {
        return;
    }
    let bits = u64::from(bits).min(8 * bytes.len() as u64);
    // An arithmetic sequence modulo the number of bits has no repeats if its step is coprime to it.
    let mut word = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    let (mut place, mut step) = (word % bits, 1 + (word >> 32) % (bits - 1));
    while greatest_common_divisor(step, bits) != 1 {
        step = step % (bits - 1) + 1;
    }
    for _ in 0..count {
        bytes[(place / 8) as usize] ^= 0x80 >> (place % 8);
        place = (place + step) % bits;
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
