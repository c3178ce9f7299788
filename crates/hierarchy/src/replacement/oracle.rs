//! Compares a policy with a naive implementation, request by request.

use super::{Access, Replacement, streams};
use nacre_kernel::Random;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;

/// A policy written directly from its paper, without optimization.
pub(super) trait Oracle {
    /// Records an access to `block`. Returns whether the block is resident.
    fn touch(&mut self, block: u64) -> bool;
    /// Inserts `block`. Returns the evicted block, if any.
    fn admit(&mut self, block: u64) -> Option<u64>;
    /// Removes `block`. Returns whether it was resident.
    fn remove(&mut self, block: u64) -> bool;
    /// Resident blocks, in any order.
    fn resident(&self) -> Vec<u64>;
}

/// Set of blocks in insertion order. The operations of this set are fast enough for a whole trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    by_time: BTreeMap<u64, u64>,
    times: BTreeMap<u64, u64>,
    now: u64,
}

impl Order {
    /// Appends `block`. If it is present, moves it to the end.
    pub(super) fn push(&mut self, block: u64) {
        self.take(block);
        self.now += 1;
        self.by_time.insert(self.now, block);
        self.times.insert(block, self.now);
    }

    /// Removes `block`. Returns whether it was present.
    pub(super) fn take(&mut self, block: u64) -> bool {
        self.times.remove(&block).map(|time| self.by_time.remove(&time)).is_some()
    }

    /// Removes and returns the first block, if any.
    pub(super) fn take_first(&mut self) -> Option<u64> {
        let (_, block) = self.by_time.pop_first()?;
        self.times.remove(&block);
        Some(block)
    }

    /// Whether `block` is present.
    pub(super) fn contains(&self, block: u64) -> bool {
        self.times.contains_key(&block)
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Blocks in ascending order of their keys.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> {
        self.times.keys().copied()
    }
}

/// A test operation on a policy.
#[derive(Clone, Copy, Debug)]
pub(super) enum TestStep {
    /// Touches the block, and admits it on a miss.
    Access(u64),
    /// Touches the block.
    Touch(u64),
    /// Admits the block without a touch, unless it is resident.
    Admit(u64),
    /// Removes the block.
    Remove(u64),
}

/// Applies `steps` to the policy and the oracle, and panics at the first difference.
pub(super) fn agree<P: Replacement, O: Oracle>(policy: &mut P, oracle: &mut O, steps: &[TestStep]) {
    let every = (steps.len() / 50).max(1);
    for (number, step) in steps.iter().enumerate() {
        match *step {
            TestStep::Access(block) => {
                let expected = if oracle.touch(block) {
                    Access::Hit
                } else {
                    Access::Miss { evicted: oracle.admit(block) }
                };
                assert_eq!(policy.access(block), expected, "step {number}, {step:?}");
            }
            TestStep::Touch(block) => {
                assert_eq!(policy.touch(block), oracle.touch(block), "step {number}, {step:?}");
            }
            TestStep::Admit(block) => {
                assert_eq!(
                    policy.contains(block),
                    oracle.resident().contains(&block),
                    "step {number}, {step:?}"
                );
                if !policy.contains(block) {
                    assert_eq!(policy.admit(block), oracle.admit(block), "step {number}, {step:?}");
                }
            }
            TestStep::Remove(block) => {
                assert_eq!(policy.remove(block), oracle.remove(block), "step {number}, {step:?}");
                assert!(!policy.contains(block), "step {number}: a removed block is gone");
            }
        }
        assert!(policy.len() <= policy.capacity(), "step {number}: capacity is exceeded");
        if number % every == 0 {
            policy.check_invariants();
        }
    }
    let resident = oracle.resident();
    assert_eq!(policy.len(), resident.len());
    assert!(resident.iter().all(|block| policy.contains(*block)));
    policy.check_invariants();
}

/// Compares a policy with its oracle for capacities 1 to 16 and some larger capacities, on uniform, Zipf,
/// scanning, and looping sequences. Each sequence runs unchanged, and with additional removals, touches, and
/// admissions.
pub(super) fn agree_everywhere<P: Replacement, O: Oracle>(
    policy: impl Fn(usize) -> P,
    oracle: impl Fn(usize) -> O,
) {
    for capacity in (1..=16).chain([23, 64, 100, 257]) {
        let mut random = streams::random("agree");
        let count = 3000;
        let items = (2 * capacity + 3) as u64;
        let sequences = [
            streams::uniform(items, count, &mut random),
            streams::zipf(10 * capacity, 1.0, count, &mut random),
            streams::zipf(4 * capacity, 0.6, count, &mut random),
            streams::cycle(capacity as u64 + 1, count),
            streams::cycle(capacity as u64 + capacity as u64 / 4 + 2, count),
            streams::polluted_zipf(3 * capacity, 0.9, capacity, (count / capacity / 2).min(200)),
        ];
        for sequence in sequences {
            let plain: Vec<TestStep> = sequence.iter().map(|&block| TestStep::Access(block)).collect();
            agree(&mut policy(capacity), &mut oracle(capacity), &plain);
            let mixed = mix(&sequence, &mut random);
            agree(&mut policy(capacity), &mut oracle(capacity), &mixed);
        }
    }
}

/// Tests every sequence of `length` accesses and removals over `blocks` blocks, for a few combinations of
/// capacity, `blocks`, and `length`.
pub(super) fn agree_exhaustively<P: Replacement, O: Oracle>(
    policy: impl Fn(usize) -> P,
    oracle: impl Fn(usize) -> O,
) {
    for (capacity, blocks, length) in [(1, 2, 6), (2, 3, 6), (3, 4, 5)] {
        let choices = 2 * blocks;
        for mut number in 0..u64::pow(choices, length) {
            let steps: Vec<TestStep> = (0..length)
                .map(|_| {
                    let choice = number % choices;
                    number /= choices;
                    if choice < blocks { TestStep::Access(choice) } else { TestStep::Remove(choice - blocks) }
                })
                .collect();
            agree(&mut policy(capacity), &mut oracle(capacity), &steps);
        }
    }
}

/// Tests random sequences with capacities up to 50. A sequence on which policy and oracle differ is
/// shortened.
pub(super) fn agree_on_any<P: Replacement, O: Oracle>(
    policy: impl Fn(usize) -> P,
    oracle: impl Fn(usize) -> O,
) {
    let block = 0..80u64;
    let step = prop_oneof![
        8 => block.clone().prop_map(TestStep::Access),
        1 => block.clone().prop_map(TestStep::Touch),
        1 => block.clone().prop_map(TestStep::Admit),
        1 => block.prop_map(TestStep::Remove),
    ];
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let run = TestRunner::new_with_rng(config, random).run(
        &(1..50usize, vec(step, 0..400)),
        |(capacity, steps)| {
            agree(&mut policy(capacity), &mut oracle(capacity), &steps);
            Ok(())
        },
    );
    assert!(run.is_ok(), "{}", run.expect_err("it is not Ok"));
}

/// Replays a real trace on the policy and its oracle, and compares the result of every request.
pub(super) fn agree_on_a_real_trace<P: Replacement, O: Oracle>(
    policy: impl Fn(usize) -> P,
    oracle: impl Fn(usize) -> O,
) {
    let blocks = streams::cloudphysics();
    for capacity in [1000, 40_000] {
        let mut hits = vec![false; blocks.len()];
        policy(capacity).replay_each(&blocks, &mut hits);
        let mut oracle = oracle(capacity);
        let expected = blocks.iter().map(|&block| {
            let hit = oracle.touch(block);
            if !hit {
                oracle.admit(block);
            }
            hit
        });
        let first = expected.zip(&hits).position(|(expected, hit)| expected != *hit);
        assert_eq!(first, None, "the first request that differs at capacity {capacity}");
    }
}

fn mix(sequence: &[u64], random: &mut Random) -> Vec<TestStep> {
    sequence
        .iter()
        .map(|&block| match random.below(16) {
            0 => TestStep::Remove(block),
            1 => TestStep::Touch(block),
            2 => TestStep::Admit(block),
            _ => TestStep::Access(block),
        })
        .collect()
}
