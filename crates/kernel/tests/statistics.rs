//! Tests that confidence intervals have the stated coverage, and that time series are complete.

use nacre_kernel::statistics::{BatchMeans, Bin, Confidence, TimeSeries};
use nacre_kernel::{Random, Streams, Time};

/// Fraction of the sequences for which the 95 % confidence interval contains the true mean 0. Sequences
/// without an interval are not counted.
fn coverage(
    runs: u64,
    length: usize,
    mut sequence: impl FnMut(&mut Random) -> Box<dyn FnMut(&mut Random) -> f64>,
) -> f64 {
    let (mut covered, mut said) = (0, 0);
    for run in 0..runs {
        let mut random = Streams::new(run).stream("sequence");
        let mut next = sequence(&mut random);
        let (mut batches, mut sum) = (BatchMeans::new(), 0.0);
        for _ in 0..length {
            let value = next(&mut random);
            batches.record(value);
            sum += value;
        }
        let Some(half_width) = batches.half_width_95() else { continue };
        covered += u64::from((sum / length as f64).abs() <= half_width);
        said += 1;
    }
    assert!(said * 10 >= runs * 9, "{said} of {runs} sequences have an interval");
    covered as f64 / said as f64
}

/// The stationary autoregressive process x' = phi x + noise.
fn autoregressive(phi: f64) -> impl FnMut(&mut Random) -> Box<dyn FnMut(&mut Random) -> f64> {
    move |random| {
        let mut x = random.normal() / (1.0 - phi * phi).sqrt();
        Box::new(move |random| {
            x = phi * x + random.normal();
            x
        })
    }
}

#[test]
fn intervals_of_independent_values_cover_95_of_100() {
    // With 2000 runs, the standard error of the coverage is .5 %.
    for length in [512, 1000] {
        let found = coverage(2000, length, |_| Box::new(Random::normal));
        assert!((0.93..=0.97).contains(&found), "{found} of the intervals of {length} values cover");
        let found = coverage(2000, length, |_| Box::new(|random| random.exponential() - 1.0));
        assert!((0.90..=0.97).contains(&found), "{found} of the intervals of {length} skewed values cover");
    }
}

#[test]
fn intervals_of_dependent_values_cover_once_batches_are_long() {
    // At phi = .9, values at a distance of 20 are nearly independent. 30,000 values form batches of 512.
    let found = coverage(300, 30_000, autoregressive(0.9));
    assert!((0.92..=0.98).contains(&found), "{found} of the intervals cover");
}

/// Response times of an M/D/1 queue, minus their mean. The service time is one unit. They are computed with
/// Lindley's recursion and the Pollaczek-Khinchine formula.
fn waiting(load: f64) -> impl FnMut(&mut Random) -> Box<dyn FnMut(&mut Random) -> f64> {
    // Pollaczek-Khinchine formula.
    let mean = 1.0 + load / (2.0 * (1.0 - load));
    move |_| {
        let mut wait = 0.0f64;
        Box::new(move |random| {
            let latency = wait + 1.0 - mean;
            wait = (wait + 1.0 - random.exponential() / load).max(0.0);
            latency
        })
    }
}

#[test]
fn intervals_of_a_queue_cover_its_closed_form() {
    // With 400 runs, the standard error of the coverage is 1.1 %.
    for (load, length) in [(0.5, 10_000), (0.8, 60_000)] {
        let found = coverage(400, length, waiting(load));
        assert!((0.915..=0.98).contains(&found), "{found} of the intervals cover at load {load}");
    }
}

#[test]
fn the_shortest_sequence_with_an_interval_covers_values_that_depend_a_little() {
    // At phi = .5, the means of batches of 16 values have a correlation of .06.
    let found = coverage(2000, 512, autoregressive(0.5));
    assert!((0.90..=0.97).contains(&found), "{found} of the intervals cover");
}

#[test]
fn a_queue_that_begins_to_grow_has_no_interval() {
    let mut batches = BatchMeans::new();
    for waiting in 0..511 {
        assert_eq!(batches.half_width_95(), None, "after {waiting} values");
        batches.record(f64::from(waiting));
    }
    assert_eq!(batches.half_width_95(), None);
    batches.record(511.0);
    assert_eq!(batches.confidence(), Confidence::Dependent, "32 batches of 16 values");
}

#[test]
fn the_half_width_shrinks_with_the_root_of_the_length() {
    let half_width = |length: usize| {
        let mut random = Streams::new(5).stream("sequence");
        let mut batches = BatchMeans::new();
        (0..length).for_each(|_| batches.record(random.normal()));
        batches.half_width_95()
    };
    let (short, long) = (half_width(10_000).unwrap(), half_width(1_000_000).unwrap());
    assert!(
        (6.0..16.0).contains(&(short / long)),
        "a hundred times the values, 1/10 of the width: {}",
        short / long
    );
    assert!((0.7..1.3).contains(&(long / (2.0 / 1000.0))), "two standard errors: {long}");
}

#[test]
fn a_time_series_keeps_every_request_in_a_bounded_number_of_bins() {
    let mut random = Streams::new(1).stream("requests");
    let (mut series, mut sum) = (TimeSeries::new(), Bin::default());
    for step in 0..100_000u64 {
        // Times mostly increase, in steps of growing size, and sometimes decrease.
        let reach = 1 + step * step;
        let at = Time::from_ns(random.below(reach));
        let (is_read, bytes, latency_ps) = (random.chance(0.7), random.below(1 << 20), random.bits() >> 20);
        let bin = series.bin_mut(at);
        for bin in [bin, &mut sum] {
            bin.reads += u64::from(is_read);
            bin.writes += u64::from(!is_read);
            bin.bytes += bytes;
            bin.latency_ps += u128::from(latency_ps);
        }
    }
    assert!(series.bins().len() <= TimeSeries::BINS_MAX);
    let found = series.bins().iter().fold(Bin::default(), |sum, bin| Bin {
        reads: sum.reads + bin.reads,
        writes: sum.writes + bin.writes,
        bytes: sum.bytes + bin.bytes,
        latency_ps: sum.latency_ps + bin.latency_ps,
    });
    assert_eq!(found, sum);
}

#[test]
fn a_request_lands_in_the_bin_of_its_time() {
    let mut series = TimeSeries::new();
    let times = [0, 1, 999, 1_000, 511_999, 3_000_000, 7].map(Time::from_ns);
    for (number, &at) in times.iter().enumerate() {
        series.bin_mut(at).bytes += 1 << (8 * number);
        let width = series.width();
        for (earlier, &at) in times[..=number].iter().enumerate() {
            let bin = series.bins()[(at.as_ps() / width.as_ps()) as usize];
            assert!(bin.bytes >> (8 * earlier) & 1 == 1, "{at} is not in its bin of {width}");
        }
    }
    assert_eq!(series.width(), Time::from_us(8), "3 ms need bins of 8 us when there are 512");
    series.bin_mut(Time::MAX).reads += 1;
    assert!(series.bins().len() <= TimeSeries::BINS_MAX, "the last representable moment has a bin");
}

#[test]
fn values_can_be_added_many_at_a_time() {
    let (mut together, mut singly) = (BatchMeans::new(), BatchMeans::new());
    let values: Vec<f64> = (0..5_000).map(|index| f64::from(index * 7_919 % 1_009) / 3.0).collect();
    values.iter().for_each(|&value| singly.record(value));
    values.chunks(37).for_each(|values| together.record_all(values.iter().copied()));
    assert_eq!(together.half_width_95(), singly.half_width_95(), "to the last bit");
    assert!(singly.half_width_95().is_some(), "there was enough to say");
}

#[test]
fn series_add_up_whatever_their_widths() {
    let series = |times: &[Time]| {
        let mut series = TimeSeries::new();
        times.iter().for_each(|&at| series.bin_mut(at).reads += 1);
        series
    };
    let (short, long) = ([0, 3, 400].map(Time::from_us), [1, 5_000, 90_000].map(Time::from_us));
    let all = series(&[short, long].concat());
    for (first, second) in [(&short, &long), (&long, &short)] {
        let mut sum = series(first);
        sum.merge(&series(second), Time::ZERO);
        assert_eq!((sum.width(), sum.bins()), (all.width(), all.bins()));
        let again = TimeSeries::restored(sum.width(), sum.bins().to_vec());
        assert_eq!((again.width(), again.bins()), (all.width(), all.bins()));
    }
    let mut later = series(&short);
    later.merge(&series(&short), Time::from_us(100));
    let reads = |at: u64| later.bins()[at as usize].reads;
    assert_eq!([0, 3, 100, 103, 400, 500].map(reads), [1; 6]);
}

/// Tests that a constant latency has a narrow interval, even with rounding errors and different first
/// values.
#[test]
fn values_that_are_the_same_have_a_narrow_interval() {
    for first in [1e6, 999_990.0] {
        let mut batches = BatchMeans::new();
        (0..100).for_each(|_| batches.record(first));
        (0..20_000).for_each(|number| batches.record(1e6 + f64::from(number % 2) * 1e-4));
        let half_width = batches.half_width_95().expect("it is known");
        assert!(half_width <= 10.0, "{half_width}");
    }
    // A slow drift is not constant. Its batches are dependent, which is reported.
    let mut batches = BatchMeans::new();
    (0..20_000).for_each(|number| batches.record(1e6 + f64::from(number)));
    assert_eq!(batches.confidence(), Confidence::Dependent);
}
