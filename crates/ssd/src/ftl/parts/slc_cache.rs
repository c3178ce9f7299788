//! SLC cache: superblocks that the host writes in SLC mode while enough superblocks are erased.
//!
//! In SLC mode, programs and reads are faster, and a superblock holds less data. Garbage collection moves
//! the data to superblocks that use all bits per cell. It selects SLC superblocks early, because they hold
//! little valid data relative to their size.

use crate::config::Config;
use crate::layout::geometry::{Cells, Geometry};
use nacre_kernel::state::State;

/// Set of superblocks in SLC mode.
#[derive(State)]
pub(crate) struct SlcCache {
    /// Number of units per superblock in SLC mode; 0 without a cache.
    #[state(skip = "from the configuration")]
    units: u32,
    /// Maximum number of superblocks in SLC mode.
    #[state(skip = "from the configuration")]
    most: u32,
    /// Whether each superblock is in SLC mode; empty without a cache.
    is_single: Vec<bool>,
    count: u32,
}

impl SlcCache {
    /// Creates the empty SLC cache that `config` describes, or a disabled cache if `config` has none.
    pub(crate) fn new(config: &Config, geometry: &Geometry) -> SlcCache {
        let Some(cache) = &config.mapping().slc_cache else {
            return SlcCache { units: 0, most: 0, is_single: Vec::new(), count: 0 };
        };
        let units = geometry.units_per_superblock / config.pages * config.single_pages();
        let bytes = u64::from(units) * u64::from(geometry.unit_bytes);
        SlcCache {
            units,
            most: (cache.size.0 / bytes).min(u64::from(geometry.superblocks)) as u32,
            is_single: vec![false; geometry.superblocks as usize],
            count: 0,
        }
    }

    /// Returns the cell mode of `superblock`.
    #[inline]
    pub(crate) fn cells(&self, superblock: u32) -> Cells {
        match self.is_single.get(superblock as usize) {
            Some(true) => Cells::Single,
            _ => Cells::Full,
        }
    }

    /// Returns whether one more superblock may use SLC mode.
    pub(crate) fn has_room(&self) -> bool {
        self.count < self.most
    }

    /// Switches the erased `superblock` to SLC mode and returns its capacity in units.
    pub(crate) fn open(&mut self, superblock: u32) -> u32 {
        self.is_single[superblock as usize] = true;
        self.count += 1;
        self.units
    }

    /// Records the erase of `superblock`.
    pub(crate) fn erase(&mut self, superblock: u32) {
        if self.cells(superblock) == Cells::Single {
            self.is_single[superblock as usize] = false;
            self.count -= 1;
        }
    }

    /// Returns the number of superblocks in SLC mode.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn check_invariants(&self) {
        let counted = self.is_single.iter().filter(|&&is_single| is_single).count();
        assert_eq!(counted as u32, self.count, "superblocks in SLC mode");
    }
}
