//! Tests of out-of-order times, and of reads in portions of any size.

use crate::trace::testing::{of_kind, read_as, read_several, source};
use crate::trace::{Options, TimeUnit, open};
use nacre_kernel::Request;

fn trace(times: impl Iterator<Item = u64>) -> Vec<u8> {
    times.enumerate().map(|(index, ns)| format!("{ns} 0 {index} 1 1\n")).collect::<String>().into_bytes()
}

#[test]
fn requests_a_little_out_of_order_are_put_into_order_and_counted() {
    // Each pair is swapped: 1, 0, 3, 2, ... us.
    let bytes = trace((0..20_000u64).map(|i| (i ^ 1) * 1000));
    let (requests, tally) = read_as("ssdsim", &bytes).unwrap();
    assert!(requests.iter().enumerate().all(|(index, request)| {
        request.arrival.as_ps() == index as u64 * 1_000_000 && request.address == (index as u64 ^ 1) * 512
    }));
    assert_eq!((tally.out_of_order, tally.held_back), (10_000, 0));
}

#[test]
fn a_request_far_out_of_order_arrives_with_the_one_before_it_and_is_counted() {
    let times = (0..30_000u64).map(|i| if i == 20_000 { 500 } else { i * 1000 });
    let (requests, tally) = read_as("ssdsim", &trace(times)).unwrap();
    assert_eq!((tally.out_of_order, tally.held_back), (1, 1));
    assert!(requests.is_sorted_by_key(|request| request.arrival));
    let at = requests.iter().position(|request| request.address == 20_000 * 512).unwrap();
    assert_eq!(requests[at].arrival, requests[at - 1].arrival);
    assert_eq!(requests.len(), 30_000);
}

#[test]
fn a_first_record_that_is_not_the_earliest_still_leaves_the_trace_starting_at_zero() {
    let (requests, tally) = read_as("ssdsim", b"9000 0 1 1 1\n5000 0 2 1 1\n6000 0 3 1 1\n").unwrap();
    let arrivals: Vec<u64> = requests.iter().map(|request| request.arrival.as_ps()).collect();
    assert_eq!(arrivals, [0, 1_000_000, 4_000_000]);
    assert_eq!(tally.out_of_order, 2, "5000 and 6000 both lie before 9000");
}

#[test]
fn the_size_of_portions_and_buffers_changes_nothing() {
    let bytes = trace((0..20_000u64).map(|i| (i ^ 5) * 1000));
    let (expected, _) = read_as("ssdsim", &bytes).unwrap();
    for (buffer, portion) in [(1, 7), (13, 100_000), (1 << 20, 4096)] {
        let mut reader = open(vec![source("x", &bytes, buffer)], &of_kind("ssdsim")).unwrap();
        let mut requests: Vec<Request> = Vec::new();
        while reader.read(&mut requests, portion).unwrap() > 0 {}
        assert!(requests == expected, "buffer {buffer}, portion {portion}");
        assert_eq!(reader.read(&mut requests, portion).unwrap(), 0, "the end stays the end");
        assert_eq!(reader.tally().records, 20_000);
    }
}

#[test]
fn a_bad_record_in_the_middle_is_left_out_and_the_rest_is_read() {
    let mut lines: Vec<String> = (0..5000).map(|i| format!("{} 0 {i} 1 1\n", i * 1000)).collect();
    lines[2500] = "2500000 0 oops 1 1\n".into();
    let (requests, tally) = read_as("ssdsim", lines.concat().as_bytes()).unwrap();
    assert_eq!((requests.len(), tally.bad_records), (4999, 1));
    let bad = &tally.first_bad[0];
    assert_eq!(bad.place.to_string(), "line 2501");
    assert_eq!(bad.reason, "the address is not a whole number of sectors: \"2500000 0 oops 1 1\"");
}

#[test]
fn a_file_whose_first_thousand_records_are_mostly_bad_is_refused_at_once() {
    let lines: String =
        (0..1_000_000).map(|i| format!("{i} 0 {} 1 1\n", if i % 3 == 0 { "0" } else { "x" })).collect();
    let error = read_as("ssdsim", lines.as_bytes()).unwrap_err().to_string();
    assert!(
        error.starts_with("a.trace does not look like ssdsim: 251 requests, 501 bad records and 0 others"),
        "{error}"
    );
}

#[test]
fn an_unusual_unit_is_read_and_noted() {
    let options = Options { time_unit: Some(TimeUnit::Us), ..of_kind("spc") };
    let (requests, tally) = read_several(&[b"0,0,512,r,10.5\n0,0,512,r,11.75\n"], &options).unwrap();
    assert_eq!(requests[1].arrival.as_ps(), 1_250_000);
    assert_eq!(tally.notes, ["times are in us, as selected"]);
}
