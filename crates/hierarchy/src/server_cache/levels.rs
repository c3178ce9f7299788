//! Content of the levels, and moves of blocks between them. This module is independent of time.

use super::config::{Inclusion, LEVELS_MAX};
use super::locations::Locations;
use crate::replacement::{Access, Replacement};
use nacre_kernel::Capabilities;
use nacre_kernel::state::{self, State, Value};

/// One level: its policy, and the locations of blocks on its device.
#[derive(State)]
pub(super) struct Level {
    pub(super) policy: Box<dyn Replacement>,
    /// Capacity of the device, in blocks.
    #[state(same)]
    pub(super) blocks: u64,
    pub(super) counts: LevelCounts,
    /// Whether locations are tracked. If not, every block is at location 0.
    #[state(skip = "from the configuration")]
    keeps_locations: bool,
    /// Locations of the resident blocks, which must match the policy. Empty if locations are not tracked.
    locations: Locations,
    /// Saved state of the empty policy, or `None` for a policy that cannot be saved.
    #[state(skip = "from the configuration")]
    empty: Option<Vec<u8>>,
}

/// Counters of one level.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct LevelCounts {
    pub(super) read_hits: u64,
    pub(super) write_hits: u64,
    /// Number of blocks inserted, from any source.
    pub(super) entries: u64,
    /// Number of blocks that the policy of the level evicted, to any destination.
    pub(super) evictions: u64,
}

/// Counters of moves between levels.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct MoveCounts {
    /// Number of blocks found in a lower level that moved into the first level.
    pub(super) promotions: u64,
    /// Number of victims of one level that moved into the next level.
    pub(super) demotions: u64,
    /// Number of blocks that left the cache because a policy evicted them.
    pub(super) evictions: u64,
    /// Number of blocks that no policy admitted.
    pub(super) refusals: u64,
    /// Number of blocks invalidated because the level below evicted them.
    pub(super) back_invalidations: u64,
}

/// Result of inserting a block into a level.
#[derive(Clone, Copy, Debug, Default)]
struct Entered {
    location: u64,
    /// Former location of the evicted block, if any.
    left: Option<u64>,
    /// The evicted block, if the new block takes its location; otherwise `None`.
    instead_of: Option<u64>,
}

/// Level and location of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Value)]
pub(super) struct Spot {
    pub(super) level: usize,
    /// Location on the device of the level.
    pub(super) location: u64,
}

/// A block to write into a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) block: u64,
    /// Level and location from which the data is read, or `None` if the data is available.
    pub(super) from: Option<Spot>,
    pub(super) to: Spot,
    /// Evicted block of a full level whose location the written block takes; `None` if the location was free.
    pub(super) instead_of: Option<u64>,
}

/// Moves caused by a request. The caller performs and removes them, so the lists are empty between requests.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Writes to perform, in the order of this list.
    pub(super) list: Vec<Move>,
    /// Evicted blocks with their former locations, if evicted blocks are recorded.
    pub(super) left: Vec<(u64, Spot)>,
    /// Blocks that left a level, each with the number of this level, if any inserted block may take their
    /// location.
    pub(super) vacated: Vec<(usize, u64)>,
    /// Whether evicted blocks are recorded.
    tells_who_left: bool,
}

/// The levels, fastest first.
#[derive(State)]
pub(super) struct Levels {
    pub(super) all: Vec<Level>,
    #[state(skip = "from the configuration")]
    inclusion: Inclusion,
    pub(super) counts: MoveCounts,
}

impl Moves {
    /// Creates an empty set of moves.
    pub(super) fn new(tells_who_left: bool) -> Moves {
        Moves { list: Vec::with_capacity(64), left: Vec::new(), vacated: Vec::new(), tells_who_left }
    }

    /// Whether there are no moves.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.left.is_empty() && self.vacated.is_empty()
    }

    /// Records that `block` left `level`. If no other block was inserted in its location, i.e. `instead_of`
    /// is `None`, any block may take this location.
    fn vacates(&mut self, level: usize, block: u64, instead_of: Option<u64>) {
        if instead_of.is_none() {
            self.vacated.push((level, block));
        }
    }

    fn leaves(&mut self, block: u64, from: Option<Spot>) {
        if let (true, Some(from)) = (self.tells_who_left, from) {
            self.left.push((block, from));
        }
    }
}

impl Level {
    pub(super) fn new(policy: Box<dyn Replacement>, capabilities: Capabilities, writes_back: bool) -> Level {
        let blocks = policy.capacity() as u64;
        let empty = state::saved(&*policy).ok();
        let Capabilities { carries_bytes, uses_addresses, .. } = capabilities;
        // Without a saved empty policy, the locations list the blocks to remove after a power loss.
        let keeps_locations = carries_bytes || uses_addresses || writes_back || empty.is_none();
        let (counts, locations) = (LevelCounts::default(), Locations::new(blocks));
        Level { policy, blocks, counts, keeps_locations, locations, empty }
    }

    /// Adds or removes locations after a restore, because a saved state may be restored in a level that
    /// tracks locations or in a level that does not. `addressed` is the number of blocks that the host can
    /// address.
    pub(super) fn place_restored(&mut self, addressed: u64) -> Result<(), String> {
        let held = self.policy.len() as u64;
        if !self.keeps_locations {
            self.locations = Locations::new(self.blocks);
        } else if self.locations.len() == 0 && held > 0 {
            let is_there = |block: &u64| self.policy.contains(*block);
            (0..addressed).filter(is_there).take(held as usize).for_each(|block| {
                self.locations.enter(block);
            });
        }
        match !self.keeps_locations || self.locations.len() == held {
            true => Ok(()),
            false => Err(format!("{held} blocks in a cache, and locations of {}", self.locations.len())),
        }
    }

    /// Records the insertion of `block` and the eviction of the policy's `victim`. Assigns a location to
    /// `block`.
    #[inline]
    fn come_in(&mut self, block: u64, victim: Option<u64>) -> Entered {
        self.counts.entries += 1;
        self.counts.evictions += u64::from(victim.is_some());
        let is_full = self.policy.len() as u64 == self.blocks;
        let instead_of = victim.filter(|_| is_full);
        let (location, left) = match victim {
            victim if !self.keeps_locations => (0, victim.map(|_| 0)),
            None => (self.locations.enter(block), None),
            Some(victim) => {
                let (from, to) = self.locations.replace(victim, block);
                (to, Some(from))
            }
        };
        Entered { location, left, instead_of }
    }

    /// Location of `block`; `None` if it is not resident.
    pub(super) fn location(&self, block: u64) -> Option<u64> {
        if self.keeps_locations {
            self.locations.get(block)
        } else {
            self.policy.contains(block).then_some(0)
        }
    }

    /// Location of `block`, which must be resident.
    #[inline]
    fn held_location(&self, block: u64) -> Option<u64> {
        if self.keeps_locations { self.locations.get(block) } else { Some(0) }
    }

    /// Removes `block`. Returns its former location if it was resident.
    fn take_out(&mut self, block: u64) -> Option<u64> {
        let was_there = self.policy.remove(block);
        was_there.then(|| if self.keeps_locations { self.locations.leave(block) } else { 0 })
    }

    /// Records an access to `block` without moving it. Returns its location if it is resident.
    fn touch(&mut self, block: u64) -> Option<u64> {
        if self.policy.touch(block) { self.held_location(block) } else { None }
    }

    /// Restores `block` at `location` on the device after a power loss.
    pub(super) fn remember(&mut self, block: u64, location: u64) {
        let victim = self.policy.admit(block);
        assert_eq!(victim, None, "a block that was there has room");
        assert!(self.keeps_locations, "a cache that writes back knows where its blocks lie");
        self.locations.enter_at(block, location);
    }

    /// Removes all blocks and resets the policy to its initial state.
    fn forget(&mut self) {
        match &self.empty {
            Some(empty) => state::restored(&mut *self.policy, empty).expect("it was built like this"),
            // A policy written in another language is notified of each block.
            None => {
                for block in self.locations.blocks() {
                    self.policy.remove(block);
                }
            }
        }
        self.locations = Locations::new(self.blocks);
    }
}

impl Levels {
    pub(super) fn new(all: Vec<Level>, inclusion: Inclusion) -> Levels {
        Levels { all, inclusion, counts: MoveCounts::default() }
    }

    /// Records an access to `block`, and inserts it into the first level if necessary. Returns the level and
    /// location at which it was found, or `None` if no level contained it. Appends the resulting writes to
    /// `moves`, victims first.
    #[inline(always)]
    pub(super) fn access(&mut self, block: u64, moves: &mut Moves) -> Option<Spot> {
        let first = &mut self.all[0];
        match first.policy.access(block) {
            Access::Hit => first.held_location(block).map(|location| Spot { level: 0, location }),
            Access::Miss { evicted } => match self.inclusion {
                Inclusion::Exclusive => self.place_exclusive(block, evicted, moves),
                Inclusion::Inclusive => self.place_inclusive(block, evicted, moves),
            },
        }
    }

    /// Records an access to `block` without moving it. Returns its level and location, or `None` if no level
    /// contains it.
    pub(super) fn touch(&mut self, block: u64) -> Option<Spot> {
        let mut levels = self.all.iter_mut().enumerate();
        levels.find_map(|(level, of)| of.touch(block).map(|location| Spot { level, location }))
    }

    /// Removes `block` from every level. Returns whether a level contained it.
    pub(super) fn remove(&mut self, block: u64) -> bool {
        self.all.iter_mut().fold(false, |was_here, level| level.take_out(block).is_some() | was_here)
    }

    /// Location of `block` in the first level that contains it; `None` if no level contains it.
    pub(super) fn spot(&self, block: u64) -> Option<Spot> {
        let mut levels = self.all.iter().enumerate();
        levels.find_map(|(level, of)| of.location(block).map(|location| Spot { level, location }))
    }

    /// Maximum number of blocks across all levels.
    pub(super) fn room(&self) -> u64 {
        match self.inclusion {
            Inclusion::Exclusive => self.all.iter().map(|level| level.blocks).sum(),
            Inclusion::Inclusive => self.all.last().map_or(0, |level| level.blocks),
        }
    }

    /// Whether a level contains `block`.
    pub(super) fn hold(&self, block: u64) -> bool {
        self.all.iter().any(|level| level.location(block).is_some())
    }

    /// Removes all blocks. Returns the number of removed blocks. A block that was in several levels counts
    /// once.
    pub(super) fn forget(&mut self) -> u64 {
        let held = self.all.iter().map(|level| level.policy.len() as u64);
        let held = if self.inclusion == Inclusion::Inclusive { held.max().unwrap_or(0) } else { held.sum() };
        self.all.iter_mut().for_each(Level::forget);
        held
    }

    /// Prefetches the memory for accesses to `blocks`.
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        for level in &self.all {
            level.policy.prefetch(blocks);
            if level.keeps_locations {
                level.locations.prefetch(blocks);
            }
        }
    }

    /// Restarts the counters of the levels.
    pub(super) fn restart_counts(&mut self) {
        self.counts = MoveCounts::default();
        for level in &mut self.all {
            level.counts = LevelCounts::default();
        }
    }

    /// Panics unless every policy contains exactly the resident blocks.
    pub(super) fn check_invariants(&self) {
        for level in &self.all {
            level.policy.check_invariants();
            let held = level.policy.len() as u64;
            if level.keeps_locations {
                level.locations.check_invariants();
                assert_eq!(level.locations.len(), held, "the policy holds what came in and did not leave");
            }
            assert!(held <= level.blocks, "{held} blocks in a level of {}", level.blocks);
        }
        if self.inclusion == Inclusion::Inclusive {
            assert!(
                self.all.is_sorted_by_key(|level| level.policy.len()),
                "a lower level holds all that an upper one does"
            );
        }
    }

    /// Handles an insertion of `block` into the first level. The policy evicted `evicted`, or refused the
    /// block if `evicted` equals it. Victims move down level by level. Returns the level and location at
    /// which `block` was found below the first level, if any.
    #[inline]
    fn place_exclusive(&mut self, block: u64, evicted: Option<u64>, moves: &mut Moves) -> Option<Spot> {
        let refused = evicted == Some(block);
        let found = if self.all.len() == 1 { None } else { self.find_below(block, refused, moves) };
        if refused {
            if found.is_none() {
                self.hand_down(block, None, moves);
            }
            return found;
        }
        self.counts.promotions += u64::from(found.is_some());
        let Entered { location, left, instead_of } = self.all[0].come_in(block, evicted);
        let to = Spot { level: 0, location };
        if let Some((victim, location)) = evicted.zip(left) {
            moves.vacates(0, victim, instead_of);
            self.hand_down(victim, Some(Spot { level: 0, location }), moves);
        }
        moves.list.push(Move { block, from: None, to, instead_of });
        found
    }

    /// Finds `block` below the first level. Returns the level and location at which it was found, if any. If
    /// the block moves up and no copy `stays`, removes the block from this level.
    fn find_below(&mut self, block: u64, stays: bool, moves: &mut Moves) -> Option<Spot> {
        let mut below = self.all.iter_mut().enumerate().skip(1);
        let found = below.find_map(|(level, of)| {
            let location = if stays { of.touch(block) } else { of.take_out(block) };
            location.map(|location| Spot { level, location })
        });
        if let (Some(spot), false) = (found, stays) {
            moves.vacated.push((spot.level, block));
        }
        found
    }

    /// Moves `block` down to the next level that admits it. `from` is its former location, or `None` if the
    /// first level refused it.
    #[inline]
    fn hand_down(&mut self, block: u64, from: Option<Spot>, moves: &mut Moves) {
        if self.all.len() == 1 {
            self.let_out(block, from, moves);
        } else {
            self.hand_down_levels(block, from, moves);
        }
    }

    /// Moves `block` down like [`Levels::hand_down`], if there are several levels. The last victim moves
    /// first, so that the victim of the level above can take its location.
    fn hand_down_levels(&mut self, mut block: u64, mut from: Option<Spot>, moves: &mut Moves) {
        let moves_before = moves.list.len();
        for level in 1..self.all.len() {
            let of = &mut self.all[level];
            let evicted = of.policy.admit(block);
            if evicted == Some(block) {
                continue;
            }
            let Entered { location, left, instead_of } = of.come_in(block, evicted);
            let to = Spot { level, location };
            self.counts.demotions += u64::from(from.is_some());
            moves.list.push(Move { block, from, to, instead_of });
            if let Some(victim) = evicted {
                moves.vacates(level, victim, instead_of);
            }
            let Some((victim, location)) = evicted.zip(left) else {
                moves.list[moves_before..].reverse();
                return;
            };
            (block, from) = (victim, Some(Spot { level, location }));
        }
        moves.list[moves_before..].reverse();
        self.let_out(block, from, moves);
    }

    /// Removes `block` from the cache. `from` is its former location, or `None` if all levels refused it.
    #[inline]
    fn let_out(&mut self, block: u64, from: Option<Spot>, moves: &mut Moves) {
        if from.is_none() {
            self.counts.refusals += 1;
        } else {
            self.counts.evictions += 1;
            moves.leaves(block, from);
        }
    }

    /// Handles an insertion of `block` into the first level. The policy evicted `evicted`, or refused the
    /// block if `evicted` equals it. Every level above the level that contains the block also admits it.
    /// Blocks that a level evicts are invalidated in the levels above. Returns the level and location at
    /// which `block` was found below the first level, if any.
    fn place_inclusive(&mut self, block: u64, evicted: Option<u64>, moves: &mut Moves) -> Option<Spot> {
        let mut instead_of = [None; LEVELS_MAX];
        instead_of[0] = self.settle_entry(0, block, evicted, moves);
        let mut found = None;
        let levels = self.all.len();
        for (level, taken) in instead_of.iter_mut().enumerate().take(levels).skip(1) {
            match self.all[level].policy.access(block) {
                Access::Hit => {
                    found = self.all[level].held_location(block).map(|location| Spot { level, location });
                    break;
                }
                Access::Miss { evicted } => {
                    *taken = self.settle_entry(level, block, evicted, moves);
                }
            }
        }
        let end = found.map_or(self.all.len(), |spot| spot.level);
        for (level, of) in self.all[..end].iter().enumerate() {
            // A lower level refused the block, so the location of the victim is free again.
            if let (Some(victim), None) = (instead_of[level], of.location(block)) {
                moves.vacated.push((level, victim));
            }
        }
        for (level, of) in self.all[..end].iter().enumerate() {
            if let Some(location) = of.location(block) {
                let (to, instead_of) = (Spot { level, location }, instead_of[level]);
                moves.list.push(Move { block, from: None, to, instead_of });
            }
        }
        let is_in = |level: usize| self.all[level].location(block).is_some();
        self.counts.promotions += u64::from(found.is_some() && is_in(0));
        self.counts.refusals += u64::from(found.is_none() && !is_in(end - 1));
        found
    }

    /// Handles an insertion of `block` into level `at`. The policy evicted `evicted`, or refused the block
    /// if `evicted` equals it. Returns the evicted block whose location `block` took, if any.
    fn settle_entry(
        &mut self,
        at: usize,
        block: u64,
        evicted: Option<u64>,
        moves: &mut Moves,
    ) -> Option<u64> {
        let mut entered = Entered::default();
        if evicted != Some(block) {
            entered = self.all[at].come_in(block, evicted);
            self.counts.evictions += u64::from(evicted.is_some() && at + 1 == self.all.len());
        }
        let victim = evicted?;
        if victim != block {
            moves.vacates(at, victim, entered.instead_of);
        }
        if at + 1 == self.all.len() {
            moves.leaves(victim, entered.left.map(|location| Spot { level: at, location }));
        }
        for (level, upper) in self.all[..at].iter_mut().enumerate() {
            if upper.take_out(victim).is_some() {
                self.counts.back_invalidations += 1;
                moves.vacated.push((level, victim));
            }
        }
        entered.instead_of
    }
}
