//! Tests of all readers with invalid and malicious input.

use super::small::{file, kinds};
use crate::trace::testing::{of_kind, read_several, source, strictly};
use crate::trace::{Options, Summary, open};
use nacre_kernel::{Op, Request};
use proptest::prelude::*;

/// Reads `bytes` with `options`, and checks invariants of every outcome. Returns the requests if there is no
/// error.
fn read_any(bytes: &[u8], options: &Options, buffer: usize) -> Option<Vec<Request>> {
    let mut reader = open(vec![source("x", bytes, buffer)], options).ok()?;
    let mut requests = Vec::new();
    while reader.read(&mut requests, 100).ok()? > 0 {}
    let tally = reader.tally();
    assert_eq!(tally.records, requests.len() as u64);
    assert!(requests.is_sorted_by_key(|request| request.arrival));
    for request in &requests {
        let is_empty = request.bytes == 0;
        assert_eq!(
            is_empty,
            request.op == Op::Flush,
            "{request:?} of {:?} with {options:?}",
            bytes.escape_ascii()
        );
    }
    assert!(requests.iter().all(|request| request.address + u64::from(request.bytes) <= 1 << 62));
    assert!(!options.strict || tally.bad_records == 0);
    Some(requests)
}

#[test]
fn strict_and_lenient_agree_on_valid_files() {
    for kind in kinds() {
        let bytes = file(kind);
        let (lenient, _) = read_several(&[&bytes], &of_kind(kind)).unwrap();
        assert_eq!(read_several(&[&bytes], &strictly(kind)).unwrap().0, lenient, "{kind}");
    }
}

#[test]
fn a_file_cut_anywhere_never_panics_and_never_gives_more() {
    for kind in kinds() {
        let bytes = file(kind);
        let (whole, _) = read_several(&[&bytes], &of_kind(kind)).unwrap();
        for length in (0..bytes.len()).step_by(3) {
            if let Some(requests) = read_any(&bytes[..length], &of_kind(kind), 64) {
                assert!(requests.len() <= whole.len(), "{kind} cut to {length}");
                // The last line may be truncated within a number, which a reader cannot detect.
                let changed = requests.iter().filter(|request| !whole.contains(request)).count();
                let shifted = requests.first().map(|request| request.address) != Some(whole[0].address);
                assert!(changed <= 1 || shifted, "{kind} cut to {length}");
            }
        }
    }
}

#[test]
fn a_line_without_end_is_one_bad_record_in_bounded_memory() {
    let mut bytes = file("msr");
    bytes.extend(std::iter::repeat_n(b'7', 1 << 20));
    for buffer in [100, 1 << 21] {
        let mut reader = open(vec![source("x", &bytes, buffer)], &of_kind("msr")).unwrap();
        let mut requests = Vec::new();
        while reader.read(&mut requests, 100).unwrap() > 0 {}
        assert_eq!((requests.len(), reader.tally().bad_records), (40, 1));
        assert!(reader.tally().first_bad[0].reason.starts_with("the line is longer than 16 KiB"));
    }
}

#[test]
fn numbers_at_the_edge_are_bad_records_and_no_panic() {
    let edges = [
        "0",
        "1",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "",
        "-1",
        "1e400",
        "nan",
        "1.5",
    ];
    for kind in [
        "msr",
        "spc",
        "ssdsim",
        "disksim",
        "systor",
        "alibaba",
        "tencent",
        "k5cloud",
        "fiu",
        "cachelib",
        "arc",
        "nacre_csv",
        "blkparse",
        "fio_iolog",
    ] {
        let text = String::from_utf8(file(kind)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len() - 1];
        let separator = if last.contains(',') && kind != "blkparse" { ',' } else { ' ' };
        for field in 0..last.split(separator).count() {
            for edge in edges {
                let changed: Vec<&str> = last
                    .split(separator)
                    .enumerate()
                    .map(|(i, old)| if i == field { edge } else { old })
                    .collect();
                let bytes = format!("{text}{}\n", changed.join(&separator.to_string()));
                let requests = read_any(bytes.as_bytes(), &of_kind(kind), 4096);
                assert!((40..=41).contains(&requests.unwrap().len()), "{kind}: {bytes}");
            }
        }
    }
}

fn mutation() -> impl Strategy<Value = (prop::sample::Index, u8, u8)> {
    (any::<prop::sample::Index>(), 0..4u8, any::<u8>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_bytes_make_a_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), strict: bool, buffer in 1..700usize) {
        for kind in kinds() {
            read_any(&bytes, &Options { strict, ..of_kind(kind) }, buffer);
        }
        read_any(&bytes, &Options::default(), buffer);
    }

    #[test]
    fn no_change_of_a_valid_file_makes_its_parser_panic(
        changes in prop::collection::vec(mutation(), 1..12), strict: bool, buffer in 1..5000usize,
    ) {
        for kind in kinds() {
            let mut bytes = file(kind);
            for (place, how, byte) in &changes {
                let at = place.index(bytes.len());
                match how {
                    0 => bytes[at] = *byte,
                    1 => bytes.insert(at, *byte),
                    2 => drop(bytes.remove(at)),
                    _ => bytes[at] ^= 1 << (byte % 8),
                }
            }
            if let Some(requests) = read_any(&bytes, &Options { strict, ..of_kind(kind) }, buffer) {
                let small = requests.iter().filter(|request| request.bytes < 1 << 24).copied().collect::<Vec<_>>();
                Summary::new().add(&small);
            }
        }
    }
}
