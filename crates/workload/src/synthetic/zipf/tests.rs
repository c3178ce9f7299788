use super::Ranks;
use crate::testing::{check_chi_square, check_repeatable, check_share, problems, requests};
use nacre_kernel::{Op, Streams};
use std::collections::BTreeMap;

const SETTINGS: &str =
    "kind = \"zipf\"\nrequests = 200_000\nfootprint = \"40_000 KiB\"\nread_share = \"0 %\"";

/// Sum of k^-theta for k from 1 to `items`. Terms after the first thousand are summed with the
/// Euler-Maclaurin formula.
fn zeta(items: u64, theta: f64) -> f64 {
    let exact = items.min(1000);
    let head: f64 = (1..=exact).map(|k| libm::pow(k as f64, -theta)).sum();
    if items == exact {
        return head;
    }
    let (a, b) = (exact as f64, items as f64);
    let integral = if theta == 1.0 {
        libm::log(b / a)
    } else {
        (libm::pow(b, 1.0 - theta) - libm::pow(a, 1.0 - theta)) / (1.0 - theta)
    };
    let [at_a, at_b] = [a, b].map(|x| libm::pow(x, -theta));
    head + integral + (at_b - at_a) / 2.0 + theta * (at_a / a - at_b / b) / 12.0
}

#[test]
fn ranks_have_their_exact_probabilities() {
    for theta in [0.0, 0.2, 0.8, 0.99, 1.0, 1.2, 2.0, 3.0] {
        for items in if theta < 2.0 { [1u64, 2, 200] } else { [2, 3, 10] } {
            let ranks = Ranks::new(items, theta);
            let mut random = Streams::new(items).stream("zipf");
            let mut counts = vec![0u64; items as usize];
            for _ in 0..200_000 {
                counts[ranks.sample(&mut random) as usize] += 1;
            }
            let expected = |k: u64| 2e5 * libm::pow(k as f64, -theta) / zeta(items, theta);
            if items == 1 {
                assert_eq!(counts, [200_000]);
            } else {
                check_chi_square(&counts, &(1..=items).map(expected).collect::<Vec<f64>>());
            }
        }
    }
}

#[test]
fn a_trillion_items_keep_the_law_at_both_ends() {
    let items = 1 << 40;
    for theta in [0.0, 0.5, 0.99, 1.0, 1.1] {
        let ranks = Ranks::new(items, theta);
        let mut random = Streams::new(1).stream("zipf");
        let draws: Vec<u64> = (0..100_000).map(|_| ranks.sample(&mut random)).collect();
        assert!(draws.iter().all(|&rank| rank < items));
        for bound in [1, 10, 1000, 1 << 20, 1 << 30, 1 << 39] {
            let share = zeta(bound, theta) / zeta(items, theta);
            let hits = draws.iter().filter(|&&rank| rank < bound).count();
            if share * 100_000.0 > 20.0 {
                check_share(hits, draws.len(), share);
            }
        }
    }
}

#[test]
fn an_lru_cache_hits_as_often_as_ches_approximation_says() {
    let settings = format!("{SETTINGS}\ntheta = 0.8");
    // Blocks ordered by their last use. The least recently used block is evicted.
    let (mut last_use, mut by_use) = (BTreeMap::new(), BTreeMap::new());
    let (mut hits, mut counted) = (0u32, 0u32);
    for (now, request) in requests(&settings).iter().enumerate() {
        let before = last_use.insert(request.address, now);
        if let Some(before) = before {
            by_use.remove(&before);
        } else if by_use.len() == 1000 {
            let (_, victim) = by_use.pop_first().expect("a full cache");
            last_use.remove(&victim);
        }
        by_use.insert(now, request.address);
        counted += u32::from(now >= 20_000);
        hits += u32::from(now >= 20_000 && before.is_some());
    }
    let ratio = f64::from(hits) / f64::from(counted);
    // Che's approximation: the sum of 1 - exp(-p T) is C, and the hit ratio is the sum of p (1 - exp(-p T)).
    // With 180,000 samples, the tolerance is 5 * 0.12 %.
    assert!((ratio - 0.4367).abs() < 0.006, "hit ratio {ratio}");
}

#[test]
fn hot_blocks_lie_apart_unless_told_otherwise() {
    let hottest = |settings: &str| {
        let mut counts = vec![0u32; 10_000];
        for request in requests(settings) {
            counts[(request.address / 4096) as usize] += 1;
        }
        let mut blocks: Vec<usize> = (0..10_000).collect();
        blocks.sort_by_key(|&block| std::cmp::Reverse(counts[block]));
        blocks.truncate(16);
        blocks
    };
    let together = hottest(&format!("{SETTINGS}\nscatter = false"));
    assert_eq!(together[..4], [0, 1, 2, 3]);
    let apart = hottest(SETTINGS);
    let below_half = apart.iter().filter(|&&block| block < 5000).count();
    assert!((2..=14).contains(&below_half), "{apart:?}");
    assert!(apart.iter().all(|block| !apart.contains(&(block + 1))), "{apart:?}");
}

#[test]
fn scattering_changes_where_and_nothing_else() {
    let apart = requests(SETTINGS);
    let together = requests(&format!("{SETTINGS}\nscatter = false"));
    let mut places = BTreeMap::new();
    for (apart, together) in apart.iter().zip(&together) {
        assert_eq!(apart.op, Op::Write);
        assert_eq!(*places.entry(together.address).or_insert(apart.address), apart.address);
    }
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    check_repeatable(&SETTINGS.replace("200_000", "5_000"));
}

#[test]
fn a_law_that_favors_the_unpopular_is_refused() {
    let expected = "workload.theta (test.toml:6): it is too small, given -0.5; the smallest allowed is 0";
    assert_eq!(problems(&format!("{SETTINGS}\ntheta = -0.5")), [expected]);
}
