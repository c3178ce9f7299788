//! Regions: subsets of a drive with separate frontiers and garbage collection.
//!
//! If superblocks span all dies, the drive is one region. With allocation by plane, each plane is a region,
//! and its superblocks are single blocks. Each region has its write frontiers, erased superblocks, and
//! victim.

use crate::ftl::parts::emptying::Relocation;
use crate::ftl::parts::frontier::ABSENT;
use crate::layout::geometry::Geometry;
use nacre_controller::cleaning::Partition;
use nacre_kernel::state::State;
use std::collections::BTreeSet;
use std::ops::Range;

/// Erased superblocks and garbage collection state of a region.
#[derive(State)]
pub(crate) struct Region {
    /// Erased superblocks, each with the key that determines the write order.
    pub(crate) erased: BTreeSet<(u64, u32)>,
    /// Empty slots.
    #[state(varies)]
    pub(crate) empty: Vec<u32>,
    /// The most recently erased superblock.
    pub(crate) last_erased: u32,
    #[state(varies)]
    pub(crate) relocation: Option<Relocation>,
    /// Number of units that the host programmed in a plane since the last run of garbage collection.
    pub(crate) unpaced: u32,
    /// Number of erased superblocks below which garbage collection starts: the number that the policy
    /// requires, or the reserve.
    pub(crate) kept_erased: u32,
}

impl Region {
    /// Creates an empty region with these slots.
    pub(crate) fn new(places: Range<usize>) -> Region {
        Region {
            erased: BTreeSet::new(),
            empty: places.rev().map(|place| place as u32).collect(),
            last_erased: ABSENT,
            relocation: None,
            unpaced: 0,
            kept_erased: 0,
        }
    }
}

/// Creates a partition for each region, with slots for its `usable` superblocks.
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
