//! Replacement policies, which decide the blocks that a cache keeps. One component per policy.
//!
//! A policy receives opaque 64-bit block keys and decides residency. It does not know the sizes or the data
//! of blocks, or the time. All policies use one arena of 16-byte nodes and one open-addressing index, so a
//! request accesses two or three cache lines and allocates no memory (docs/decisions/0002).

mod arena;
pub(crate) mod index;
mod policy;
mod ring;

pub mod arc;
pub mod clock;
pub mod external;
pub mod fifo;
pub mod lirs;
pub mod lru;
pub mod s3_fifo;
pub mod sieve;
pub mod two_q;
pub mod w_tinylfu;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tests;

use nacre_config::{ErrorCode, Families, Family, Problem, Problems, Table};
use nacre_kernel::state::State;

/// The family of replacement policies.
#[derive(Debug)]
pub struct ReplacementFamily;

impl Family for ReplacementFamily {
    const NAME: &'static str = "replacement";
    type Built = Box<dyn Replacement>;
    type Context<'a> = dyn ReplacementContext + 'a;
}

/// Services for a policy during construction.
pub trait ReplacementContext {
    /// Returns all component families, which are needed to read the configuration of a slot.
    fn families(&self) -> &dyn Families;

    /// Maximum number of resident blocks, at least one.
    fn capacity(&self) -> usize;

    /// Returns the user's policy with this name, which is written in another language. Returns an error if no
    /// policy has this name.
    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Replacement>, Problems>;
}

/// Construction context in which the caller provides no policies.
pub struct Context<'a> {
    /// All component families, needed to read the configuration of a slot.
    pub families: &'a dyn Families,
    /// Maximum number of resident blocks, at least one.
    pub capacity: usize,
}

impl ReplacementContext for Context<'_> {
    fn families(&self) -> &dyn Families {
        self.families
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Replacement>, Problems> {
        let problem =
            Problem::new(ErrorCode::NoFunction, path, None, "policies of the caller are not available here")
                .given(format!("{name:?}"));
        Err(problem.remedy("name one that is built in").into())
    }
}

/// Constructor of a policy that the caller provides, given the capacity in blocks.
pub type Brought = Box<dyn FnOnce(usize) -> Box<dyn Replacement>>;

/// The policies, in documentation order.
pub static MODELS: &Table<ReplacementFamily> = &[
    lru::MODEL,
    fifo::MODEL,
    clock::MODEL,
    two_q::MODEL,
    arc::MODEL,
    lirs::MODEL,
    s3_fifo::MODEL,
    sieve::MODEL,
    w_tinylfu::MODEL,
    external::MODEL,
];

/// Number of requests whose memory a replay prefetches together. Sixteen requests saturate the memory system
/// of one core. Larger groups are not faster (docs/decisions/0002).
const GROUP: usize = 16;

/// A replacement policy, which decides the blocks that are resident. Keys are opaque 64-bit block keys.
///
/// Memory grows with the number of tracked blocks, not with the capacity. A policy tracks at most 2^30
/// blocks, including ghosts, and panics beyond that number.
pub trait Replacement: State + Send {
    /// Records an access to `block`. Returns whether the block is resident.
    fn touch(&mut self, block: u64) -> bool;

    /// Inserts `block`, which must not be resident. Returns the evicted block, if any. A policy with
    /// admission control may refuse the block, and then returns `block`.
    ///
    /// # Panics
    /// Panics if `block` is resident, which is a bug of the caller.
    fn admit(&mut self, block: u64) -> Option<u64>;

    /// Removes `block` without a replacement decision, e.g. for an invalidation or a promotion to another
    /// level. Returns whether it was resident.
    fn remove(&mut self, block: u64) -> bool;

    /// Whether `block` is resident. Does not count as an access.
    fn contains(&self, block: u64) -> bool;

    /// Number of resident blocks, at most the capacity.
    fn len(&self) -> usize;

    /// Whether no block is resident.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Maximum number of resident blocks, at least one.
    fn capacity(&self) -> usize;

    /// Performs `touch` and, on a miss, `admit` with one look-up. This is the hot path.
    fn access(&mut self, block: u64) -> Access;

    /// Prefetches the memory for accesses to `blocks`, so that they hit the processor's caches. Does not
    /// change the state.
    fn prefetch(&self, blocks: &[u64]);

    /// Accesses all blocks in `blocks`, in order. Returns the number of hits.
    fn replay(&mut self, blocks: &[u64]) -> u64 {
        let mut hits = 0;
        for group in blocks.chunks(GROUP) {
            self.prefetch(group);
            for &block in group {
                hits += u64::from(self.access(block).is_hit());
            }
        }
        hits
    }

    /// Accesses all blocks in `blocks`, in order. Sets each element of `hits`, which is as long as `blocks`,
    /// to whether the access hit.
    fn replay_each(&mut self, blocks: &[u64], hits: &mut [bool]) {
        assert_eq!(blocks.len(), hits.len(), "one place per block");
        for (group, hits) in blocks.chunks(GROUP).zip(hits.chunks_mut(GROUP)) {
            self.prefetch(group);
            for (&block, hit) in group.iter().zip(hits) {
                *hit = self.access(block).is_hit();
            }
        }
    }

    /// Panics if the policy's state is inconsistent.
    fn check_invariants(&self);
}

/// Result of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The block was resident.
    Hit,
    /// The block was not resident and has been admitted.
    Miss {
        /// Evicted block, or the accessed block itself if the policy refused it; `None` if no block was
        /// evicted.
        evicted: Option<u64>,
    },
}

impl Access {
    /// Whether the block was resident.
    #[inline]
    pub fn is_hit(self) -> bool {
        self == Access::Hit
    }
}
