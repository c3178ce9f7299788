use super::super::oracle::{
    Oracle, Order, agree_everywhere, agree_exhaustively, agree_on_a_real_trace, agree_on_any,
};
use super::super::{Replacement, streams};
use super::{Config, Lru};

/// LRU implemented with an ordered list of blocks.
struct NaiveLru {
    capacity: usize,
    order: Order,
}

impl Oracle for NaiveLru {
    fn touch(&mut self, block: u64) -> bool {
        let resident = self.order.contains(block);
        if resident {
            self.order.push(block);
        }
        resident
    }

    fn admit(&mut self, block: u64) -> Option<u64> {
        let victim = if self.order.len() == self.capacity { self.order.take_first() } else { None };
        self.order.push(block);
        victim
    }

    fn remove(&mut self, block: u64) -> bool {
        self.order.take(block)
    }

    fn resident(&self) -> Vec<u64> {
        self.order.blocks().collect()
    }
}

fn lru(capacity: usize) -> Lru {
    Lru::new(capacity, &Config {})
}

fn naive(capacity: usize) -> NaiveLru {
    NaiveLru { capacity, order: Order::default() }
}

#[test]
fn hits_and_victims_equal_a_naive_list() {
    agree_everywhere(lru, naive);
}

#[test]
fn every_short_sequence_equals_a_naive_list() {
    agree_exhaustively(lru, naive);
}

#[test]
fn any_sequence_equals_a_naive_list() {
    agree_on_any(lru, naive);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn every_hit_in_a_real_trace_equals_a_naive_list() {
    agree_on_a_real_trace(lru, naive);
}

/// Stack distances of requests (Mattson 1970). A request hits in every cache that is larger than the number
/// of other blocks accessed since the last access to its block. `None` marks the first access to a block.
fn stack_distances(blocks: &[u64]) -> Vec<Option<usize>> {
    let mut stack: Vec<u64> = Vec::new();
    let distances = blocks.iter().map(|block| {
        let distance = stack.iter().rev().position(|other| other == block);
        stack.retain(|other| other != block);
        stack.push(*block);
        distance
    });
    distances.collect()
}

#[test]
fn a_request_hits_if_its_stack_distance_is_below_the_capacity() {
    let blocks = streams::zipf(200, 0.8, 5000, &mut streams::random("mattson"));
    let distances = stack_distances(&blocks);
    for capacity in 1..=210 {
        let mut hits = vec![false; blocks.len()];
        lru(capacity).replay_each(&blocks, &mut hits);
        for (request, (hit, distance)) in hits.iter().zip(&distances).enumerate() {
            assert_eq!(
                *hit,
                distance.is_some_and(|d| d < capacity),
                "request {request}, capacity {capacity}"
            );
        }
    }
}

#[test]
fn a_larger_cache_holds_all_blocks_of_a_smaller_one() {
    let blocks = streams::zipf(100, 0.7, 2000, &mut streams::random("inclusion"));
    let mut caches: Vec<Lru> = (1..=40).map(lru).collect();
    for &block in &blocks {
        for cache in &mut caches {
            cache.access(block);
        }
        for pair in caches.windows(2) {
            assert!((0..100).all(|block| !pair[0].contains(block) || pair[1].contains(block)));
        }
    }
}

/// Che's approximation: the hit ratio of LRU with `capacity` blocks under independent references with the
/// access probabilities `law`.
fn che(law: &[f64], capacity: usize) -> f64 {
    let filled = |time: f64| law.iter().map(|p| -libm::expm1(-p * time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    while filled(high) < capacity as f64 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if filled(middle) < capacity as f64 { low = middle } else { high = middle }
    }
    law.iter().map(|p| -p * libm::expm1(-p * low)).sum()
}

#[test]
fn the_hit_ratio_under_independent_references_obeys_che() {
    assert!((che(&streams::zipf_law(10_000, 0.8), 1000) - 0.4367).abs() < 5e-5, "the published point");
    for (items, skew, capacity) in
        [(10_000, 0.8, 1000), (10_000, 0.8, 100), (10_000, 1.0, 500), (5000, 0.6, 2500)]
    {
        let blocks = streams::zipf(items, skew, 600_000, &mut streams::random("che"));
        let (warm_up, measured) = blocks.split_at(200_000);
        let mut cache = lru(capacity);
        cache.replay(warm_up);
        let ratio = cache.replay(measured) as f64 / measured.len() as f64;
        let law = che(&streams::zipf_law(items, skew), capacity);
        assert!(
            (ratio - law).abs() < 0.005,
            "{ratio} simulated, {law} by Che: {items} items, {skew}, {capacity}"
        );
    }
}
