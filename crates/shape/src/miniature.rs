//! Miss ratios of caches with any replacement policy at a few sizes, all from one pass over a trace.
//!
//! The stack of an LRU cache gives the hits for all sizes at once. Other policies are simulated at each size.
//! If only a sample of the blocks is tracked, caches are simulated in miniature (C. Waldspurger et al., Cache
//! modeling and optimization using miniature simulations, USENIX ATC 2017): a hash selects blocks, all
//! accesses to selected blocks are tracked, and the size of a cache is scaled by the share R of selected
//! blocks. As in [`SampledCurve`](crate::SampledCurve), a miss counts as 1/R misses, and all other accesses
//! are hits.
//!
//! **Error.** Each of eight further bits of the hash divides the sample into two halves. Each half is
//! simulated with a cache of half the size. The differences between the halves and the whole sample have the
//! variance of the sampling error, as in [`SampledCurve`](crate::SampledCurve). The root of the mean square
//! of the sixteen differences, times Student's t for eight degrees of freedom, is the 95 % half-width of the
//! sampling error. Smaller subsets would not work where the curve is steep. The half-width includes the
//! effects that a small cache has on a policy only if a cache of half the size has these effects, too. A
//! cache has at least [`BLOCKS_MIN`] blocks.

use crate::index::hash;
use nacre_kernel::{Op, Request};

/// Number of divisions of the sample into halves. The halves are used to measure the error.
const CUTS: usize = 8;
/// Student's t for 95 %, two-sided, with one degree of freedom per division.
const STUDENT_T: f64 = 2.306;
/// Minimum number of blocks of a miniature cache.
pub const BLOCKS_MIN: u64 = 64;

/// A cache of blocks with a replacement policy.
pub trait Cache: Send {
    /// Accesses `blocks` in order, and records in `hits` whether each access hits. A block that misses is
    /// inserted.
    fn replay(&mut self, blocks: &[u64], hits: &mut [bool]);
}

/// Numbers of block accesses and of bytes. The first element of each array is for reads, and the second is
/// for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// Numbers of blocks read and written.
    pub accesses: [f64; 2],
    /// Numbers of bytes read and written.
    pub bytes: [f64; 2],
}

impl Amounts {
    fn add(&mut self, is_write: bool, bytes: u32) {
        self.accesses[usize::from(is_write)] += 1.0;
        self.bytes[usize::from(is_write)] += f64::from(bytes);
    }
}

/// A sequence of block accesses for a simulation.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    blocks: Vec<u64>,
    bytes: Vec<u32>,
    are_writes: Vec<bool>,
}

impl Accesses {
    fn push(&mut self, block: u64, bytes: u32, is_write: bool) {
        self.blocks.push(block);
        self.bytes.push(bytes);
        self.are_writes.push(is_write);
    }

    fn len(&self) -> usize {
        self.blocks.len()
    }
}

/// Tracked accesses of the whole sample, and of both halves of each division.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    whole: Accesses,
    halves: Vec<Accesses>,
}

impl Followed {
    /// Returns the number of tracked accesses of the whole sample.
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// Returns whether there are no tracked accesses.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Selects the accesses that are tracked, and counts all accesses.
#[derive(Clone, Debug)]
pub struct Follower {
    block_bytes: u64,
    salt: u64,
    threshold: u64,
    share: f64,
    all: Amounts,
}

impl Follower {
    /// Creates a selection of the fraction `share` of all blocks. Blocks have `block_bytes` bytes, a power of
    /// two. `seed` determines the selection.
    pub fn new(block_bytes: u64, share: f64, seed: u64) -> Follower {
        assert!(block_bytes.is_power_of_two() && share > 0.0 && share <= 1.0, "{share} of {block_bytes} B");
        let threshold = if share == 1.0 { u64::MAX } else { (share * (1u128 << 64) as f64) as u64 };
        Follower { block_bytes, salt: hash(0x5a17, seed), threshold, share, all: Amounts::default() }
    }

    /// Returns the numbers of all accesses so far, tracked or not.
    pub fn all(&self) -> Amounts {
        self.all
    }

    /// Adds the tracked accesses of `batch` to `to`.
    pub fn follow(&mut self, batch: &[Request], to: &mut Followed) {
        let is_sample = self.share < 1.0;
        to.halves.resize_with(if is_sample { 2 * CUTS } else { 0 }, Accesses::default);
        for request in batch {
            if !matches!(request.op, Op::Read | Op::Write) {
                continue;
            }
            let is_write = request.op == Op::Write;
            let end = request.address + u64::from(request.bytes.max(1));
            let (first, count) = request.blocks(self.block_bytes);
            for block in first..first + count {
                let from = request.address.max(block * self.block_bytes);
                let bytes = (end.min((block + 1) * self.block_bytes) - from) as u32;
                self.all.add(is_write, bytes);
                let hashed = hash(request.volume, block ^ self.salt);
                if hashed <= self.threshold {
                    // The hash is a bijection of the block number within a volume, so it identifies the
                    // block.
                    to.whole.push(hashed, bytes, is_write);
                    for (cut, halves) in to.halves.chunks_mut(2).enumerate() {
                        halves[(hashed >> 8 >> cut) as usize & 1].push(hashed, bytes, is_write);
                    }
                }
            }
        }
    }
}

/// Simulation of a cache with one policy and size. If the cache is scaled down, sixteen caches of half the
/// size are simulated, too.
pub struct Simulation {
    share: f64,
    whole: Counted,
    halves: Vec<Counted>,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a simulation of {} of the blocks, {:?} missed", self.share, self.whole.missed)
    }
}

/// A miss ratio with its 95 % half-width, for reads, writes, or both. Both values are `None` if there are no
/// such accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratio {
    /// The miss ratio.
    pub ratio: Option<f64>,
    /// Half-width of the confidence interval, or 0 if all blocks are tracked.
    pub half_width: Option<f64>,
}

impl Simulation {
    /// Creates a simulation of a cache of `blocks` blocks. The simulation tracks the fraction `share` of the
    /// blocks. `make` builds a cache of any number of blocks.
    pub fn new<E>(
        blocks: u64,
        share: f64,
        mut make: impl FnMut(u64) -> Result<Box<dyn Cache>, E>,
    ) -> Result<Simulation, E> {
        let scaled = |parts: usize| (libm::round(blocks as f64 * share / parts as f64) as u64).max(1);
        let mut counted =
            |parts| Ok(Counted { cache: make(scaled(parts))?, missed: Amounts::default(), hits: Vec::new() });
        let whole = counted(1)?;
        let halves = if share < 1.0 { 2 * CUTS } else { 0 };
        Ok(Simulation { share, whole, halves: (0..halves).map(|_| counted(2)).collect::<Result<_, E>>()? })
    }

    /// Simulates the accesses in `followed`.
    pub fn add(&mut self, followed: &Followed) {
        self.whole.add(&followed.whole);
        for (half, accesses) in self.halves.iter_mut().zip(&followed.halves) {
            half.add(accesses);
        }
    }

    /// Returns the miss ratio of the amounts that `of` selects, e.g. block reads. `all` are the amounts of
    /// all accesses.
    pub fn ratio(&self, all: Amounts, of: impl Fn(Amounts) -> f64) -> Ratio {
        let total = of(all);
        if total == 0.0 {
            return Ratio::default();
        }
        let ratio = |missed: f64, share: f64| (missed / share / total).min(1.0);
        let whole = ratio(of(self.whole.missed), self.share);
        let apart = |half: &Counted| ratio(of(half.missed), self.share / 2.0) - whole;
        let squares: f64 = self.halves.iter().map(|half| apart(half) * apart(half)).sum();
        let half_width = STUDENT_T * (squares / (2 * CUTS) as f64).sqrt();
        Ratio { ratio: Some(whole), half_width: Some(half_width) }
    }
}

/// A simulated cache with the amounts of its misses.
struct Counted {
    cache: Box<dyn Cache>,
    missed: Amounts,
    hits: Vec<bool>,
}

impl Counted {
    fn add(&mut self, accesses: &Accesses) {
        self.hits.resize(accesses.len(), false);
        self.cache.replay(&accesses.blocks, &mut self.hits);
        let each = self.hits.iter().zip(&accesses.bytes).zip(&accesses.are_writes);
        for ((&hit, &bytes), &is_write) in each {
            if !hit {
                self.missed.add(is_write, bytes);
            }
        }
    }
}
