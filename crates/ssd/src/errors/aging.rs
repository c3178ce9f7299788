//! Bit error rate as a function of wear, retention, and reads.

use crate::config::ErrorsConfig;
use nacre_kernel::Time;

/// Number of seconds in a day.
const DAY_S: f64 = 86_400.0;

/// Bit error rate as a function of erases, retention time, and reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorRate {
    fresh: f64,
    /// Number of erases at which the rates of the terms apply.
    cycles: f64,
    before: f64,
    worn: Term,
    lying: Term,
    read: Term,
}

/// A term of the bit error rate: `rate (erases / ErrorRate::cycles)^cycles x^others`, where `x` is the
/// number of days or reads.
#[derive(Clone, Copy, Debug)]
struct Term {
    rate: f64,
    cycles: f64,
    others: f64,
}

impl Term {
    fn at(&self, worn: f64, others: f64) -> f64 {
        match self.rate > 0.0 && others > 0.0 {
            true => self.rate * libm::pow(worn, self.cycles) * libm::pow(others, self.others),
            false => 0.0,
        }
    }
}

impl ErrorRate {
    pub(crate) fn of(config: &ErrorsConfig) -> ErrorRate {
        let lying = config.retention_cycles_exponent.unwrap_or(config.error_exponent);
        let retention = config.bit_error_rate * config.retention.0;
        ErrorRate {
            fresh: config.fresh_bit_error_rate,
            cycles: config.cycles as f64,
            before: config.erases_before as f64,
            worn: Term { rate: config.bit_error_rate, cycles: config.error_exponent, others: 0.0 },
            lying: Term { rate: retention, cycles: lying, others: config.retention_exponent },
            read: Term {
                rate: config.read_disturb,
                cycles: config.disturb_exponent,
                others: config.disturb_reads_exponent,
            },
        }
    }

    /// Returns the bit error rate of a page whose block had `erases` erases in the simulation, a retention
    /// time of `lying`, and `reads` reads since its last erase.
    pub(crate) fn share(&self, erases: u32, lying: Time, reads: u32) -> f64 {
        let worn = (self.before + f64::from(erases)) / self.cycles;
        let days = lying.as_secs_f64() / DAY_S;
        let share = self.worn.at(worn, 1.0) + self.lying.at(worn, days);
        // If the bits are random, half of them are correct by chance.
        (self.fresh + share + self.read.at(worn, f64::from(reads))).min(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a model whose terms are published as `a cycles^k`, `b cycles^m days^n`, and `c cycles^p
    /// reads^q`. The created terms are normalized to `at` cycles.
    fn published(fresh: f64, worn: [f64; 2], lying: [f64; 3], read: [f64; 3], at: f64) -> ErrorRate {
        let term =
            |rate: f64, cycles: f64, others: f64| Term { rate: rate * libm::pow(at, cycles), cycles, others };
        ErrorRate {
            fresh,
            cycles: at,
            before: 0.0,
            worn: term(worn[0], worn[1], 0.0),
            lying: term(lying[0], lying[1], lying[2]),
            read: term(read[0], read[1], read[2]),
        }
    }

    #[test]
    fn a_published_law_does_not_depend_on_the_cycles_its_terms_are_given_for() {
        // kim-2019, MLC of 20 to 24 nm, at 3,000 cycles, 10 days and 10,000 reads, term by term.
        let expected =
            8.34e-5 + 3.30e-11 * 882_831.0 + 5.56e-19 * 4.55e8 * 2_138.0 + 6.26e-13 * 1.3176e6 * 75.86;
        for at in [1_000.0, 3_000.0, 10_000.0] {
            let error_rate =
                published(8.34e-5, [3.30e-11, 1.71], [5.56e-19, 2.49, 3.33], [6.26e-13, 1.76, 0.47], at);
            let share = error_rate.share(3_000, Time::from_us(864_000_000_000), 10_000);
            assert!((share / expected - 1.0).abs() < 0.002, "given for {at}: {share} and {expected}");
        }
    }

    #[test]
    fn blocks_without_erases_and_reads_have_fresh_errors_only() {
        let error_rate = published(1e-3, [1e-9, 2.0], [1e-6, 0.2, 0.5], [1e-9, 0.3, 1.7], 1_000.0);
        assert_eq!(error_rate.share(0, Time::from_us(0), 0), 1e-3);
    }
}
