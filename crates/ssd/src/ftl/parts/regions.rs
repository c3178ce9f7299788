//! Regions: the parts of a drive that are filled and cleaned by themselves.
//!
//! A drive of superblocks over all dies is one region. Where pages are allocated by plane, each plane is one, and its
//! superblocks are single blocks. A region has frontiers, erased superblocks and its own victim.

use crate::ftl::parts::emptying::Relocation;
use crate::ftl::parts::frontier::NOBODY;
use crate::layout::geometry::Geometry;
use nacre_controller::cleaning::Partition;
use nacre_kernel::state::State;
use std::collections::BTreeSet;
use std::ops::Range;

/// What is erased in a region, and what is being cleaned.
#[derive(State)]
pub(crate) struct Region {
    /// Superblocks that are erased, behind the number by which the next to be filled is chosen.
    pub(crate) erased: BTreeSet<(u64, u32)>,
    /// Places where nothing stands.
    #[state(varies)]
    pub(crate) empty: Vec<u32>,
    /// The superblock erased last.
    pub(crate) last_erased: u32,
    #[state(varies)]
    pub(crate) relocation: Option<Relocation>,
    /// Units the host has programmed in a plane that cleaning has not kept pace with yet.
    pub(crate) unpaced: u32,
    /// Cleaning begins when fewer superblocks are erased: as many as the cleaning policy wants, or the reserve.
    pub(crate) kept_erased: u32,
}

impl Region {
    /// Nothing stands in `places`.
    pub(crate) fn new(places: Range<usize>) -> Region {
        Region {
            erased: BTreeSet::new(),
            empty: places.rev().map(|place| place as u32).collect(),
            last_erased: NOBODY,
            relocation: None,
            unpaced: 0,
            kept_erased: 0,
        }
    }
}

/// A partition for each region, with places for its `usable` superblocks.
pub(crate) fn partitions_by_region(usable: &[u32], geometry: &Geometry) -> Vec<Partition> {
    let mut counts = vec![0; geometry.regions as usize];
    usable.iter().for_each(|&superblock| counts[geometry.region_of(superblock)] += 1);
    let mut first = 0;
    let of = |count: usize| {
        let partition = Partition { first, count, active: first, ..Partition::default() };
        first += count;
        partition
    };
    counts.into_iter().map(of).collect()
}
