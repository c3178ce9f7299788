use super::Locality;
use crate::testing::{check_chi_square, check_repeatable, check_share, problems, requests};
use nacre_kernel::{Op, Request};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const SETTINGS: &str = "kind = \"hot_cold\"\nrequests = 100_000\nfootprint = \"1000 KiB\"\nrequest = \"1 KiB\"\nread_share = \"50 %\"";

fn hits(requests: &[Request], blocks: u64) -> usize {
    requests.iter().filter(|request| request.address < blocks * 1024).count()
}

#[test]
fn hot_data_gets_its_share_of_the_accesses() {
    for (locality, blocks, share) in [
        ("50/50", 500, 0.5),
        ("20/80", 200, 0.8),
        ("10/90", 100, 0.9),
        ("5/95", 50, 0.95),
        ("0.5/62.5", 5, 0.625),
    ] {
        let requests = requests(&format!("{SETTINGS}\nlocality = \"{locality}\""));
        check_share(hits(&requests, blocks), requests.len(), share);
    }
}

#[test]
fn each_class_is_even() {
    let mut counts = [0; 1000];
    for request in requests(SETTINGS) {
        counts[(request.address / 1024) as usize] += 1;
    }
    check_chi_square(&counts[..100], &[hits(&requests(SETTINGS), 100) as f64 / 100.0; 100]);
    check_chi_square(&counts[100..], &[(100_000 - hits(&requests(SETTINGS), 100)) as f64 / 900.0; 900]);
}

#[test]
fn reads_may_have_a_locality_of_their_own() {
    let requests = requests(&format!("{SETTINGS}\nlocality = \"5/95\"\nread_locality = \"20/80\""));
    let (reads, writes): (Vec<Request>, Vec<Request>) =
        requests.into_iter().partition(|request| request.op == Op::Read);
    check_share(hits(&reads, 200), reads.len(), 0.8);
    check_share(hits(&writes, 50), writes.len(), 0.95);
}

#[test]
fn all_or_no_accesses_to_the_hot_data_are_exact() {
    assert_eq!(hits(&requests(&format!("{SETTINGS}\nlocality = \"10/100\"")), 100), 100_000);
    assert_eq!(hits(&requests(&format!("{SETTINGS}\nlocality = \"10/0\"")), 100), 0);
}

#[test]
fn hot_blocks_lie_together_or_scattered_as_asked() {
    let scattered = requests(&format!("{SETTINGS}\nlocality = \"10/100\"\nscatter = true"));
    let mut blocks: Vec<u64> = scattered.iter().map(|request| request.address / 1024).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 100, "every hot block was hit in 100,000 requests");
    let below_half = blocks.iter().filter(|&&block| block < 500).count();
    assert!((25..=75).contains(&below_half), "{below_half} hot blocks in the first half");
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    check_repeatable(&SETTINGS.replace("100_000", "5_000"));
}

#[test]
fn mistakes_say_how_locality_is_written() {
    let wrong =
        "write \"10/90\" for 90 % of the accesses to 10 % of the data; the data is above 0 and below 100";
    for given in ["90 %", "0/90", "100/100", "10/101", "a/b", "-5/95"] {
        let expected =
            format!("workload.locality (test.toml:7): it is not a locality, given \"{given}\"; {wrong}");
        assert_eq!(problems(&format!("{SETTINGS}\nlocality = \"{given}\"")), [expected]);
    }
    let settings = SETTINGS.replace("1000 KiB", "4 KiB");
    let expected = "workload.locality: 0 of 4 blocks would be hot, given \"10/90\"; use a larger footprint, so that there are both hot and cold blocks";
    assert_eq!(problems(&settings), [expected.replace("locality:", "locality (default):")]);
}

#[test]
fn the_published_pattern_and_the_reader_agree() {
    let pattern = Locality::PATTERN.trim_start_matches('^').trim_end_matches('$');
    let written = prop::string::string_regex(pattern).expect("a regular expression");
    let mut runner = TestRunner::deterministic();
    runner
        .run(&written, |text| {
            // Numbers of more than 19 digits are rejected.
            let digits = text.split('/').map(|part| part.bytes().filter(u8::is_ascii_digit).count());
            prop_assert!(digits.max() > Some(19) || Locality::parse(&text).is_some(), "{text:?}");
            Ok(())
        })
        .unwrap();
    for text in ["1_0/90", "10/9_0", ".5/90", "5./90", "+5/90", "10/90/1", "10", "0.0/90", "10/100.1"] {
        assert_eq!(Locality::parse(text), None, "{text}");
    }
}
