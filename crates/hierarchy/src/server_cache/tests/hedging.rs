//! Tests of hedged reads: closed forms, and reads that are not hedged.

use super::Host;
use nacre_kernel::{Op, Time};
use nacre_testkit::assert_close;

const READS: u32 = 100_000;

/// A cache of one level. The latencies of the level and of the backing are exponentially distributed.
fn cache(settings: &str) -> Host {
    let device = |mean: &str, capacity: &str| {
        format!(
            "{{ kind = \"measured\", read = {{ kind = \"exponential\", mean = \"{mean}\" }}, write = \"10 us\", \
             parallelism = 64, capacity = \"{capacity}\" }}"
        )
    };
    crate::workbench::host(&format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\nbacking = {}\nlevel = [{{ device = {} }}]\n",
        device("200 us", "1 MiB"),
        device("100 us", "256 KiB"),
    ))
}

/// Reads `blocks` cached blocks [`READS`] times, one request after the other. Returns the latencies in
/// microseconds, in ascending order.
fn hits(cache: &mut Host, blocks: u64) -> Vec<f64> {
    cache.latency(Time::ZERO, super::blocks(Op::Read, 0, 2));
    let at = |read: u32| Time::from_ms(10) * u64::from(read + 1);
    let mut latency = |read| cache.latency(at(read), super::blocks(Op::Read, 0, blocks)).as_secs_f64() * 1e6;
    let mut latencies: Vec<f64> = (0..READS).map(&mut latency).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    latencies
}

/// The latency L of the level and the latency B of the backing are exponentially distributed, with means of
/// 100 and 200 us. A read takes min(L, 150 us + B). It takes more than t with probability exp(-t / 100 us).
/// Beyond 150 us, this probability is multiplied by exp(-(t - 150 us) / 200 us).
#[test]
fn hedged_reads_take_the_minimum_of_two_latencies() {
    let mut cache = cache("hedge_after = \"150 us\"");
    let latencies = hits(&mut cache, 1);
    let quantile = |share: f64| latencies[(share * f64::from(READS)) as usize];
    let slow = |share: f64| (-libm::log(1.0 - share) + 0.75) / (0.01 + 0.005);
    assert_close("p50", quantile(0.5), 100.0 * libm::log(2.0), 0.02);
    assert_close("p90", quantile(0.9), slow(0.9), 0.02);
    assert_close("p99", quantile(0.99), slow(0.99), 0.03);
    // The level takes more than 150 us with probability exp(-1.5). In a third of these cases, the backing is
    // first.
    let [sent, won] = ["hedges_sent", "hedges_won"].map(|name| cache.count(name) as f64);
    assert_close("hedges", sent / f64::from(READS), libm::exp(-1.5), 0.03);
    assert_close("won", won / sent, 1.0 / 3.0, 0.04);
}

/// Tests that a request of two blocks has two parts, and that the slower part determines the latency.
#[test]
fn hedged_parts_take_the_maximum_of_minima() {
    let mut cache = cache("hedge_after = \"150 us\"");
    let latencies = hits(&mut cache, 2);
    // 1 - (1 - x)^2 is 1 % for x = 0.50126 %.
    let part = 1.0 - libm::sqrt(0.99);
    assert_close("p99", latencies[READS as usize * 99 / 100], (-libm::log(part) + 0.75) / 0.015, 0.03);
}

#[test]
fn a_cache_without_hedging_waits_for_its_level() {
    let mut patient = cache("");
    let latencies = hits(&mut patient, 1);
    assert_close("p99", latencies[READS as usize * 99 / 100], 100.0 * libm::log(100.0), 0.03);
}

/// Tests that reads of dirty blocks are not hedged, because the backing does not have these blocks.
#[test]
fn dirty_blocks_are_not_hedged() {
    let mut cache =
        cache("hedge_after = \"1 us\"\nwrite_back = { dirty = \"100 %\", clean_above = \"100 %\" }");
    cache.latency(Time::ZERO, super::blocks(Op::Write, 0, 1));
    for read in 1..1000 {
        cache.latency(Time::from_ms(read), super::blocks(Op::Read, 0, 1));
    }
    assert_eq!((cache.count("hedges_sent"), cache.count("read_hits")), (0, 999));
    // A flush writes the block to the backing.
    cache.latency(Time::from_ms(1000), super::blocks(Op::Flush, 0, 0));
    cache.latency(Time::from_ms(1001), super::blocks(Op::Read, 0, 1));
    assert_eq!(cache.count("hedges_sent"), 1);
}
