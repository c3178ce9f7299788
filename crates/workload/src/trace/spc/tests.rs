//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{read_several, request};
use nacre_kernel::Op;

#[test]
fn sectors_bytes_and_decimal_seconds_are_read() {
    let trace =
        b"0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214,extra\n0,1,512,r,1\n0,2,512,W,1.000000000001\n";
    let (requests, tally) = read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "spc");
    assert_eq!(
        requests,
        [
            request(0, Op::Write, 0, 303_567 * 512, 3584),
            request(26_214_000_000, Op::Read, 1, 55_590 * 512, 3072),
            request(1_000_000_000_000, Op::Read, 0, 512, 512),
            request(1_000_000_000_001, Op::Write, 0, 1024, 512),
        ]
    );
    assert_eq!(tally.volumes, ["0", "1"]);
}
