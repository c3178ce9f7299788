//! Request sequences for the tests of replacement policies, all generated from one seed.

use nacre_kernel::{Random, Streams};

/// Returns the random stream with this name.
pub(super) fn random(name: &str) -> Random {
    Streams::new(1966).stream(name)
}

/// Probabilities of `items` items with a Zipf distribution of exponent `skew`, most popular first.
pub(super) fn zipf_law(items: usize, skew: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=items).map(|rank| libm::pow(rank as f64, -skew)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Generates `count` independent samples of a Zipf distribution over `items` items, with exponent `skew`.
pub(super) fn zipf(items: usize, skew: f64, count: usize, random: &mut Random) -> Vec<u64> {
    let mut total = 0.0;
    let cumulative: Vec<f64> = zipf_law(items, skew)
        .iter()
        .map(|p| {
            total += p;
            total
        })
        .collect();
    (0..count)
        .map(|_| {
            let draw = random.unit();
            cumulative.partition_point(|&sum| sum <= draw).min(items - 1) as u64
        })
        .collect()
}

/// Generates `count` uniform samples below `items`.
pub(super) fn uniform(items: u64, count: usize, random: &mut Random) -> Vec<u64> {
    (0..count).map(|_| random.below(items)).collect()
}

/// Repeats the sequence `0, 1, .. length - 1` up to `count` requests in total.
pub(super) fn cycle(length: u64, count: usize) -> Vec<u64> {
    (0..count as u64).map(|step| step % length).collect()
}

/// Generates Zipf samples, with a scan of `burst` new blocks after every `burst` samples.
pub(super) fn polluted_zipf(items: usize, skew: f64, burst: usize, rounds: usize) -> Vec<u64> {
    let draws = zipf(items, skew, burst * rounds, &mut random("polluted"));
    let mut once = 1 << 40..;
    draws.chunks(burst).flat_map(|hot| [hot.to_vec(), once.by_ref().take(burst).collect()].concat()).collect()
}

/// Reads the published CloudPhysics trace from the folder in the environment variable `NACRE_SAMPLES`, and
/// returns the numbers of the requested blocks of 4 KiB. Tests that need this trace are ignored by default. A
/// record is little-endian: u32 number, u32 bytes, u32 segments, u16 command, u16 version, u64 address in
/// units of 512 B, and u64 microseconds.
#[expect(clippy::disallowed_methods, reason = "the samples are not part of the project")]
pub(super) fn cloudphysics() -> Vec<u64> {
    let folder = std::env::var_os("NACRE_SAMPLES").expect("NACRE_SAMPLES names the folder of the samples");
    let path = std::path::Path::new(&folder).join("cloudphysics.vscsi");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let field = |record: &[u8], at: usize, length: usize| {
        record[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let requests = bytes.chunks_exact(32).map(|record| (field(record, 16, 8) * 512, field(record, 4, 4)));
    let blocks: Vec<u64> =
        requests.flat_map(|(from, length)| from / 4096..=(from + length - 1) / 4096).collect();
    assert_eq!(blocks.len(), 1_141_869, "as many accesses as the trace is known to have");
    blocks
}
