//! Tests of the reader with handwritten lines.

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
    assert_eq!(
        issued.1.notes,
        [
            "requests are the D events, as selected",
            "events of the chosen action that are no requests, skipped: 1 (N (no operation) 1)"
        ]
    );
    assert_eq!(read_several(&[TRACE], &of(Some(Action::Complete))).unwrap().0, issued.0);
}

/// Linux output for a zoned drive: zone appends and zone management.
const ZONED: &[u8] = b"259,4    2        1     0.000000000  3100  Q  ZAS 524288 + 8 [zfs]
259,4    2        2     0.000100000  3100  Q  ZA 524296 + 16 [zfs]
259,4    2        3     0.000150000  3100  Q FZAFS 524312 + 8 [zfs]
259,4    2        4     0.000200000  3100  Q  WS 1048576 + 8 [zfs]
259,4    2        5     0.000300000  3100  Q  ZR 524288 + 0 [blkzone]
259,4    2        6     0.000300000  3100  Q ZRA 0 + 0 [blkzone]
259,4    2        7     0.000400000  3100  Q  ZO 524288 + 0 [blkzone]
259,4    2        8     0.000400000  3100  Q  ZC 524288 + 0 [blkzone]
259,4    2        9     0.000500000  3100  Q  ZF 524288 + 0 [blkzone]
259,4    2       10     0.000600000  3100  Q  ZR 1048576 + 0 [blkzone]
";

#[test]
fn zone_appends_are_writes_and_zone_management_is_noted() {
    let (requests, tally) = read_several(&[ZONED], &of(None)).unwrap();
    let write = |us: u64, sector: u64, bytes| request(us * 1_000_000, Op::Write, 0, sector * 512, bytes);
    assert_eq!(
        requests,
        [
            write(0, 524_288, 4096),
            write(100, 524_296, 8192),
            write(150, 524_312, 4096),
            write(200, 1_048_576, 4096)
        ]
    );
    assert_eq!((tally.skipped, tally.bad_records), (6, 0));
    let note = "events of the chosen action that are no requests, skipped: 6 (ZC (zone close) 1, \
                ZF (zone finish) 1, ZO (zone open) 1, ZR (zone reset) 2, ZRA (all zones reset) 1)";
    assert!(tally.notes.iter().any(|found| found == note), "{:?}", tally.notes);
}

#[test]
fn an_unknown_operation_is_a_bad_record_and_ends_a_strict_reading() {
    let bad = [TRACE, b"  8,33  30  1  0.1  5025  Q   XS 540544 + 8 [p]\n"].concat();
    let (_, tally) = read_several(&[&bad], &Options { strict: false, ..of(None) }).unwrap();
    assert_eq!(tally.bad_records, 1);
    assert!(tally.first_bad[0].reason.starts_with("the operation in RWBS is none of"), "{tally:?}");
    let error = read_several(&[&bad], &of(None)).unwrap_err().to_string();
    assert!(error.contains("the operation in RWBS is none of"), "{error}");
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
