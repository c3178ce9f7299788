//! Compares caches with closed forms and with each other.

use super::{Host, NETWORK, pcm_cache};
use crate::workbench;
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_testkit::assert_close;

const PCM_READ: f64 = 6.7;
const EMLC_READ: f64 = 108.0;
const NETWORK_READ: f64 = 919.0;

/// Results of reads that do not overlap in time.
struct Outcome {
    hit_ratio: f64,
    mean_us: f64,
}

fn spaced_reads(cache: &mut Host, blocks: &[u64]) -> Outcome {
    let (mut now, mut total) = (Time::ZERO, Time::ZERO);
    for &block in blocks {
        total += cache.latency(now, super::blocks(Op::Read, block, 1));
        now += Time::from_ms(2);
    }
    let reads = blocks.len() as f64;
    assert_eq!(cache.count("read_merged"), 0);
    Outcome { hit_ratio: cache.count("read_hits") as f64 / reads, mean_us: total.as_secs_f64() * 1e6 / reads }
}

fn emlc_cache(blocks: u64) -> Host {
    let emlc = format!(
        "kind = \"measured\", read = \"108 us\", write = \"37.1 us\", capacity = \"{} KiB\"",
        blocks * 4
    );
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\nlevel = [{{ device = {{ {emlc} }} }}]\n[stack.backing]\n{NETWORK}"
    );
    crate::workbench::host(&toml)
}

/// Probabilities of `items` items with a Zipf distribution: `p_i` is proportional to `i^-theta`.
fn zipf(items: u64, theta: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=items).map(|rank| libm::pow(rank as f64, -theta)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn draws(probabilities: &[f64], count: usize, seed: u64) -> Vec<u64> {
    let mut random = Streams::new(seed).stream("zipf");
    let mut sum = 0.0;
    let below: Vec<f64> = probabilities
        .iter()
        .map(|p| {
            sum += p;
            sum
        })
        .collect();
    let last = below.len() - 1;
    let mut draw = || {
        let unit = random.unit();
        below.partition_point(|&below| below <= unit).min(last) as u64
    };
    (0..count).map(|_| draw()).collect()
}

/// Hit ratio of an LRU cache by Che's approximation: T follows from sum(1 - exp(-p_i T)) = C for a capacity
/// of C blocks, and the hit ratio is sum(p_i (1 - exp(-p_i T))).
fn che(probabilities: &[f64], capacity: f64) -> f64 {
    let held = |time: f64| probabilities.iter().map(|p| 1.0 - libm::exp(-p * time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if held(middle) < capacity { low = middle } else { high = middle }
    }
    probabilities.iter().map(|p| p * (1.0 - libm::exp(-p * low))).sum()
}

#[test]
fn lru_under_zipf_requests_meets_ches_law_and_the_mean_latency_follows() {
    let probabilities = zipf(10_000, 0.8);
    let expected = che(&probabilities, 1000.0);
    assert!((expected - 0.4367).abs() < 5e-5, "the closed form itself: {expected}");
    let mut cache = pcm_cache(1000, "");
    spaced_reads(&mut cache, &draws(&probabilities, 30_000, 1));
    let warm = Time::from_s(100);
    cache.run(warm);
    cache.device.restart_ledger(warm);
    let mut total = Time::ZERO;
    let stream = draws(&probabilities, 200_000, 2);
    for (number, &block) in stream.iter().enumerate() {
        let now = warm + Time::from_ms(2 * number as u64);
        total += cache.latency(now, super::blocks(Op::Read, block, 1));
    }
    let hit_ratio = cache.count("read_hits") as f64 / stream.len() as f64;
    assert!((hit_ratio - expected).abs() < 0.005, "{hit_ratio} against Che's {expected}");
    let law = expected * PCM_READ + (1.0 - expected) * NETWORK_READ;
    assert_close("mean latency", total.as_secs_f64() * 1e6 / stream.len() as f64, law, 0.01);
}

#[test]
fn a_quarter_of_pcm_beats_emlc_exactly_above_the_critical_share_of_its_hit_ratio() {
    // h_P d_P + (1 - h_P) n < h_F d_F + (1 - h_F) n  <=>  h_P > h_F (n - d_F) / (n - d_P).
    let critical = (NETWORK_READ - EMLC_READ) / (NETWORK_READ - PCM_READ);
    assert!((critical - 0.889).abs() < 1e-4, "{critical}");
    let mut wins = 0;
    for theta in [0.4, 0.8, 1.2, 1.4, 1.8] {
        let stream = draws(&zipf(4000, theta), 20_000, 3);
        let flash = spaced_reads(&mut emlc_cache(1024), &stream);
        let pcm = spaced_reads(&mut pcm_cache(256, ""), &stream);
        let law = |h: f64, d: f64| h * d + (1.0 - h) * NETWORK_READ;
        assert_close("eMLC", flash.mean_us, law(flash.hit_ratio, EMLC_READ), 1e-9);
        assert_close("PCM", pcm.mean_us, law(pcm.hit_ratio, PCM_READ), 1e-9);
        let pcm_wins = pcm.mean_us < flash.mean_us;
        assert_eq!(pcm_wins, pcm.hit_ratio > critical * flash.hit_ratio, "theta {theta}");
        wins += u32::from(pcm_wins);
    }
    assert!(0 < wins && wins < 5, "the streams lie on both sides of the threshold: {wins} wins");
}

#[test]
fn a_larger_lru_cache_never_hits_less() {
    let stream = draws(&zipf(2000, 0.9), 10_000, 4);
    let hits = |blocks| spaced_reads(&mut pcm_cache(blocks, ""), &stream).hit_ratio;
    let ratios: Vec<f64> = [1, 3, 10, 50, 200, 1000, 3000].map(hits).to_vec();
    assert!(ratios.is_sorted(), "{ratios:?}");
    assert!(ratios[0] < ratios[6], "{ratios:?}");
}

#[test]
fn two_exclusive_lru_levels_equal_one_of_both_sizes() {
    let stream = draws(&zipf(2000, 0.7), 20_000, 5);
    let level = |blocks: u64| {
        let capacity = blocks * 4;
        format!(
            "{{ device = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"{capacity} KiB\" }} }}"
        )
    };
    let hit_ratio = |levels: &[u64]| {
        let levels: Vec<String> = levels.iter().copied().map(level).collect();
        let levels = levels.join(", ");
        let toml =
            format!("[stack]\nkind = \"server_cache\"\nlevel = [{levels}]\n[stack.backing]\n{NETWORK}");
        let mut cache = crate::workbench::host(&toml);
        let outcome = spaced_reads(&mut cache, &stream);
        cache.check();
        outcome.hit_ratio
    };
    let one = hit_ratio(&[400]);
    assert_eq!(hit_ratio(&[100, 300]), one);
    assert_eq!(hit_ratio(&[300, 100]), one);
    assert_eq!(hit_ratio(&[50, 150, 200]), one);
}

#[test]
fn hits_and_merges_are_the_hits_of_lru_alone_however_close_requests_follow() {
    let stream = draws(&zipf(4000, 0.8), 20_000, 7);
    let expected = workbench::policy("lru", 1000).replay(&stream);
    for gap in [1, 50, 2000] {
        let mut cache = pcm_cache(1000, "");
        for (number, &block) in stream.iter().enumerate() {
            cache.submit(Time::from_us(gap * number as u64), super::blocks(Op::Read, block, 1));
        }
        cache.rest();
        let [hits, merged] = ["read_hits", "read_merged"].map(|name| cache.count(name));
        assert_eq!(hits + merged, expected, "{gap} us apart");
        assert_eq!(merged > 0, gap < 919, "{merged} blocks were waited for, {gap} us apart");
    }
}

#[test]
fn data_written_to_a_level_comes_from_another_level_the_backing_or_the_host() {
    const BLOCK: u64 = 65536;
    const PART: u64 = 4096;
    let level = |mib: u64| {
        format!(
            "{{ device = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"{mib} MiB\" }} }}"
        )
    };
    for inclusive in [false, true] {
        let inclusion = if inclusive { "inclusive" } else { "exclusive" };
        let toml = format!(
            "[stack]\nkind = \"server_cache\"\nblock = \"64 KiB\"\ninclusion = \"{inclusion}\"\n\
             level = [{}, {}]\nbacking = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\" }}",
            level(2),
            level(8)
        );
        let mut cache = crate::workbench::host(&toml);
        let parts = draws(&zipf(4000, 0.7), 20_000, 6);
        for (number, &part) in parts.iter().enumerate() {
            let op = if number % 5 == 0 { Op::Write } else { Op::Read };
            cache.latency(Time::from_ms(2 * number as u64), super::blocks(op, part, 1));
        }
        cache.rest();
        let report = cache.report();
        let moved = |child: usize, name: &str| super::counter(&report.children[child], name);
        let host = |name: &str| PART * super::counter(&report, name);
        let [upper, lower, backing] = [0, 1, 2].map(|child| moved(child, "bytes_read"));
        assert!(lower > 0 && lower == BLOCK * super::counter(&report, "promotions"));
        assert_eq!(super::counter(&report, "read_merged"), 0);
        assert_eq!(moved(0, "bytes_written"), backing + lower + host("level0_write_hits"), "{inclusion}");
        let (came, written) = if inclusive {
            (backing, host("write_hits"))
        } else {
            (upper - host("level0_read_hits"), host("level1_write_hits"))
        };
        assert_eq!(moved(1, "bytes_written"), came + written, "{inclusion}");
    }
}

#[test]
fn past_the_bound_of_blocks_on_their_way_misses_pass_the_cache_by() {
    let device = "kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"1 GiB\"";
    let toml = format!(
        "[stack]\nkind = \"server_cache\"\nlevel = [{{ device = {{ {device} }} }}]\n\
         backing = {{ kind = \"network\", read = \"1 s\", write = \"1 s\" }}"
    );
    let mut cache = crate::workbench::host(&toml);
    let megabytes = |at: u64| Request { bytes: 1 << 22, ..super::blocks(Op::Read, at * 1024, 1) };
    let numbers: Vec<usize> = (0..70).map(|at| cache.submit(Time::from_us(at), megabytes(at))).collect();
    for number in numbers {
        assert_eq!(cache.wait(number).latency, Time::from_s(1));
    }
    let counts = ["read_misses", "fills", "bypassed"].map(|name| cache.count(name));
    assert_eq!(counts, [70 * 1024, 64 * 1024, 6 * 1024]);
    cache.latency(Time::from_s(3), megabytes(69));
    assert_eq!(cache.count("fills"), 65 * 1024, "there is room again");
    cache.check();
}

#[test]
fn one_request_larger_than_the_bound_passes_the_cache_by_with_its_rest() {
    let device = "kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"1 GiB\"";
    let cache = |backing: &str| {
        let toml = format!(
            "[stack]\nkind = \"server_cache\"\nblock = \"512 B\"\nlevel = [{{ device = {{ {device} }} }}]\n\
             backing = {{ kind = \"network\", read = \"{backing}\", write = \"1 s\" }}"
        );
        crate::workbench::host(&toml)
    };
    let large = Request { bytes: 1 << 28, ..super::blocks(Op::Read, 0, 1) };
    let names = ["read_misses", "fills", "bypassed", "backing_reads", "read_merged"];
    let mut slow = cache("1 s");
    slow.submit(Time::ZERO, Request { address: 1 << 30, ..super::blocks(Op::Read, 0, 1) });
    let first = slow.submit(Time::ZERO, large);
    let (all, bound) = (1 << 19, 1 << 16);
    let second = slow.submit(Time::from_us(1), large);
    assert_eq!(slow.count("read_merged"), bound - 8, "those on their way are waited for");
    assert_eq!(slow.wait(first).latency, Time::from_s(1));
    assert_eq!(slow.wait(second).latency, Time::from_s(1));
    slow.rest();
    let bypassed = 2 * (all - bound + 8);
    assert_eq!(
        names.map(|name| slow.count(name)),
        [all + 8 + all - bound + 8, bound, bypassed, 4, bound - 8]
    );
    slow.check();
}
