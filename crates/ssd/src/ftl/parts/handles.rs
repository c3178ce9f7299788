//! Placement handles: the handle of each unit, and its host writes and relocations.
//!
//! They are the reclaim unit handles of NVMe flexible data placement (FDP): writes through one handle fill
//! separate superblocks. Garbage collection mixes the data of all handles or keeps it separate.

use crate::config::{Config, Isolation};
use crate::ftl::parts::frontier::{ABSENT, Frontier};
use crate::layout::geometry::Geometry;
use nacre_kernel::Column;
use nacre_kernel::state::State;

/// The handles of a drive; with a single handle, nothing is counted.
#[derive(State)]
pub(crate) struct Handles {
    #[state(skip = "from the configuration")]
    count: u32,
    /// Whether garbage collection keeps their data separate.
    #[state(skip = "from the configuration")]
    are_kept_apart: bool,
    /// Handle of the current request.
    #[state(skip = "of no meaning between two requests")]
    current: u32,
    /// By physical unit: the handle that it was written through.
    #[state(sparse)]
    of_page: Vec<u8>,
    /// By superblock: the handle that it was opened for.
    of_superblock: Vec<u8>,
    /// By region: the handle whose data wear leveling moved last.
    leveled: Vec<u8>,
    /// By handle: host units since measurement started, and units that were moved.
    written: Vec<u64>,
    moved: Vec<u64>,
}

impl Handles {
    /// Handles of `config`.
    pub(crate) fn new(config: &Config, geometry: &Geometry) -> Handles {
        let mapping = config.mapping();
        let (count, several) = (mapping.placement_handles, mapping.placement_handles > 1);
        let of_each = |entries: usize| if several { entries } else { 0 };
        Handles {
            count,
            are_kept_apart: several && mapping.isolation == Isolation::Persistent,
            current: 0,
            of_page: vec![0; of_each(geometry.numbers())],
            of_superblock: vec![0; of_each(geometry.superblocks as usize)],
            leveled: vec![0; geometry.regions as usize],
            written: vec![0; of_each(count as usize)],
            moved: vec![0; of_each(count as usize)],
        }
    }

    /// Open superblocks of garbage collection.
    pub(crate) fn cleaning_frontiers(&self) -> usize {
        if self.are_kept_apart { self.count as usize } else { 1 }
    }

    pub(crate) fn host_frontiers(&self) -> usize {
        self.count as usize
    }

    /// Whether there is more than one handle.
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.count > 1
    }

    /// Selects the handle for a request of `volume`.
    #[inline]
    pub(crate) fn choose(&mut self, volume: u32) {
        if self.count > 1 {
            self.current = volume % self.count;
        }
    }

    /// Handle of the current request.
    #[inline]
    pub(crate) fn current(&self) -> usize {
        self.current as usize
    }

    /// Counts that the host programs `page`.
    #[inline]
    pub(crate) fn count_written(&mut self, page: u32) {
        if self.count > 1 {
            self.of_page[page as usize] = self.current as u8;
            self.written[self.current as usize] += 1;
        }
    }

    /// Counts that a host unit moved from page `from` to page `to`.
    #[inline]
    pub(crate) fn count_moved(&mut self, from: u32, to: u32) {
        if let Some(&handle) = self.of_page.get(from as usize) {
            self.of_page[to as usize] = handle;
            self.moved[usize::from(handle)] += 1;
        }
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.written.fill(0);
        self.moved.fill(0);
    }

    /// By handle: host units, units moved, and write amplification. A handle without host writes has no write
    /// amplification.
    pub(crate) fn columns(&self) -> Vec<Column> {
        if self.count == 1 {
            return Vec::new();
        }
        let column = |name, values| Column { name, values };
        let floats = |counts: &[u64]| counts.iter().map(|&count| count as f64).collect();
        let amplification = |(&written, &moved): (&u64, &u64)| {
            let programs = written as f64 + moved as f64;
            if written == 0 { f64::NAN } else { programs / written as f64 }
        };
        vec![
            column("handles.units_host", floats(&self.written)),
            column("handles.units_moved", floats(&self.moved)),
            column(
                "handles.write_amplification",
                self.written.iter().zip(&self.moved).map(amplification).collect(),
            ),
        ]
    }

    /// The garbage collection frontier, among those of the region of `superblock`, that takes its valid
    /// units.
    #[inline]
    pub(crate) fn cleaning_frontier(&self, superblock: u32) -> usize {
        if self.are_kept_apart { usize::from(self.of_superblock[superblock as usize]) } else { 0 }
    }

    /// Selects the handle whose data wear leveling moves next, from `superblock` of `region`. Returns whether
    /// the handle changed, so that another superblock must be opened.
    pub(crate) fn level(&mut self, region: usize, superblock: u32) -> bool {
        let handle = if self.are_kept_apart { self.of_superblock[superblock as usize] } else { 0 };
        std::mem::replace(&mut self.leveled[region], handle) != handle
    }

    /// Sets the handle of `superblock`, which is opened for `frontier`, out of `frontiers`.
    pub(crate) fn open(&mut self, frontier: usize, frontiers: usize, superblock: u32) {
        let handle = self.of_frontier(frontier, frontiers);
        if let Some(of) = self.of_superblock.get_mut(superblock as usize) {
            *of = handle;
        }
    }

    /// The handle of `frontier`, out of `frontiers`: those of the host and of garbage collection are ordered
    /// by handle and region, followed by those of wear leveling by region.
    fn of_frontier(&self, frontier: usize, frontiers: usize) -> u8 {
        let regions = self.leveled.len();
        match (frontier + regions).checked_sub(frontiers) {
            Some(region) => self.leveled[region],
            None => (frontier / regions % self.count as usize) as u8,
        }
    }

    /// Panics if an open superblock is not assigned to the handle of its frontier.
    pub(crate) fn check_invariants(&self, frontiers: &[Frontier]) {
        if !self.are_kept_apart {
            return;
        }
        for (number, open) in frontiers.iter().enumerate().filter(|(_, open)| open.superblock != ABSENT) {
            let of = self.of_superblock[open.superblock as usize];
            let expected = self.of_frontier(number, frontiers.len());
            assert_eq!(of, expected, "whose data fills superblock {}", open.superblock);
        }
    }
}
