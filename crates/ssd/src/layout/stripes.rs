//! Stripes: consecutive operations of a superblock, each on a different die. One operation of each stripe
//! programs the parity of the others.
//!
//! A row has one operation per die. From each row to the next, the parity of a stripe moves to the previous
//! die. All dies therefore hold the same amount of parity and serve the same number of reads. Data
//! operations are numbered separately: their numbers skip parity.

use crate::layout::divisor::Divisor;

/// Arrangement of operations in stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripes {
    /// Number of operations per stripe, including parity.
    pub(crate) size: u32,
    by_size: Divisor,
    by_data: Divisor,
    by_dies: Divisor,
}

impl Stripes {
    /// Creates stripes of `size` operations. `size` must divide the number of `dies`.
    pub(crate) fn new(size: u32, dies: u32) -> Stripes {
        Stripes {
            size,
            by_size: Divisor::new(size),
            by_data: Divisor::new(size - 1),
            by_dies: Divisor::new(dies),
        }
    }

    /// Returns the number of data operations per stripe.
    pub(crate) fn of_data(&self) -> u32 {
        self.size - 1
    }

    /// Returns the stripe of the data operation `of_data`, and the position of the operation in this
    /// stripe.
    pub(crate) fn stripe_of(&self, of_data: u32) -> (u32, u32) {
        self.by_data.divide(of_data)
    }

    /// Returns the operation that holds the parity of `stripe`.
    pub(crate) fn parity_of(&self, stripe: u32) -> u32 {
        let first = stripe * self.size;
        let (row, _) = self.by_dies.divide(first);
        first + self.of_data() - self.by_size.divide(row).1
    }

    /// Returns the operation that is number `of_data` among the data operations.
    #[inline(never)]
    pub(crate) fn operation_of(&self, of_data: u32) -> u32 {
        let (stripe, place) = self.stripe_of(of_data);
        let operation = stripe * self.size + place;
        operation + u32::from(operation >= self.parity_of(stripe))
    }
}

#[cfg(test)]
mod tests {
    use super::Stripes;

    #[test]
    fn every_operation_is_data_or_parity_once_and_all_dies_hold_as_much_of_it() {
        for (size, dies) in [(2, 2), (4, 4), (4, 8), (8, 8), (3, 12), (16, 64)] {
            let stripes = Stripes::new(size, dies);
            let rows = 3 * size;
            let (mut data, mut parity) = (vec![0; (rows * dies) as usize], vec![0; dies as usize]);
            let all = rows * dies / size;
            (0..all * (size - 1)).for_each(|number| data[stripes.operation_of(number) as usize] += 1);
            for stripe in 0..all {
                let operation = stripes.parity_of(stripe);
                assert_eq!(operation / size, stripe, "parity lies in its stripe");
                data[operation as usize] += 1;
                parity[(operation % dies) as usize] += 1;
            }
            assert!(data.iter().all(|&count| count == 1), "{size} of {dies}");
            assert!(parity.iter().all(|&count| count == rows / size), "{size} of {dies}: {parity:?}");
            // The first operation, on the first die, contains data.
            assert_eq!(stripes.operation_of(0), 0);
        }
    }

    #[test]
    fn operations_of_a_stripe_are_programmed_in_their_order() {
        let stripes = Stripes::new(4, 8);
        let order: Vec<u32> = (0..18).map(|number| stripes.operation_of(number)).collect();
        // Parity is the last of every four operations in the first row, and the third in the second row.
        assert_eq!(order, [0, 1, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22, 23]);
    }
}
