//! Fast division by numbers that are fixed when a drive is built.

/// Division by a number that is fixed when the drive is built. The result is exact for every 32-bit dividend
/// (Lemire, Kaser and Kurz 2019, "Faster remainder by direct computation").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    pub(crate) by: u32,
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(by: u32) -> Divisor {
        // For a divisor of 1, the reciprocal would be 2^64. The quotient is then the dividend.
        Divisor { by, reciprocal: if by == 1 { 0 } else { u64::MAX / u64::from(by) + 1 } }
    }

    /// Returns the quotient and the remainder.
    #[inline]
    pub(crate) fn divide(self, number: u32) -> (u32, u32) {
        if self.by == 1 {
            return (number, 0);
        }
        let quotient = ((u128::from(self.reciprocal) * u128::from(number)) >> 64) as u32;
        (quotient, number - quotient * self.by)
    }

    /// Returns the quotient and remainder of a number that may have more than 32 bits.
    #[inline]
    pub(crate) fn divide_wide(self, number: u64) -> (u64, u32) {
        match u32::try_from(number) {
            Ok(number) => {
                let (quotient, rest) = self.divide(number);
                (quotient.into(), rest)
            }
            Err(_) => (number / u64::from(self.by), (number % u64::from(self.by)) as u32),
        }
    }
}
