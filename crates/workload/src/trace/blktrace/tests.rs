//! Tests of the reader with records built from the documented layout.

use super::{DISCARD, FLUSH, NOTIFY, PASS_THROUGH, WRITE};
use crate::trace::testing::{read_several, request};
use crate::trace::{Location, Options, TraceError};
use nacre_kernel::Op;

const READ: u32 = 1 << 16;

fn record(ns: u64, sector: u64, bytes: u32, action: u32, cpu: u32, data: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend_from_slice(&0x6561_7407u32.to_le_bytes());
    record.extend_from_slice(&1u32.to_le_bytes());
    record.extend_from_slice(&ns.to_le_bytes());
    record.extend_from_slice(&sector.to_le_bytes());
    for word in [bytes, action, 4242, 259 << 20 | 5, cpu] {
        record.extend_from_slice(&word.to_le_bytes());
    }
    record.extend_from_slice(&0u16.to_le_bytes());
    record.extend_from_slice(&(data.len() as u16).to_le_bytes());
    record.extend_from_slice(data);
    record
}

fn first_cpu() -> Vec<u8> {
    [
        record(1_000, 0, 0, NOTIFY, 0, b"swapper/0"),
        record(2_000, 8, 4096, READ | 1, 0, b""),
        record(2_100, 8, 4096, READ | 7, 0, b"xyz"),
        record(9_000, 16, 512, WRITE | 1, 0, b""),
        record(9_100, 0, 36, READ | PASS_THROUGH | 1, 0, b""),
    ]
    .concat()
}

fn second_cpu() -> Vec<u8> {
    [
        record(1_500, 0, 1 << 20, WRITE | DISCARD | 1, 1, b""),
        record(5_000, 0, 0, WRITE | FLUSH | 1, 1, b""),
        record(12_000, 0, 512, READ | 1, 1, b""),
    ]
    .concat()
}

#[test]
fn zone_appends_are_writes_and_zone_management_is_noted() {
    let zoned = [
        record(0, 8, 4096, WRITE | 1, 0, b""),
        record(1_000, 1 << 20, 0, WRITE | 1, 0, b""),
        record(2_000, 16, 4096, WRITE | 1, 0, b""),
    ]
    .concat();
    let (requests, tally) = read_several(&[&zoned], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(requests.len(), 2);
    let note = "events of the chosen action that are no requests, skipped: 1 (writes without bytes 1)";
    assert!(tally.notes.iter().any(|found| found == note), "{:?}", tally.notes);
}

#[test]
fn the_files_of_two_processors_are_merged_by_time() {
    let options = Options { strict: true, ..Options::default() };
    let (requests, tally) = read_several(&[&first_cpu(), &second_cpu()], &options).unwrap();
    assert_eq!(tally.format, "blktrace");
    assert_eq!(
        requests,
        [
            request(0, Op::Trim, 0, 0, 1 << 20),
            request(500_000, Op::Read, 0, 4096, 4096),
            request(3_500_000, Op::Flush, 0, 0, 0),
            request(7_500_000, Op::Write, 0, 8192, 512),
            request(10_500_000, Op::Read, 0, 0, 512),
        ]
    );
    let note = "events of the chosen action that are no requests, skipped: 1 (commands that pass through to the device 1)";
    assert!(tally.notes.iter().any(|found| found == note), "{:?}", tally.notes);
    assert_eq!((tally.skipped, tally.out_of_order), (3, 0));
    assert_eq!(tally.volumes, ["259,5"]);
}

#[test]
fn a_processor_without_events_is_no_error() {
    let options = Options { strict: true, ..Options::default() };
    let (requests, _) = read_several(&[b"", &second_cpu()], &options).unwrap();
    assert_eq!(requests.len(), 3);
}

#[test]
fn damage_is_named_with_its_byte_and_ends_the_reading() {
    let mut bytes = first_cpu();
    let third = 48 + 9 + 48;
    bytes[third] = 0;
    let (requests, tally) = read_several(&[&bytes], &Options::default()).unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!(tally.first_bad[0].place, Location::Byte(third as u64));
    bytes[third] = 7;
    bytes.truncate(third + 50);
    let issued = Options { action: Some(crate::trace::Action::Queue), ..Options::default() };
    let (requests, tally) = read_several(&[&bytes], &issued).unwrap();
    assert_eq!((requests.len(), tally.bad_records), (1, 1));
    let error = read_several(&[&bytes], &Options { strict: true, ..issued }).unwrap_err();
    assert!(matches!(error, TraceError::BadRecord { place: Location::Byte(105), .. }), "{error}");
}
