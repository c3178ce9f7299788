//! Shared code of the fuzz targets: for trace parsers in this module, and for the NBD server in [`nbd`].
//!
//! `cargo +nightly fuzz run trace_msr` runs one target. `cargo fuzz list` lists all targets.

use nacre_kernel::{Op, Request};
use nacre_workload::trace::{Options, Source, open};
use std::io::{BufReader, Cursor};

pub mod nbd;

pub use libfuzzer_sys::fuzz_target;

/// Parses `data` twice with the parser `kind`: bad records are skipped in the first pass and fatal in the
/// second. If `kind` is `None`, the format is detected. Checks the properties that hold for every input.
pub fn parse(kind: Option<&str>, data: &[u8]) {
    let lenient = read(kind, data, false, 61);
    let strict = read(kind, data, true, 4096);
    if let Some(strict) = strict {
        let lenient = lenient.expect("what is read strictly is read leniently");
        assert!(strict == lenient, "both ways and both buffers give the same requests");
    }
}

fn read(kind: Option<&str>, data: &[u8], strict: bool, buffer: usize) -> Option<Vec<Request>> {
    let options = Options { format: kind.map(Into::into), strict, ..Options::default() };
    let stream = BufReader::with_capacity(buffer, Cursor::new(data.to_vec()));
    let mut reader = open(vec![Source::new("fuzz", Box::new(stream))], &options).ok()?;
    let mut requests = Vec::new();
    while reader.read(&mut requests, 1000).ok()? > 0 {}
    assert_eq!(reader.tally().records, requests.len() as u64);
    assert!(!strict || reader.tally().bad_records == 0);
    assert!(requests.is_sorted_by_key(|request| request.arrival));
    assert!(requests.first().is_none_or(|request| request.arrival.is_zero()));
    for request in &requests {
        assert_eq!(request.bytes == 0, request.op == Op::Flush);
        assert!(request.address + u64::from(request.bytes) <= 1 << 62);
    }
    Some(requests)
}

/// Corrects the checksums of a `nacre` trace in `data`, as far as its lengths are valid. The fuzzer then
/// reaches the code after the checksum tests.
pub fn mend_nacre(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let word = |bytes: &[u8], at: usize| {
        bytes
            .get(at..at + 4)
            .map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
    };
    let mend = |bytes: &mut Vec<u8>, from: usize, to: usize, at: usize| {
        if to <= bytes.len() && at + 4 <= bytes.len() {
            let check = crc32fast::hash(&bytes[from..to]);
            bytes[at..at + 4].copy_from_slice(&check.to_le_bytes());
        }
    };
    let end = 32 + word(&bytes, 12);
    mend(&mut bytes, 0, end, end);
    let mut at = end + 4;
    while bytes.get(at..at + 4) == Some(b"BLCK") {
        let size = word(&bytes, at + 8);
        mend(&mut bytes, at + 144, at + 144 + size, at + 12);
        mend(&mut bytes, at, at + 140, at + 140);
        at += 144 + size;
    }
    let end = at + 16 + word(&bytes, at + 4);
    if at < bytes.len() {
        mend(&mut bytes, at, end, end);
    }
    bytes
}

/// Defines the fuzz target of one parser.
#[macro_export]
macro_rules! trace_target {
    ($kind:expr) => {
        $crate::fuzz_target!(|data: &[u8]| $crate::parse($kind, data));
    };
}
