//! Tests of the reader and the writer with records built from the documented layout.

use crate::trace::testing::{read_as, read_several, request, strictly, written};
use crate::trace::{Location, Options, TraceError, WriteOptions};
use nacre_kernel::Op;

fn one(bytes: u32, command: u16, lbn: u64, us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    for word in [77, bytes, 1] {
        record.extend_from_slice(&u32::to_le_bytes(word));
    }
    record.extend_from_slice(&command.to_le_bytes());
    record.extend_from_slice(&0x0100u16.to_le_bytes());
    record.extend_from_slice(&lbn.to_le_bytes());
    record.extend_from_slice(&us.to_le_bytes());
    record
}

fn two(bytes: u32, command: u16, lbn: u64, us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend_from_slice(&command.to_le_bytes());
    record.extend_from_slice(&0x0200u16.to_le_bytes());
    for word in [77, bytes, 1] {
        record.extend_from_slice(&u32::to_le_bytes(word));
    }
    for long in [lbn, us, 999] {
        record.extend_from_slice(&long.to_le_bytes());
    }
    record
}

#[test]
fn both_versions_give_the_same_requests() {
    let records = [
        (512, 0x2a, 42_932_745, 5_633_898_368_802),
        (4096, 0x28, 8, 5_633_898_368_812),
        (1024, 0x88, 0, 5_633_898_368_812),
        (1024, 0x8a, 1, 5_633_898_368_813),
        (24, 0x42, 0, 5_633_898_368_814),
        (0, 0x35, 0, 5_633_898_368_815),
    ];
    let expected = [
        request(0, Op::Write, 0, 42_932_745 * 512, 512),
        request(10_000_000, Op::Read, 0, 4096, 4096),
        request(10_000_000, Op::Read, 0, 0, 1024),
        request(11_000_000, Op::Write, 0, 512, 1024),
        request(13_000_000, Op::Flush, 0, 0, 0),
    ];
    for make in [one, two] {
        let bytes: Vec<u8> =
            records.iter().flat_map(|&(bytes, command, lbn, us)| make(bytes, command, lbn, us)).collect();
        let (requests, tally) =
            read_several(&[&bytes], &Options { strict: true, ..Options::default() }).unwrap();
        assert_eq!(requests, expected);
        assert_eq!((tally.format, tally.skipped), ("vscsi", 1), "UNMAP does not say what it unmaps");
        assert_eq!(
            tally.notes,
            ["SCSI commands that do not read, write or flush, skipped: 1 (0x42 1)"],
            "what is left out is named"
        );
    }
}

#[test]
fn a_file_cut_within_a_record_is_read_up_to_there() {
    let mut bytes = [one(512, 0x28, 0, 0), one(512, 0x28, 1, 1)].concat();
    bytes.truncate(50);
    let (requests, tally) = read_as("vscsi", &bytes).unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!(tally.first_bad[0].place, Location::Byte(32));
    assert!(tally.first_bad[0].reason.starts_with("the file ends within a record"));
    let error = read_several(&[&bytes], &strictly("vscsi")).unwrap_err();
    assert!(matches!(error, TraceError::BadRecord { place: Location::Byte(32), .. }), "{error}");
}

#[test]
fn files_of_several_disks_are_several_volumes_in_one_order_of_time() {
    let first = [one(512, 0x28, 1, 100), one(512, 0x28, 2, 300)].concat();
    let second = [one(512, 0x28, 3, 50), one(512, 0x28, 4, 200)].concat();
    let (requests, tally) = read_several(&[&first, &second], &Options::default()).unwrap();
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 1, 3 * 512, 512),
            request(50_000_000, Op::Read, 0, 512, 512),
            request(150_000_000, Op::Read, 1, 4 * 512, 512),
            request(250_000_000, Op::Read, 0, 2 * 512, 512),
        ]
    );
    assert_eq!(tally.volumes, ["a.trace", "b.trace"]);
}

#[test]
fn a_second_volume_or_a_trim_cannot_be_written() {
    let options = WriteOptions::default();
    let error = written("vscsi", &[request(0, Op::Read, 1, 0, 512)], &options).unwrap_err();
    assert!(matches!(error, TraceError::CannotHold { .. }), "{error}");
    let (bytes, done) = written("vscsi", &[request(0, Op::Trim, 0, 0, 512)], &options).unwrap();
    assert_eq!((bytes.len(), done.records, done.dropped_trims), (0, 0, 1));
    assert_eq!(done.notes(), ["1 trims were skipped"]);
    let strict = WriteOptions { strict: true, ..options };
    let error = written("vscsi", &[request(0, Op::Trim, 0, 0, 512)], &strict).unwrap_err();
    assert!(error.to_string().starts_with("vscsi cannot represent a trim (request 1)"), "{error}");
}
