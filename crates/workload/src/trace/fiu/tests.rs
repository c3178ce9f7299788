//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{of_kind, read_several, request};
use nacre_kernel::Op;

#[test]
fn nanoseconds_sectors_and_devices_are_read() {
    let trace = b"89966590033985 4892 syslogd 904265560 8 W 6 0 531e779f2e5f0d1b5a1c0a6d4a0f3a11\n\
                  89966590034985 4892 syslogd 904265568 16 R 6 1 0\n\
                  89966590035985 11 kjournald 8 8 W 6 0 0\n";
    let (requests, tally) = read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "fiu");
    assert_eq!(
        requests,
        [
            request(0, Op::Write, 0, 904_265_560 * 512, 4096),
            request(1_000_000, Op::Read, 1, 904_265_568 * 512, 8192),
            request(2_000_000, Op::Write, 0, 4096, 4096),
        ]
    );
    assert_eq!(tally.volumes, ["6:0", "6:1"]);
}

#[test]
fn what_is_neither_read_nor_written_is_a_bad_record() {
    let bad = "2 2 a 8 8 D 6 0 0\n3 2 a 8 0 W 6 0 0\n4 2 a 8 8 W 4294967296 0 0\n";
    let trace = format!("{}{bad}", "1 2 a 8 8 W 6 0 0\n".repeat(9));
    let (requests, tally) = read_several(&[trace.as_bytes()], &of_kind("fiu")).unwrap();
    assert_eq!((requests.len(), tally.bad_records), (9, 3));
    assert!(tally.first_bad[0].reason.starts_with("the type is neither R nor W"));
}
