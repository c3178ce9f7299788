//! Tests of conversions from any writable format to any other and back.

use super::small::plain;
use crate::trace::testing::{read_several, request, sample, strictly, written};
use crate::trace::{FORMATS, Options, WriteOptions, Written};
use nacre_kernel::{Op, Request};
use proptest::prelude::*;

fn strict() -> WriteOptions {
    WriteOptions { strict: true, ..WriteOptions::default() }
}

fn writable() -> Vec<&'static str> {
    FORMATS.iter().filter(|format| format.create.is_some()).map(|format| format.kind).collect()
}

#[test]
fn every_pair_of_writable_formats_keeps_what_both_can_hold() {
    assert_eq!(writable(), ["nacre", "nacre_csv", "vscsi", "msr", "spc", "ssdsim"]);
    for first in writable() {
        for second in writable() {
            let (bytes, done) = written(first, &plain(), &strict()).unwrap();
            assert_eq!((done.records, done.bytes), (40, bytes.len() as u64), "{first}");
            let (between, _) = read_several(&[&bytes], &strictly(first)).unwrap();
            let (bytes, _) = written(second, &between, &strict()).unwrap();
            let (after, _) = read_several(&[&bytes], &strictly(second)).unwrap();
            assert_eq!(after, plain(), "{first} to {second}");
        }
    }
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
fn the_cloudphysics_sample_survives_every_format() {
    let bytes = sample("cloudphysics.vscsi");
    let (requests, _) = read_several(&[&bytes], &Options::default()).unwrap();
    for kind in writable() {
        let (bytes, _) = written(kind, &requests, &strict()).unwrap();
        let (again, _) = read_several(&[&bytes], &strictly(kind)).unwrap();
        assert!(again == requests, "{kind}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_counted_or_refused_with_its_name() {
    let requests = [
        request(0, Op::Read, 0, 100, 700),
        request(1_500, Op::Trim, 0, 0, 512),
        request(1_500, Op::Flush, 0, 0, 0),
        request(1_500, Op::Write, 0, 0, 512),
    ];
    let (bytes, done) = written("ssdsim", &requests, &WriteOptions::default()).unwrap();
    assert_eq!(bytes, b"0 0 0 2 1\n2 0 0 1 2\n2 0 0 1 0\n");
    assert_eq!(
        done,
        Written { records: 3, bytes: 30, dropped_flushes: 1, rounded_times: 2, widened: 1, dropped_trims: 0 }
    );
    let refused: Vec<String> = ["ssdsim", "msr", "spc"]
        .into_iter()
        .map(|kind| written(kind, &requests, &strict()).unwrap_err().to_string())
        .collect();
    assert!(refused[0].starts_with("ssdsim cannot represent address 100 and size 700 exactly (request 1)"));
    assert!(refused[1].starts_with("msr cannot represent a trim (request 2)"), "{}", refused[1]);
    assert!(
        refused[2].starts_with("spc cannot represent address 100 and size 700 exactly"),
        "{}",
        refused[2]
    );
}

#[test]
fn a_format_that_is_only_read_names_those_that_are_written() {
    let error = written("blkparse", &[], &strict()).unwrap_err().to_string();
    assert_eq!(
        error,
        "--to blkparse: this format can be read but not written; use nacre, nacre_csv, vscsi, msr, spc, ssdsim"
    );
}

fn any_trace() -> impl Strategy<Value = Vec<Request>> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim), Just(Op::Flush)];
    let one = (0..1_000_000_000u64, op, 0..4u32, 0..(1u64 << 40), 1..(1u32 << 22));
    prop::collection::vec(one, 1..100).prop_map(|parts| {
        let (mut now, mut seen) = (0, Vec::new());
        parts
            .into_iter()
            .enumerate()
            .map(|(index, (step, op, volume, address, bytes))| {
                now += if index == 0 { 0 } else { step };
                // Volumes are numbered in order of first appearance, as in a reader.
                let volume = seen.iter().position(|&v| v == volume).unwrap_or_else(|| {
                    seen.push(volume);
                    seen.len() - 1
                }) as u32;
                match op {
                    Op::Flush => request(now, op, volume, 0, 0),
                    _ => request(now, op, volume, address, bytes),
                }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn nacre_and_its_csv_keep_everything(requests in any_trace()) {
        for kind in ["nacre", "nacre_csv"] {
            let (bytes, _) = written(kind, &requests, &strict()).unwrap();
            let (read, _) = read_several(&[&bytes], &strictly(kind)).unwrap();
            prop_assert_eq!(&read, &requests, "{}", kind);
        }
    }

    #[test]
    fn every_format_keeps_or_counts_every_request(requests in any_trace()) {
        for kind in writable() {
            let one_volume: Vec<Request> = requests.iter().map(|&request| Request { volume: 0, ..request }).collect();
            let (bytes, done) = written(kind, &one_volume, &WriteOptions::default()).unwrap();
            prop_assert_eq!(done.records + done.dropped_trims + done.dropped_flushes, requests.len() as u64);
            if done.records > 0 {
                let (read, _) = read_several(&[&bytes], &strictly(kind)).unwrap();
                prop_assert_eq!(read.len() as u64, done.records, "{}", kind);
            }
        }
    }
}
