//! Tests of the detection of formats from their content.

use super::small::{file, kinds};
use crate::trace::testing::read_several;
use crate::trace::{FORMATS, Head, Options, TraceError, detect};

#[test]
fn every_format_is_found_by_its_content() {
    for kind in kinds() {
        let bytes = file(kind);
        for whole in [true, false] {
            let found =
                detect("x", Head { bytes: &bytes, whole }).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert_eq!(found.kind, kind);
        }
        let (requests, tally) = read_several(&[&bytes], &Options::default()).unwrap();
        assert_eq!((requests.len(), tally.format), (40, kind));
    }
}

#[test]
fn every_format_is_found_by_a_single_record() {
    for kind in kinds() {
        let bytes = file(kind);
        let length = match kind {
            "vscsi" => 32,
            "oracle_general" => 24,
            "blktrace" => 51,
            "nacre" => continue,
            _ => {
                let lines = if matches!(kind, "nacre_csv" | "cachelib" | "systor") { 2 } else { 1 };
                let lines = if kind == "fio_iolog" { 3 } else { lines };
                bytes.split_inclusive(|&b| b == b'\n').take(lines).map(<[u8]>::len).sum()
            }
        };
        let found = detect("x", Head { bytes: &bytes[..length], whole: true });
        assert_eq!(found.unwrap_or_else(|error| panic!("{kind}: {error}")).kind, kind);
    }
}

#[test]
fn what_is_no_trace_is_refused_with_all_formats_and_the_option() {
    let prose = b"It was the best of times,\nit was the worst of times,\n".repeat(20);
    for bytes in [&b""[..], &prose, &[0; 4096], &[0xff; 4096], b"\n\n\n", b"1,2,3\n4,5,6\n", b"a,b\n"] {
        let error = read_several(&[bytes], &Options::default()).unwrap_err();
        assert!(matches!(error, TraceError::Unrecognized { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("set its format") && kinds().all(|kind| text.contains(kind)), "{text}");
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let options = Options { format: Some("vcsi".into()), ..Options::default() };
    let error = read_several(&[b"x"], &options).unwrap_err().to_string();
    assert!(error.starts_with("there is no trace format \"vcsi\"; the formats are nacre, "), "{error}");
}

#[test]
fn a_file_named_as_another_format_is_an_error_and_not_an_empty_trace() {
    for kind in kinds() {
        for other in kinds().filter(|&other| other != kind) {
            // Whole numbers are also valid milliseconds.
            if (kind, other) == ("ssdsim", "disksim") {
                continue;
            }
            let options = Options { format: Some(other.into()), ..Options::default() };
            match read_several(&[&file(kind)], &options) {
                Err(TraceError::WrongFormat { .. }) => {}
                Ok((requests, tally)) => panic!("{kind} read as {other}: {} {tally:?}", requests.len()),
                Err(error) => panic!("{kind} read as {other}: {error}"),
            }
        }
    }
}

#[test]
fn options_that_do_not_suit_the_format_are_refused() {
    let refuse = |options: Options, inputs: &[&[u8]]| {
        let error = read_several(inputs, &options).unwrap_err();
        assert!(matches!(error, TraceError::Option { .. }), "{error}");
        error.to_string()
    };
    let unit = Some(crate::trace::TimeUnit::Ms);
    let text = refuse(Options { time_unit: unit, ..Options::default() }, &[&file("blkparse")]);
    assert_eq!(text, "time unit ms: times of blkparse are in ns by definition; remove it");
    let text = refuse(Options { time_unit: unit, ..Options::default() }, &[&file("arc")]);
    assert_eq!(text, "time unit ms: arc has no times; remove it");
    let action = Some(crate::trace::Action::Issue);
    refuse(Options { action, ..Options::default() }, &[&file("msr")]);
    refuse(Options { page_bytes: Some(4096), ..Options::default() }, &[&file("msr")]);
    refuse(Options::default(), &[&file("spc"), &file("spc")]);
    refuse(Options::default(), &[]);
}

#[test]
fn the_table_names_each_format_once_and_says_what_it_is() {
    for (index, format) in FORMATS.iter().enumerate() {
        assert!(FORMATS[..index].iter().all(|other| other.kind != format.kind), "{}", format.kind);
        assert!(format.summary.len() > 20 && !format.extensions.is_empty(), "{}", format.kind);
        assert!(format.time_unit.is_some() || !format.unit_varies, "{}", format.kind);
    }
}

#[test]
fn text_that_begins_with_the_mark_of_utf_8_is_read_as_without() {
    let plain = b"timestamp_us,op,offset,length\n0,read,0,512\n5,write,4096,512\n";
    let marked = [b"\xEF\xBB\xBF".as_slice(), plain].concat();
    let read = |bytes: &[u8]| read_several(&[bytes], &Options { strict: true, ..Options::default() });
    assert_eq!(read(&marked).expect("it is text").0, read(plain).expect("it is text").0);
}

#[test]
fn what_is_packed_in_another_way_is_named_with_the_program_that_unpacks_it() {
    let said = |bytes: &[u8]| read_several(&[bytes], &Options::default()).expect_err("packed").to_string();
    let bzip2 = said(b"BZh91AY&SY");
    assert_eq!(
        bzip2,
        "a.trace: it is compressed with bzip2; unpack it with bunzip2, or compress it with gzip or zstd"
    );
    assert_eq!(said(b"PK\x03\x04\x14\0"), "a.trace: it is a zip archive; unpack it with unzip");
}
