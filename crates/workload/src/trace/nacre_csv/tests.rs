//! Tests of the reader and the writer with handwritten lines.

use crate::trace::testing::{read_as, read_several, request, written};
use crate::trace::{Options, TraceError, WriteOptions};
use nacre_kernel::Op;

#[test]
fn every_operation_is_read_with_and_without_volumes() {
    let trace = b"timestamp_us,op,offset,length\n5,read,4096,512\n5.25,write,0,100\n6,flush,0,0\n6,flush,,\n7.000001,trim,0,1048576\n";
    let (requests, tally) = read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "nacre_csv");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 4096, 512),
            request(250_000, Op::Write, 0, 0, 100),
            request(1_000_000, Op::Flush, 0, 0, 0),
            request(1_000_000, Op::Flush, 0, 0, 0),
            request(2_000_001, Op::Trim, 0, 0, 1 << 20),
        ]
    );
    let trace = b"timestamp_us,op,offset,length,volume\n0,read,0,512,7\n1,read,0,512,3\n";
    let (requests, tally) = read_as("nacre_csv", trace).unwrap();
    assert_eq!(requests[1], request(1_000_000, Op::Read, 1, 0, 512));
    assert_eq!(tally.volumes, ["7", "3"]);
}

#[test]
fn a_missing_header_or_column_is_named() {
    let error = read_as("nacre_csv", b"0,read,0,512\n").unwrap_err().to_string();
    assert!(error.contains("the first line is not timestamp_us,op,offset,length[,volume]"), "{error}");
    let trace = b"timestamp_us,op,offset,length,volume\n0,read,0,512\n1,read,0,512,0\n";
    let (_, tally) = read_as("nacre_csv", trace).unwrap();
    assert_eq!(tally.bad_records, 1);
}

#[test]
fn a_header_alone_is_a_trace_of_nothing_but_an_empty_file_is_not() {
    assert_eq!(read_as("nacre_csv", b"timestamp_us,op,offset,length\n").unwrap().0, []);
    assert!(matches!(read_as("nacre_csv", b""), Err(TraceError::WrongFormat { .. })));
}

#[test]
fn what_is_written_is_plain_and_exact() {
    let requests = [request(0, Op::Read, 0, 1, 2), request(1_500_000, Op::Flush, 1, 0, 0)];
    let (bytes, _) = written("nacre_csv", &requests, &WriteOptions::default()).unwrap();
    assert_eq!(bytes, b"timestamp_us,op,offset,length,volume\n0,read,1,2,0\n1.5,flush,0,0,1\n");
}
