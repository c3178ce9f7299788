//! The share of bits that are wrong.

use super::config::ErrorsConfig;
use nacre_kernel::Time;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

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
