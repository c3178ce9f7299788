use crate::testing::{check_chi_square, check_repeatable, problems, requests, workload};
use nacre_kernel::{Burst, Op};

fn settings(more: &str) -> String {
    format!("kind = \"birthday\"\nrequests = 40_000\nfootprint = \"1000 KiB\"\nrequest = \"1 KiB\"\n{more}")
}

#[test]
fn each_address_of_a_set_has_its_writes_in_turns_and_then_another_set_comes() {
    let requests = requests(&settings("lines = 3\nwrites = 6\nburst = 2"));
    assert!(requests.iter().all(|request| request.op == Op::Write && request.bytes == 1024));
    let blocks: Vec<u64> = requests.iter().map(|request| request.address / 1024).collect();
    for set in blocks.chunks_exact(18) {
        for (place, block) in set.iter().enumerate() {
            assert_eq!(*block, set[place % 6 / 2 * 2], "turns of two writes: {set:?}");
        }
    }
    let firsts: Vec<u64> = blocks.chunks_exact(18).map(|set| set[0]).collect();
    assert!(firsts.windows(2).filter(|pair| pair[0] == pair[1]).count() < 10, "sets differ");
}

#[test]
fn addresses_are_drawn_evenly() {
    let mut counts = [0; 1000];
    requests(&settings("writes = 1"))
        .iter()
        .for_each(|request| counts[(request.address / 1024) as usize] += 1);
    check_chi_square(&counts, &[40.0; 1000]);
}

#[test]
fn bursts_are_the_same_writes() {
    for more in ["writes = 700", "lines = 4\nwrites = 60\nburst = 5", "lines = 2\nwrites = 9"] {
        let settings = settings(more);
        let mut bursts: Vec<Burst> = Vec::with_capacity(32);
        let (mut told, mut workload) = (Vec::new(), workload(&settings, 1).unwrap());
        while told.len() < 40_000 {
            bursts.clear();
            workload.fill_bursts(&mut bursts, 40_000 - told.len() as u64).unwrap();
            assert!(!bursts.is_empty() && bursts.len() <= 32);
            bursts
                .iter()
                .for_each(|burst| told.resize(told.len() + burst.times as usize, burst.request.address));
        }
        let asked: Vec<u64> = requests(&settings).iter().map(|request| request.address).collect();
        assert_eq!(told, asked, "{more}");
    }
}

#[test]
fn addresses_follow_the_seed() {
    check_repeatable(&settings("lines = 3\nwrites = 30"));
}

#[test]
fn attacks_that_do_not_fit_are_refused_all_at_once() {
    let found = problems(
        "kind = \"birthday\"\nrequests = 1\nfootprint = \"5 KiB\"\nwrites = 10\nburst = 3\nlines = 0",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    let found = problems("kind = \"birthday\"\nrequests = 1\nfootprint = \"5 KiB\"\nwrites = 10\nburst = 3");
    assert!(
        found.len() == 2 && found[0].contains("use 4 KiB") && found[1].contains("use a divisor"),
        "{found:?}"
    );
}
