//! Rows of cells that are written in place, with bit errors that increase with wear.
//!
//! # Model
//! Each write to a row samples a number of bit errors from a Poisson distribution. The row has these bit
//! errors until the next write. The bit error rate is `rate (writes / (endurance f))^exponent`. `f` is
//! log-normal with median one, and differs between rows. The positions of the bit errors depend only on the
//! row and the write.
//!
//! # Not modeled
//! Stuck-at cells and drift.
//!
//! # Sources
//! Assumed: the formula of `dual_mode_flash`, without erases.
//!
//! # Checks
//! Bit errors at the endurance of the rows follow the formula. The number of inverted bits equals the counted
//! errors.

use crate::dual_mode_flash::{ErrorModel, wrong_bits};
use nacre_kernel::Random;
use nacre_kernel::state::{State, Value};

/// Rows with their wear and their bit errors.
#[derive(Debug, State)]
pub struct WornCells {
    /// Endurance of a row, as a number of writes.
    #[state(skip = "from the configuration")]
    endurance: f64,
    #[state(skip = "from the configuration")]
    errors: ErrorModel,
    #[state(skip = "drawn from the seed")]
    weakness: Vec<f32>,
    programs: Vec<u32>,
    rows: Vec<Row>,
    random: Random,
}

#[derive(Clone, Copy, Debug, Default, Value)]
struct Row {
    bits: u32,
    wrong: u16,
}

impl WornCells {
    /// Creates `rows` new rows with an endurance of `endurance` writes and this error formula.
    pub fn new(rows: u32, endurance: u64, errors: ErrorModel, mut random: Random) -> WornCells {
        let weakness = (0..rows).map(|_| errors.weakness(&mut random)).collect();
        WornCells {
            endurance: endurance as f64,
            errors,
            weakness,
            programs: vec![0; rows as usize],
            rows: vec![Row::default(); rows as usize],
            random,
        }
    }

    /// Records a write of `row`. The row uses `bits` bits.
    #[inline]
    pub fn program(&mut self, row: u32, bits: u32) {
        let row = row as usize;
        self.programs[row] = self.programs[row].saturating_add(1);
        let worn = f64::from(self.programs[row]) / self.endurance;
        let mean = self.errors.rate_at(worn) * f64::from(self.weakness[row]) * f64::from(bits);
        let wrong = wrong_bits::poisson(mean, &mut self.random);
        self.rows[row] = Row { bits, wrong: wrong.min(bits / 4) as u16 };
    }

    /// Raises the number of bit errors of `row`, which was just written, to at least `wrong`. `wrong` is the
    /// number of uncorrected bit errors in the written data.
    pub fn worsen(&mut self, row: u32, wrong: u32) {
        let found = &mut self.rows[row as usize].wrong;
        *found = (*found).max(wrong as u16);
    }

    /// Number of bit errors of `row`.
    #[inline]
    pub fn wrong_bits(&self, row: u32) -> u32 {
        u32::from(self.rows[row as usize].wrong)
    }

    /// Inverts the bits of `bytes` that have errors in `row`.
    #[inline]
    pub fn invert(&self, row: u32, bytes: &mut [u8]) {
        let Row { bits, wrong } = self.rows[row as usize];
        let key = u64::from(row) << 32 | u64::from(self.programs[row as usize]);
        wrong_bits::invert(bytes, bits, u32::from(wrong), key);
    }

    /// Number of writes of each row.
    pub fn programs(&self) -> &[u32] {
        &self.programs
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorModel, WornCells};
    use nacre_kernel::Streams;

    #[test]
    fn rows_go_wrong_as_the_law_says() {
        let errors = ErrorModel { bit_error_rate: 1e-3, error_exponent: 3.0, endurance_spread: 0.0 };
        let mut cells = WornCells::new(20_000, 100, errors, Streams::new(1).stream("rows"));
        let mut sum = 0;
        for row in 0..20_000 {
            (0..100).for_each(|_| cells.program(row, 2_000));
            sum += cells.wrong_bits(row);
            let mut bytes = [0; 250];
            cells.invert(row, &mut bytes);
            let inverted: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(inverted, cells.wrong_bits(row));
        }
        let mean = f64::from(sum) / 20_000.0;
        // The expected mean is 2, and the tolerance is six standard errors.
        assert!((mean - 2.0).abs() < 6.0 * (2.0_f64 / 20_000.0).sqrt(), "{mean} bit errors");
    }
}
