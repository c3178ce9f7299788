//! Blocks: the members of each superblock, erases per block, and worn-out blocks.
//!
//! A worn-out block is replaced by a spare block of its plane. If there is none, its superblock is retired,
//! and its other blocks become spares.

use crate::layout::geometry::Geometry;
use nacre_kernel::Random;
use nacre_kernel::state::State;

/// No block.
const NONE: u32 = u32::MAX;

/// Endurance and initially bad blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Durability {
    /// Mean erases that a block withstands; `None` means no limit.
    pub(crate) endurance: Option<u64>,
    /// Standard deviation of the erases that a block withstands, as a share of the mean.
    pub(crate) spread: f64,
    /// Share of initially bad blocks.
    pub(crate) bad: f64,
}

/// The blocks of all superblocks. A *lane* is a plane of a die. A superblock has one block in each lane of
/// its region.
#[derive(State)]
pub(crate) struct Blocks {
    /// Lanes of a region.
    #[state(same)]
    lanes: u32,
    #[state(same)]
    per_lane: u32,
    /// Superblocks of a region.
    #[state(skip = "from the configuration")]
    superblocks: u32,
    /// By superblock and lane of its region: the number of its block, minus the number of the superblock in
    /// its region. Zero unless blocks are bad.
    #[state(sparse)]
    members: Vec<u32>,
    /// Total erases of each block, by lane.
    #[state(sparse)]
    erases: Vec<u32>,
    /// Erases that each block withstands; empty without a limit.
    limits: Vec<u32>,
    /// Spare blocks of each lane.
    #[state(elements_vary)]
    spares: Vec<Vec<u32>>,
    given_up: Vec<bool>,
    /// Usable superblocks of each region.
    usable: Vec<u32>,
    /// Initially bad blocks, and worn-out blocks.
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
            // Each superblock has the block with its number.
            blocks.spares = vec![(blocks.usable[0]..per_lane).collect(); all_lanes];
        } else {
            blocks.find_good(durability.bad, &mut random);
        }
        let of_region = blocks.given_up.chunks_mut(blocks.superblocks as usize);
        of_region.zip(&blocks.usable).for_each(|(given_up, &usable)| given_up[usable as usize..].fill(true));
        blocks
    }

    /// Builds superblocks of good blocks; the remaining good blocks are spares.
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

    /// The block of `superblock` in `lane` of its region; [`NONE`] if it has none.
    #[inline]
    fn member(&self, superblock: u32, lane: u32) -> u32 {
        let index = superblock % self.superblocks;
        index.wrapping_add(self.members[(superblock * self.lanes + lane) as usize])
    }

    fn put(&mut self, superblock: u32, lane: u32, block: u32) {
        let index = superblock % self.superblocks;
        self.members[(superblock * self.lanes + lane) as usize] = block.wrapping_sub(index);
    }

    /// The first lane of the region of `superblock`, out of all lanes.
    fn first_lane(&self, superblock: u32) -> u32 {
        superblock / self.superblocks * self.lanes
    }

    /// Usable superblocks.
    pub(crate) fn usable(&self) -> Vec<u32> {
        (0..self.given_up.len() as u32).filter(|&superblock| !self.given_up[superblock as usize]).collect()
    }

    /// Number of usable superblocks of `region`.
    pub(crate) fn usable_count(&self, region: usize) -> u32 {
        self.usable[region]
    }

    /// Number of usable superblocks, by region.
    pub(crate) fn usable_counts(&self) -> impl Iterator<Item = u32> {
        self.usable.iter().copied()
    }

    /// Number of spare blocks.
    pub(crate) fn spare_count(&self) -> usize {
        self.spares.iter().map(Vec::len).sum()
    }

    /// Total erases of each block, by lane.
    pub(crate) fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Memory of these tables, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        (self.members.len() + self.erases.len() + self.limits.len()) as u64 * 4
    }

    /// Total erases of superblocks until fewer than `needed` of them are left in one region. Worn-out blocks
    /// are replaced by the spares of their lane; without spares, their superblock is retired. `rates` are the
    /// relative erase rates of the superblocks, with mean 1; when superblocks are retired, the others take
    /// all erases. `bad` is the share of initially bad blocks. `None` without a limit.
    pub(crate) fn life(&self, rates: &[f64], needed: u32, bad: f64) -> Option<f64> {
        if self.limits.is_empty() {
            return None;
        }
        let good = (f64::from(self.per_lane) * (1.0 - bad)) as usize;
        let superblocks = good.min(self.superblocks as usize);
        let spares = good - superblocks;
        // In each turn, every superblock is erased at its rate. Entry `n` of `of_region` is the turn after
        // which `n` superblocks are left; entries of few superblocks are not needed.
        let mut last = f64::INFINITY;
        let (mut left, mut slowest) = (Vec::new(), Vec::new());
        for (region, rates) in rates.chunks(self.superblocks as usize).enumerate() {
            let mut of_region = vec![f64::INFINITY; superblocks];
            let lanes = self.lanes as usize;
            for lane in region * lanes..(region + 1) * lanes {
                let from = lane * self.per_lane as usize;
                // All limits have the same distribution, so it does not matter which blocks are spares or
                // bad.
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

    /// Erases all blocks of `superblock`. Returns `false` if it must be retired.
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

    /// Panics unless every block is in a superblock, spare, bad, or retired, and every erase was counted.
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
