//! Compares the policies with each other, and tests properties of all of them.

use super::index::Index;
use super::{Context, MODELS, Replacement, ReplacementFamily, streams};
use nacre_config::{Descriptor, Families, FieldType, Model, Node, Origin, Reader, Slot, Value};

struct Known;

impl Families for Known {
    fn descriptor(&self, _family: &str, kind: &str) -> Option<&'static Descriptor> {
        MODELS.iter().map(|model| &model.descriptor).find(|descriptor| descriptor.kind == kind)
    }

    fn kinds(&self, _family: &str) -> Vec<&'static str> {
        MODELS.iter().map(|model| model.descriptor.kind).collect()
    }
}

/// All policies except those provided by the caller.
fn models() -> impl Iterator<Item = &'static Model<ReplacementFamily>> {
    MODELS.iter().filter(|model| model.descriptor.kind != "external")
}

/// Builds the policy `kind` with its default settings.
fn build(kind: &str, capacity: usize) -> Box<dyn Replacement> {
    let mut reader = Reader::at(&Known, "policy");
    let node = Node { value: Value::Text(kind.into()), origin: Origin::Default("assumed: test") };
    let slot: Slot<ReplacementFamily> = Slot::read(&node, &mut reader).expect("a known model");
    assert!(reader.finish().is_ok(), "the defaults of {kind} are legal");
    let model = MODELS.iter().find(|model| model.descriptor.kind == kind).expect("a known model");
    (model.build)(&slot, &mut Context { families: &Known, capacity }).expect("nothing can go wrong")
}

fn hits(kind: &str, capacity: usize, blocks: &[u64]) -> u64 {
    let mut policy = build(kind, capacity);
    let hits = policy.replay(blocks);
    policy.check_invariants();
    hits
}

#[test]
fn every_room_is_built_from_its_name_and_never_exceeds_its_capacity() {
    let blocks = streams::zipf(3000, 0.9, 20_000, &mut streams::random("all"));
    for model in models() {
        for capacity in [1, 2, 3, 10, 99, 1000, 5000] {
            let mut policy = build(model.descriptor.kind, capacity);
            policy.replay(&blocks);
            assert!(
                policy.len() <= policy.capacity() && policy.capacity() == capacity,
                "{}",
                model.descriptor.kind
            );
            policy.check_invariants();
        }
    }
}

#[test]
fn a_cache_that_holds_everything_misses_each_block_once() {
    let blocks = streams::zipf(2000, 0.7, 30_000, &mut streams::random("all fit"));
    let mut distinct = blocks.clone();
    distinct.sort_unstable();
    distinct.dedup();
    for model in models() {
        // 2Q and LIRS have separate shares, and W-TinyLFU has a window, but none of them evicts while it has
        // space.
        let expected = (blocks.len() - distinct.len()) as u64;
        assert_eq!(
            hits(model.descriptor.kind, 2000 * 101 / 99, &blocks),
            expected,
            "{}",
            model.descriptor.kind
        );
    }
}

#[test]
fn every_way_to_ask_gives_the_same_hits() {
    let blocks = streams::zipf(500, 0.8, 5000, &mut streams::random("ways"));
    for model in models() {
        let kind = model.descriptor.kind;
        let mut one_by_one = build(kind, 60);
        let singly: Vec<bool> = blocks.iter().map(|block| one_by_one.access(*block).is_hit()).collect();
        let mut in_two_steps = build(kind, 60);
        let steps = blocks.iter().map(|&block| {
            let hit = in_two_steps.touch(block);
            if !hit {
                in_two_steps.admit(block);
            }
            hit
        });
        assert!(steps.eq(singly.iter().copied()), "{kind}: touch and admit");
        let mut noted = vec![false; blocks.len()];
        build(kind, 60).replay_each(&blocks, &mut noted);
        assert_eq!(noted, singly, "{kind}: replay");
        let count = singly.iter().filter(|hit| **hit).count() as u64;
        assert_eq!(build(kind, 60).replay(&blocks), count, "{kind}: counting replay");
    }
}

#[test]
fn scans_hurt_lru_more_than_the_policies_made_to_resist_them() {
    let blocks = streams::polluted_zipf(10_000, 0.9, 1000, 200);
    let lru = hits("lru", 1000, &blocks);
    for kind in ["sieve", "s3_fifo", "arc", "two_q", "lirs", "w_tinylfu"] {
        let better = hits(kind, 1000, &blocks);
        assert!(better * 100 > lru * 110, "{kind} hits {better} times, LRU {lru}");
    }
}

#[test]
fn a_loop_slightly_larger_than_the_cache_defeats_lru_and_not_lirs() {
    let blocks = streams::cycle(1100, 55_000);
    assert_eq!(hits("lru", 1000, &blocks), 0);
    assert!(hits("lirs", 1000, &blocks) >= 49 * 990, "990 LIR blocks hit in all rounds but the first");
}

#[test]
fn a_capacity_beyond_memory_takes_memory_for_resident_blocks_only() {
    for model in models() {
        let mut policy = build(model.descriptor.kind, 1 << 40);
        policy.replay(&streams::cycle(5000, 10_000));
        assert_eq!(policy.len(), 5000, "{}", model.descriptor.kind);
    }
}

#[test]
#[should_panic(expected = "resident already")]
fn admitting_a_resident_block_is_an_error() {
    let mut policy = build("lru", 2);
    policy.admit(7);
    policy.admit(7);
}

/// Tests look-ups of blocks at regular strides, which are frequent. Fibonacci numbers are the worst case
/// for multiplicative hashing with one multiplication.
#[test]
fn the_index_spreads_keys_at_any_stride() {
    for stride in [1, 8, 4096, 1 << 32, 1 << 48, 987, 832_040, 12_586_269_025, 0x9e37_79b9_7f4a_7c15] {
        let mut index = Index::new(100_000);
        for number in 0..50_000u32 {
            let vacancy =
                index.find(u64::from(number).wrapping_mul(stride), |_| false).expect_err("no slot holds it");
            index.occupy(vacancy, number);
        }
        let longest = index.longest_probe();
        assert!(longest <= 100, "stride {stride}: a key is {longest} places from its home");
    }
}

#[test]
fn a_restored_policy_evicts_as_the_saved_one() {
    let blocks = streams::zipf(3000, 0.9, 9_000, &mut streams::random("restored"));
    for model in models() {
        let kind = model.descriptor.kind;
        for capacity in [1, 7, 300, 5000] {
            let (mut saved, mut restored) = (build(kind, capacity), build(kind, capacity));
            saved.replay(&blocks[..4000]);
            nacre_testkit::restores(&*saved, &mut *restored);
            restored.check_invariants();
            for &block in &blocks[4000..] {
                assert_eq!(saved.access(block), restored.access(block), "{kind} of {capacity}");
            }
            let bytes = nacre_kernel::state::saved(&*saved).unwrap();
            let mut random = nacre_kernel::Streams::new(1).stream("damages");
            nacre_testkit::what_is_damaged_is_refused(&bytes, &mut random, &mut || build(kind, capacity));
            let other = nacre_kernel::state::restored(&mut *build(kind, capacity + 1), &bytes);
            assert!(other.is_err(), "{kind} of another size");
        }
    }
}
