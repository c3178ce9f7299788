//! Superblocks: their pages, blocks, and erases, and the erased superblocks that can be opened. Page mapping
//! and zones use this module.

mod blocks;
mod wear;

use crate::config::Config;
use crate::counts::Programs;
use crate::layout::geometry::Geometry;
use crate::ops::FlashOps;
use blocks::Blocks;
use nacre_kernel::Random;
use nacre_kernel::state::State;
use nacre_media::flash::Flash;
use nacre_media::store::Store;
use std::collections::BTreeSet;

/// Marks an absent superblock or slot.
pub(crate) const ABSENT: u32 = u32::MAX;

/// The superblocks of a drive.
#[derive(State)]
#[state(after = "Self::check_restored")]
#[state(bound = "S: Store")]
pub(crate) struct Superblocks<S> {
    #[state(skip = "from the configuration")]
    geometry: Geometry,
    /// Whether the erased superblock with the lowest erase count is written first.
    #[state(skip = "from the configuration")]
    youngest_first: bool,
    /// Whether the number of dies that erase simultaneously is limited. If so, the most recently erased
    /// superblock is written last.
    #[state(skip = "from the configuration")]
    erases_in_turn: bool,
    pub(crate) flash: Flash<S>,
    pub(crate) blocks: Blocks,
    pub(crate) programs: Programs,
    /// Erased superblocks of each region, each with the key that determines the write order.
    erased: Vec<BTreeSet<(u64, u32)>>,
    /// The most recently erased superblock of each region.
    last_erased: Vec<u32>,
    /// Total number of superblock erases. Each initially erased superblock counts as one erase.
    erasures: u64,
}

impl<S: Store> Superblocks<S> {
    /// Creates erased superblocks for the validated configuration `config`. `random` determines the
    /// endurance of blocks and the initially bad blocks.
    pub(crate) fn new(config: &Config, geometry: Geometry, store: S, random: Random) -> Superblocks<S> {
        let regions = geometry.regions as usize;
        let blocks = Blocks::new(config, &geometry, random);
        let usable = blocks.usable();
        let mut superblocks = Superblocks {
            youngest_first: config.youngest_first,
            erases_in_turn: config.erases_at_once.is_some(),
            flash: Flash::new(geometry.superblocks, geometry.units_per_superblock, store),
            blocks,
            programs: Programs::default(),
            erased: vec![BTreeSet::new(); regions],
            last_erased: vec![ABSENT; regions],
            erasures: 0,
            geometry,
        };
        usable.into_iter().for_each(|superblock| superblocks.put_erased(superblock));
        superblocks
    }

    /// Returns the number of superblocks in all regions.
    pub(crate) fn count(&self) -> u32 {
        self.geometry.superblocks
    }

    /// Returns the number of erased superblocks of `region`.
    #[inline]
    pub(crate) fn erased_count(&self, region: usize) -> usize {
        self.erased[region].len()
    }

    /// Returns the erased superblocks of `region`.
    pub(crate) fn erased(&self, region: usize) -> impl Iterator<Item = u32> {
        self.erased[region].iter().map(|&(_, superblock)| superblock)
    }

    /// Returns the erase count of `superblock`.
    #[inline]
    pub(crate) fn erases_of(&self, superblock: u32) -> u32 {
        self.flash.blocks()[superblock as usize].erases
    }

    /// Adds `superblock` to the erased superblocks.
    pub(crate) fn put_erased(&mut self, superblock: u32) {
        self.erasures += 1;
        let key = if self.youngest_first { u64::from(self.erases_of(superblock)) } else { self.erasures };
        self.erased[self.geometry.region_of(superblock)].insert((key, superblock));
    }

    /// Removes and returns the erased superblock of `region` that is to be written next. If the number of
    /// dies that erase at the same time is limited, the superblock that was erased last is used only if no
    /// other superblock is erased.
    pub(crate) fn take_erased(&mut self, region: usize) -> u32 {
        let erased = &mut self.erased[region];
        let is_over = |&&(_, superblock): &&(u64, u32)| superblock != self.last_erased[region];
        let first = erased.iter().find(is_over).filter(|_| self.erases_in_turn);
        let first = *first.or(erased.first()).expect("one superblock is always erased");
        erased.remove(&first);
        first.1
    }

    /// Removes and returns the erased superblock of `region` with the most erases.
    pub(crate) fn take_most_worn(&mut self, region: usize) -> u32 {
        let erases = |&&(_, superblock): &&(u64, u32)| self.flash.blocks()[superblock as usize].erases;
        let worn = self.erased[region].iter().max_by_key(erases).copied();
        let worn = worn.expect("one superblock is always erased");
        self.erased[region].remove(&worn);
        worn.1
    }

    /// Erases `superblock`. Returns `false` if it is worn out and must not be written again.
    pub(crate) fn erase<W: FlashOps>(&mut self, superblock: u32, work: &mut W) -> bool {
        self.flash.erase(superblock);
        self.last_erased[self.geometry.region_of(superblock)] = superblock;
        work.erase(superblock);
        let is_usable = self.blocks.erase(superblock);
        if is_usable {
            self.put_erased(superblock);
        }
        is_usable
    }

    /// Panics unless erased superblocks are empty and in their region, and the counts of programs and erases
    /// are consistent.
    pub(crate) fn check_invariants(&self) {
        for region in 0..self.erased.len() {
            for superblock in self.erased(region) {
                assert_eq!(self.flash.blocks()[superblock as usize].programmed, 0, "{superblock} is erased");
                assert_eq!(self.geometry.region_of(superblock), region, "the region of {superblock}");
            }
        }
        assert_eq!(self.flash.programs(), self.programs.on_media(), "programs have causes");
        self.blocks.check_invariants(self.flash.erases());
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let count = self.geometry.superblocks;
        let mut erased = (0..self.erased.len()).flat_map(|region| self.erased(region));
        erased
            .find(|&superblock| superblock >= count)
            .map_or(Ok(()), |wrong| Err(format!("superblock {wrong} of {count}")))
    }
}
