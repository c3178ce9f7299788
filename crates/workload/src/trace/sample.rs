//! Sampling of traces: by block, by request, or only the start.

use super::error::TraceError;
use nacre_kernel::{Op, Random, Request, Streams};

/// Selects a subset of a trace.
///
/// Selection by block is spatial sampling (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST
/// 2015). A hash of volume and block is compared with a threshold, so that either all accesses to a block are
/// kept or none. A cache of `fraction` times the size then has about the miss ratio of the full cache. A
/// request keeps only its selected blocks. Adjacent selected blocks stay in one request.
#[derive(Clone, Debug)]
pub struct Sampler(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Blocks { threshold: u64, seed: u64, block_bytes: u64 },
    Requests { fraction: f64, random: Random },
    First { left: u64 },
}

/// Number of different block hashes.
const HASH_RANGE: u64 = 1 << 32;

impl Sampler {
    /// Creates a sampler that keeps all accesses to a share of the blocks: `fraction`, above 0 and at most 1.
    /// Blocks have `block_bytes` bytes (a power of two from 512 to 2^30). A given seed selects identical
    /// blocks in every trace.
    pub fn blocks(fraction: f64, seed: u64, block_bytes: u64) -> Result<Sampler, TraceError> {
        check(fraction)?;
        if !block_bytes.is_power_of_two() || !(512..=1 << 30).contains(&block_bytes) {
            return Err(TraceError::Option {
                option: format!("block of {block_bytes} B"),
                problem: "it is not a power of two from 512 to 2^30".into(),
                remedy: "use 4096 in most cases".into(),
            });
        }
        let threshold = (fraction * HASH_RANGE as f64 + 0.5) as u64;
        Ok(Sampler(Kind::Blocks { threshold: threshold.max(1), seed: mix(seed), block_bytes }))
    }

    /// Creates a sampler that keeps each request with probability `fraction` (above 0, at most 1).
    pub fn requests(fraction: f64, seed: u64) -> Result<Sampler, TraceError> {
        check(fraction)?;
        Ok(Sampler(Kind::Requests { fraction, random: Streams::new(seed).stream("trace.sample") }))
    }

    /// Creates a sampler that keeps the first `count` requests.
    pub fn first(count: u64) -> Sampler {
        Sampler(Kind::First { left: count })
    }

    /// Appends the selected subset of `batch` to `out`. Returns whether more of the trace is needed.
    pub fn choose(&mut self, batch: &[Request], out: &mut Vec<Request>) -> bool {
        match &mut self.0 {
            Kind::Blocks { threshold, seed, block_bytes } => {
                for request in batch {
                    cut(request, *block_bytes, out, |volume, block| {
                        mix(*seed ^ mix(block ^ u64::from(volume) << 48)) % HASH_RANGE < *threshold
                    });
                }
                true
            }
            Kind::Requests { fraction, random } => {
                out.extend(batch.iter().filter(|_| random.chance(*fraction)));
                true
            }
            Kind::First { left } => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(batch.len());
                out.extend_from_slice(&batch[..count]);
                *left -= count as u64;
                *left > 0
            }
        }
    }
}

fn check(fraction: f64) -> Result<(), TraceError> {
    if fraction > 0.0 && fraction <= 1.0 {
        return Ok(());
    }
    Err(TraceError::Option {
        option: format!("fraction {fraction}"),
        problem: "it is not above 0 and at most 1".into(),
        remedy: "use e.g. 0.01 for 1 %".into(),
    })
}

/// Appends the fragments of `request` that are in selected blocks.
pub(crate) fn cut(
    request: &Request,
    block_bytes: u64,
    out: &mut Vec<Request>,
    chosen: impl Fn(u32, u64) -> bool,
) {
    if request.op == Op::Flush {
        out.push(*request);
        return;
    }
    let (first, count) = request.blocks(block_bytes);
    let end = request.address + u64::from(request.bytes);
    let mut begin = None;
    for block in first..=first + count {
        let inside = block < first + count && chosen(request.volume, block);
        match (begin, inside) {
            (None, true) => begin = Some(request.address.max(block * block_bytes)),
            (Some(address), false) => {
                let bytes = (end.min(block * block_bytes) - address) as u32;
                out.push(Request { address, bytes, ..*request });
                begin = None;
            }
            _ => {}
        }
    }
}

/// Hashes `value` like one step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_kernel::Time;

    fn read(address: u64, bytes: u32) -> Request {
        Request { arrival: Time::ZERO, address, bytes, volume: 0, op: Op::Read }
    }

    #[test]
    fn by_block_keeps_all_accesses_of_a_block_or_none() {
        let mut sampler = Sampler::blocks(0.1, 7, 4096).unwrap();
        let singles: Vec<Request> = (0..100_000).map(|block| read(block * 4096, 4096)).collect();
        let (mut once, mut again, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        assert!(sampler.choose(&singles, &mut once));
        sampler.choose(&singles, &mut again);
        assert_eq!(once, again);
        // The count is binomial with p = 0.1 of 100,000. The standard deviation is 95, so 500 is 5.3 standard
        // deviations.
        assert!((9_500..=10_500).contains(&once.len()), "{} blocks", once.len());
        sampler.choose(&[read(0, 4096 * 100_000)], &mut whole);
        let bytes: u64 = whole.iter().map(|request| u64::from(request.bytes)).sum();
        assert_eq!(bytes, once.len() as u64 * 4096, "one large request is cut to the same blocks");
        assert!(whole.len() < once.len(), "neighboring blocks stay together");
    }

    #[test]
    fn a_request_is_cut_at_its_own_ends_too() {
        let mut sampler = Sampler::blocks(1.0, 0, 4096).unwrap();
        let mut out = Vec::new();
        sampler.choose(&[read(100, 10_000)], &mut out);
        assert_eq!(out, [read(100, 10_000)], "with every block chosen nothing changes");
    }

    #[test]
    fn by_request_keeps_about_the_fraction_and_first_keeps_the_beginning() {
        let all: Vec<Request> = (0..10_000).map(|i| read(i * 512, 512)).collect();
        let mut out = Vec::new();
        Sampler::requests(0.25, 1).unwrap().choose(&all, &mut out);
        // The standard deviation is 43, so 250 is 5.8 standard deviations.
        assert!((2_250..=2_750).contains(&out.len()), "{} requests", out.len());
        out.clear();
        let mut first = Sampler::first(10_001);
        assert!(first.choose(&all, &mut out));
        assert!(!first.choose(&all, &mut out));
        assert_eq!(out.len(), 10_001);
        assert_eq!(out[10_000], all[0]);
    }

    #[test]
    fn impossible_fractions_are_refused() {
        for fraction in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(Sampler::requests(fraction, 0).is_err(), "{fraction}");
        }
        assert!(Sampler::blocks(0.5, 0, 1000).is_err());
    }
}
