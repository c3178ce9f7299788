//! Which block is in which level, and what must be moved to keep it so. Knows nothing of time.

use super::config::{Inclusion, LEVELS_MAX};
use super::places::Places;
use crate::replacement::{Access, Replacement};
use nacre_kernel::Capabilities;
use nacre_kernel::state::{self, State, Value};

/// One level: the policy that decides which blocks it holds, and where they lie on its device.
#[derive(State)]
pub(super) struct Level {
    pub(super) policy: Box<dyn Replacement>,
    /// Blocks the device has room for.
    #[state(same)]
    pub(super) blocks: u64,
    pub(super) counts: LevelCounts,
    /// Whether somebody asks where blocks lie. Where nobody does, every block lies at place 0.
    #[state(skip = "from the configuration")]
    keeps_places: bool,
    /// Where the blocks that came in and did not leave lie: those that the policy must hold. Empty where nobody asks.
    places: Places,
    /// The policy as it was built, holding nothing; none of a policy that cannot be saved.
    #[state(skip = "from the configuration")]
    empty: Option<Vec<u8>>,
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

/// How a block came into a level.
#[derive(Clone, Copy, Debug, Default)]
struct Entered {
    place: u64,
    /// Where the block lies that left for it.
    left: Option<u64>,
    /// The block that left for it, if its place is that of the one that came.
    instead_of: Option<u64>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Value)]
pub(super) struct Spot {
    pub(super) level: usize,
    /// Its place on the device of the level.
    pub(super) place: u64,
}

/// A block to be written into a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) block: u64,
    /// Where to read it; `None` if the data is at hand.
    pub(super) from: Option<Spot>,
    pub(super) to: Spot,
    /// The block whose place in a full level it takes.
    pub(super) instead_of: Option<u64>,
}

/// What a request makes the levels do. Who caused it carries it out: it is empty between requests.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// What is to be written where, in this order.
    pub(super) list: Vec<Move>,
    /// Blocks that left the cache by decision of a policy, with where they still lie; only if they are asked for.
    pub(super) left: Vec<(u64, Spot)>,
    /// Blocks that left a level, with the level, and whose place there may be taken by any block.
    pub(super) vacated: Vec<(usize, u64)>,
    /// Whether blocks that leave are asked for.
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
    /// Nothing is to be done.
    pub(super) fn new(tells_who_left: bool) -> Moves {
        Moves { list: Vec::with_capacity(64), left: Vec::new(), vacated: Vec::new(), tells_who_left }
    }

    /// Whether nothing is to be done.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.left.is_empty() && self.vacated.is_empty()
    }

    /// `block` left `level`. Its place is taken by the block that came `instead_of` it, or by any other one.
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
        // Without a saved policy, the places say which blocks it is to forget.
        let keeps_places = carries_bytes || uses_addresses || writes_back || empty.is_none();
        let (counts, places) = (LevelCounts::default(), Places::new(blocks));
        Level { policy, blocks, counts, keeps_places, places, empty }
    }

    /// Gives places to what a level without them held, and takes them from one that needs none: a state is of levels
    /// with bytes and without. The host reaches `addressed` blocks.
    pub(super) fn place_restored(&mut self, addressed: u64) -> Result<(), String> {
        let held = self.policy.len() as u64;
        if !self.keeps_places {
            self.places = Places::new(self.blocks);
        } else if self.places.len() == 0 && held > 0 {
            let is_there = |block: &u64| self.policy.contains(*block);
            (0..addressed).filter(is_there).take(held as usize).for_each(|block| {
                self.places.enter(block);
            });
        }
        match !self.keeps_places || self.places.len() == held {
            true => Ok(()),
            false => Err(format!("{held} blocks in a cache, and places of {}", self.places.len())),
        }
    }

    /// `block` comes in, and `victim` leaves for it by decision of the policy.
    #[inline]
    fn come_in(&mut self, block: u64, victim: Option<u64>) -> Entered {
        self.counts.entries += 1;
        self.counts.evictions += u64::from(victim.is_some());
        let is_full = self.policy.len() as u64 == self.blocks;
        let instead_of = victim.filter(|_| is_full);
        let (place, left) = match victim {
            victim if !self.keeps_places => (0, victim.map(|_| 0)),
            None => (self.places.enter(block), None),
            Some(victim) => {
                let (from, to) = self.places.replace(victim, block);
                (to, Some(from))
            }
        };
        Entered { place, left, instead_of }
    }

    /// Where `block` is, if it is there.
    pub(super) fn place(&self, block: u64) -> Option<u64> {
        if self.keeps_places { self.places.get(block) } else { self.policy.contains(block).then_some(0) }
    }

    /// The place of `block`, which is there.
    #[inline]
    fn place_held(&self, block: u64) -> Option<u64> {
        if self.keeps_places { self.places.get(block) } else { Some(0) }
    }

    /// Takes `block` out; where it was, if it was there.
    fn take_out(&mut self, block: u64) -> Option<u64> {
        let was_there = self.policy.remove(block);
        was_there.then(|| if self.keeps_places { self.places.leave(block) } else { 0 })
    }

    /// The host uses `block`, which stays where it is, if it is there.
    fn touch(&mut self, block: u64) -> Option<u64> {
        if self.policy.touch(block) { self.place_held(block) } else { None }
    }

    /// `block`, which the device has kept at `place`, is known again.
    pub(super) fn remember(&mut self, block: u64, place: u64) {
        let victim = self.policy.admit(block);
        assert_eq!(victim, None, "a block that was there has room");
        assert!(self.keeps_places, "a cache that writes back knows where its blocks lie");
        self.places.enter_at(block, place);
    }

    /// Forgets all blocks, and what the policy knew.
    fn forget(&mut self) {
        match &self.empty {
            Some(empty) => state::restored(&mut *self.policy, empty).expect("it was built like this"),
            // A policy that another language brought is notified of each block.
            None => {
                for block in self.places.blocks() {
                    self.policy.remove(block);
                }
            }
        }
        self.places = Places::new(self.blocks);
    }
}

impl Levels {
    pub(super) fn new(all: Vec<Level>, inclusion: Inclusion) -> Levels {
        Levels { all, inclusion, counts: MoveCounts::default() }
    }

    /// The host uses `block`, which comes into the first level if it is not there. Where it was found.
    /// What must be written where is added to `moves`, victims first.
    #[inline(always)]
    pub(super) fn access(&mut self, block: u64, moves: &mut Moves) -> Option<Spot> {
        let first = &mut self.all[0];
        match first.policy.access(block) {
            Access::Hit => first.place_held(block).map(|place| Spot { level: 0, place }),
            Access::Miss { evicted } => match self.inclusion {
                Inclusion::Exclusive => self.place_exclusive(block, evicted, moves),
                Inclusion::Inclusive => self.place_inclusive(block, evicted, moves),
            },
        }
    }

    /// The host uses `block`, which stays where it is. Where it was found.
    pub(super) fn touch(&mut self, block: u64) -> Option<Spot> {
        let mut levels = self.all.iter_mut().enumerate();
        levels.find_map(|(level, of)| of.touch(block).map(|place| Spot { level, place }))
    }

    /// Takes `block` out of every level. Whether it was in one.
    pub(super) fn remove(&mut self, block: u64) -> bool {
        self.all.iter_mut().fold(false, |was_here, level| level.take_out(block).is_some() | was_here)
    }

    /// Where `block` is first.
    pub(super) fn spot(&self, block: u64) -> Option<Spot> {
        let mut levels = self.all.iter().enumerate();
        levels.find_map(|(level, of)| of.place(block).map(|place| Spot { level, place }))
    }

    /// Blocks that all levels together hold at most.
    pub(super) fn room(&self) -> u64 {
        match self.inclusion {
            Inclusion::Exclusive => self.all.iter().map(|level| level.blocks).sum(),
            Inclusion::Inclusive => self.all.last().map_or(0, |level| level.blocks),
        }
    }

    /// Whether a level holds `block`.
    pub(super) fn hold(&self, block: u64) -> bool {
        self.all.iter().any(|level| level.place(block).is_some())
    }

    /// Forgets all blocks; how many there were.
    pub(super) fn forget(&mut self) -> u64 {
        let held = self.all.iter().map(|level| level.policy.len() as u64);
        let held = if self.inclusion == Inclusion::Inclusive { held.max().unwrap_or(0) } else { held.sum() };
        self.all.iter_mut().for_each(Level::forget);
        held
    }

    /// These blocks are used next.
    pub(super) fn prefetch(&self, blocks: &[u64]) {
        for level in &self.all {
            level.policy.prefetch(blocks);
            if level.keeps_places {
                level.places.prefetch(blocks);
            }
        }
    }

    /// Measuring begins now.
    pub(super) fn restart_counts(&mut self) {
        self.counts = MoveCounts::default();
        for level in &mut self.all {
            level.counts = LevelCounts::default();
        }
    }

    /// Panics unless every policy holds the blocks that came in and did not leave.
    pub(super) fn check_invariants(&self) {
        for level in &self.all {
            level.policy.check_invariants();
            let held = level.policy.len() as u64;
            if level.keeps_places {
                level.places.check_invariants();
                assert_eq!(level.places.len(), held, "the policy holds what came in and did not leave");
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

    /// `block` was not in the first level, which took it in and let `evicted` go, or refused it. Its
    /// victim goes down a level, whose victim goes down a level, and so on.
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
        let Entered { place, left, instead_of } = self.all[0].come_in(block, evicted);
        let to = Spot { level: 0, place };
        if let Some((victim, place)) = evicted.zip(left) {
            moves.vacates(0, victim, instead_of);
            self.hand_down(victim, Some(Spot { level: 0, place }), moves);
        }
        moves.list.push(Move { block, from: None, to, instead_of });
        found
    }

    /// Where below the first level `block` is, or was, if it is not to stay there.
    fn find_below(&mut self, block: u64, stays: bool, moves: &mut Moves) -> Option<Spot> {
        let mut below = self.all.iter_mut().enumerate().skip(1);
        let found = below.find_map(|(level, of)| {
            let place = if stays { of.touch(block) } else { of.take_out(block) };
            place.map(|place| Spot { level, place })
        });
        if let (Some(spot), false) = (found, stays) {
            moves.vacated.push((spot.level, block));
        }
        found
    }

    /// `block`, which left `from` (or was refused by the first level), goes into the next level that takes it.
    #[inline]
    fn hand_down(&mut self, block: u64, from: Option<Spot>, moves: &mut Moves) {
        if self.all.len() == 1 {
            self.let_out(block, from, moves);
        } else {
            self.hand_down_levels(block, from, moves);
        }
    }

    /// The same of several levels. The last victim moves first: the one above it may come into its place.
    fn hand_down_levels(&mut self, mut block: u64, mut from: Option<Spot>, moves: &mut Moves) {
        let moves_before = moves.list.len();
        for level in 1..self.all.len() {
            let of = &mut self.all[level];
            let evicted = of.policy.admit(block);
            if evicted == Some(block) {
                continue;
            }
            let Entered { place, left, instead_of } = of.come_in(block, evicted);
            let to = Spot { level, place };
            self.counts.demotions += u64::from(from.is_some());
            moves.list.push(Move { block, from, to, instead_of });
            if let Some(victim) = evicted {
                moves.vacates(level, victim, instead_of);
            }
            let Some((victim, place)) = evicted.zip(left) else {
                moves.list[moves_before..].reverse();
                return;
            };
            (block, from) = (victim, Some(Spot { level, place }));
        }
        moves.list[moves_before..].reverse();
        self.let_out(block, from, moves);
    }

    /// `block`, which left `from` (or was refused by all levels), leaves the cache.
    #[inline]
    fn let_out(&mut self, block: u64, from: Option<Spot>, moves: &mut Moves) {
        if from.is_none() {
            self.counts.refusals += 1;
        } else {
            self.counts.evictions += 1;
            moves.leaves(block, from);
        }
    }

    /// `block` was not in the first level, which took it in and let `evicted` go, or refused it. Every
    /// level down to where it is takes it in too; what a level evicts leaves the levels above.
    fn place_inclusive(&mut self, block: u64, evicted: Option<u64>, moves: &mut Moves) -> Option<Spot> {
        let mut instead_of = [None; LEVELS_MAX];
        instead_of[0] = self.settle_entry(0, block, evicted, moves);
        let mut found = None;
        let levels = self.all.len();
        for (level, taken) in instead_of.iter_mut().enumerate().take(levels).skip(1) {
            match self.all[level].policy.access(block) {
                Access::Hit => {
                    found = self.all[level].place_held(block).map(|place| Spot { level, place });
                    break;
                }
                Access::Miss { evicted } => {
                    *taken = self.settle_entry(level, block, evicted, moves);
                }
            }
        }
        let end = found.map_or(self.all.len(), |spot| spot.level);
        for (level, of) in self.all[..end].iter().enumerate() {
            // A lower level refused the block: the place it took is free again.
            if let (Some(victim), None) = (instead_of[level], of.place(block)) {
                moves.vacated.push((level, victim));
            }
        }
        for (level, of) in self.all[..end].iter().enumerate() {
            if let Some(place) = of.place(block) {
                let (to, instead_of) = (Spot { level, place }, instead_of[level]);
                moves.list.push(Move { block, from: None, to, instead_of });
            }
        }
        let is_in = |level: usize| self.all[level].place(block).is_some();
        self.counts.promotions += u64::from(found.is_some() && is_in(0));
        self.counts.refusals += u64::from(found.is_none() && !is_in(end - 1));
        found
    }

    /// Level `at` took `block` in and let `evicted` go, or refused it. The block whose place it took.
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
            moves.leaves(victim, entered.left.map(|place| Spot { level: at, place }));
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
