//! Compares hash table and tree with a plain map, and checks invariants of their pages.

use super::{random, small};
use crate::kv::btree::{Btree, ROOT};
use crate::kv::hash::{Hash, META, spread};
use crate::kv::method::Method;
use crate::kv::pages::NONE;
use crate::kv::{AccessMethod, Config, Load, btree_of, hash_of, loaded};
use crate::testing::{check_chi_square, check_share};
use nacre_kernel::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn get(method: &impl Method, key: u32) -> Option<u32> {
    method.find(key).map(|(page, at)| method.pages().entries(page)[at].value)
}

/// Applies `steps` to `method` and to a plain map. A step inserts a key, or swaps the values of two keys.
fn compare(method: &mut impl Method, steps: &[(u32, u32, bool)]) {
    let mut map = BTreeMap::new();
    for &(key, other, is_swap) in steps {
        let (a, b) = (map.get(&key).copied(), map.get(&other).copied());
        if let (true, Some(a), Some(b)) = (is_swap, a, b) {
            for (key, value) in [(key, b), (other, a)] {
                let (page, at) = method.find(key).expect("the map has it");
                method.pages_mut().set(page, at, value);
                map.insert(key, value);
            }
        } else {
            method.insert(key, other);
            map.insert(key, other);
        }
    }
    for key in 0..300 {
        assert_eq!(get(method, key), map.get(&key).copied(), "key {key}");
    }
}

/// Returns the keys of the tree from left to right. Checks their order, and the depth, size, and neighbors of
/// pages.
fn keys_of(tree: &Btree) -> Vec<u32> {
    fn walk(
        tree: &Btree,
        page: u32,
        low: u32,
        high: Option<u32>,
        leaves: &mut Vec<u32>,
        keys: &mut Vec<u32>,
    ) {
        let (entries, level) = (tree.pages().entries(page), tree.pages().level(page));
        if level == 0 {
            leaves.push(page);
            assert!(entries.iter().all(|entry| entry.key >= low && high.is_none_or(|high| entry.key < high)));
            keys.extend(entries.iter().map(|entry| entry.key));
            return;
        }
        for (at, entry) in entries.iter().enumerate() {
            assert_eq!(tree.pages().level(entry.value), level - 1, "all leaves are equally deep");
            let from = if at == 0 { low } else { entry.key };
            let to = entries.get(at + 1).map(|next| next.key).or(high);
            walk(tree, entry.value, from, to, leaves, keys);
        }
    }
    let (mut leaves, mut keys) = (Vec::new(), Vec::new());
    walk(tree, ROOT, 0, None, &mut leaves, &mut keys);
    for (place, &leaf) in leaves.iter().enumerate() {
        assert_eq!(tree.pages().next(leaf), leaves.get(place + 1).copied().unwrap_or(NONE));
        assert!(!tree.pages().entries(leaf).is_empty() || leaves.len() == 1, "no leaf is empty");
    }
    assert!(keys.is_sorted_by(|a, b| a < b), "keys are in order, each once");
    keys
}

/// Checks that each key is in the correct bucket of the table, and that no page is used twice.
fn check_buckets(table: &Hash, pairs: usize, fill: usize) {
    assert_eq!(
        table.buckets() as usize,
        pairs.div_ceil(fill).max(2),
        "a bucket more whenever there are too many"
    );
    let (mut pages, mut found) = (BTreeSet::from([META]), 0);
    for bucket in 0..table.buckets() {
        let mut page = table.page(bucket);
        while page != NONE {
            assert!(pages.insert(page), "page {page} is used twice");
            for entry in table.pages().entries(page) {
                // The number of a bucket consists of the lowest bits of the hash.
                let bits = u32::BITS - (table.buckets() - 1).leading_zeros();
                let long = spread(entry.key) & ((1 << bits) - 1);
                let short = long & ((1 << (bits - 1)) - 1);
                assert_eq!(bucket, if long < table.buckets() { long } else { short });
                found += 1;
            }
            let next = table.pages().next(page);
            assert!(next == NONE || table.pages().is_full(page), "a page overflows when it is full");
            page = next;
        }
    }
    assert_eq!(found, pairs);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_holds_what_a_map_holds(
        leaf in 2u32..8, inner in 2u32..8,
        steps in proptest::collection::vec((0u32..300, 0u32..300, any::<bool>()), 0..700),
    ) {
        let mut tree = Btree::new(leaf, inner);
        compare(&mut tree, &steps);
        let keys = keys_of(&tree);
        let inserted = keys.iter().all(|&key| get(&tree, key).is_some());
        prop_assert!(inserted);
    }

    #[test]
    fn a_table_holds_what_a_map_holds(
        capacity in 1u32..8, fill in 1u32..12,
        steps in proptest::collection::vec((0u32..300, 0u32..300, any::<bool>()), 0..700),
    ) {
        let mut table = Hash::new(capacity, fill);
        compare(&mut table, &steps);
        let pairs = (0..300).filter(|&key| get(&table, key).is_some()).count();
        check_buckets(&table, pairs, fill as usize);
    }
}

fn large(method: AccessMethod, load: Load) -> Config {
    Config { keys: 100_000, page: Bytes(4096), load, ..small(method) }
}

#[test]
fn keys_in_their_order_fill_every_leaf_but_the_last() {
    let tree = btree_of(&large(AccessMethod::Btree, Load::Sorted), random("load"));
    assert_eq!(keys_of(&tree), (0..100_000).collect::<Vec<u32>>());
    // 4,070 B hold 31 pairs of 24 + 104 B, or 135 pointers of 30 B. The tree has 3,226 leaves, 24 pages above
    // them, the root, and the page that describes the tree.
    assert_eq!((tree.pages().count(), tree.levels()), (3_226 + 24 + 1 + 1, 3));
}

#[test]
fn a_tree_loaded_in_order_is_as_high_as_its_pages_allow() {
    for (leaf, inner, keys) in [(3, 4, 3 * 256 + 5), (2, 2, 200), (5, 7, 5 * 343 + 1)] {
        let mut tree = Btree::new(leaf, inner);
        let (mut most, mut levels) = (leaf, 1);
        for key in 0..keys {
            if key == most {
                (most, levels) = (most * inner, levels + 1);
            }
            tree.insert(key, key);
            assert_eq!(tree.levels(), levels, "{} keys, {leaf} on a leaf, {inner} above", key + 1);
        }
    }
}

#[test]
fn random_insertions_leave_leaves_full_to_the_logarithm_of_two() {
    let tree = btree_of(&large(AccessMethod::Btree, Load::Random), random("load"));
    assert_eq!(keys_of(&tree), (0..100_000).collect::<Vec<u32>>());
    let leaves = (1..tree.pages().count()).filter(|&page| tree.pages().level(page) == 0).count();
    let fill = 100_000.0 / (31.0 * leaves as f64);
    // The utilization is ln 2 in the limit of large pages (Yao 1978). With 31 pairs per page, the difference
    // is about half of 1/31.
    assert!((fill / std::f64::consts::LN_2 - 1.0).abs() < 0.03, "leaves are {fill} full");
}

#[test]
fn a_table_of_any_order_of_loading_is_the_same() {
    let table = |load| hash_of(&large(AccessMethod::Hash, load), random("load"));
    let (sorted, other) = (table(Load::Sorted), table(Load::Random));
    // 4,064 B / 124 B gives 32 pairs per bucket.
    check_buckets(&sorted, 100_000, 32);
    check_buckets(&other, 100_000, 32);
    assert_eq!(sorted.buckets(), 3_125);
}

#[test]
fn keys_fall_into_buckets_as_if_at_random() {
    let config = Config { keys: 65_536, fill: Some(64), ..small(AccessMethod::Hash) };
    let table = hash_of(&config, random("load"));
    let mut counts = vec![0; 1024];
    for key in 0..65_536 {
        counts[table.bucket(key) as usize] += 1;
    }
    check_chi_square(&counts, &[64.0; 1024]);
}

#[test]
fn buckets_overflow_as_often_as_chance_has_it() {
    // Each of 1,024 buckets has 32 pairs on average, on pages of 33. The number of pairs per bucket is
    // binomial with 32,768 trials and probability 1/1,024.
    let config = Config { keys: 32_768, ..large(AccessMethod::Hash, Load::Sorted) };
    let table = hash_of(&config, random("load"));
    assert_eq!(table.buckets(), 1_024);
    let (mut chance, mut within) = (libm::exp(32_768.0 * libm::log1p(-1.0 / 1_024.0)), 0.0);
    for pairs in 0..=33 {
        within += chance;
        chance *= f64::from(32_768 - pairs) / f64::from(pairs + 1) / 1_023.0;
    }
    let over = (0..1_024).filter(|&bucket| table.pages().next(table.page(bucket)) != NONE).count();
    check_share(over, 1_024, 1.0 - within);
}

#[test]
fn a_loaded_store_gives_every_key_its_number() {
    let config = small(AccessMethod::Hash);
    let tree = loaded(Btree::new(3, 4), &Config { load: Load::Random, ..config.clone() }, random("load"));
    let table = loaded(Hash::new(3, 5), &config, random("load"));
    for key in 0..200 {
        assert_eq!((get(&tree, key), get(&table, key)), (Some(key), Some(key)));
    }
    assert_eq!((get(&tree, 200), get(&table, 200)), (None, None));
}
