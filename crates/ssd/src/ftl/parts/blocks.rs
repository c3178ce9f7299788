//! Blocks: which ones make up a superblock, how often each was erased, and what happens when one is worn out.
//!
//! A block that is worn out is replaced by a spare block of its plane. Where there is none, its superblock is
//! given up, and the blocks of it that still work are spares from then on.

use crate::layout::geometry::Geometry;
use nacre_kernel::Random;
use nacre_kernel::state::State;

/// No block.
const NONE: u32 = u32::MAX;

/// How long blocks last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Durability {
    /// Erases a block is made for; `None` for no limit.
    pub(crate) endurance: Option<u64>,
    /// Standard deviation of the erases a block takes, as a share of those it is made for.
    pub(crate) spread: f64,
    /// Share of initially bad blocks.
    pub(crate) bad: f64,
}

/// The blocks of all superblocks. A *lane* is a plane of a die. The superblocks of a region have a block in each of its
/// lanes.
#[derive(State)]
pub(crate) struct Blocks {
    /// Of a region.
    #[state(same)]
    lanes: u32,
    #[state(same)]
    per_lane: u32,
    /// Superblocks of a region.
    #[state(skip = "from the configuration")]
    superblocks: u32,
    /// By superblock and lane of its region, the block in its lane, less the number of the superblock in its region: zero
    /// until blocks are bad.
    #[state(sparse)]
    members: Vec<u32>,
    /// Erases in the life of each block, by lane.
    #[state(sparse)]
    erases: Vec<u32>,
    /// Erases each block takes; empty if there is no limit.
    limits: Vec<u32>,
    /// Blocks of each lane that belong to no superblock.
    #[state(elements_vary)]
    spares: Vec<Vec<u32>>,
    given_up: Vec<bool>,
    /// By region.
    usable: Vec<u32>,
    /// Blocks that were bad from the start, and that wore out.
    pub(crate) bad: u32,
    pub(crate) retired: u32,
    erased: u64,
}

impl Blocks {
    /// `per_lane` blocks in each lane of `geometry`.
    pub(crate) fn new(
        geometry: &Geometry,
        per_lane: u32,
        durability: Durability,
        mut random: Random,
    ) -> Blocks {
        let lanes = geometry.blocks_per_superblock();
        let all_lanes = geometry.lanes() as usize;
        let all = all_lanes * per_lane as usize;
        let mut blocks = Blocks {
            lanes,
            per_lane,
            superblocks: geometry.superblocks_of_region,
            members: vec![0; geometry.superblocks as usize * lanes as usize],
            erases: vec![0; all],
            limits: Vec::new(),
            spares: Vec::with_capacity(all_lanes),
            given_up: vec![false; geometry.superblocks as usize],
            usable: vec![geometry.superblocks_of_region.min(per_lane); geometry.regions as usize],
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
            blocks.spares = vec![(blocks.usable[0]..per_lane).collect(); all_lanes];
        } else {
            blocks.find_good(durability.bad, &mut random);
        }
        let of_region = blocks.given_up.chunks_mut(blocks.superblocks as usize);
        of_region.zip(&blocks.usable).for_each(|(given_up, &usable)| given_up[usable as usize..].fill(true));
        blocks
    }

    /// Makes superblocks of blocks that are good; those left over are spares.
    fn find_good(&mut self, bad: f64, random: &mut Random) {
        for lane in 0..self.erases.len() / self.per_lane as usize {
            let good: Vec<u32> = (0..self.per_lane).filter(|_| !random.chance(bad)).collect();
            self.bad += self.per_lane - good.len() as u32;
            let usable = &mut self.usable[lane / self.lanes as usize];
            *usable = (*usable).min(good.len() as u32);
            self.spares.push(good);
        }
        for region in 0..self.usable.len() as u32 {
            let usable = self.usable[region as usize];
            for index in 0..usable {
                for lane in 0..self.lanes {
                    let block = self.spares[(region * self.lanes + lane) as usize][index as usize];
                    self.put(region * self.superblocks + index, lane, block);
                }
            }
            for lane in 0..self.lanes {
                let spares = &mut self.spares[(region * self.lanes + lane) as usize];
                *spares = spares.split_off(usable as usize);
            }
        }
    }

    /// The block of `superblock` in `lane` of its region; [`NONE`] where it has none.
    #[inline]
    fn member(&self, superblock: u32, lane: u32) -> u32 {
        let index = superblock % self.superblocks;
        index.wrapping_add(self.members[(superblock * self.lanes + lane) as usize])
    }

    fn put(&mut self, superblock: u32, lane: u32, block: u32) {
        let index = superblock % self.superblocks;
        self.members[(superblock * self.lanes + lane) as usize] = block.wrapping_sub(index);
    }

    /// Of all lanes, the first of the region of `superblock`.
    fn first_lane(&self, superblock: u32) -> u32 {
        superblock / self.superblocks * self.lanes
    }

    /// The superblocks that can be used.
    pub(crate) fn usable(&self) -> Vec<u32> {
        (0..self.given_up.len() as u32).filter(|&superblock| !self.given_up[superblock as usize]).collect()
    }

    /// How many superblocks of `region` can be used.
    pub(crate) fn usable_count(&self, region: usize) -> u32 {
        self.usable[region]
    }

    /// How many superblocks can be used, by region.
    pub(crate) fn usable_counts(&self) -> impl Iterator<Item = u32> {
        self.usable.iter().copied()
    }

    /// Blocks that stand in for others when they wear out.
    pub(crate) fn spare_count(&self) -> usize {
        self.spares.iter().map(Vec::len).sum()
    }

    /// Erases of every block in its life, by lane.
    pub(crate) fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Bytes it takes in the memory of the simulation.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        (self.members.len() + self.erases.len() + self.limits.len()) as u64 * 4
    }

    /// Erases of superblocks in the whole life of the drive, until fewer than `needed` of them are left in one of its
    /// regions: a lane replaces what wears out by its spare blocks, and when they are used up its superblock is given up.
    /// `rates` says how often each superblock is erased, by the mean; as superblocks are given up, those left take all
    /// erases. A share `bad` of the blocks was bad from the start. `None` without a limit.
    pub(crate) fn life(&self, rates: &[f64], needed: u32, bad: f64) -> Option<f64> {
        if self.limits.is_empty() {
            return None;
        }
        let good = (f64::from(self.per_lane) * (1.0 - bad)) as usize;
        let superblocks = good.min(self.superblocks as usize);
        let spares = good - superblocks;
        // Turns, in each of which every superblock takes its rate of erases, after which the superblocks that are left are as
        // few as their place says; of the last ones nobody asks.
        let mut last = f64::INFINITY;
        let (mut left, mut slowest) = (Vec::new(), Vec::new());
        for (region, rates) in rates.chunks(self.superblocks as usize).enumerate() {
            let mut of_region = vec![f64::INFINITY; superblocks];
            let lanes = self.lanes as usize;
            for lane in region * lanes..(region + 1) * lanes {
                let from = lane * self.per_lane as usize;
                // Which blocks are spares, or bad, does not matter: all limits are drawn alike.
                let limits = &self.limits[from..from + superblocks];
                let mut turns: Vec<f64> =
                    limits.iter().zip(rates).map(|(&limit, rate)| f64::from(limit) / rate).collect();
                turns.sort_unstable_by(|a, b| b.total_cmp(a));
                for (left, &turns) in of_region.iter_mut().skip(spares).zip(&turns) {
                    *left = left.min(turns);
                }
                let needed = (needed as usize).saturating_sub(spares + 1);
                last = last.min(turns.get(needed).copied().unwrap_or(0.0));
            }
            let mut of_region_rates = rates[..superblocks].to_vec();
            of_region_rates.sort_unstable_by(f64::total_cmp);
            left.extend(of_region);
            slowest.extend(of_region_rates);
        }
        Some(left.iter().zip(&slowest).map(|(&turns, rate)| turns.min(last) * rate).sum())
    }

    /// Erases every block of `superblock`; `false` where it has to be given up.
    pub(crate) fn erase(&mut self, superblock: u32) -> bool {
        self.erased += u64::from(self.lanes);
        let mut is_complete = true;
        let first = self.first_lane(superblock);
        for lane in 0..self.lanes {
            let of_all = (first + lane) as usize;
            let at = of_all * self.per_lane as usize + self.member(superblock, lane) as usize;
            self.erases[at] += 1;
            if self.limits.get(at).is_some_and(|&limit| self.erases[at] >= limit) {
                self.retired += 1;
                let spare = self.spares[of_all].pop();
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
        self.usable[(superblock / self.superblocks) as usize] -= 1;
        let first = self.first_lane(superblock);
        for lane in 0..self.lanes {
            let block = self.member(superblock, lane);
            if block != NONE {
                self.spares[(first + lane) as usize].push(block);
            }
        }
    }

    /// Panics unless every block is in a superblock, spare, bad or retired, and every erase was counted.
    pub(crate) fn check_invariants(&self, superblock_erases: u64) {
        let in_use: u64 = self.usable.iter().map(|&usable| u64::from(usable) * u64::from(self.lanes)).sum();
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
