//! A pseudorandom permutation of row numbers with an exact inverse.

use nacre_kernel::Random;
use nacre_kernel::state::State;

/// Number of rounds of the network (qureshi-2009 uses three).
const ROUNDS: usize = 3;

/// A Feistel network that permutes the numbers below a bound.
#[derive(Clone, Debug, State)]
pub(super) struct Feistel {
    #[state(same)]
    bound: u64,
    /// Number of bits of one half.
    #[state(skip = "from the configuration")]
    half: u32,
    keys: [u64; ROUNDS],
}

impl Feistel {
    /// A permutation of the numbers below `bound`, with keys from `random`.
    pub(super) fn new(bound: u64, random: &mut Random) -> Feistel {
        let bits = 64 - bound.saturating_sub(1).leading_zeros();
        Feistel { bound, half: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.bits()) }
    }

    /// Permutes `number`.
    pub(super) fn forth(&self, number: u64) -> u64 {
        self.walk(number, |network, number| {
            let (left, right) = network.halves(number);
            let step = |(left, right): (u64, u64), &key| (right, left ^ network.mix(right, key));
            network.joined(network.keys.iter().fold((left, right), step))
        })
    }

    /// Inverse of the permutation.
    pub(super) fn back(&self, number: u64) -> u64 {
        self.walk(number, |network, number| {
            let (left, right) = network.halves(number);
            let step = |(left, right): (u64, u64), &key| (right ^ network.mix(left, key), left);
            network.joined(network.keys.iter().rev().fold((left, right), step))
        })
    }

    /// Applies `permute` until the result is below the bound. This is necessary because the network permutes
    /// the numbers below a power of four.
    fn walk(&self, mut number: u64, permute: impl Fn(&Feistel, u64) -> u64) -> u64 {
        loop {
            number = permute(self, number);
            if number < self.bound {
                return number;
            }
        }
    }

    fn halves(&self, number: u64) -> (u64, u64) {
        (number >> self.half, number & self.mask())
    }

    fn joined(&self, (left, right): (u64, u64)) -> u64 {
        (left << self.half) | right
    }

    fn mask(&self) -> u64 {
        (1 << self.half) - 1
    }

    /// Mixes `half` with `key`, so that each bit of `half` and of `key` affects the low bits of the result.
    fn mix(&self, half: u64, key: u64) -> u64 {
        let product = (half ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (product ^ (product >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> (64 - self.half)
    }
}
