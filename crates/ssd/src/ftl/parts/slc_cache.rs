//! A cache of cells with one bit each: superblocks that the host fills in that mode while erased ones abound.
//!
//! Their cells are programmed and read faster and hold a part of the data. Nothing else is kept of them: what they
//! hold is moved to full cells when cleaning chooses them, which it does soon, since little is live in so much flash.

use crate::config::Config;
use crate::layout::geometry::{Cells, Geometry};
use nacre_kernel::state::State;

/// The superblocks in that mode.
#[derive(State)]
pub(crate) struct SlcCache {
    /// Units that one holds; 0 if there is no cache.
    #[state(skip = "from the configuration")]
    units: u32,
    /// How many there may be.
    #[state(skip = "from the configuration")]
    most: u32,
    /// By superblock; empty if there is no cache.
    is_single: Vec<bool>,
    count: u32,
}

impl SlcCache {
    /// No cache.
    pub(crate) fn none() -> SlcCache {
        SlcCache { units: 0, most: 0, is_single: Vec::new(), count: 0 }
    }

    /// The cache of `config`, with nothing in it.
    pub(crate) fn new(config: &Config, geometry: &Geometry) -> SlcCache {
        let Some(cache) = &config.mapping().slc_cache else { return SlcCache::none() };
        let units = geometry.units_per_superblock / config.pages * (config.pages / cache.bits);
        let bytes = u64::from(units) * u64::from(geometry.unit_bytes);
        SlcCache {
            units,
            most: (cache.size.0 / bytes).min(u64::from(geometry.superblocks)) as u32,
            is_single: vec![false; geometry.superblocks as usize],
            count: 0,
        }
    }

    /// How the cells of `superblock` are used.
    #[inline]
    pub(crate) fn cells(&self, superblock: u32) -> Cells {
        match self.is_single.get(superblock as usize) {
            Some(true) => Cells::Single,
            _ => Cells::Full,
        }
    }

    /// Whether one more superblock may be filled in that mode.
    pub(crate) fn has_room(&self) -> bool {
        self.count < self.most
    }

    /// Erased `superblock` is filled in that mode; gives the units it holds.
    pub(crate) fn open(&mut self, superblock: u32) -> u32 {
        self.is_single[superblock as usize] = true;
        self.count += 1;
        self.units
    }

    /// `superblock` is erased.
    pub(crate) fn erase(&mut self, superblock: u32) {
        if self.cells(superblock) == Cells::Single {
            self.is_single[superblock as usize] = false;
            self.count -= 1;
        }
    }

    /// Superblocks in that mode.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn check_invariants(&self) {
        let counted = self.is_single.iter().filter(|&&is_single| is_single).count();
        assert_eq!(counted as u32, self.count, "superblocks with one bit to a cell");
    }
}
