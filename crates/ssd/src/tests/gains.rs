//! Tests of drives with the minimum space, in which garbage collection sometimes cannot reclaim space.

use super::array::small;
use super::*;
use crate::ftl::array::Array;
use crate::ops::Untimed;
use nacre_media::store::Nothing;

/// Settings with superblocks of 64 units, or blocks of 64 units in each plane, and slightly more space than
/// data.
const TIGHT: [&str; 3] = [
    "channels = 1\npages = 32\nblocks = 10\nover_provisioning = \"71 %\"",
    "channels = 1\npages = 32\nblocks = 10\nover_provisioning = \"71 %\"\ngarbage_collection.wear_spread = 2",
    "channels = 1\nblocks = 10\nover_provisioning = \"73 %\"\nallocation = \"static\"",
];

/// Returns whether garbage collection is due in a region of `array` that has no full or closed superblock
/// with an invalid unit.
fn has_nothing_to_gain(array: &Array<Nothing>) -> bool {
    (0..array.regions.len()).any(|region| {
        let is_due = array.pool.erased_count(region) < array.geometry.reserve as usize;
        is_due && array.regions[region].relocation.is_none() && !array.can_gain(region)
    })
}

/// Fills `array`, writes a few units repeatedly, and refreshes random superblocks with the probability
/// `refreshed`. Returns the number of writes before which garbage collection was due but could not reclaim
/// space.
fn nothing_gained(array: &mut Array<Nothing>, refreshed: f64) -> u64 {
    (0..array.geometry.logical_units).for_each(|unit| assert!(array.write(unit, &[], &mut Untimed)));
    let (mut random, mut found) = (random("gains"), 0);
    for number in 0..20_000 {
        // The set of written units changes over time. Earlier units stay valid in some superblock.
        let unit = random.below(8) + number / 2_000 * 30;
        found += u64::from(has_nothing_to_gain(array));
        assert!(array.write(unit, &[], &mut Untimed), "there is space for all data");
        if random.chance(refreshed) {
            let superblock = random.below(array.place_of.len() as u64) as u32;
            array.refresh(superblock, &mut Untimed);
        }
    }
    array.check_invariants();
    assert!(array.pool.programs.cleanings > 10, "{:?}", array.pool.programs);
    found
}

#[test]
fn garbage_collection_waits_while_no_full_superblock_has_invalid_units() {
    for settings in TIGHT {
        let mut found = 0;
        for cleaning in ["greedy", "fifo", "cost_benefit", "d_choices"] {
            for refreshed in [0.0, 0.005, 0.05] {
                found += nothing_gained(&mut small(settings, cleaning), refreshed);
            }
        }
        assert!(found > 0, "{settings}: there is always something to gain");
    }
}
