//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{read_several, request};
use nacre_kernel::Op;

#[test]
fn devices_are_volumes_and_times_are_microseconds() {
    let trace = b"0,R,126703644672,4096,1577808000000626\n725,W,126703644672,512,1577808000001626\n";
    let (requests, tally) = read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "alibaba");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 126_703_644_672, 4096),
            request(1_000_000_000, Op::Write, 1, 126_703_644_672, 512),
        ]
    );
    assert_eq!(tally.volumes, ["0", "725"]);
}
