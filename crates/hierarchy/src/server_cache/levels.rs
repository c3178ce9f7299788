//! Which block is in which level, and what must be moved to keep it so. Knows nothing of time.

use super::Inclusion;
use crate::replacement::{Access, Replacement};
use nacre_kernel::Device;
use nacre_kernel::state::{State, Value};

/// "In no level".
pub(super) const NOWHERE: usize = usize::MAX;

/// One level: a device and the policy that says which blocks it holds.
#[derive(State)]
pub(super) struct Level {
    pub(super) policy: Box<dyn Replacement>,
    pub(super) device: Box<dyn Device>,
    /// Blocks the device has room for.
    #[state(same)]
    pub(super) blocks: u64,
    pub(super) counts: LevelCounts,
    /// Blocks that came in less those that left: what the policy must hold.
    held: u64,
}

/// What happened in one level.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct LevelCounts {
    pub(super) read_hits: u64,
    pub(super) write_hits: u64,
    /// Blocks that came in, from wherever.
    pub(super) entries: u64,
    /// Blocks that left by decision of a policy, wherever to.
    pub(super) evictions: u64,
}

/// What happened between the levels.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct MoveCounts {
    /// Blocks found in a lower level that came into the first.
    pub(super) promotions: u64,
    /// Victims of one level that went into the next.
    pub(super) demotions: u64,
    /// Blocks that left the cache by decision of a policy.
    pub(super) evictions: u64,
    /// Blocks that no policy would take in.
    pub(super) refusals: u64,
    /// Blocks that left a level because the one below evicted them.
    pub(super) back_invalidations: u64,
}

/// A block to be written into a level.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Move {
    pub(super) block: u64,
    /// The level to read it from; `NOWHERE` where the data is at hand.
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The levels, fastest first.
#[derive(State)]
pub(super) struct Levels {
    pub(super) all: Vec<Level>,
    #[state(skip = "from the configuration")]
    inclusion: Inclusion,
    #[state(varies)]
    pub(super) moves: Vec<Move>,
    pub(super) counts: MoveCounts,
}

impl Level {
    pub(super) fn new(policy: Box<dyn Replacement>, device: Box<dyn Device>) -> Level {
        let blocks = policy.capacity() as u64;
        Level { policy, device, blocks, counts: LevelCounts::default(), held: 0 }
    }

    fn came_in(&mut self) {
        self.held += 1;
        self.counts.entries += 1;
    }

    fn left(&mut self) {
        self.held -= 1;
        self.counts.evictions += 1;
    }

    fn take_out(&mut self, block: u64) -> bool {
        let was_here = self.policy.remove(block);
        self.held -= u64::from(was_here);
        was_here
    }
}

impl Levels {
    pub(super) fn new(all: Vec<Level>, inclusion: Inclusion) -> Levels {
        Levels { all, inclusion, moves: Vec::with_capacity(64), counts: MoveCounts::default() }
    }

    /// The host uses `block`, which comes into the first level if it is not there. Where it was found.
    /// What must be written where is added to `moves`, victims first.
    #[inline]
    pub(super) fn access(&mut self, block: u64) -> usize {
        match self.all[0].policy.access(block) {
            Access::Hit => 0,
            Access::Miss { evicted } => match self.inclusion {
                Inclusion::Exclusive => self.place_exclusive(block, evicted),
                Inclusion::Inclusive => self.place_inclusive(block, evicted),
            },
        }
    }

    /// The host uses `block`, which stays where it is. Where it was found.
    pub(super) fn touch(&mut self, block: u64) -> usize {
        self.all.iter_mut().position(|level| level.policy.touch(block)).unwrap_or(NOWHERE)
    }

    /// Takes `block` out of every level. Whether it was in one.
    pub(super) fn remove(&mut self, block: u64) -> bool {
        self.all.iter_mut().fold(false, |was_here, level| level.take_out(block) | was_here)
    }

    /// These blocks are used next.
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        for level in &self.all {
            level.policy.prefetch(blocks);
        }
    }

    /// Measuring begins now.
    pub(super) fn restart_counts(&mut self) {
        self.counts = MoveCounts::default();
        for level in &mut self.all {
            level.counts = LevelCounts::default();
            level.device.restart_ledger();
        }
    }

    /// Panics unless every policy holds the blocks that came in and did not leave.
    pub(super) fn check_invariants(&self) {
        for level in &self.all {
            level.policy.check_invariants();
            level.device.check_invariants();
            assert_eq!(
                level.policy.len() as u64,
                level.held,
                "the policy holds what came in and did not leave"
            );
            assert!(level.held <= level.blocks, "{} blocks in a level of {}", level.held, level.blocks);
        }
        if self.inclusion == Inclusion::Inclusive {
            assert!(
                self.all.is_sorted_by_key(|level| level.held),
                "a lower level holds all that an upper one does"
            );
        }
        assert!(self.moves.is_empty(), "a move was left undone");
    }

    /// `block` was not in the first level, which took it in and let `evicted` go, or refused it. Its
    /// victim goes down a level, whose victim goes down a level, and so on.
    fn place_exclusive(&mut self, block: u64, evicted: Option<u64>) -> usize {
        let refused = evicted == Some(block);
        let below = self.all.iter_mut().enumerate().skip(1);
        let mut found = below
            .map(|(at, level)| (at, if refused { level.policy.touch(block) } else { level.take_out(block) }));
        let found = found.find(|&(_, is_here)| is_here).map_or(NOWHERE, |(at, _)| at);
        if refused {
            if found == NOWHERE {
                self.hand_down(block, NOWHERE);
            }
            return found;
        }
        self.all[0].came_in();
        self.counts.promotions += u64::from(found != NOWHERE);
        if let Some(victim) = evicted {
            self.all[0].left();
            self.hand_down(victim, 0);
        }
        self.moves.push(Move { block, from: NOWHERE, to: 0 });
        found
    }

    /// `block`, which left level `from` (or was refused by the first), goes into the next level that takes it.
    fn hand_down(&mut self, mut block: u64, mut from: usize) {
        for at in 1..self.all.len() {
            let evicted = self.all[at].policy.admit(block);
            if evicted == Some(block) {
                continue;
            }
            self.all[at].came_in();
            self.counts.demotions += u64::from(from != NOWHERE);
            self.moves.push(Move { block, from, to: at });
            let Some(victim) = evicted else { return };
            self.all[at].left();
            (block, from) = (victim, at);
        }
        if from == NOWHERE {
            self.counts.refusals += 1;
        } else {
            self.counts.evictions += 1;
        }
    }

    /// `block` was not in the first level, which took it in and let `evicted` go, or refused it. Every
    /// level down to where it is takes it in too; what a level evicts leaves the levels above.
    fn place_inclusive(&mut self, block: u64, evicted: Option<u64>) -> usize {
        self.settle_entry(0, block, evicted);
        let mut found = NOWHERE;
        for at in 1..self.all.len() {
            match self.all[at].policy.access(block) {
                Access::Hit => {
                    found = at;
                    break;
                }
                Access::Miss { evicted } => self.settle_entry(at, block, evicted),
            }
        }
        let end = found.min(self.all.len());
        for to in 0..end {
            if self.all[to].policy.contains(block) {
                self.moves.push(Move { block, from: NOWHERE, to });
            }
        }
        self.counts.promotions += u64::from(found != NOWHERE && self.all[0].policy.contains(block));
        let refused_by_last = found == NOWHERE && !self.all[end - 1].policy.contains(block);
        self.counts.refusals += u64::from(refused_by_last);
        found
    }

    /// Level `at` took `block` in and let `evicted` go, or refused it.
    fn settle_entry(&mut self, at: usize, block: u64, evicted: Option<u64>) {
        if evicted != Some(block) {
            self.all[at].came_in();
        }
        let Some(victim) = evicted else { return };
        if victim != block {
            self.all[at].left();
            self.counts.evictions += u64::from(at + 1 == self.all.len());
        }
        for upper in &mut self.all[..at] {
            self.counts.back_invalidations += u64::from(upper.take_out(victim));
        }
    }
}
