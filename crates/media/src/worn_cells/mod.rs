//! Rows of cells that are written in place, with bit errors that increase with wear.
//!
//! # Model
//! Each write to a row samples a number of bit errors from a Poisson distribution. The row has these bit
//! errors until the next write. The bit error rate is `rate (writes / (endurance f))^exponent`. `f` is
//! log-normal with median one, and differs between rows. The positions of the bit errors depend only on the
//! row and the write. A page in SLC mode uses the cells of two rows with a different endurance, and half of
//! its bits are in each row.
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
    /// Creates `rows` new rows with an endurance of `endurance` writes. `errors` is the formula of bit
    /// errors.
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

    /// Records a write to `row`. The row uses `bits` bits.
    #[inline]
    pub fn program(&mut self, row: u32, bits: u32) {
        let mean = self.wear(row, bits, self.endurance);
        self.sample(row, bits, mean);
    }

    /// Records a write of one page to the cells of two rows, which endure `endurance` writes in this mode.
    /// The page uses `bits` bits, and its bit errors are those of the first row.
    pub fn program_pair(&mut self, rows: [u32; 2], bits: u32, endurance: u64) {
        let means = rows.map(|row| self.wear(row, bits, endurance as f64) / 2.0);
        self.sample(rows[0], bits, means[0] + means[1]);
        self.rows[rows[1] as usize] = Row::default();
    }

    /// Counts a write to `row`. Returns the mean number of bit errors of `bits` bits in cells that endure
    /// `endurance` writes.
    #[inline]
    fn wear(&mut self, row: u32, bits: u32, endurance: f64) -> f64 {
        let row = row as usize;
        self.programs[row] = self.programs[row].saturating_add(1);
        let worn = f64::from(self.programs[row]) / endurance;
        self.errors.rate_at(worn) * f64::from(self.weakness[row]) * f64::from(bits)
    }

    #[inline]
    fn sample(&mut self, row: u32, bits: u32, mean: f64) {
        let wrong = wrong_bits::poisson(mean, &mut self.random);
        self.rows[row as usize] = Row { bits, wrong: wrong.min(bits / 4) as u16 };
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

    /// Checks that a page over two rows has, at half of the endurance of its mode, 1/8 of the bit errors at
    /// the full endurance.
    #[test]
    fn a_page_over_two_rows_has_the_errors_of_both() {
        let errors = ErrorModel { bit_error_rate: 8e-3, error_exponent: 3.0, endurance_spread: 0.0 };
        let mut cells = WornCells::new(20_000, 10, errors, Streams::new(1).stream("rows"));
        let mut sum = 0;
        for row in 0..10_000 {
            let rows = [2 * row, 2 * row + 1];
            (0..50).for_each(|_| cells.program_pair(rows, 2_000, 100));
            sum += cells.wrong_bits(rows[0]);
            assert_eq!(cells.wrong_bits(rows[1]), 0);
            assert_eq!(rows.map(|row| cells.programs()[row as usize]), [50, 50]);
        }
        let mean = f64::from(sum) / 10_000.0;
        assert!((mean - 2.0).abs() < 6.0 * (2.0_f64 / 10_000.0).sqrt(), "{mean} bit errors");
    }
}
