//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{of_kind, read_several, request};
use nacre_kernel::Op;

#[test]
fn volumes_seconds_and_bytes_are_read_and_files_are_one_recording() {
    let first = b"17,0.000125,R,1048576,4096\n17,1.5,W,512,1024\n".as_slice();
    let second = b"18,1.000000,W,0,8192\n".as_slice();
    let strict = Options { strict: true, ..Options::default() };
    let (requests, tally) = read_several(&[first, second], &strict).unwrap();
    assert_eq!(tally.format, "k5cloud");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 1 << 20, 4096),
            request(999_875_000_000, Op::Write, 1, 0, 8192),
            request(1_499_875_000_000, Op::Write, 0, 512, 1024),
        ]
    );
    assert_eq!(tally.volumes, ["17", "18"]);
}

#[test]
fn bad_fields_are_bad_records() {
    let bad = "1,x,R,0,512\n1,0.6,T,0,512\n1,0.7,R,0,512,9\n1,0.8,R,0,0\n";
    let trace = format!("{}{bad}", "1,0.5,R,0,512\n".repeat(9));
    let (requests, tally) = read_several(&[trace.as_bytes()], &of_kind("k5cloud")).unwrap();
    assert_eq!((requests.len(), tally.bad_records), (9, 4));
}
