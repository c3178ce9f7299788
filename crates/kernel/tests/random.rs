//! Tests that random numbers follow their distributions and are the same in every release.

use nacre_kernel::{Random, Streams};

const DRAWS: usize = 1_000_000;

fn stream(name: &str) -> Random {
    Streams::new(42).stream(name)
}

/// Means of the first to fourth powers of a million samples.
fn moments(mut draw: impl FnMut() -> f64) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for _ in 0..DRAWS {
        let (value, mut power) = (draw(), 1.0);
        for sum in &mut sums {
            power *= value;
            *sum += power;
        }
    }
    sums.map(|sum| sum / DRAWS as f64)
}

#[track_caller]
fn assert_near(found: f64, expected: f64, allowed: f64) {
    assert!((found - expected).abs() <= allowed, "found {found}, expected {expected} within {allowed}");
}

#[test]
fn below_is_uniform() {
    let mut random = stream("below");
    for bound in [2u64, 3, 7, 10, 100] {
        let mut counts = vec![0f64; bound as usize];
        (0..DRAWS).for_each(|_| counts[random.below(bound) as usize] += 1.0);
        let expected = DRAWS as f64 / bound as f64;
        let chi_square: f64 =
            counts.iter().map(|count| (count - expected) * (count - expected) / expected).sum();
        // The mean and variance of chi-square are d and 2 d. The tolerance of five standard deviations is not
        // exceeded by chance.
        let freedom = (bound - 1) as f64;
        assert!(chi_square <= freedom + 5.0 * (2.0 * freedom).sqrt(), "chi-square {chi_square} for {bound}");
    }
    assert_eq!(random.below(1), 0);
}

#[test]
fn below_has_no_bias_where_a_plain_modulo_would() {
    // With a bound of 3/4 of 2^64, `bits % bound` would return values from the lower third twice as often.
    let (mut random, bound) = (stream("bias"), 3u64 << 62);
    let low = (0..DRAWS).filter(|_| random.below(bound) < 1 << 62).count() as f64 / DRAWS as f64;
    assert_near(low, 1.0 / 3.0, 0.0025);
}

#[test]
fn unit_lies_in_its_interval_and_is_uniform() {
    let mut random = stream("unit");
    let found = moments(|| {
        let value = random.unit();
        assert!((0.0..1.0).contains(&value));
        value
    });
    [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0]
        .into_iter()
        .zip(found)
        .for_each(|(expected, found)| assert_near(found, expected, 0.002));
}

#[test]
fn exponential_draws_have_the_moments_of_their_law() {
    let mut random = stream("exponential");
    let [first, second, third, _] = moments(|| random.exponential());
    assert_near(first, 1.0, 0.005);
    assert_near(second, 2.0, 0.025);
    assert_near(third, 6.0, 0.15);
    let mut random = stream("tail");
    let tail = (0..DRAWS).filter(|_| random.exponential() > 5.0).count() as f64 / DRAWS as f64;
    assert_near(tail, libm::exp(-5.0), 5.0 * (libm::exp(-5.0) / DRAWS as f64).sqrt());
}

#[test]
fn exponential_draws_follow_their_law_everywhere() {
    // Kolmogorov-Smirnov test: sqrt(n) D is below 1.95 in 999 of 1000 samples.
    let mut random = stream("law");
    let mut draws: Vec<f64> = (0..DRAWS).map(|_| random.exponential()).collect();
    assert!(draws.iter().all(|draw| draw.is_finite() && *draw >= 0.0));
    draws.sort_unstable_by(f64::total_cmp);
    let n = DRAWS as f64;
    let distance = draws.iter().enumerate().fold(0.0, |largest: f64, (place, &draw)| {
        let law = 1.0 - libm::exp(-draw);
        largest.max((law - place as f64 / n).abs()).max((law - (place + 1) as f64 / n).abs())
    });
    assert!(n.sqrt() * distance < 1.95, "distance {distance}");
    // The thresholds range from the first layers of the table to values beyond its end, which is at 7.7.
    for least in [0.001, 0.01, 0.1, 1.0, 3.0, 7.0, 7.697_117_47, 8.0, 9.0, 10.0] {
        let share = libm::exp(-least);
        let found = draws.iter().filter(|&&draw| draw > least).count() as f64 / n;
        assert_near(found, share, 5.0 * (share * (1.0 - share) / n).sqrt());
    }
    // The lag-1 correlation tests that consecutive numbers are independent, and that the bits that select the
    // layer do not affect the result.
    let mut random = stream("pairs");
    let mut last = random.exponential();
    let products = (0..DRAWS).map(|_| {
        let draw = random.exponential();
        (draw - 1.0) * (std::mem::replace(&mut last, draw) - 1.0)
    });
    assert_near(products.sum::<f64>() / n, 0.0, 5.0 / n.sqrt());
}

#[test]
fn normal_draws_have_the_moments_of_their_law() {
    let mut random = stream("normal");
    let [first, second, third, fourth] = moments(|| random.normal());
    assert_near(first, 0.0, 0.005);
    assert_near(second, 1.0, 0.007);
    assert_near(third, 0.0, 0.02);
    assert_near(fourth, 3.0, 0.05);
}

#[test]
fn chance_comes_as_often_as_it_says() {
    let mut random = stream("chance");
    for p in [0.0, 0.001, 0.3, 1.0] {
        let found = (0..DRAWS).filter(|_| random.chance(p)).count() as f64 / DRAWS as f64;
        assert_near(found, p, 5.0 * (p * (1.0 - p) / DRAWS as f64).sqrt());
    }
}

#[test]
fn streams_repeat_by_name_and_do_not_follow_each_other() {
    let draws = |seed, name: &str| -> Vec<u64> {
        let mut random = Streams::new(seed).stream(name);
        (0..1000).map(|_| random.bits()).collect()
    };
    assert_eq!(draws(1, "stack.read"), draws(1, "stack.read"));
    for (seed, name) in [(1, "stack.write"), (2, "stack.read"), (1, "stack.reae"), (0, "")] {
        let (one, other) = (draws(1, "stack.read"), draws(seed, name));
        let equal_bits: u32 = one.iter().zip(&other).map(|(a, b)| (a ^ b).count_zeros()).sum();
        // On average, 32,000 of 64,000 fair bits are equal. The standard deviation is 126.5.
        assert!((31_300..32_700).contains(&equal_bits), "{equal_bits} equal bits of {name:?} under {seed}");
    }
}

#[test]
fn the_generator_is_the_published_one() {
    // First outputs of xoshiro256++ seeded by SplitMix64 from 0, computed from the published C code
    // (prng.di.unimi.it). The name of the stream is combined with the seed by FNV-1a, and the offset basis of
    // FNV-1a is the hash of an empty name.
    let mut random = Streams::new(0xcbf2_9ce4_8422_2325).stream("");
    assert_eq!([random.bits(), random.bits()], reference(0));
}

/// First two outputs of xoshiro256++ whose state is seeded with SplitMix64, implemented from the published
/// algorithms.
fn reference(seed: u64) -> [u64; 2] {
    let mut counter = seed;
    let mut splitmix = || {
        counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = counter;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut s = [splitmix(), splitmix(), splitmix(), splitmix()];
    let mut next = || {
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    };
    [next(), next()]
}
