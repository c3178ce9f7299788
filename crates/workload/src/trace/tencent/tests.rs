//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{read_several, request};
use nacre_kernel::Op;

#[test]
fn sectors_and_whole_seconds_are_read_and_the_latter_noted() {
    let trace = b"1538323199,105352008,584,1,1576\n1538323200,8,8,0,1577\n1538323200,16,8,0,1576\n";
    let (requests, tally) = read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "tencent");
    assert_eq!(
        requests,
        [
            request(0, Op::Write, 0, 105_352_008 * 512, 584 * 512),
            request(1_000_000_000_000, Op::Read, 1, 4096, 4096),
            request(1_000_000_000_000, Op::Read, 0, 8192, 4096),
        ]
    );
    assert_eq!(tally.volumes, ["1576", "1577"]);
    assert_eq!(tally.notes, ["times are whole seconds: requests of one second arrive together"]);
}
