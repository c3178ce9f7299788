use super::*;
use nacre_kernel::{Random, Streams};
use std::collections::{BTreeMap, BTreeSet};

const PS_PER_MS: u64 = 1_000_000_000;

/// Returns reads and writes of one to four blocks at irregular times. Some requests are sequential.
fn trace(count: u64, random: &mut Random) -> Vec<Request> {
    let (mut now, mut end) = (0, 0);
    let request = |_| {
        now += random.below(100) * PS_PER_MS / 10;
        let block = random.below(400).min(random.below(400));
        let address = if random.chance(0.3) { end } else { block * 4096 };
        let bytes = 4096 * (1 + random.below(4) as u32);
        end = address + u64::from(bytes);
        let op = if random.chance(0.6) { Op::Read } else { Op::Write };
        Request { arrival: Time::from_ps(now), address, bytes, volume: 0, op }
    };
    (0..count).map(request).collect()
}

fn described(requests: &[Request]) -> Description {
    let mut profile = Profile::default();
    requests.chunks(777).for_each(|batch| profile.add(batch));
    profile.describe(true)
}

fn touched(request: &Request) -> std::ops::Range<u64> {
    let (first, count) = request.blocks(4096);
    first..first + count
}

#[test]
fn the_hottest_have_the_share_a_plain_count_gives_them() {
    let requests = trace(6000, &mut Streams::new(1).stream("trace"));
    for (bytes, found) in [(4096, described(&requests).blocks), (EXTENT_BYTES, described(&requests).extents)]
    {
        let mut counts = BTreeMap::new();
        for block in requests.iter().flat_map(touched) {
            *counts.entry(block * 4096 / bytes).or_insert(0u64) += 1;
        }
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        let all: u64 = counts.iter().sum();
        assert_eq!(found.count, counts.len() as f64);
        for (&hottest, &share) in found.hottest.iter().zip(&found.accesses) {
            let rank = (hottest * counts.len() as f64).round() as usize;
            let expected = counts[..rank].iter().sum::<u64>() as f64 / all as f64;
            assert!((share - expected).abs() < 1e-12, "{rank}: {share}, {expected}");
        }
        assert_eq!(found.hottest.last(), Some(&1.0));
    }
}

#[test]
fn amounts_over_time_add_up_and_the_footprint_is_what_was_touched_so_far() {
    let requests = trace(6000, &mut Streams::new(2).stream("trace"));
    let timeline = described(&requests).timeline.unwrap();
    let of = |op| requests.iter().filter(move |request| request.op == op);
    assert_eq!(timeline.reads.iter().sum::<u64>(), of(Op::Read).count() as u64);
    assert_eq!(
        timeline.bytes_written.iter().sum::<u64>(),
        of(Op::Write).map(|request| u64::from(request.bytes)).sum::<u64>()
    );
    assert!((256..=512).contains(&timeline.start_s.len()), "{}", timeline.start_s.len());
    let mut seen = BTreeSet::new();
    let mut next = requests.iter().peekable();
    for (start, &footprint) in timeline.start_s.iter().zip(&timeline.footprint_bytes) {
        let end = start + timeline.width_s;
        while let Some(request) = next.next_if(|request| request.arrival.as_secs_f64() < end - 1e-9) {
            seen.extend(touched(request));
        }
        assert_eq!(footprint, seen.len() as f64 * 4096.0, "until {end} s");
    }
}

#[test]
fn working_sets_are_the_mean_of_what_each_window_touches() {
    let requests = trace(3000, &mut Streams::new(3).stream("trace"));
    let description = described(&requests);
    let found = description.working_set.unwrap();
    let duration = requests.last().unwrap().arrival.as_ps();
    for (&window_s, &bytes) in found.window_s.iter().zip(&found.bytes).filter(|(window, _)| **window >= 1e-3)
    {
        let window = (window_s * 1e12) as u64;
        let mut held = 0;
        let mut next = BTreeMap::new();
        for request in requests.iter().rev() {
            let now = request.arrival.as_ps();
            for block in touched(request) {
                held += (next.insert(block, now).unwrap_or(duration) - now).min(window);
            }
        }
        let expected = held as f64 / duration as f64 * 4096.0;
        assert!((bytes / expected - 1.0).abs() < 0.01, "{window_s} s: {bytes}, {expected}");
    }
}

#[test]
fn reuse_gaps_sizes_and_runs_are_those_of_a_plain_count() {
    let requests = trace(4000, &mut Streams::new(4).stream("trace"));
    let description = described(&requests);
    let mut latest = BTreeMap::new();
    let (mut reuse, mut first) = (Vec::new(), 0);
    for request in &requests {
        for block in touched(request) {
            match latest.insert(block, request.arrival) {
                Some(before) => reuse.push((request.arrival - before).as_secs_f64()),
                None => first += 1,
            }
        }
    }
    let found = description.reuse.unwrap();
    let expected = f64::from(first) / (reuse.len() as f64 + f64::from(first));
    assert!((found.first_share - expected).abs() < 1e-9);
    for (&time, &share) in found.time_s.iter().zip(&found.share) {
        let within = reuse.iter().filter(|&&gap| gap <= time).count();
        assert!((share - within as f64 / reuse.len() as f64).abs() < 1e-9, "{time} s");
    }
    let gaps = description.gaps.unwrap();
    let span = requests.last().unwrap().arrival - requests[0].arrival;
    let mean = span.as_secs_f64() / (requests.len() - 1) as f64;
    assert!((gaps.mean_s / mean - 1.0).abs() < 1e-9);
    assert_eq!(description.sizes.bytes, [4096, 8192, 12_288, 16_384]);
    let reads = requests.iter().filter(|request| request.op == Op::Read && request.bytes == 8192).count();
    assert_eq!(description.sizes.reads[1], reads as u64);
    let follows =
        requests.windows(2).filter(|w| w[0].address + u64::from(w[0].bytes) == w[1].address).count();
    assert_eq!(description.runs.sequential_share, follows as f64 / requests.len() as f64);
    assert!((description.runs.share.last().unwrap() - 1.0).abs() < 1e-12, "every request lies in a run");
}

#[test]
fn hours_and_days_are_told_apart() {
    let at = |hour: u64| Request {
        arrival: Time::from_ps(hour * 3600 * 1000 * PS_PER_MS + 5),
        address: hour * 4096,
        bytes: 4096,
        volume: 0,
        op: if hour.is_multiple_of(2) { Op::Read } else { Op::Write },
    };
    let description = described(&[at(0), at(1), at(1), at(25), at(49)]);
    let (hours, days) = (description.hours.unwrap(), description.days.unwrap());
    assert_eq!((hours.start_s.len(), hours.writes[1], hours.writes[25]), (50, 2, 1));
    assert_eq!((days.reads, days.writes), (vec![1, 0, 0], vec![2, 1, 1]));
    assert_eq!(days.footprint_bytes, [8192.0, 12_288.0, 16_384.0]);
}

#[test]
fn a_trace_that_touches_too_much_is_described_by_a_sample() {
    let mut random = Streams::new(5).stream("trace");
    let mut requests = trace(1, &mut random);
    for i in 0..60_000u64 {
        let block = random.below(30_000);
        requests.push(Request {
            arrival: Time::from_us(i * 50),
            address: block * 4096,
            bytes: 4096,
            ..requests[0]
        });
    }
    let describe = |followed: u32| {
        let mut profile = Profile::new(4096, followed);
        profile.add(&requests[1..]);
        profile.describe(true)
    };
    let (whole, sample) = (describe(BLOCKS_FOLLOWED), describe(3000));
    assert_eq!(whole.sample_rate, 1.0);
    assert!((sample.sample_rate - 0.115).abs() < 0.02, "{}", sample.sample_rate);
    assert!((sample.blocks.count / whole.blocks.count - 1.0).abs() < 0.05);
    for hottest in [0.1, 0.3, 0.7] {
        assert!((sample.blocks.share(hottest) - whole.blocks.share(hottest)).abs() < 0.02);
    }
    let ends = |description: &Description| *description.working_set.as_ref().unwrap().bytes.last().unwrap();
    assert!((ends(&sample) / ends(&whole) - 1.0).abs() < 0.05);
}

#[test]
fn nothing_and_a_trace_without_times_are_described() {
    let nothing = Profile::default().describe(true);
    assert_eq!((nothing.duration_s, nothing.blocks.count), (None, 0.0));
    let mut profile = Profile::default();
    profile.add(&trace(100, &mut Streams::new(6).stream("trace")));
    let untimed = profile.describe(false);
    assert!(untimed.gaps.is_none() && untimed.timeline.is_none() && untimed.working_set.is_none());
    assert!(untimed.blocks.count > 0.0 && !untimed.misses.bytes.is_empty());
}
