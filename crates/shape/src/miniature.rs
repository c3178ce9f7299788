//! What caches of any policy miss at a few sizes, all from one pass.
//!
//! An LRU cache tells all sizes at once by its stack; other policies do not, and are simulated at each size. With a
//! sample, caches are simulated in miniature (C. Waldspurger et al., Cache modeling and optimization using miniature
//! simulations, USENIX ATC 2017): of each block all accesses are followed or none, by a hash of it, and a cache has
//! the share R of its blocks that the sample has of all. As in [`SampledCurve`](crate::SampledCurve), a miss stands
//! for 1/R misses, and what is left of all accesses are hits.
//!
//! **Error.** Further bits of the hash cut the sample into eight that share no block, each with a cache of an eighth
//! beside the one of the whole. Their standard error, times Student's t for 7 degrees of freedom, is the 95 %
//! half-width of what chance does in choosing blocks. What a policy does otherwise in a cache of few blocks is not
//! in it; so a cache has [`BLOCKS_MIN`] blocks at least.

use crate::index::hash;
use nacre_kernel::{Op, Request};

/// Parts of a sample that its error is measured with.
const PARTS: usize = 8;
/// Student's t: 95 % on both sides, 7 degrees of freedom.
const STUDENT_T: f64 = 2.365;
/// Fewest blocks of a cache in miniature.
pub const BLOCKS_MIN: u64 = 64;

/// A cache of blocks, of whatever policy.
pub trait Cache: Send {
    /// Accesses `blocks` one after the other, and notes which were there; the others come in.
    fn replay(&mut self, blocks: &[u64], hits: &mut [bool]);
}

/// Accesses and bytes, of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// Blocks read and written.
    pub accesses: [f64; 2],
    /// Bytes of them that were asked for.
    pub bytes: [f64; 2],
}

impl Amounts {
    fn add(&mut self, is_write: bool, bytes: u32) {
        self.accesses[usize::from(is_write)] += 1.0;
        self.bytes[usize::from(is_write)] += f64::from(bytes);
    }
}

/// Accesses to blocks, in their order.
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

/// Accesses that are followed: all of the sample, and by its parts.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    whole: Accesses,
    parts: Vec<Accesses>,
}

impl Followed {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Picks the accesses that are followed, and counts all.
#[derive(Clone, Debug)]
pub struct Follower {
    block_bytes: u64,
    salt: u64,
    threshold: u64,
    share: f64,
    all: Amounts,
}

impl Follower {
    /// Follows `share` of the blocks of `block_bytes`, a power of two; the seed picks them.
    pub fn new(block_bytes: u64, share: f64, seed: u64) -> Follower {
        assert!(block_bytes.is_power_of_two() && share > 0.0 && share <= 1.0, "{share} of {block_bytes} B");
        let threshold = if share == 1.0 { u64::MAX } else { (share * (1u128 << 64) as f64) as u64 };
        Follower { block_bytes, salt: hash(0x5a17, seed), threshold, share, all: Amounts::default() }
    }

    /// Everything there was so far, followed or not.
    pub fn all(&self) -> Amounts {
        self.all
    }

    /// Adds what is followed of `batch` to `to`.
    pub fn follow(&mut self, batch: &[Request], to: &mut Followed) {
        let is_sample = self.share < 1.0;
        to.parts.resize_with(if is_sample { PARTS } else { 0 }, Accesses::default);
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
                    // The hash is a bijection of the number within a volume, and as good a name as any.
                    to.whole.push(hashed, bytes, is_write);
                    if is_sample {
                        to.parts[(hashed >> 8) as usize % PARTS].push(hashed, bytes, is_write);
                    }
                }
            }
        }
    }
}

/// A cache of one policy and size, with its parts where it is in miniature.
pub struct Simulation {
    share: f64,
    whole: Counted,
    parts: Vec<Counted>,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a simulation of {} of the blocks, {:?} missed", self.share, self.whole.missed)
    }
}

/// A miss ratio, and the 95 % half-width of it: of reads and writes together, of reads, of writes. `None` where there
/// is none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub ratio: Option<f64>,
    /// Half of its interval; 0 where all blocks are followed.
    pub half_width: Option<f64>,
}

impl Simulation {
    /// A cache of `blocks`, made by `make` of any number of blocks, which sees `share` of them.
    pub fn new<E>(
        blocks: u64,
        share: f64,
        mut make: impl FnMut(u64) -> Result<Box<dyn Cache>, E>,
    ) -> Result<Simulation, E> {
        let scaled = |parts: usize| (libm::round(blocks as f64 * share / parts as f64) as u64).max(1);
        let mut counted =
            |parts| Ok(Counted { cache: make(scaled(parts))?, missed: Amounts::default(), hits: Vec::new() });
        let whole = counted(1)?;
        let parts = if share < 1.0 { PARTS } else { 0 };
        Ok(Simulation { share, whole, parts: (0..parts).map(|_| counted(PARTS)).collect::<Result<_, E>>()? })
    }

    /// Takes in what is followed.
    pub fn add(&mut self, followed: &Followed) {
        self.whole.add(&followed.whole);
        for (part, accesses) in self.parts.iter_mut().zip(&followed.parts) {
            part.add(accesses);
        }
    }

    /// The share that missed of everything there was: of the amounts that `of` picks.
    pub fn ratio(&self, all: Amounts, of: impl Fn(Amounts) -> f64) -> Ratio {
        let total = of(all);
        if total == 0.0 {
            return Ratio::default();
        }
        let ratio = |missed: f64, share: f64| (missed / share / total).min(1.0);
        let parts: Vec<f64> =
            self.parts.iter().map(|part| ratio(of(part.missed), self.share / PARTS as f64)).collect();
        let mean = parts.iter().sum::<f64>() / PARTS as f64;
        let squares: f64 = parts.iter().map(|part| (part - mean) * (part - mean)).sum();
        let half_width = STUDENT_T * (squares / ((PARTS - 1) * PARTS) as f64).sqrt();
        Ratio { ratio: Some(ratio(of(self.whole.missed), self.share)), half_width: Some(half_width) }
    }
}

/// A cache with what it missed.
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
