//! Tests of the reader with handwritten lines.

use crate::trace::testing::{read_as, read_several, request, strictly};
use crate::trace::{Options, TimeUnit, TraceError};
use nacre_kernel::Op;

const TRACE: &[u8] = b"11413000 0 657728 16 1\n11413001\t5\t8\t1\t0\n  11413002 0 0 2048 2\n";

#[test]
fn one_reads_zero_writes_and_two_trims() {
    let (requests, tally) = read_several(&[TRACE], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "ssdsim");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 657_728 * 512, 8192),
            request(1_000, Op::Write, 1, 4096, 512),
            request(2_000, Op::Trim, 0, 0, 1 << 20),
        ]
    );
    assert_eq!(tally.volumes, ["0", "5"]);
}

#[test]
fn steps_of_100_ns_are_read_where_the_user_says_so() {
    let options = Options { time_unit: Some(TimeUnit::HundredNs), ..strictly("ssdsim") };
    let (requests, tally) = read_several(&[TRACE], &options).unwrap();
    assert_eq!(requests[2].arrival.as_ps(), 200_000);
    assert_eq!(tally.time_unit, Some(TimeUnit::HundredNs));
}

#[test]
fn an_unknown_operation_is_bad() {
    let (_, tally) = read_as("ssdsim", b"0 0 0 8 1\n1 0 0 8 3\n2 0 0 8 0 9\n3 0 0 8 1\n4 0 0 8 1\n").unwrap();
    assert_eq!(tally.bad_records, 2);
    assert!(tally.first_bad[0].reason.starts_with("the operation is none of 1 (read), 0 (write), 2 (trim)"));
}

#[test]
fn a_unit_that_makes_a_trace_last_for_years_is_refused_with_a_plausible_one() {
    // The trace has a request every 26 ms for 260 s, in nanoseconds. If times are read as milliseconds, the
    // second request is 303 days after the first.
    let lines: String = (0..10_000u64).map(|i| format!("{} 0 0 8 1\n", i * 26_214_000)).collect();
    let options = Options { time_unit: Some(TimeUnit::Ms), ..Options::default() };
    let error = read_several(&[lines.as_bytes()], &options).unwrap_err();
    assert!(matches!(error, TraceError::TimeUnit { .. }));
    assert_eq!(
        error.to_string(),
        "time unit ms: the record at line 397 of a.trace would be more than 120 days after the first; \
         ns or 100ns or us would be plausible"
    );
}

#[test]
fn a_unit_that_makes_a_trace_impossibly_dense_is_refused_with_a_plausible_one() {
    // The trace has ten requests per millisecond, in milliseconds. If times are read as nanoseconds, requests
    // are 0.1 ns apart. A gap of 100 ns, from one request per 100 ms, would be unusual but possible.
    let lines: String = (0..10_000u64).map(|i| format!("{} 0 0 8 1\n", i / 10)).collect();
    let options = Options { time_unit: Some(TimeUnit::Ns), ..Options::default() };
    let error = read_several(&[lines.as_bytes()], &options).unwrap_err().to_string();
    assert!(error.starts_with("time unit ns: 10000 requests would span 999.000 ns"), "{error}");
    assert!(error.ends_with("ms or s would be plausible"), "{error}");
}

#[test]
fn the_unit_that_was_taken_is_named_unless_the_user_gave_it() {
    let (_, tally) = read_as("ssdsim", TRACE).unwrap();
    let note = "times are taken to be ns, which the file does not say; traces derived from MSR's have units of 100 ns: \
                give time_unit";
    assert_eq!(tally.notes, [note]);
    let options = Options { time_unit: Some(TimeUnit::Ns), ..strictly("ssdsim") };
    let (_, tally) = read_several(&[TRACE], &options).unwrap();
    assert_eq!(tally.notes, ["times are in ns, as selected"]);
}
