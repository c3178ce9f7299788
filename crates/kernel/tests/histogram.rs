//! Compares latency distributions with sorted lists of the same latencies.

use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Random, Streams, Time};
use proptest::prelude::*;

fn histogram(values: &[Time]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    values.iter().for_each(|&value| histogram.record(value));
    histogram
}

/// Returns latencies from nanoseconds to seconds with a log-uniform distribution.
fn latencies(random: &mut Random, count: usize) -> Vec<Time> {
    (0..count).map(|_| Time::from_secs_f64(libm::exp(-20.0 + 20.0 * random.unit()))).collect()
}

#[test]
fn percentiles_are_within_a_twentieth_of_a_percent() {
    let mut values = latencies(&mut Streams::new(1).stream("values"), 100_000);
    let histogram = histogram(&values);
    values.sort();
    for q in [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999] {
        let exact = values[(q * 100_000.0_f64).ceil() as usize - 1].as_ps() as f64;
        let found = histogram.quantile(q).expect("it holds values").as_ps() as f64;
        assert!((found / exact - 1.0).abs() <= 0.0005, "quantile {q}: found {found}, exact {exact}");
    }
    assert_eq!(histogram.quantile(0.0), histogram.min());
    assert_eq!(histogram.quantile(1.0), histogram.max());
}

#[test]
fn count_sum_minimum_and_maximum_are_exact() {
    let values = latencies(&mut Streams::new(2).stream("values"), 10_000);
    let histogram = histogram(&values);
    let sum: u128 = values.iter().map(|value| u128::from(value.as_ps())).sum();
    assert_eq!((histogram.count(), histogram.sum_ps()), (10_000, sum));
    assert_eq!(
        (histogram.min(), histogram.max()),
        (values.iter().min().copied(), values.iter().max().copied())
    );
    assert_eq!(histogram.mean_ps(), Some(sum as f64 / 10_000.0));
    assert_eq!(histogram.bars().map(|bar| bar.count).sum::<u64>(), 10_000);
    assert_eq!(histogram.bars().last().map(|bar| bar.upto), histogram.max());
}

#[test]
fn an_empty_distribution_knows_nothing() {
    let empty = LatencyHistogram::new();
    assert_eq!(
        (empty.count(), empty.mean_ps(), empty.min(), empty.max(), empty.quantile(0.5)),
        (0, None, None, None, None)
    );
    assert_eq!(empty.bars().count(), 0);
}

#[test]
fn a_latency_of_zero_and_the_longest_are_kept() {
    let extremes = histogram(&[Time::ZERO, Time::MAX]);
    assert_eq!((extremes.min(), extremes.max()), (Some(Time::ZERO), Some(Time::MAX)));
    assert_eq!(extremes.quantile(0.25), Some(Time::ZERO));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_in_any_order_is_recording_everything(
        left in prop::collection::vec(0..1u64 << 50, 0..50),
        right in prop::collection::vec(0..1u64 << 50, 0..50),
    ) {
        let times = |values: &[u64]| values.iter().map(|&ps| Time::from_ps(ps)).collect::<Vec<_>>();
        let (left, right) = (times(&left), times(&right));
        let all = histogram(&[left.clone(), right.clone()].concat());
        for (first, second) in [(&left, &right), (&right, &left)] {
            let mut merged = histogram(first);
            merged.merge(&histogram(second));
            prop_assert_eq!(merged.sum_ps(), all.sum_ps());
            prop_assert_eq!((merged.min(), merged.max(), merged.count()), (all.min(), all.max(), all.count()));
            prop_assert_eq!(merged.bars().collect::<Vec<_>>(), all.bars().collect::<Vec<_>>());
        }
        if let Some((min, max)) = all.min().zip(all.max()) {
            let again = LatencyHistogram::restored(all.bars(), all.sum_ps(), min, max);
            prop_assert_eq!(again.bars().collect::<Vec<_>>(), all.bars().collect::<Vec<_>>());
            prop_assert_eq!((again.min(), again.max(), again.sum_ps()), (all.min(), all.max(), all.sum_ps()));
            prop_assert!([0.1, 0.5, 0.99].iter().all(|&q| again.quantile(q) == all.quantile(q)));
        }
    }
}

#[test]
fn equal_values_can_be_added_at_once() {
    let (mut together, mut singly) = (LatencyHistogram::new(), LatencyHistogram::new());
    for (ns, count) in [(160, 40), (7_200, 3), (160, 1), (90, 7)] {
        together.record_n(Time::from_ns(ns), count);
        (0..count).for_each(|_| singly.record(Time::from_ns(ns)));
    }
    assert_eq!((together.count(), together.sum_ps()), (51, singly.sum_ps()));
    assert_eq!((together.min(), together.max()), (singly.min(), singly.max()));
    assert!(together.bars().eq(singly.bars()), "the same bars");
}
