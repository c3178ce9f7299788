//! Which blocks a cache keeps: one room per replacement policy.
//!
//! A policy sees opaque 64-bit block keys and decides residency; it knows nothing of sizes, data
//! or time. All policies stand on one arena of 16-byte nodes and one open-addressing index, so a
//! request costs two or three cache lines and no allocation (docs/decisions/0002).

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
    /// All rooms, to read the slot's configuration with.
    fn families(&self) -> &dyn Families;

    /// Blocks that can be resident at once, at least one.
    fn capacity(&self) -> usize;

    /// The policy the caller brought under `name`, written in another language. Errors: there is none.
    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Replacement>, Problems>;
}

/// Construction context without a policy of the caller.
pub struct Context<'a> {
    /// All rooms, to read the slot's configuration with.
    pub families: &'a dyn Families,
    /// Blocks that can be resident at once, at least one.
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
        let problem = Problem::new(ErrorCode::NoFunction, path, None, "no policy can be brought here")
            .given(format!("{name:?}"));
        Err(problem.remedy("name one that is built in").into())
    }
}

/// Constructor of a policy provided by the caller, for a number of blocks.
pub type Brought = Box<dyn FnOnce(usize) -> Box<dyn Replacement>>;

/// The policies, in the order users see them.
pub static ROOMS: &Table<ReplacementFamily> = &[
    lru::ROOM,
    fifo::ROOM,
    clock::ROOM,
    two_q::ROOM,
    arc::ROOM,
    lirs::ROOM,
    s3_fifo::ROOM,
    sieve::ROOM,
    w_tinylfu::ROOM,
    external::ROOM,
];

/// How many requests a replay looks ahead. Sixteen keep the memory system of one core busy; more gain nothing
/// (docs/decisions/0002).
const GROUP: usize = 16;

/// Which blocks a cache keeps. Keys are opaque 64-bit block keys; the policy owns residency.
///
/// Memory grows with the blocks tracked, never with the capacity asked for. One policy tracks at
/// most 2^30 blocks, those it only remembers included; beyond that it panics.
pub trait Replacement: State + Send {
    /// The host asks for `block`: true if resident. The policy notes the use.
    fn touch(&mut self, block: u64) -> bool;

    /// `block`, which is not resident, comes in; the block that left for it, if any. A policy with
    /// admission control may refuse, and then the victim is `block` itself.
    ///
    /// # Panics
    /// If `block` is resident: the caller lost track.
    fn admit(&mut self, block: u64) -> Option<u64>;

    /// Takes `block` out without a replacement decision (invalidation, promotion to another
    /// level); true if it was resident.
    fn remove(&mut self, block: u64) -> bool;

    /// Whether `block` is resident, without noting a use.
    fn contains(&self, block: u64) -> bool;

    /// Resident blocks, never more than the capacity.
    fn len(&self) -> usize;

    /// Whether nothing is resident.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Blocks that can be resident at once, at least one.
    fn capacity(&self) -> usize;

    /// `touch`, then on a miss `admit`, with one look-up: the hot path.
    fn access(&mut self, block: u64) -> Access;

    /// Asks for the memory that coming accesses to `blocks` will need, all at once, so that the
    /// accesses find it in the processor's caches. Changes nothing.
    fn prefetch(&self, blocks: &[u64]);

    /// Accesses every block in turn and says how many hit.
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

    /// Accesses every block in turn and notes in `hits`, which is as long as `blocks`, whether it
    /// hit.
    fn replay_each(&mut self, blocks: &[u64], hits: &mut [bool]) {
        assert_eq!(blocks.len(), hits.len(), "one place per block");
        for (group, hits) in blocks.chunks(GROUP).zip(hits.chunks_mut(GROUP)) {
            self.prefetch(group);
            for (&block, hit) in group.iter().zip(hits) {
                *hit = self.access(block).is_hit();
            }
        }
    }

    /// Panics when the policy's own books do not agree.
    fn check_invariants(&self);
}

/// Result of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The block was resident.
    Hit,
    /// The block was not resident and has been admitted.
    Miss {
        /// The block that left for it; the block itself if the policy refused it.
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
