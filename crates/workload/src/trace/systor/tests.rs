//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{read_several, request};
use nacre_kernel::Op;

const LINES: &[u8] = b"1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
1456095145.133077000,,W,3,4096,512\n\
1456095145.133078000,0.1,,3,4096,512\n\
1456095146.133076000,0.000001000,R,0,0,8192\n";

#[test]
fn lines_are_read_with_and_without_the_header() {
    let with_header = [b"Timestamp,Response,IOType,LUN,Offset,Size\n", LINES].concat();
    for (trace, skipped) in [(LINES, 1), (&with_header[..], 2)] {
        let (requests, tally) =
            read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
        assert_eq!((tally.format, tally.skipped), ("systor", skipped), "a line has no type");
        assert_eq!(tally.notes, ["lines that are no requests, skipped: 1 (lines without a type 1)"]);
        assert_eq!(
            requests,
            [
                request(0, Op::Read, 0, 899_056_122_368, 131_072),
                request(1_000_000, Op::Write, 1, 4096, 512),
                request(1_000_000_000_000, Op::Read, 0, 0, 8192),
            ]
        );
        assert_eq!(tally.volumes, ["0", "3"]);
    }
}
