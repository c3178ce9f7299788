//! A permutation of block numbers that scatters hot blocks.
//!
//! The permutation consists of rounds of an odd multiplication and a shifted exclusive or. Each round is a
//! bijection of w-bit numbers (the form of MurmurHash3's finalizer) with keys derived from the seed. If the
//! number of blocks is not a power of two, numbers that are out of range are permuted again (cycle walking:
//! J. Black, P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002). This takes fewer than two
//! rounds on average.

use nacre_kernel::Random;

/// A permutation of `0..items`.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    items: u64,
    mask: u64,
    shift: u32,
    offset: u64,
    factors: [u64; 3],
}

impl Scatter {
    /// Creates a random permutation of `0..items`, for at least one item.
    pub(crate) fn new(items: u64, mut random: Random) -> Scatter {
        assert!(items > 0, "nothing to scatter");
        let bits = (u64::BITS - (items - 1).leading_zeros()).max(1);
        Scatter {
            items,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            offset: random.bits(),
            factors: [random.bits() | 1, random.bits() | 1, random.bits() | 1],
        }
    }

    /// Position of `item` in the permutation.
    #[inline]
    pub(crate) fn place(&self, item: u64) -> u64 {
        debug_assert!(item < self.items);
        let mut place = item;
        loop {
            place = place.wrapping_add(self.offset) & self.mask;
            for factor in self.factors {
                place = place.wrapping_mul(factor) & self.mask;
                place ^= place >> self.shift;
            }
            if place < self.items {
                return place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scatter;
    use crate::testing::check_chi_square;
    use nacre_kernel::Streams;

    #[test]
    fn every_item_has_a_place_of_its_own() {
        for items in (1..=300).chain([1000, 4096, 65_537]) {
            let scatter = Scatter::new(items, Streams::new(items).stream("scatter"));
            let mut taken = vec![false; items as usize];
            for item in 0..items {
                let place = scatter.place(item) as usize;
                assert!(!taken[place], "{place} of {items} is taken twice");
                taken[place] = true;
            }
        }
    }

    #[test]
    fn neighbors_are_spread_evenly_and_irregularly() {
        let items = 1_000_000;
        let scatter = Scatter::new(items, Streams::new(1).stream("scatter"));
        let mut counts = [0; 100];
        let mut gaps = [0; 16];
        for item in 0..10_000 {
            let place = scatter.place(item);
            counts[(place / 10_000) as usize] += 1;
            gaps[((scatter.place(item + 1) + items - place) % items / 62_500) as usize] += 1;
        }
        check_chi_square(&counts, &[100.0; 100]);
        check_chi_square(&gaps, &[625.0; 16]);
    }
}
