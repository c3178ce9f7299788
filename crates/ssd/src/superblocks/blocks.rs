//! Blocks: the members of each superblock, erase counts, and worn-out blocks.
//!
//! A worn-out block is replaced by a spare block of its plane. If the plane has no spare block, the
//! superblock is retired, and its other blocks become spares.

use crate::config::Config;
use crate::layout::geometry::Geometry;
use nacre_kernel::Random;
use nacre_kernel::state::State;

/// Marks a missing block.
const NONE: u32 = u32::MAX;

/// Blocks of all superblocks. A *lane* is a plane of a die. A superblock has the same number of blocks in
/// each lane of its region.
#[derive(State)]
pub(crate) struct Blocks {
    /// Number of lanes of a region.
    #[state(same)]
    lanes: u32,
    #[state(same)]
    per_lane: u32,
    /// Number of blocks of a superblock in each lane.
    #[state(skip = "from the configuration")]
    of_lane: u32,
    /// Number of superblocks of a region.
    #[state(skip = "from the configuration")]
    superblocks: u32,
    /// Number of each block in its lane, minus the number that the block would have without bad blocks.
    /// Entries are ordered by superblock, then by block within the lane, then by lane.
    #[state(sparse)]
    members: Vec<u32>,
    /// Erase count of each block, in lane order.
    #[state(sparse)]
    erases: Vec<u32>,
    /// Number of erases that each block withstands. Empty without a limit.
    limits: Vec<u32>,
    /// Spare blocks of each lane.
    #[state(elements_vary)]
    spares: Vec<Vec<u32>>,
    given_up: Vec<bool>,
    /// Number of usable superblocks in each region.
    usable: Vec<u32>,
    /// Number of initially bad and worn-out blocks.
    pub(crate) bad: u32,
    pub(crate) retired: u32,
    erased: u64,
}

impl Blocks {
    /// Creates the tables for the validated configuration `config`.
    pub(crate) fn new(config: &Config, geometry: &Geometry, mut random: Random) -> Blocks {
        let (per_lane, bad) = (config.blocks, config.factory_bad.0);
        let of_lane = geometry.blocks_of_plane;
        let lanes = geometry.blocks_per_superblock() / of_lane;
        let all_lanes = geometry.lanes() as usize;
        let all = all_lanes * per_lane as usize;
        let mut blocks = Blocks {
            lanes,
            per_lane,
            of_lane,
            superblocks: geometry.superblocks_of_region,
            members: vec![0; geometry.superblocks as usize * geometry.blocks_per_superblock() as usize],
            erases: vec![0; all],
            limits: Vec::new(),
            spares: Vec::with_capacity(all_lanes),
            given_up: vec![false; geometry.superblocks as usize],
            usable: vec![geometry.superblocks_of_region.min(per_lane / of_lane); geometry.regions as usize],
            bad: 0,
            retired: 0,
            erased: 0,
        };
        if let Some(endurance) = config.nand.endurance {
            let spread = config.nand.endurance_spread.0;
            let mut draw = || endurance as f64 * (1.0 + spread * random.normal());
            blocks.limits = (0..all).map(|_| draw().clamp(1.0, f64::from(u32::MAX - 1)) as u32).collect();
        }
        if bad == 0.0 {
            // Each superblock consists of the blocks with its number.
            blocks.spares = vec![(blocks.usable[0] * of_lane..per_lane).collect(); all_lanes];
        } else {
            blocks.find_good(bad, &mut random);
        }
        let of_region = blocks.given_up.chunks_mut(blocks.superblocks as usize);
        of_region.zip(&blocks.usable).for_each(|(given_up, &usable)| given_up[usable as usize..].fill(true));
        blocks
    }

    /// Builds superblocks from good blocks. The remaining good blocks are spares.
    fn find_good(&mut self, bad: f64, random: &mut Random) {
        for lane in 0..self.erases.len() / self.per_lane as usize {
            let good: Vec<u32> = (0..self.per_lane).filter(|_| !random.chance(bad)).collect();
            self.bad += self.per_lane - good.len() as u32;
            let usable = &mut self.usable[lane / self.lanes as usize];
            *usable = (*usable).min(good.len() as u32 / self.of_lane);
            self.spares.push(good);
        }
        for region in 0..self.usable.len() as u32 {
            let usable = self.usable[region as usize];
            for index in 0..usable {
                for member in 0..self.lanes * self.of_lane {
                    let (row, lane) = (member / self.lanes, member % self.lanes);
                    let good = &self.spares[(region * self.lanes + lane) as usize];
                    let block = good[(index * self.of_lane + row) as usize];
                    self.put(region * self.superblocks + index, member, block);
                }
            }
            for lane in 0..self.lanes {
                let spares = &mut self.spares[(region * self.lanes + lane) as usize];
                *spares = spares.split_off((usable * self.of_lane) as usize);
            }
        }
    }

    /// Returns the block that is member `member` of `superblock`, as its number in its lane. Returns
    /// [`NONE`] if the block is missing.
    #[inline]
    fn member(&self, superblock: u32, member: u32) -> u32 {
        self.first_place(superblock, member).wrapping_add(self.members[self.place(superblock, member)])
    }

    fn put(&mut self, superblock: u32, member: u32, block: u32) {
        let place = self.place(superblock, member);
        self.members[place] = block.wrapping_sub(self.first_place(superblock, member));
    }

    #[inline]
    fn place(&self, superblock: u32, member: u32) -> usize {
        (superblock * self.lanes * self.of_lane + member) as usize
    }

    /// Returns the number that member `member` of `superblock` would have in its lane if no block were bad.
    #[inline]
    fn first_place(&self, superblock: u32, member: u32) -> u32 {
        superblock % self.superblocks * self.of_lane + member / self.lanes
    }

    /// Returns the first lane of the region of `superblock`, counted over the whole drive.
    fn first_lane(&self, superblock: u32) -> u32 {
        superblock / self.superblocks * self.lanes
    }

    /// Lists the usable superblocks.
    pub(crate) fn usable(&self) -> Vec<u32> {
        (0..self.given_up.len() as u32).filter(|&superblock| !self.given_up[superblock as usize]).collect()
    }

    /// Returns the number of usable superblocks of `region`.
    pub(crate) fn usable_count(&self, region: usize) -> u32 {
        self.usable[region]
    }

    /// Returns the number of usable superblocks in each region.
    pub(crate) fn usable_counts(&self) -> impl Iterator<Item = u32> {
        self.usable.iter().copied()
    }

    /// Returns the number of spare blocks.
    pub(crate) fn spare_count(&self) -> usize {
        self.spares.iter().map(Vec::len).sum()
    }

    /// Returns the erase count of each block, in lane order.
    pub(crate) fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Returns the memory of the block tables, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        (self.members.len() + self.erases.len() + self.limits.len()) as u64 * 4
    }

    /// Returns the total number of superblock erases until a region has fewer than `needed` superblocks
    /// left. Worn-out blocks are replaced by the spare blocks of their lane. If a lane has no spare block
    /// left, the superblock is retired. `rates` are the relative erase rates of the superblocks. Their
    /// mean is one. The remaining superblocks receive the erases of retired ones. `bad` is the fraction of
    /// initially bad blocks. `None` means no limit.
    pub(crate) fn life(&self, rates: &[f64], needed: u32, bad: f64) -> Option<f64> {
        if self.limits.is_empty() {
            return None;
        }
        let good = (f64::from(self.per_lane) * (1.0 - bad)) as usize;
        let of_lane = self.of_lane as usize;
        let superblocks = (good / of_lane).min(self.superblocks as usize);
        let spares = good - superblocks * of_lane;
        // In each round, every superblock is erased at its rate. Entry `n` of `of_region` is the round after
        // which `n` superblocks are left. Entries for fewer than `needed` superblocks are not computed.
        let mut last = f64::INFINITY;
        let (mut left, mut slowest) = (Vec::new(), Vec::new());
        for (region, rates) in rates.chunks(self.superblocks as usize).enumerate() {
            let mut of_region = vec![f64::INFINITY; superblocks];
            let lanes = self.lanes as usize;
            for lane in region * lanes..(region + 1) * lanes {
                let from = lane * self.per_lane as usize;
                // All limits have the same distribution, so it does not matter which blocks are spare or bad.
                let limits = &self.limits[from..from + superblocks * of_lane];
                let by_superblock = limits.chunks(of_lane).zip(rates);
                let mut turns: Vec<f64> = by_superblock
                    .flat_map(|(limits, rate)| limits.iter().map(move |&limit| f64::from(limit) / rate))
                    .collect();
                turns.sort_unstable_by(|a, b| b.total_cmp(a));
                // A superblock remains usable while the lane has blocks for it, including spares.
                for (before, left) in of_region.iter_mut().enumerate() {
                    if let Some(last) = ((before + 1) * of_lane).checked_sub(spares + 1) {
                        *left = left.min(turns[last]);
                    }
                }
                let needed = (needed as usize * of_lane).saturating_sub(spares + 1);
                last = last.min(turns.get(needed).copied().unwrap_or(0.0));
            }
            let mut of_region_rates = rates[..superblocks].to_vec();
            of_region_rates.sort_unstable_by(f64::total_cmp);
            left.extend(of_region);
            slowest.extend(of_region_rates);
        }
        Some(left.iter().zip(&slowest).map(|(&turns, rate)| turns.min(last) * rate).sum())
    }

    /// Erases all blocks of `superblock`. Returns `false` if the superblock must be retired.
    pub(crate) fn erase(&mut self, superblock: u32) -> bool {
        self.erased += u64::from(self.lanes * self.of_lane);
        let mut is_complete = true;
        let first = self.first_lane(superblock);
        for member in 0..self.lanes * self.of_lane {
            let of_all = (first + member % self.lanes) as usize;
            let at = of_all * self.per_lane as usize + self.member(superblock, member) as usize;
            self.erases[at] += 1;
            if self.limits.get(at).is_some_and(|&limit| self.erases[at] >= limit) {
                self.retired += 1;
                let spare = self.spares[of_all].pop();
                is_complete &= spare.is_some();
                self.put(superblock, member, spare.unwrap_or(NONE));
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
        for member in 0..self.lanes * self.of_lane {
            let block = self.member(superblock, member);
            if block != NONE {
                self.spares[(first + member % self.lanes) as usize].push(block);
            }
        }
    }

    /// Panics unless every block belongs to a superblock, or is spare, bad, or retired, and every erase was
    /// counted.
    pub(crate) fn check_invariants(&self, superblock_erases: u64) {
        let of_superblock = u64::from(self.lanes * self.of_lane);
        let in_use: u64 = self.usable.iter().map(|&usable| u64::from(usable) * of_superblock).sum();
        let others = self.spare_count() as u64 + u64::from(self.bad) + u64::from(self.retired);
        assert_eq!(in_use + others, self.erases.len() as u64, "every block is somewhere");
        let sum: u64 = self.erases.iter().map(|&erases| u64::from(erases)).sum();
        assert_eq!(sum, self.erased, "every erase was counted");
        assert_eq!(self.erased, superblock_erases * of_superblock, "superblocks are erased as a whole");
    }
}
