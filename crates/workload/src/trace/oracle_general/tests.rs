//! Tests of the reader with handwritten records.

use crate::trace::testing::{of_kind, read_several, request};
use crate::trace::{Location, Options};
use nacre_kernel::Op;

fn record(clock: u32, id: u64, size: u32, next: i64) -> Vec<u8> {
    [&clock.to_le_bytes()[..], &id.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
}

fn trace() -> Vec<u8> {
    [record(100, 7, 4096, 3), record(100, 9, 100, -1), record(103, 7, 4096, i64::MAX)].concat()
}

#[test]
fn objects_become_places_and_all_requests_read() {
    let (requests, tally) =
        read_several(&[&trace()], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "oracle_general");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 7 * 4096, 4096),
            request(0, Op::Read, 0, 9 * 4096, 100),
            request(3_000_000_000_000, Op::Read, 0, 7 * 4096, 4096),
        ]
    );
    assert_eq!(
        tally.notes,
        [
            "the format has no operations: all requests read",
            "object i begins at byte i * 4096; the option page (--page) sets this distance"
        ]
    );
}

#[test]
fn ids_that_are_sectors_are_placed_as_sectors() {
    let options = Options { page_bytes: Some(512), ..of_kind("oracle_general") };
    assert_eq!(read_several(&[&trace()], &options).unwrap().0[1].address, 9 * 512);
}

#[test]
fn hashed_ids_keep_their_lower_bits_and_a_note_says_so() {
    let bytes = [trace(), record(104, u64::MAX, 10, -1)].concat();
    let (requests, tally) = read_several(&[&bytes], &of_kind("oracle_general")).unwrap();
    // There are 2^61 / 4096 = 2^49 objects.
    assert_eq!(requests[3].address, ((1 << 49) - 1) * 4096);
    assert_eq!(tally.notes.len(), 3);
}

#[test]
fn an_object_of_no_bytes_and_a_cut_record_are_bad() {
    let mut bytes = [trace(), record(104, 1, 0, -1), record(105, 1, 1, -1)].concat();
    bytes.pop();
    let (requests, tally) = read_several(&[&bytes], &of_kind("oracle_general")).unwrap();
    assert_eq!(requests.len(), 3);
    let places: Vec<Location> = tally.first_bad.iter().map(|bad| bad.place).collect();
    assert_eq!(places, [Location::Byte(72), Location::Byte(96)]);
}
