//! Tests of the reader with handwritten headers and records.

use crate::trace::Options;
use crate::trace::testing::{of_kind, read_several, request};
use nacre_kernel::Op;

fn header(version: u64) -> Vec<u8> {
    let mut header = vec![0; 8192];
    header[..8].copy_from_slice(&0x1234_5678_9abc_def0u64.to_le_bytes());
    header[8..16].copy_from_slice(&version.to_le_bytes());
    header[8184..].copy_from_slice(&0x1234_5678_9abc_def0u64.to_le_bytes());
    header
}

/// Returns a record of `version` with the given clock, object id, size, and operation number.
fn record(version: u64, clock: u32, id: u64, size: u64, op: u8) -> Vec<u8> {
    let mut record = [&clock.to_le_bytes()[..], &id.to_le_bytes()].concat();
    let width = if version < 3 { 4 } else { 8 };
    record.extend_from_slice(&size.to_le_bytes()[..width]);
    if version >= 2 {
        record.extend_from_slice(&(u32::from(op) | 77 << 8).to_le_bytes());
    }
    if version >= 3 {
        record.extend_from_slice(&60u32.to_le_bytes());
    }
    record.extend_from_slice(&(-1i64).to_le_bytes());
    let features = [0, 0, 0, 0, 1, 2, 4, 8, 16][version as usize];
    record.extend(std::iter::repeat_n(0xee, 4 * features));
    record
}

#[test]
fn records_of_all_versions_are_read() {
    for version in 1..=8 {
        let records = [
            record(version, 100, 7, 4096, 1),
            record(version, 100, 9, 100, 3),
            record(version, 101, 9, 100, 0),
            record(version, 103, 7, 4096, 9),
        ];
        let bytes = [header(version), records.concat()].concat();
        let strict = Options { strict: true, ..Options::default() };
        let (requests, tally) = read_several(&[&bytes], &strict).unwrap();
        assert_eq!(tally.format, "lcs");
        if version == 1 {
            assert!(requests.len() == 4 && requests.iter().all(|request| request.op == Op::Read));
            assert!(tally.notes[0].contains("no operations"));
            continue;
        }
        assert_eq!(
            requests,
            [
                request(0, Op::Read, 0, 7 * 4096, 4096),
                request(0, Op::Write, 0, 9 * 4096, 100),
                request(1_000_000_000_000, Op::Read, 0, 9 * 4096, 100),
                request(3_000_000_000_000, Op::Trim, 0, 7 * 4096, 4096),
            ],
            "version {version}"
        );
        assert_eq!(tally.notes[0], "records without an operation (nop), which read: 1");
    }
}

/// Records that libCacheSim 0.3.5 wrote in versions 2 and 3, in hexadecimal. Clock, object id, size, and
/// operation are `1,7,4096,get`, `1,9,100,set`, `2,9,100,read`, `3,7,4096,delete`, and `4,7,512,write`.
const WRITTEN: [(u64, &str); 2] = [
    (
        2,
        "01000000070000000000000000100000010000000400000000000000 \
     01000000090000000000000064000000030000000300000000000000 \
     020000000900000000000000640000000c000000ffffffffffffff7f \
     03000000070000000000000000100000090000000500000000000000 \
     040000000700000000000000000200000d000000ffffffffffffff7f",
    ),
    (
        3,
        "010000000700000000000000001000000000000001000000000000000400000000000000 \
     010000000900000000000000640000000000000003000000000000000300000000000000 \
     02000000090000000000000064000000000000000c00000000000000ffffffffffffff7f \
     030000000700000000000000001000000000000009000000000000000500000000000000 \
     04000000070000000000000000020000000000000d00000000000000ffffffffffffff7f",
    ),
];

#[test]
fn what_libcachesim_writes_is_read() {
    for (version, digits) in WRITTEN {
        let digits: Vec<u8> = digits.bytes().filter(|digit| digit.is_ascii_hexdigit()).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let records: Vec<u8> = digits.chunks(2).map(byte).collect();
        let (requests, _) = read_several(&[&[header(version), records].concat()], &of_kind("lcs")).unwrap();
        let second = 1_000_000_000_000;
        let expected = [
            request(0, Op::Read, 0, 7 * 4096, 4096),
            request(0, Op::Write, 0, 9 * 4096, 100),
            request(second, Op::Read, 0, 9 * 4096, 100),
            request(2 * second, Op::Trim, 0, 7 * 4096, 4096),
            request(3 * second, Op::Write, 0, 7 * 4096, 512),
        ];
        assert_eq!(requests, expected, "version {version}");
    }
}

#[test]
fn sizes_past_a_request_unknown_operations_and_cut_records_are_bad() {
    let records = [record(3, 1, 1, 512, 13).repeat(9), record(3, 1, 1, 1 << 32, 1), record(3, 1, 1, 512, 15)];
    let mut bytes = [header(3), records.concat(), record(3, 1, 1, 512, 1)].concat();
    bytes.pop();
    let (requests, tally) = read_several(&[&bytes], &of_kind("lcs")).unwrap();
    assert_eq!((requests.len(), tally.bad_records), (9, 3));
    assert_eq!(requests[0].op, Op::Write);
}

#[test]
fn a_header_that_ends_early_has_no_requests() {
    assert!(read_several(&[&header(2)[..500]], &of_kind("lcs")).is_err());
}
