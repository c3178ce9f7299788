use crate::placement::by_size::alike;
use crate::placement::workbench::{of_one_size, placement};

/// Read and write latencies in microseconds of PCM, eMLC flash, and disk, from kim-2014.
const TIERS: [(f64, f64); 3] = [(6.7, 128.3), (108.0, 37.1), (5000.0, 5000.0)];

#[test]
fn read_extents_go_to_pcm_written_ones_to_flash_and_idle_ones_to_disk() {
    let accesses = [(0, 0), (900, 100), (100, 900), (1, 0), (800, 50), (20, 700)];
    let homes = placement("\"static_optimal\"", &[2, 2, 2], &TIERS, &accesses).start();
    assert_eq!(homes, [2, 0, 1, 2, 0, 1]);
}

#[test]
fn every_tier_is_full_and_of_extents_alike_the_first_get_the_faster_tier() {
    let homes = placement("\"static_optimal\"", &[1, 1, 2], &TIERS, &[(5, 5); 4]).start();
    // Half of the accesses are reads, so an access takes 67.5 us in PCM and 72.55 us in flash.
    assert_eq!(homes, [0, 1, 2, 2]);
}

#[test]
fn extents_accessed_alike_are_one_class() {
    let accesses = of_one_size(&[(1, 2), (0, 0), (1, 2), (2, 1)]);
    let members: Vec<Vec<u32>> = alike(&accesses).into_values().collect();
    assert_eq!(members, [vec![1], vec![0, 2], vec![3]]);
}
