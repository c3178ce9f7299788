//! Compares exact curves with simulated caches, and curves of samples with exact curves.

use nacre_config::{FieldType, Node, Origin, Reader, Slot, Value};
use nacre_hierarchy::replacement::{Context, MODELS, Replacement, ReplacementFamily};
use nacre_kernel::{Op, Random, Request, Streams, Time};
use nacre_machine::models::Models;
use nacre_shape::{Curve, ExactCurve, Hits, Rate, SampledCurve};
use nacre_workload::synthetic::ranks::Ranks;
use proptest::prelude::*;

fn lru(capacity: u64) -> Box<dyn Replacement> {
    let models = Models::new();
    let mut reader = Reader::new(&models);
    let node = Node { value: Value::Text("lru".into()), origin: Origin::Default("assumed: test") };
    let slot = Slot::<ReplacementFamily>::read(&node, &mut reader).expect("a model of the table");
    let model = MODELS.iter().find(|model| model.descriptor.kind == "lru").expect("a model of the table");
    (model.build)(&slot, &mut Context { families: &models, capacity: capacity as usize }).expect("legal")
}

/// Returns the block accesses of a trace on one volume: the number of the block, and whether it is written.
fn accesses(requests: &[Request]) -> impl Iterator<Item = (u64, bool)> {
    let touching = requests.iter().filter(|request| matches!(request.op, Op::Read | Op::Write));
    touching.flat_map(|request| {
        let (first, count) = request.blocks(4096);
        (first..first + count).map(|block| (block, request.op == Op::Write))
    })
}

fn simulated(requests: &[Request], capacity: u64) -> Hits {
    let (mut cache, mut hits) = (lru(capacity), Hits::default());
    for (block, is_write) in accesses(requests) {
        if cache.access(block).is_hit() {
            *if is_write { &mut hits.writes } else { &mut hits.reads } += 1.0;
        }
    }
    hits
}

fn exact(requests: &[Request]) -> Curve {
    let mut curve = ExactCurve::new(4096);
    requests.chunks(1001).for_each(|batch| curve.add(batch));
    curve.curve()
}

/// Returns reads, writes, and trims of up to nine blocks.
fn mixed(blocks: u64, count: usize, random: &mut Random) -> Vec<Request> {
    let ranks = Ranks::new(blocks, 0.8);
    let request = |_| {
        let op = [Op::Read, Op::Write, Op::Read, Op::Trim][random.below(4) as usize];
        let address = ranks.sample(random) * 4096 + random.below(8) * 512;
        let bytes = 512 * (1 + random.below(64) as u32);
        Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
    };
    (0..count).map(request).collect()
}

fn zipf(blocks: u64, theta: f64, count: usize, seed: u64) -> Vec<Request> {
    let mut random = Streams::new(seed).stream("zipf");
    let ranks = Ranks::new(blocks, theta);
    let request = |_| {
        let op = if random.chance(0.7) { Op::Read } else { Op::Write };
        let address = ranks.sample(&mut random) * 4096;
        Request { arrival: Time::ZERO, address, bytes: 4096, volume: 0, op }
    };
    (0..count).map(request).collect()
}

#[test]
fn one_pass_says_what_a_simulated_cache_of_every_size_hits() {
    let requests = mixed(3000, 30_000, &mut Streams::new(1).stream("mixed"));
    let curve = exact(&requests);
    for size in [1, 2, 3, 10, 57, 100, 333, 1000, 2000, 2999, 3007, 10_000] {
        assert_eq!(curve.hits(size), simulated(&requests, size), "{size} blocks");
    }
    assert_eq!(curve.accesses().all() as usize, accesses(&requests).count());
}

proptest! {
    #[test]
    fn curves_never_fall_and_equal_simulation_on_any_trace(
        steps in prop::collection::vec((0u64..40, 1u32..5, any::<bool>()), 1..200), size in 1u64..50
    ) {
        let request = |&(block, blocks, write): &(u64, u32, bool)| Request {
            arrival: Time::ZERO,
            address: block * 4096,
            bytes: blocks * 4096,
            volume: 0,
            op: if write { Op::Write } else { Op::Read },
        };
        let requests: Vec<Request> = steps.iter().map(request).collect();
        let curve = exact(&requests);
        prop_assert_eq!(curve.hits(size), simulated(&requests, size));
        let misses: Vec<f64> = curve.sizes().iter().map(|&size| curve.miss_ratio(size, None).unwrap()).collect();
        prop_assert!(misses.is_sorted_by(|a, b| a >= b), "{:?}", misses);
    }
}

#[test]
fn the_sizes_of_a_curve_are_sixteen_for_each_doubling_and_end_where_it_ends() {
    let curve = exact(&zipf(5000, 0.5, 50_000, 1));
    let sizes = curve.sizes();
    assert_eq!(sizes[..16], (1..=16).collect::<Vec<u64>>()[..]);
    assert!(sizes.is_sorted_by(|a, b| a < b && *b <= a + a.div_ceil(16) + 1), "{sizes:?}");
    assert_eq!(sizes.last(), Some(&curve.largest()));
    assert_eq!(curve.hits(curve.largest()), curve.hits(u64::MAX));
}

/// Returns the number of estimates that are within their half-width, and the total number of estimates, over
/// all seeds and sizes.
fn covered(requests: &[Request], rate: Rate, sizes: &[u64]) -> (usize, usize) {
    let curve = exact(requests);
    let (mut within, mut all) = (0, 0);
    for seed in 0..20 {
        let mut sampled = SampledCurve::new(4096, rate, seed);
        sampled.add(requests);
        let estimate = sampled.estimate();
        for &size in sizes.iter().filter(|&&size| size >= estimate.curve.smallest()) {
            for op in [None, Some(Op::Read), Some(Op::Write)] {
                let truth = curve.miss_ratio(size, op).unwrap();
                let off = (estimate.curve.miss_ratio(size, op).unwrap() - truth).abs();
                let half_width = estimate.half_width(size, op).unwrap();
                assert!(off < 3.0 * half_width + 0.01, "seed {seed}, {size}: {off} against {half_width}");
                assert!(half_width < 0.25, "seed {seed}, {size}: {half_width} says nothing");
                within += usize::from(off <= half_width);
                all += 1;
            }
        }
    }
    (within, all)
}

/// Returns several rounds of accesses to all blocks, in almost the same order in each round. Reuse distances
/// are close to a few values, at which the curve has steps.
fn rounds(blocks: u64, rounds: u64) -> Vec<Request> {
    let mut random = Streams::new(11).stream("rounds");
    let wander = |(_, block): (u64, u64), random: &mut Random| (block + random.below(blocks / 8)) % blocks;
    (0..rounds)
        .flat_map(|round| (0..blocks).map(move |block| (round, block)))
        .map(|place| {
            let block = wander(place, &mut random);
            let op = if block % 3 == 0 { Op::Write } else { Op::Read };
            Request { arrival: Time::ZERO, address: block * 4096, bytes: 4096, volume: 0, op }
        })
        .collect()
}

/// Checks the half-widths at the steps of a curve, where an error of the distance moves the estimate by a
/// whole step.
#[test]
fn the_bars_hold_where_the_curve_is_steep() {
    let requests = rounds(30_000, 8);
    let curve = exact(&requests);
    // The sizes are halfway down the three steps of this curve.
    let sizes: Vec<u64> = [0.6, 0.45, 0.2].map(|ratio| first_below(&curve, ratio)).to_vec();
    let (mut within, mut all) = (0, 0);
    for seed in 0..150 {
        let mut sampled = SampledCurve::new(4096, Rate::Share(0.03), seed);
        sampled.add(&requests);
        let estimate = sampled.estimate();
        for &size in &sizes {
            let off = estimate.curve.miss_ratio(size, None).unwrap() - curve.miss_ratio(size, None).unwrap();
            within += u32::from(off.abs() <= estimate.half_width(size, None).unwrap());
            all += 1;
        }
    }
    let share = f64::from(within) / f64::from(all);
    assert!(share >= 0.9, "{within} of {all} at {sizes:?}, {share}");
}

/// Returns the smallest size at which less than `ratio` of the accesses miss.
fn first_below(curve: &Curve, ratio: f64) -> u64 {
    let (mut low, mut high) = (1, curve.largest());
    while low < high {
        let middle = u64::midpoint(low, high);
        if curve.miss_ratio(middle, None).unwrap() < ratio { high = middle } else { low = middle + 1 }
    }
    low
}

#[test]
fn a_sample_lies_within_the_bars_it_states() {
    let requests = zipf(100_000, 0.9, 500_000, 7);
    for rate in [Rate::Share(0.02), Rate::Blocks(2000)] {
        let (within, all) = covered(&requests, rate, &[1000, 5000, 20_000, 50_000, 90_000]);
        let share = within as f64 / all as f64;
        assert!(share >= 0.9, "{rate:?}: {within} of {all}, {share}");
    }
}

#[test]
fn a_sample_of_everything_is_exact() {
    let requests = mixed(500, 5000, &mut Streams::new(3).stream("mixed"));
    let curve = exact(&requests);
    for rate in [Rate::Share(1.0), Rate::Blocks(1000)] {
        let mut sampled = SampledCurve::new(4096, rate, 1);
        sampled.add(&requests);
        let estimate = sampled.estimate();
        for size in 1..520 {
            assert_eq!(estimate.curve.hits(size), curve.hits(size), "{size}");
            assert_eq!(estimate.half_width(size, None), Some(0.0));
        }
    }
}
