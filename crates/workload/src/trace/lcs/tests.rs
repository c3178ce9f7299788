//! Headers and records by hand.

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

/// A record of a version: its clock, id, size and operation.
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
                request(3_000_000_000_000, Op::Trim, 0, 7 * 4096, 4096),
            ],
            "version {version}"
        );
        assert_eq!(tally.skipped, 1, "a nop");
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
