//! Named random streams with one seed.
//!
//! Every component has a separate stream that is named by its path in the scenario, so an additional
//! component does not change the random numbers of other components. Distributions are implemented here,
//! based on `libm`, so a seed gives the same numbers on every platform and in every release.

mod exponential;

use crate::state::{State, StateError, StateReader, StateWriter};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Source of all randomness of a run.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Creates the streams of `seed`.
    pub const fn new(seed: u64) -> Streams {
        Streams { seed }
    }

    /// Returns the stream `name`. Equal names give equal numbers.
    pub fn stream(&self, name: &str) -> Random {
        Random { state: Xoshiro256PlusPlus::seed_from_u64(self.seed ^ fnv1a(name)) }
    }
}

/// A stream of random numbers (xoshiro256++).
#[derive(Clone, Debug)]
pub struct Random {
    state: Xoshiro256PlusPlus,
}

impl Random {
    /// Returns 64 uniformly distributed random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state.next_u64()
    }

    /// Returns a uniformly distributed number in `[0, 1)` with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a uniformly distributed number in `0..bound` without bias (Lemire 2019, "Fast random integer
    /// generation in an interval"). `bound` must not be zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below zero");
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Returns `true` with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Returns an exponentially distributed number with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        exponential::draw(self)
    }

    /// Returns a normally distributed number with mean 0 and standard deviation 1 (Marsaglia's polar
    /// method, using one number of each pair).
    pub fn normal(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.unit() - 1.0;
            let y = 2.0 * self.unit() - 1.0;
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return x * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }
}

impl State for Random {
    fn save(&self, state: &mut StateWriter) {
        self.state.state().save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        let mut seed = [0; 32];
        seed.restore(state)?;
        if seed == [0; 32] {
            return Err(state.error(format!("{} that yields numbers", state.name()), "zero".into()));
        }
        self.state = Xoshiro256PlusPlus::from_seed(seed);
        Ok(())
    }
}

/// Hash function FNV-1a with 64 bits, which distributes stream names over the seed space.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
