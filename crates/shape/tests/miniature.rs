//! Tests that simulations without sampling have the hits of the cache models for any policy, and that the
//! errors of miniature caches are within the reported half-widths.

use nacre_kernel::{Op, Random, Request, Streams, Time};
use nacre_machine::policies::{Replacement, cache};
use nacre_shape::ExactCurve;
use nacre_shape::miniature::{Amounts, Cache, Followed, Follower, Ratio, Simulation};
use nacre_workload::synthetic::ranks::Ranks;

struct Policy(Box<dyn Replacement>);

impl Cache for Policy {
    fn replay(&mut self, blocks: &[u64], hits: &mut [bool]) {
        self.0.replay_each(blocks, hits);
    }
}

const POLICIES: [&str; 5] = ["lru", "arc", "s3_fifo", "sieve", "{ kind = \"two_q\" }"];

/// Returns requests to 4,096 areas of 16 KiB with a Zipf distribution. Half of the requests have only 512 B,
/// and 25 % are writes.
fn requests(count: usize) -> Vec<Request> {
    let mut random = Streams::new(3).stream("requests");
    let ranks = Ranks::new(4096, 0.8);
    let request = |random: &mut Random| {
        let address = ranks.sample(random) * 16_384;
        let op = if random.chance(0.25) { Op::Write } else { Op::Read };
        let bytes = if random.chance(0.5) { 512 } else { 16_384 };
        Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
    };
    (0..count).map(|_| request(&mut random)).collect()
}

fn simulated(
    requests: &[Request],
    policy: &str,
    blocks: u64,
    share: f64,
    seed: u64,
) -> (Simulation, Amounts) {
    let mut follower = Follower::new(4096, share, seed);
    let make = |blocks| cache(policy, blocks).map(|built| Box::new(Policy(built)) as Box<dyn Cache>);
    let mut simulation = Simulation::new(blocks, share, make).expect("a policy");
    for batch in requests.chunks(1000) {
        let mut followed = Followed::default();
        follower.follow(batch, &mut followed);
        simulation.add(&followed);
    }
    (simulation, follower.all())
}

fn of_all(amounts: Amounts) -> f64 {
    amounts.accesses.iter().sum()
}

#[test]
fn a_cache_that_sees_everything_is_the_cache_itself() {
    let requests = requests(20_000);
    for policy in POLICIES {
        let (simulation, all) = simulated(&requests, policy, 3000, 1.0, 1);
        let mut alone = cache(policy, 3000).expect("a policy");
        let (mut missed, mut bytes) = (0, 0);
        for request in &requests {
            let (first, count) = request.blocks(4096);
            for block in first..first + count {
                if !alone.access(block).is_hit() {
                    (missed, bytes) = (missed + 1, bytes + request.bytes / count as u32);
                }
            }
        }
        let ratio = Ratio { ratio: Some(f64::from(missed) / of_all(all)), half_width: Some(0.0) };
        assert_eq!(simulation.ratio(all, of_all), ratio, "{policy}");
        let of_bytes = simulation.ratio(all, |amounts| amounts.bytes.iter().sum());
        let asked: u64 = requests.iter().map(|request| u64::from(request.bytes)).sum();
        assert_eq!(of_bytes.ratio, Some(f64::from(bytes) / asked as f64), "{policy}, bytes");
    }
}

#[test]
fn lru_misses_what_its_stack_says() {
    let requests = requests(20_000);
    let mut curve = ExactCurve::new(4096);
    curve.add(&requests);
    let curve = curve.curve();
    for blocks in [64, 1000, 5000] {
        let (simulation, all) = simulated(&requests, "lru", blocks, 1.0, 1);
        for (op, index) in [(Op::Read, 0), (Op::Write, 1)] {
            let found = simulation.ratio(all, |amounts| amounts.accesses[index]).ratio.expect("some");
            let expected = curve.miss_ratio(blocks, Some(op)).expect("some");
            assert!((found - expected).abs() < 1e-12, "{blocks}: {found}, by the stack {expected}");
        }
    }
}

#[test]
fn the_error_of_a_miniature_holds_the_whole_as_often_as_it_says() {
    // There are 16 Ki blocks, 10 % of which are tracked. With 60 intervals at 95 %, 49 is five standard
    // errors below the expected number. Small caches may add errors, but requests of four adjacent blocks do
    // not.
    let requests = requests(30_000);
    let (mut held, mut apart) = (0, 0.0);
    for policy in ["lru", "arc", "s3_fifo", "sieve"] {
        for blocks in [1600, 4000, 8000] {
            let (whole, all) = simulated(&requests, policy, blocks, 1.0, 1);
            let whole = whole.ratio(all, of_all).ratio.expect("some");
            for seed in 1..=5 {
                let (simulation, all) = simulated(&requests, policy, blocks, 0.1, seed);
                let found = simulation.ratio(all, of_all);
                let off = (found.ratio.expect("some") - whole).abs();
                held += u32::from(off <= found.half_width.expect("some"));
                apart += off / 60.0;
            }
        }
    }
    assert!(held >= 49, "{held} of 60 intervals hold what the whole cache misses");
    assert!(apart < 0.02, "{apart} off on average");
}
