//! Tests of the reader with handwritten logs.

use crate::trace::testing::{read_as, read_several, request};
use crate::trace::{Options, TimeUnit, TraceError};
use nacre_kernel::Op;

#[test]
fn version_3_has_microseconds() {
    let log = b"fio version 3 iolog\n30 /dev/sdb add\n31 /dev/sdb open\n10736 /dev/sdb trim 0 2147483648\n\
10752 /dev/sdb write 8192 4096\n10753 /a file with blanks read 0 512\n10760 /dev/sdb sync 0 0\n10761 /dev/sdb datasync\n10892 /dev/sdb close\n";
    let (requests, tally) = read_several(&[log], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!((tally.format, tally.skipped), ("fio_iolog", 4));
    assert_eq!(
        requests,
        [
            request(0, Op::Trim, 0, 0, 1 << 31),
            request(16_000_000, Op::Write, 0, 8192, 4096),
            request(17_000_000, Op::Read, 1, 0, 512),
            request(24_000_000, Op::Flush, 0, 0, 0),
            request(25_000_000, Op::Flush, 0, 0, 0),
        ]
    );
    assert_eq!(tally.volumes, ["/dev/sdb", "/a file with blanks"]);
}

#[test]
fn version_2_has_no_times_but_waits() {
    let log =
        b"fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb write 8192 4096\n/dev/sdb wait 1000 0\n\
/dev/sdb read 0 512\n/dev/sdb wait 500 0\n/dev/sdb read 512 512\n/dev/sdb close\n";
    let (requests, tally) = read_several(&[log], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(
        requests,
        [
            request(0, Op::Write, 0, 8192, 4096),
            request(1_000_000_000, Op::Read, 0, 0, 512),
            request(1_500_000_000, Op::Read, 0, 512, 512),
        ]
    );
    assert_eq!(
        tally.notes,
        ["version 2 has no times: requests arrive at zero, or after the preceding waits"]
    );
}

#[test]
fn milliseconds_are_read_where_the_user_says_so() {
    let log = b"fio version 3 iolog\n1 f read 0 512\n3 f read 0 512\n";
    let options = Options { time_unit: Some(TimeUnit::Ms), ..Options::default() };
    assert_eq!(read_several(&[log], &options).unwrap().0[1].arrival.as_ps(), 2_000_000_000);
}

#[test]
fn a_log_without_its_first_line_is_no_log() {
    let error = read_as("fio_iolog", b"1 f read 0 512\n3 f read 0 512\n").unwrap_err();
    assert!(matches!(error, TraceError::WrongFormat { .. }));
    assert!(error.to_string().contains("the log does not begin with"), "{error}");
}
