//! Reclaim unit handles of NVMe flexible data placement (FDP): the handle of each unit, and the host writes,
//! relocations, and events of each handle.
//!
//! Writes through different handles fill separate superblocks. Garbage collection mixes the data of initially
//! isolated handles, and keeps the data of each persistently isolated handle separate.

use crate::config::Config;
use crate::ftl::parts::regions::Frontier;
use crate::layout::geometry::Geometry;
use crate::superblocks::ABSENT;
use nacre_kernel::Column;
use nacre_kernel::state::{State, Value};

/// Number of times that a handle changed to another reclaim unit.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Changes {
    /// Number of changes made by the drive (event 81h).
    modified: u64,
    /// Number of changes made by the drive before the reclaim unit was written to capacity (event 0h).
    not_fully_written: u64,
}

/// The handles of a drive. A drive with a single handle has no counters.
#[derive(State)]
pub(crate) struct Handles {
    #[state(skip = "from the configuration")]
    count: u32,
    #[state(skip = "from the configuration")]
    has_statistics: bool,
    /// Data group of each handle. Garbage collection keeps the groups separate.
    #[state(skip = "from the configuration")]
    parts: Vec<u8>,
    /// Handle and reclaim group of the current request.
    #[state(skip = "of no meaning between two requests")]
    current: u32,
    #[state(skip = "of no meaning between two requests")]
    group: u32,
    /// Number of reclaim groups.
    #[state(skip = "from the configuration")]
    groups: u32,
    /// Number of host units that were written to another reclaim group because their group had no space,
    /// since measurement started.
    redirected: u64,
    /// Handle through which each physical unit was written.
    #[state(sparse)]
    of_page: Vec<u8>,
    /// Data group for which each superblock was opened.
    of_superblock: Vec<u8>,
    /// Data group that wear leveling moved most recently, for each region.
    leveled: Vec<u8>,
    /// Number of host units written through each handle since measurement started.
    written: Vec<u64>,
    /// Number of units of each handle that were moved since measurement started.
    moved: Vec<u64>,
    /// Number of times that each handle changed to another reclaim unit, since measurement started.
    changes: Vec<Changes>,
}

impl Handles {
    /// Creates the handles of `config`.
    pub(crate) fn new(config: &Config, geometry: &Geometry) -> Handles {
        let mapping = config.mapping();
        let (count, several) = (mapping.handles(), mapping.handles() > 1);
        let of_each = |entries: usize| if several { entries } else { 0 };
        Handles {
            count,
            has_statistics: mapping.fdp.is_some(),
            parts: (0..count).map(|handle| mapping.part_of_handle(handle) as u8).collect(),
            current: 0,
            group: 0,
            groups: if geometry.is_by_plane() { 1 } else { geometry.regions },
            redirected: 0,
            of_page: vec![0; of_each(geometry.numbers())],
            of_superblock: vec![0; of_each(geometry.superblocks as usize)],
            leveled: vec![0; geometry.regions as usize],
            written: vec![0; of_each(count as usize)],
            moved: vec![0; of_each(count as usize)],
            changes: vec![Changes::default(); of_each(count as usize)],
        }
    }

    /// Returns the number of garbage collection frontiers.
    pub(crate) fn cleaning_frontiers(&self) -> usize {
        self.parts.last().map_or(1, |&last| usize::from(last) + 1)
    }

    /// Returns whether the drive supports flexible data placement and its statistics log page.
    pub(crate) fn has_statistics(&self) -> bool {
        self.has_statistics
    }

    pub(crate) fn host_frontiers(&self) -> usize {
        self.count as usize
    }

    /// Returns whether the drive has more than one handle.
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.count > 1
    }

    /// Selects the handle and the reclaim group for a request. `volume` is its placement identifier.
    #[inline]
    pub(crate) fn choose(&mut self, volume: u32) {
        if self.count > 1 {
            self.current = volume % self.count;
        }
        if self.groups > 1 {
            self.group = volume / self.count % self.groups;
        }
    }

    /// Returns the reclaim group of the current request.
    pub(crate) fn group(&self) -> usize {
        self.group as usize
    }

    /// Counts a host unit or table page that is written to another reclaim group because its group has no
    /// space.
    pub(crate) fn count_redirected(&mut self, is_host: bool) {
        self.redirected += u64::from(is_host);
    }

    /// Returns the number of host units whose reclaim group had no space, or `None` without reclaim groups.
    pub(crate) fn redirected(&self) -> Option<u64> {
        (self.groups > 1).then_some(self.redirected)
    }

    /// Returns the handle of the current request.
    #[inline]
    pub(crate) fn current(&self) -> usize {
        self.current as usize
    }

    /// Counts a program of host data to `page`.
    #[inline]
    pub(crate) fn count_written(&mut self, page: u64) {
        if self.count > 1 {
            self.of_page[page as usize] = self.current as u8;
            self.written[self.current as usize] += 1;
        }
    }

    /// Counts the move of a host unit from page `from` to page `to`.
    #[inline]
    pub(crate) fn count_moved(&mut self, from: u64, to: u64) {
        if let Some(&handle) = self.of_page.get(from as usize) {
            self.of_page[to as usize] = handle;
            self.moved[usize::from(handle)] += 1;
        }
    }

    /// Counts a change of the handle of `frontier` to another reclaim unit. `is_full` means that the
    /// previous reclaim unit was full.
    pub(crate) fn count_changed(&mut self, frontier: usize, is_full: bool) {
        let regions = self.leveled.len();
        if let Some(changes) = self.changes.get_mut(frontier / regions) {
            changes.modified += 1;
            changes.not_fully_written += u64::from(!is_full);
        }
    }

    pub(crate) fn restart_ledger(&mut self) {
        self.changes.fill(Changes::default());
        self.redirected = 0;
        self.written.fill(0);
        self.moved.fill(0);
    }

    /// Returns the columns with one row per handle: host units, units moved, write amplification, and changes
    /// of the reclaim unit. A handle without host writes has no write amplification.
    pub(crate) fn columns(&self) -> Vec<Column> {
        if self.count == 1 {
            return Vec::new();
        }
        let column = |name, values| Column { name, values };
        let changes =
            |count: fn(&Changes) -> u64| self.changes.iter().map(|of| count(of) as f64).collect::<Vec<f64>>();
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
            column("handles.implicitly_modified", changes(|of| of.modified)),
            column("handles.not_fully_written", changes(|of| of.not_fully_written)),
        ]
    }

    /// Returns the garbage collection frontier that receives the valid units of `superblock`, among the
    /// frontiers of its region.
    #[inline]
    pub(crate) fn cleaning_frontier(&self, superblock: u32) -> usize {
        self.of_superblock.get(superblock as usize).map_or(0, |&part| usize::from(part))
    }

    /// Makes the data group of `superblock` the group that wear leveling moves in `region`. Returns whether
    /// the group changed, which requires another open superblock.
    pub(crate) fn level(&mut self, region: usize, superblock: u32) -> bool {
        let part = self.cleaning_frontier(superblock) as u8;
        std::mem::replace(&mut self.leveled[region], part) != part
    }

    /// Sets the data group of `superblock`, which is opened for `frontier`. `frontiers` is the number of all
    /// frontiers.
    pub(crate) fn open(&mut self, frontier: usize, frontiers: usize, superblock: u32) {
        let part = self.of_frontier(frontier, frontiers);
        if let Some(of) = self.of_superblock.get_mut(superblock as usize) {
            *of = part;
        }
    }

    /// Returns the data group that `frontier` receives. Frontiers of the host and of garbage collection come
    /// first, ordered by handle and region. Frontiers of wear leveling come last, ordered by region.
    fn of_frontier(&self, frontier: usize, frontiers: usize) -> u8 {
        let regions = self.leveled.len();
        match (frontier + regions).checked_sub(frontiers) {
            Some(region) => self.leveled[region],
            None => {
                let number = frontier / regions;
                // Garbage collection has one frontier per data group.
                self.parts.get(number).copied().unwrap_or_else(|| (number - self.parts.len()) as u8)
            }
        }
    }

    /// Panics if the valid `page` is in a `superblock` of another data group.
    pub(crate) fn check_part(&self, page: usize, superblock: usize) {
        if self.are_several() {
            let part = self.parts[usize::from(self.of_page[page])];
            assert_eq!(self.of_superblock[superblock], part, "the part of page {page}");
        }
    }

    /// Panics if an open superblock and its frontier have different data groups.
    pub(crate) fn check_invariants(&self, frontiers: &[Frontier]) {
        if !self.are_several() {
            return;
        }
        for (number, open) in frontiers.iter().enumerate().filter(|(_, open)| open.superblock != ABSENT) {
            let of = self.of_superblock[open.superblock as usize];
            let expected = self.of_frontier(number, frontiers.len());
            assert_eq!(of, expected, "whose data fills superblock {}", open.superblock);
        }
    }
}
