//! Blocks: which ones make up a superblock, how often each was erased, and what happens when one is worn out.
//!
//! A block that is worn out is replaced by a spare block of its plane. Where there is none, its superblock is
//! given up, and the blocks of it that still work are spares from then on.

use super::geometry::Geometry;
use nacre_kernel::Random;
use nacre_kernel::state::State;

/// No block.
const NONE: u32 = u32::MAX;

/// How long blocks last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Durability {
    /// Erases a block is made for; `None` for no limit.
    pub(super) endurance: Option<u64>,
    /// Standard deviation of the erases a block takes, as a share of those it is made for.
    pub(super) spread: f64,
    /// Share of the blocks that are bad from the start.
    pub(super) bad: f64,
}

/// The blocks of all superblocks. A *lane* is a plane of a die.
#[derive(State)]
pub(super) struct Blocks {
    #[state(same)]
    lanes: u32,
    #[state(same)]
    per_lane: u32,
    /// By superblock and lane, the block in its lane, less the number of the superblock: zero until blocks are bad.
    #[state(sparse)]
    members: Vec<u32>,
    /// Erases in the life of each block, by lane.
    #[state(sparse)]
    erases: Vec<u32>,
    /// Erases each block takes; empty where there is no limit.
    limits: Vec<u32>,
    /// Blocks of each lane that belong to no superblock.
    #[state(elements_vary)]
    spares: Vec<Vec<u32>>,
    given_up: Vec<bool>,
    usable: u32,
    /// Blocks that were bad from the start, and that wore out.
    pub(super) bad: u32,
    pub(super) retired: u32,
    erased: u64,
}

impl Blocks {
    /// `per_lane` blocks in each lane of `geometry`.
    pub(super) fn new(
        geometry: &Geometry,
        per_lane: u32,
        durability: Durability,
        mut random: Random,
    ) -> Blocks {
        let lanes = geometry.lanes();
        let all = lanes as usize * per_lane as usize;
        let mut blocks = Blocks {
            lanes,
            per_lane,
            members: vec![0; geometry.superblocks as usize * lanes as usize],
            erases: vec![0; all],
            limits: Vec::new(),
            spares: Vec::with_capacity(lanes as usize),
            given_up: vec![false; geometry.superblocks as usize],
            usable: geometry.superblocks,
            bad: 0,
            retired: 0,
            erased: 0,
        };
        if let Some(endurance) = durability.endurance {
            let mut draw = || endurance as f64 * (1.0 + durability.spread * random.normal());
            blocks.limits = (0..all).map(|_| draw().clamp(1.0, f64::from(u32::MAX - 1)) as u32).collect();
        }
        if durability.bad == 0.0 {
            // Blocks stand in their order, as the members have it.
            blocks.usable = blocks.usable.min(per_lane);
            blocks.spares = vec![(blocks.usable..per_lane).collect(); lanes as usize];
        } else {
            blocks.find_good(durability.bad, &mut random);
        }
        blocks.given_up[blocks.usable as usize..].fill(true);
        blocks
    }

    /// Makes superblocks of blocks that are good; those left over are spares.
    fn find_good(&mut self, bad: f64, random: &mut Random) {
        for _ in 0..self.lanes {
            let good: Vec<u32> = (0..self.per_lane).filter(|_| !random.chance(bad)).collect();
            self.bad += self.per_lane - good.len() as u32;
            self.usable = self.usable.min(good.len() as u32);
            self.spares.push(good);
        }
        for superblock in 0..self.usable {
            for lane in 0..self.lanes {
                self.put(superblock, lane, self.spares[lane as usize][superblock as usize]);
            }
        }
        for spares in &mut self.spares {
            *spares = spares.split_off(self.usable as usize);
        }
    }

    /// The block of `superblock` in `lane`; [`NONE`] where it has none.
    #[inline]
    fn member(&self, superblock: u32, lane: u32) -> u32 {
        superblock.wrapping_add(self.members[(superblock * self.lanes + lane) as usize])
    }

    fn put(&mut self, superblock: u32, lane: u32, block: u32) {
        self.members[(superblock * self.lanes + lane) as usize] = block.wrapping_sub(superblock);
    }

    /// The superblocks that can be used.
    pub(super) fn usable(&self) -> Vec<u32> {
        (0..self.given_up.len() as u32).filter(|&superblock| !self.given_up[superblock as usize]).collect()
    }

    /// How many superblocks can be used.
    pub(super) fn usable_count(&self) -> u32 {
        self.usable
    }

    /// Blocks that stand in for others when they wear out.
    pub(super) fn spare_count(&self) -> usize {
        self.spares.iter().map(Vec::len).sum()
    }

    /// Erases of every block in its life, by lane.
    pub(super) fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Bytes it takes in the memory of the simulation.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        (self.members.len() + self.erases.len() + self.limits.len()) as u64 * 4
    }

    /// Erases every block of `superblock`; `false` where it has to be given up.
    pub(super) fn erase(&mut self, superblock: u32) -> bool {
        self.erased += u64::from(self.lanes);
        let mut is_complete = true;
        for lane in 0..self.lanes {
            let at = lane as usize * self.per_lane as usize + self.member(superblock, lane) as usize;
            self.erases[at] += 1;
            if self.limits.get(at).is_some_and(|&limit| self.erases[at] >= limit) {
                self.retired += 1;
                let spare = self.spares[lane as usize].pop();
                is_complete &= spare.is_some();
                self.put(superblock, lane, spare.unwrap_or(NONE));
            }
        }
        if !is_complete {
            self.give_up(superblock);
        }
        is_complete
    }

    fn give_up(&mut self, superblock: u32) {
        self.given_up[superblock as usize] = true;
        self.usable -= 1;
        for lane in 0..self.lanes {
            let block = self.member(superblock, lane);
            if block != NONE {
                self.spares[lane as usize].push(block);
            }
        }
    }

    /// Panics unless every block is in a superblock, spare, bad or retired, and every erase was counted.
    pub(super) fn check_invariants(&self, superblock_erases: u64) {
        let in_use = u64::from(self.usable) * u64::from(self.lanes);
        let others = self.spare_count() as u64 + u64::from(self.bad) + u64::from(self.retired);
        assert_eq!(in_use + others, self.erases.len() as u64, "every block is somewhere");
        let sum: u64 = self.erases.iter().map(|&erases| u64::from(erases)).sum();
        assert_eq!(sum, self.erased, "every erase was counted");
        assert_eq!(
            self.erased,
            superblock_erases * u64::from(self.lanes),
            "superblocks are erased as a whole"
        );
    }
}
