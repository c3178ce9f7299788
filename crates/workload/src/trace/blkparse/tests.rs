//! Lines by hand.

use crate::trace::testing::{read_several, request};
use crate::trace::{Action, Options};
use nacre_kernel::Op;

const TRACE: &[u8] = b"  8,33   4        1     0.000000000  3922  D   N 0 (00 ..) [kworker/u65:0]
  8,33  30        1     0.001000000  5025  Q   R 540544 + 8 [systemd-udevd]
  8,33  30        2     0.001000001  5025  G   R 540544 + 8 [systemd-udevd]
  8,33  30        3     0.001000002  5025  P   N [systemd-udevd]
  8,33  30        4     0.001000003  5025  U   N [systemd-udevd] 1
259,2    0        1     0.002000000  4020  Q FWFS 16 + 16 [two words]
259,2    0        2     0.002000500  4020  Q FWS [jbd2]
  8,33  30        5     0.002500000  5025  D   R 540544 + 8 [systemd-udevd]
259,2    0        3     0.003000000  4020  Q   D 0 + 2048 [fstrim]
  8,33  30        6     0.003500000     0  C   R 540544 + 8 [0]
259,2    0        4     0.004000000  4020  A  WS 99 + 8 <- (259,3) 11
  8,0    0        5     0.004100000  4020  m   N cfq5025S / alloced
CPU0 (8,33):
 Reads Queued:           1,        4KiB\t Writes Queued:           0,        0KiB
Total (8,33):
 Reads Queued:           1,        4KiB\t Writes Queued:           0,        0KiB

Throughput (R/W): 4KiB/s / 0KiB/s
Events (8,33): 12 entries
Skips: 0 forward (0 -   0.0%)
";

fn of(action: Option<Action>) -> Options {
    Options { strict: true, action, ..Options::default() }
}

#[test]
fn queued_requests_of_every_kind_are_read_and_nothing_else() {
    let (requests, tally) = read_several(&[TRACE], &of(None)).unwrap();
    assert_eq!(tally.format, "blkparse");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 540_544 * 512, 4096),
            request(1_000_000_000, Op::Write, 1, 8192, 8192),
            request(1_000_500_000, Op::Flush, 1, 0, 0),
            request(2_000_000_000, Op::Trim, 1, 0, 1 << 20),
        ]
    );
    assert_eq!(tally.volumes, ["8,33", "259,2"]);
    assert_eq!(tally.skipped, 16, "8 other events, 8 lines of summary");
}

#[test]
fn the_chosen_action_is_the_one_that_counts() {
    let issued = read_several(&[TRACE], &of(Some(Action::Issue))).unwrap();
    assert_eq!(issued.0, [request(0, Op::Read, 0, 540_544 * 512, 4096)]);
    assert_eq!(issued.1.notes, ["requests are the D events, as asked for"]);
    assert_eq!(read_several(&[TRACE], &of(Some(Action::Complete))).unwrap().0, issued.0);
}

#[test]
fn a_request_without_a_whole_number_of_sectors_is_bad() {
    let bad = [TRACE, b"  8,33  30  1  0.1  5025  Q   R 540544 + x [p]\n"].concat();
    let options = Options { strict: false, ..of(None) };
    let (_, tally) = read_several(&[&bad], &options).unwrap();
    assert_eq!(tally.bad_records, 1);
    assert!(tally.first_bad[0].reason.starts_with("the number of sectors behind + is not a whole number"));
}

#[test]
fn a_flush_has_no_sectors_whatever_its_line_says() {
    let line = b"  8,0    0        1     0.000000000  99  Q FN 2048 + 64 [flusher]\n".repeat(3);
    let (requests, _) = read_several(&[&line], &of(None)).unwrap();
    assert!(
        requests.len() == 3 && requests.iter().all(|request| request.op == Op::Flush && request.bytes == 0)
    );
}
