//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{read_as, read_several, request};
use nacre_kernel::Op;

#[test]
fn milliseconds_sectors_and_bit_0_are_read() {
    let trace = b"5265.313 0 6357144 8 0\n5265.3135 1 8 16 1\n 5266 0 0 1 3\n5267.0 0 0 1 a\n";
    let (requests, tally) = read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "disksim");
    assert_eq!(
        requests,
        [
            request(0, Op::Write, 0, 6_357_144 * 512, 4096),
            request(500_000, Op::Read, 1, 4096, 8192),
            request(687_000_000, Op::Read, 0, 0, 512),
            request(1_687_000_000, Op::Write, 0, 0, 512),
        ]
    );
}

#[test]
fn whole_milliseconds_are_read_when_the_format_is_named() {
    let (requests, _) = read_as("disksim", b"10 0 0 8 1\n12 0 8 8 0\n").unwrap();
    assert_eq!(
        requests,
        [request(0, Op::Read, 0, 0, 4096), request(2_000_000_000, Op::Write, 0, 4096, 4096)]
    );
}
