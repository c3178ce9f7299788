//! Compares optimal placements, for one mix of tiers and for all mixes, with an exhaustive search.

use super::assignment::{Assignment, Class, Speed};
use super::surface::{boundary, surface};
use nacre_testkit::assert_close;
use proptest::prelude::*;

/// Number of reads and writes of an extent, and number of extents with these accesses.
type AccessCounts = (u32, u32, u64);

fn classes_of(counts: &[AccessCounts], tiers: &[Speed]) -> Vec<Class> {
    let seconds = |&(reads, writes, _): &AccessCounts| {
        tiers.iter().map(|tier| tier.of(f64::from(reads), f64::from(writes))).collect()
    };
    counts.iter().map(|of| Class { seconds: seconds(of), extents: of.2 }).collect()
}

/// Minimum total time over all placements of the extents in tiers of these `sizes`, found by exhaustive
/// search.
fn tried(extents: &[Class], sizes: &[u64]) -> f64 {
    let Some((first, rest)) = extents.split_first() else { return 0.0 };
    let mut best = f64::INFINITY;
    for (tier, seconds) in first.seconds.iter().enumerate().filter(|&(tier, _)| sizes[tier] > 0) {
        let mut left = sizes.to_vec();
        left[tier] -= 1;
        best = best.min(seconds + tried(rest, &left));
    }
    best
}

/// Splits the classes so that each extent is a separate class.
fn one_by_one(classes: &[Class]) -> Vec<Class> {
    let alone = |class: &Class| Class { extents: 1, ..class.clone() };
    classes.iter().flat_map(|class| (0..class.extents).map(move |_| alone(class))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_mix_of_the_surface_is_the_best_of_all_placements_tried_one_by_one(
        counts in prop::collection::vec((0u32..9, 0u32..9, 1u64..3), 1..5),
        speeds in prop::collection::vec((1u32..50, 1u32..50), 2..5),
    ) {
        let tiers: Vec<Speed> = speeds
            .iter()
            .map(|&(read, write)| Speed { read_s: f64::from(read), write_s: f64::from(write) })
            .collect();
        let classes = classes_of(&counts, &tiers);
        let extents = one_by_one(&classes);
        prop_assume!(extents.len() <= 6);
        for mix in surface(&classes, tiers.len(), extents.len() as u32) {
            let best = tried(&extents, &mix.extents);
            prop_assert!((mix.seconds - best).abs() < 1e-9, "{mix:?}: {best} is possible");
        }
    }

    #[test]
    fn every_point_of_a_surface_equals_a_separate_placement(
        counts in prop::collection::vec((0u32..99, 0u32..99, 1u64..40), 1..30),
    ) {
        let tiers = [(6.7, 128.3), (108.0, 37.1), (5000.0, 5000.0)];
        let tiers = tiers.map(|(read_s, write_s)| Speed { read_s, write_s });
        let classes = classes_of(&counts, &tiers);
        for mix in surface(&classes, tiers.len(), 7) {
            let mut alone = Assignment::new(&classes, tiers.len());
            // The tiers grow in a different order from that of the surface.
            alone.grow(1, mix.extents[1]);
            alone.grow(0, mix.extents[0]);
            prop_assert!((mix.seconds - alone.seconds()).abs() <= 1e-9 * alone.seconds(), "{mix:?}");
            for (number, class) in classes.iter().enumerate() {
                let held: u64 = (0..3).map(|tier| alone.held(number, tier)).sum();
                prop_assert_eq!(held, class.extents);
            }
        }
    }
}

#[test]
fn a_surface_has_every_mix_once_and_its_extents_add_up() {
    let speed = Speed { read_s: 1.0, write_s: 1.0 };
    let classes = classes_of(&[(3, 1, 10), (0, 0, 91)], &[speed; 3]);
    let mixes = surface(&classes, 3, 10);
    // The number 10 can be written as an ordered sum of three numbers in 12 over 2 ways.
    assert_eq!(mixes.len(), 66);
    let mut steps: Vec<_> = mixes.iter().map(|mix| mix.steps.clone()).collect();
    steps.sort();
    steps.dedup();
    assert_eq!(steps.len(), 66);
    for mix in &mixes {
        assert_eq!(mix.steps.iter().sum::<u32>(), 10);
        assert_eq!(mix.extents.iter().sum::<u64>(), 101);
        assert_close("seconds on equal tiers", mix.seconds, 40.0, 1e-12);
    }
    assert_eq!(boundary(101, 10, 10), 101);
}

#[test]
fn a_write_heavy_extent_belongs_in_flash_and_the_threshold_is_that_of_the_latencies() {
    // PCM is faster for an extent whose share of reads is above (128.3 - 37.1) / (108 - 6.7 + 128.3 - 37.1) =
    // .4738.
    let tiers = [Speed { read_s: 6.7, write_s: 128.3 }, Speed { read_s: 108.0, write_s: 37.1 }];
    let threshold: f64 = (128.3 - 37.1) / (108.0 - 6.7 + 128.3 - 37.1);
    assert!((threshold - 0.4738).abs() < 5e-5, "{threshold}");
    let classes = classes_of(&[(473, 527, 1), (474, 526, 1)], &tiers);
    let mut placed = Assignment::new(&classes, 2);
    placed.grow(0, 1);
    assert_eq!((placed.held(0, 0), placed.held(1, 0)), (0, 1));
    assert!(placed.seconds() < Assignment::new(&classes, 2).seconds());
}
