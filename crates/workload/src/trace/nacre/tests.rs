//! Tests with a file that is built from the documented layout, and with every type of damage.

use super::column::{Kind, Layout};
use crate::trace::testing::{of_kind, read_as, read_several, request, strictly, written};
use crate::trace::{Location, Options, TraceError, WriteOptions, create};
use nacre_kernel::{Op, Request};
use proptest::prelude::*;

fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
    let check = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes
}

/// Three requests on volume 0: reads of 4 KiB at 4 KiB and 8 KiB, and a flush. They arrive at 0, 5 us, and 7
/// us.
fn by_hand() -> Vec<u8> {
    let mut header = b"\x89NCR\r\n\x1a\n\x01\0\0\0\x02\0\0\0".to_vec();
    header.extend_from_slice(&3u64.to_le_bytes());
    header.extend_from_slice(&i64::MIN.to_le_bytes());
    header.extend_from_slice(b"me");
    // Arrival: zigzag-coded differences 0, 10, and 4 in units of 1 us, with 4 bits each. Address: 4096 * (1,
    // 2, 0), with 2 bits each. Bytes: 4096 * (1, 1, 0), with 1 bit each. Volume: all 0. Operation: (0, 0, 3),
    // with 2 bits each.
    let columns: [(u8, u8, u64, u64, u64); 5] = [
        (1, 4, 0, 1_000_000, 0x4a0),
        (0, 2, 0, 4096, 0b00_10_01),
        (0, 1, 0, 4096, 0b011),
        (0, 0, 0, 1, 0),
        (0, 2, 0, 1, 0b11_00_00),
    ];
    let (mut layouts, mut payload) = (Vec::new(), Vec::new());
    for (kind, width, base, scale, values) in columns {
        layouts.extend_from_slice(&[kind, width, 0, 0, 0, 0, 0, 0]);
        layouts.extend_from_slice(&base.to_le_bytes());
        layouts.extend_from_slice(&scale.to_le_bytes());
        if width > 0 {
            payload.extend_from_slice(&values.to_le_bytes());
        }
    }
    payload.extend_from_slice(&[0; 8]);
    let mut block = b"BLCK\x03\0\0\0\x28\0\0\0".to_vec();
    block.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    block.extend_from_slice(&layouts);
    block.extend_from_slice(&[0; 4]);
    let mut trailer = b"DONE\x05\0\0\0\x03\0\0\0\0\0\0\0".to_vec();
    trailer.extend_from_slice(b"\x03\0sda");
    [checked(header), checked(block), payload, checked(trailer)].concat()
}

fn three() -> [Request; 3] {
    [
        request(0, Op::Read, 0, 4096, 4096),
        request(5_000_000, Op::Read, 0, 8192, 4096),
        request(7_000_000, Op::Flush, 0, 0, 0),
    ]
}

#[test]
fn a_file_assembled_from_the_documented_layout_is_read() {
    let (requests, tally) =
        read_several(&[&by_hand()], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(requests, three());
    assert_eq!(tally.format, "nacre");
    assert_eq!(tally.notes, ["made from me"]);
    assert_eq!(tally.volumes, ["sda"]);
}

#[test]
fn what_is_written_has_that_layout_too() {
    let store = crate::trace::testing::Store::default();
    let options = WriteOptions { provenance: "me".into(), ..WriteOptions::default() };
    let mut writer = create("nacre", Box::new(store.clone()), &options).unwrap();
    writer.write(&three()).unwrap();
    writer.name_volumes(&["sda".to_string()]);
    writer.finish().unwrap();
    let mut expected = by_hand();
    // A writer to a stream does not know the number of requests when it writes the header.
    expected[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let check = crc32fast::hash(&expected[..34]);
    expected[34..38].copy_from_slice(&check.to_le_bytes());
    assert_eq!(store.bytes(), expected);
}

#[test]
fn a_file_of_nothing_is_valid() {
    let (bytes, done) = written("nacre", &[], &WriteOptions::default()).unwrap();
    assert_eq!((bytes.len(), done.records), (32 + 4 + 16 + 4, 0));
    assert_eq!(read_several(&[&bytes], &strictly("nacre")).unwrap().0, []);
}

#[test]
fn every_way_to_cut_a_file_is_noticed_and_nothing_wrong_is_read() {
    let whole = by_hand();
    for length in 0..whole.len() {
        let cut = &whole[..length];
        assert!(read_several(&[cut], &strictly("nacre")).is_err(), "cut to {length}");
        match read_as("nacre", cut) {
            Ok((requests, tally)) => {
                assert_eq!((&requests[..], tally.bad_records), (&three()[..], 1), "cut to {length}");
            }
            Err(TraceError::WrongFormat { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed_and_nothing_wrong_is_read() {
    let whole = by_hand();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(read_several(&[&flipped], &strictly("nacre")).is_err(), "bit {bit}");
        if let Ok((requests, tally)) = read_as("nacre", &flipped) {
            assert_eq!(requests, three(), "bit {bit}");
            assert!(tally.bad_records > 0, "bit {bit}");
        }
    }
}

#[test]
fn a_damaged_block_is_left_out_and_named_and_the_rest_is_read() {
    let requests: Vec<Request> =
        (0..200_000).map(|i| request(i * 1000, Op::Write, 0, i * 512, 512)).collect();
    let (mut bytes, _) = written("nacre", &requests, &WriteOptions::default()).unwrap();
    let second = bytes.windows(4).skip(100).position(|mark| mark == b"BLCK").unwrap() + 100;
    bytes[second + 1000] ^= 1;
    let (read, tally) = read_as("nacre", &bytes).unwrap();
    assert_eq!(tally.bad_records, 65_536);
    assert_eq!(tally.first_bad[0].place, Location::Byte(second as u64));
    let mut expected = requests;
    expected.drain(65_536..131_072);
    assert_eq!(read, expected);
}

#[test]
fn widths_that_one_load_cannot_reach_are_refused() {
    let mut bytes = Vec::new();
    Layout { kind: Kind::Offset, width: 57, base: 0, scale: 1 }.store(&mut bytes);
    assert_eq!(Layout::load(bytes.first_chunk().unwrap()), None);
    bytes[1] = 64;
    assert!(Layout::load(bytes.first_chunk().unwrap()).is_some());
}

fn any_request() -> impl Strategy<Value = Request> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim), Just(Op::Flush)];
    let place = prop_oneof![0..(1u64 << 20), (0..(1u64 << 30)).prop_map(|n| n * 512), 0..(1u64 << 61)];
    let arrival =
        prop_oneof![Just(0u64), 0..1000u64, (0..1_000_000u64).prop_map(|n| n * 1_000_000), 0..(1u64 << 60)];
    (arrival, op, any::<u32>(), place, 1..=u32::MAX).prop_map(|(ps, op, volume, address, bytes)| match op {
        Op::Flush => request(ps, op, volume, 0, 0),
        _ => request(ps, op, volume, address, bytes),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_requests_survive_exactly(mut requests in prop::collection::vec(any_request(), 1..300)) {
        requests.sort_by_key(|request| request.arrival);
        let first = requests[0].arrival;
        for request in &mut requests {
            request.arrival = request.arrival - first;
        }
        let (bytes, _) = written("nacre", &requests, &WriteOptions::default()).unwrap();
        let (read, _) = read_several(&[&bytes], &Options { strict: true, ..of_kind("nacre") }).unwrap();
        prop_assert_eq!(read, requests);
    }
}
