use crate::testing::{check_repeatable, check_share, problems, requests};
use nacre_kernel::{Op, Request};

/// Settings with `requests` requests, the classes `classes`, and the probability `follow`.
fn settings(requests: u64, follow: &str, classes: &str) -> String {
    format!(
        "kind = \"shaped\"\nrequests = {requests}\nfootprint = \"1 GiB\"\nfollow = \"{follow}\"\ngroup = [{classes}]"
    )
}

const MIX: &str = "{ share = \"60 %\", op = \"read\", bytes = \"4 KiB\", first = \"20 %\", \
     distance = [\"4 KiB\", \"400 KiB\"] }, { share = \"40 %\", op = \"write\", bytes = \"16 KiB\", \
     first = \"50 %\", distance = [\"64 KiB\", \"8 MiB\"] }";

/// Stack distance of the first block of each request in blocks of 4 KiB, computed by brute force. Zero for a
/// new block.
fn distances(requests: &[Request]) -> Vec<usize> {
    let mut stack: Vec<u64> = Vec::new();
    let mut found = Vec::new();
    for request in requests {
        let (first, count) = request.blocks(4096);
        for block in first..first + count {
            let depth = stack.iter().rposition(|&held| held == block);
            if block == first {
                found.push(depth.map_or(0, |place| stack.len() - place));
            }
            depth.inspect(|&place| {
                stack.remove(place);
            });
            stack.push(block);
        }
    }
    found
}

#[test]
fn classes_have_their_shares_and_their_shares_of_new_objects() {
    let requests = requests(&settings(10_000, "0 %", MIX));
    let reads: Vec<bool> = requests.iter().map(|request| request.op == Op::Read).collect();
    let count = reads.iter().filter(|&&read| read).count();
    check_share(count, requests.len(), 0.6);
    let found = distances(&requests);
    let new =
        |kind| reads.iter().zip(&found).filter(|(read, distance)| **read == kind && **distance == 0).count();
    check_share(new(true), count, 0.2);
    check_share(new(false), requests.len() - count, 0.5);
    assert!(
        requests.iter().all(|request| request.bytes == if request.op == Op::Read { 4096 } else { 16_384 })
    );
}

#[test]
fn a_distance_comes_out_as_it_was_asked_for() {
    let class = "{ share = \"100 %\", op = \"read\", bytes = \"4 KiB\", first = \"10 %\", \
                 distance = [\"400 KiB\", \"400 KiB\"] }";
    let found = distances(&requests(&settings(20_000, "0 %", class)));
    // The start is skipped: with fewer than a hundred blocks on the stack, larger distances are truncated.
    let settled = &found[3000..];
    assert!(settled.iter().all(|&distance| distance == 0 || distance == 100), "{settled:?}");
    check_share(settled.iter().filter(|&&distance| distance == 0).count(), settled.len(), 0.1);
}

#[test]
fn distances_spread_evenly_between_the_points_for_any_size() {
    let requests = requests(&settings(20_000, "0 %", MIX));
    let found = distances(&requests);
    let of = |op| {
        let both = found.iter().zip(&requests).skip(8000);
        both.filter(move |(distance, request)| request.op == op && **distance > 0)
            .map(|(&distance, _)| distance)
    };
    let mean = |op| of(op).sum::<usize>() as f64 / of(op).count() as f64;
    // Distances are uniform, from 1 to 100 blocks for reads and from 16 to 2048 blocks for writes. The
    // nearest object may be at a slightly different depth.
    assert!((mean(Op::Read) / 50.5 - 1.0).abs() < 0.05, "{}", mean(Op::Read));
    assert!((mean(Op::Write) / 1032.0 - 1.0).abs() < 0.05, "{}", mean(Op::Write));
}

#[test]
fn runs_are_as_long_as_following_says_and_repeat_as_runs() {
    let class = "{ share = \"100 %\", op = \"write\", bytes = \"8 KiB\", first = \"30 %\", \
                 distance = [\"1 MiB\", \"4 MiB\"] }";
    let requests = requests(&settings(15_000, "75 %", class));
    let follows = requests.windows(2).filter(|pair| pair[0].address + 8192 == pair[1].address).count();
    let share = follows as f64 / requests.len() as f64;
    // A request that follows a repeated request accesses the adjacent object, unless a run ended there.
    assert!((0.3..0.78).contains(&share), "{share}");
    let found = distances(&requests);
    let both_new = || (1..requests.len()).filter(|&at| found[at] == 0 && found[at - 1] == 0);
    let adjacent = both_new().filter(|&at| requests[at - 1].address + 8192 == requests[at].address).count();
    // Two consecutive new objects have two causes: `follow` (75 %) and chance (25 % x 30 %). A strip holds
    // 128 objects.
    check_share(adjacent, both_new().count(), 0.75 / (0.75 + 0.25 * 0.3) * 127.0 / 128.0 + 0.005);
    let new = found.iter().filter(|&&distance| distance == 0).count() as f64 / found.len() as f64;
    assert!((new - 0.3).abs() < 0.03, "following leaves the share of new objects as it is: {new}");
}

#[test]
fn a_footprint_that_is_used_up_bounds_the_addresses() {
    let class = "{ share = \"100 %\", op = \"write\", bytes = \"12 KiB\", first = \"100 %\" }";
    let settings = settings(5000, "0 %", class).replace("1 GiB", "1 MiB");
    let requests = requests(&settings);
    assert!(requests.iter().all(|request| request.address + 12_288 <= 1 << 20));
    let mut addresses: Vec<u64> = requests.iter().map(|request| request.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), 85, "as many as fit, and none overlaps another");
}

#[test]
fn growth_moves_what_is_new_to_where_it_was() {
    let class = "{ share = \"100 %\", op = \"read\", bytes = \"4 KiB\", first = \"20 %\", \
                 distance = [\"4 KiB\", \"400 KiB\"] }";
    let settings = settings(40_000, "0 %", class) + "\ngrowth = [3, 1, 0, 0]\ngrowth_step = 10_000";
    let found = distances(&requests(&settings));
    let new: Vec<usize> =
        found.chunks(10_000).map(|step| step.iter().filter(|&&distance| distance == 0).count()).collect();
    // The odds of 20 % are 1:4. Three times these odds are 3:4.
    check_share(new[0], 10_000, 3.0 / 7.0);
    check_share(new[1], 10_000, 0.2);
    assert_eq!(new[2..], [0, 0]);
}

#[test]
fn neighbors_across_borders_of_blocks_share_a_block_and_follow_each_other() {
    let class =
        "{ share = \"100 %\", op = \"write\", bytes = \"16 KiB\", offset = \"512 B\", first = \"100 %\" }";
    let requests = requests(&settings(1000, "99 %", class));
    let follows = requests.windows(2).filter(|pair| pair[0].address + 16_384 == pair[1].address).count();
    assert!(follows > 940, "{follows}");
    assert!(requests.iter().all(|request| request.address % 4096 == 512));
}

#[test]
fn it_is_repeatable() {
    check_repeatable(&settings(5000, "30 %", MIX));
}

#[test]
fn every_mistake_is_named() {
    let wrong = "{ share = \"50 %\", op = \"read\", bytes = \"4 KiB\", offset = \"4 KiB\", first = \"0 %\", \
                 distance = [\"8 KiB\", \"4 KiB\"] }, { share = \"20 %\", op = \"write\", bytes = \"2 MiB\", \
                 first = \"10 %\" }";
    let found = problems(&settings(10, "0 %", wrong).replace("1 GiB", "1 MiB")).join("\n");
    for expected in [
        "the shares of the classes add up to 70 %",
        "the distances fall",
        "a request would start after its first block",
        "not all requests access new objects",
        "a request does not fit the footprint",
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
}
