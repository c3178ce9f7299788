use crate::testing::{check_chi_square, check_repeatable, check_share, problems, requests, workload};
use nacre_kernel::{Op, Time};

const SETTINGS: &str = "kind = \"uniform\"\nrequests = 200_000\nfootprint = \"1000 KiB\"\nrequest = \"1 KiB\"\n\
                        start = \"3 KiB\"\nread_share = \"70 %\"\ntrim_share = \"5 %\"";

#[test]
fn every_block_is_equally_likely() {
    let mut counts = [0; 1000];
    for request in requests(SETTINGS) {
        assert_eq!((request.bytes, request.volume, request.address % 1024), (1024, 0, 0));
        counts[(request.address / 1024) as usize - 3] += 1;
    }
    check_chi_square(&counts, &[200.0; 1000]);
}

#[test]
fn reads_writes_and_trims_have_their_shares() {
    let requests = requests(SETTINGS);
    for (op, share) in [(Op::Read, 0.7), (Op::Trim, 0.05), (Op::Write, 0.25)] {
        check_share(requests.iter().filter(|request| request.op == op).count(), requests.len(), share);
    }
}

#[test]
fn whole_shares_are_exact() {
    let only = |share: &str| {
        requests(&format!(
            "kind = \"uniform\"\nrequests = 10_000\nfootprint = \"4 KiB\"\nread_share = \"{share}\""
        ))
    };
    assert!(only("100 %").iter().all(|request| request.op == Op::Read));
    assert!(only("0 %").iter().all(|request| request.op == Op::Write));
}

#[test]
fn what_requests_do_does_not_change_where_they_go() {
    let other = SETTINGS.replace("70 %", "10 %");
    let addresses = |settings| requests(settings).iter().map(|request| request.address).collect::<Vec<_>>();
    assert_eq!(addresses(SETTINGS), addresses(&other));
}

#[test]
fn there_are_as_many_requests_as_asked_for() {
    let mut workload = workload(&SETTINGS.replace("200_000", "2_500"), 1).unwrap();
    assert_eq!(workload.expected(), Some(2500));
    let mut batch = Vec::new();
    for expected in [1000, 2000, 2500, 2500] {
        workload.fill(&mut batch, 1000).unwrap();
        assert_eq!(batch.len(), expected);
    }
    assert_eq!((workload.notes().kind, workload.notes().records), ("uniform", 2500));
    assert_eq!(batch[2499].arrival, Time::ZERO);
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    check_repeatable(&SETTINGS.replace("200_000", "5_000"));
}

#[test]
fn impossible_settings_are_reported_together() {
    let settings = "kind = \"uniform\"\nrequest = \"4 KiB\"\nfootprint = \"9 KiB\"\nread_share = \"70 %\"\n\
                    trim_share = \"40 %\"\nstart = \"8192 PiB\"\nrate = \"1 kHz\"";
    assert_eq!(
        problems(settings),
        [
            "workload.rate (test.toml:8): there is no such setting; known: requests, footprint, start, request, \
             read_share, trim_share, arrival",
            "workload.requests (test.toml:1): it is missing; give a whole number",
            "workload.footprint (test.toml:4): it is not a whole number of requests of 4 KiB, given 9 KiB; use 8 KiB, \
             or another size of request",
            "workload.start (test.toml:7): the footprint ends past 8192 PiB, the end of addresses, given 8192 PiB; \
             start earlier",
            "workload.trim_share (test.toml:6): reads and trims add up to 110 % of all requests, given 40 %; lower read_share or trim_share; the rest of the requests are writes",
        ]
    );
}

#[test]
fn times_that_were_never_recorded_cannot_be_replayed() {
    let settings = "kind = \"uniform\"\nrequests = 3\nfootprint = \"1 MiB\"\narrival = \"recorded\"";
    let expected = "workload.arrival.kind (test.toml:5): a synthetic workload has no recorded times, given \"recorded\"; \
                    use one of closed, poisson, periodic, bursts, rhythm";
    assert_eq!(problems(settings), [expected]);
}

#[test]
fn how_far_a_workload_reaches_is_known_before_it_runs() {
    let reach = |settings: &str| workload(settings, 1).unwrap().reach();
    assert_eq!(reach(SETTINGS), Some(1003 << 10));
    for kind in ["zipf", "hot_cold", "sequential"] {
        assert_eq!(reach(&SETTINGS.replace("uniform", kind)), Some(1003 << 10), "{kind}");
    }
    let last = requests(SETTINGS).iter().map(|request| request.address + u64::from(request.bytes)).max();
    assert_eq!(last, Some(1003 << 10), "200,000 requests for 1000 blocks reach the last");
}
