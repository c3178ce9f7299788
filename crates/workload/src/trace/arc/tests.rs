//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{of_kind, read_several, request};
use nacre_kernel::Op;

const TRACE: &[u8] = b"1842745 64 0 1\n10 1 0 2\n";

#[test]
fn pages_become_reads_at_zero_and_the_notes_say_so() {
    let (requests, tally) = read_several(&[TRACE], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!((tally.format, tally.time_unit), ("arc", None));
    assert_eq!(
        requests,
        [request(0, Op::Read, 0, 1_842_745 * 512, 32_768), request(0, Op::Read, 0, 5120, 512)]
    );
    assert_eq!(tally.notes[0], "the format has no times: all requests arrive at zero");
    assert_eq!(tally.notes[1], "the format has no operations: all requests read");
}

#[test]
fn another_page_size_is_taken_and_an_odd_one_refused() {
    let pages = |bytes| Options { page_bytes: Some(bytes), ..of_kind("arc") };
    assert_eq!(read_several(&[TRACE], &pages(4096)).unwrap().0[1], request(0, Op::Read, 0, 40_960, 4096));
    let error = read_several(&[TRACE], &pages(1000)).unwrap_err().to_string();
    assert_eq!(
        error,
        "page size 1000: it is not a power of two from 512 to 2^30; remove it for the default of the \
         format"
    );
}
