use crate::testing::{check_repeatable, problems, requests};
use nacre_kernel::Op;

fn blocks(count: u32, settings: &str) -> Vec<u64> {
    let settings = format!(
        "kind = \"sequential\"\nrequests = {count}\nrequest = \"1 KiB\"\nstart = \"1 MiB\"\n{settings}"
    );
    let requests = requests(&settings);
    assert!(requests.iter().all(|request| request.bytes == 1024 && request.op == Op::Read));
    requests.iter().map(|request| (request.address - (1 << 20)) / 1024).collect()
}

#[test]
fn one_stream_walks_through_the_footprint_and_starts_over() {
    assert_eq!(blocks(10, "footprint = \"4 KiB\""), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    assert_eq!(blocks(3, "footprint = \"1 KiB\""), [0, 0, 0]);
}

#[test]
fn several_streams_take_turns_in_regions_of_their_own() {
    assert_eq!(blocks(8, "footprint = \"6 KiB\"\nstreams = 2"), [0, 3, 1, 4, 2, 5, 0, 3]);
}

#[test]
fn a_stride_leaves_gaps_and_repeats_them() {
    assert_eq!(blocks(7, "footprint = \"5 KiB\"\nstride = \"2 KiB\""), [0, 2, 4, 0, 2, 4, 0]);
    assert_eq!(blocks(3, "footprint = \"5 KiB\"\nstride = \"7 KiB\""), [0, 0, 0]);
}

#[test]
fn shifting_fills_the_gaps_in_the_end() {
    let settings = "footprint = \"5 KiB\"\nstride = \"2 KiB\"\nwrap = \"shift\"";
    assert_eq!(blocks(9, settings), [0, 2, 4, 1, 3, 0, 2, 4, 1]);
    let settings = "footprint = \"3 KiB\"\nstride = \"7 KiB\"\nwrap = \"shift\"";
    assert_eq!(blocks(5, settings), [0, 1, 2, 0, 1]);
    let settings = "footprint = \"8 KiB\"\nstride = \"3 KiB\"\nwrap = \"shift\"\nstreams = 2";
    assert_eq!(blocks(12, settings), [0, 4, 3, 7, 1, 5, 2, 6, 0, 4, 3, 7]);
}

#[test]
fn operations_follow_the_seed() {
    check_repeatable("kind = \"sequential\"\nrequests = 5_000\nfootprint = \"1 MiB\"\nread_share = \"50 %\"");
}

#[test]
fn regions_and_strides_that_do_not_fit_are_refused() {
    let settings = "kind = \"sequential\"\nrequests = 9\nfootprint = \"40 KiB\"\nstreams = 4\nstride = \"6 KiB\"\nwrap = \"stop\"";
    assert_eq!(
        problems(settings),
        ["workload.wrap (test.toml:7): there is no such choice, given \"stop\"; known: restart, shift"]
    );
    assert_eq!(
        problems(&settings.replace("stop", "shift")),
        [
            "workload.streams (test.toml:5): the footprint has 10 requests, which is not a multiple of the number of \
             streams, given 4; change streams or footprint",
            "workload.stride (test.toml:6): it is not a whole number of requests of 4 KiB, given 6 KiB; use a \
             multiple of request",
        ]
    );
}
