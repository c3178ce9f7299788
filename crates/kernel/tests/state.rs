//! A state reads back as it was written, and anything else is refused with its place.

use nacre_kernel::state::{StateError, StateReader, StateWriter};
use proptest::prelude::*;

fn sample() -> Vec<u8> {
    let mut writer = StateWriter::new();
    writer.section("mapping");
    writer.put_u32s(&[1, 2, u32::MAX]);
    writer.section("wear");
    writer.put_u64s(&[7, u64::MAX]);
    writer.put_bool(true);
    writer.finish()
}

fn read(bytes: &[u8]) -> Result<(Vec<u32>, [u64; 2], bool), StateError> {
    let mut reader = StateReader::new(bytes);
    reader.section("mapping")?;
    let pages = reader.u32s("pages")?;
    reader.section("wear")?;
    let mut erases = [0; 2];
    reader.u64s_into("erases", &mut erases)?;
    let busy = reader.bool("busy")?;
    reader.finish()?;
    Ok((pages, erases, busy))
}

#[test]
fn what_was_written_is_read() {
    assert_eq!(read(&sample()).expect("as written"), (vec![1, 2, u32::MAX], [7, u64::MAX], true));
}

#[test]
fn numbers_are_little_endian_behind_their_length() {
    let mut writer = StateWriter::new();
    writer.put_u32s(&[0x0403_0201]);
    assert_eq!(writer.finish(), [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
}

#[test]
fn another_section_is_named_with_what_was_expected() {
    let mut writer = StateWriter::new();
    writer.section("wear");
    let bytes = writer.finish();
    let error = StateReader::new(&bytes).section("mapping").expect_err("another section");
    let text = "byte 0 of the state, section \"start\": expected section \"mapping\", found \"wear\"";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_list_of_another_length_is_refused() {
    let mut writer = StateWriter::new();
    writer.section("wear");
    writer.put_u64s(&[1, 2, 3]);
    let bytes = writer.finish();
    let mut reader = StateReader::new(&bytes);
    reader.section("wear").expect("it is there");
    let error = reader.u64s_into("erases of each segment", &mut [0; 4]).expect_err("one too few");
    let text = "byte 12 of the state, section \"wear\": expected 4 of erases of each segment, found 3";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_byte_more_than_the_device_reads_is_refused() {
    let bytes = [sample(), vec![0]].concat();
    let error = read(&bytes).expect_err("a byte is left");
    assert_eq!((error.expected.as_str(), error.found.as_str()), ("the end of the state", "1 more bytes"));
}

#[test]
fn a_state_cut_anywhere_is_refused() {
    let whole = sample();
    for length in 0..whole.len() {
        let error = read(&whole[..length]).expect_err("cut short");
        assert!(error.at <= length, "the place lies within what is there: {error}");
    }
}

proptest! {
    #[test]
    fn lists_of_any_content_come_back(
        words in proptest::collection::vec(any::<u32>(), 0..100),
        longs in proptest::collection::vec(any::<u64>(), 0..100),
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        float in any::<u64>().prop_map(f64::from_bits),
    ) {
        let mut writer = StateWriter::new();
        writer.put_u8(9);
        writer.put_u32s(&words);
        writer.put_u64s(&longs);
        writer.put_bytes(&bytes);
        writer.put_f64(float);
        writer.put_u32(5);
        let state = writer.finish();
        let mut reader = StateReader::new(&state);
        prop_assert_eq!(reader.u8("a").unwrap(), 9);
        let mut same = vec![0; words.len()];
        reader.u32s_into("b", &mut same).unwrap();
        prop_assert_eq!(same, words);
        prop_assert_eq!(reader.u64s("c").unwrap(), longs);
        let mut same = vec![0; bytes.len()];
        reader.bytes_into("d", &mut same).unwrap();
        prop_assert_eq!(same, bytes);
        prop_assert_eq!(reader.f64("e").unwrap().to_bits(), float.to_bits());
        prop_assert_eq!(reader.u32("f").unwrap(), 5);
        reader.finish().unwrap();
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        let mut reader = StateReader::new(&bytes);
        while reader.u32s("anything").is_ok() {}
    }
}
