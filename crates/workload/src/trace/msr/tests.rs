//! Tests of the reader with handwritten lines.

use crate::trace::testing::{read_several, request, strictly};
use crate::trace::{Options, TraceError};
use nacre_kernel::Op;

const TRACE: &[u8] = b"128166372003061629,hm,0,Read,383496192,32768,413\n\
128166372003061630,hm,1,Write,383496192,4096,9\r\n\
128166372013061629,proj,0,Read,0,512,0\n";

#[test]
fn windows_file_times_become_arrivals_and_each_disk_of_each_host_a_volume() {
    let (requests, tally) = read_several(&[TRACE], &Options { strict: true, ..Options::default() }).unwrap();
    assert_eq!(tally.format, "msr");
    assert_eq!(
        requests,
        [
            request(0, Op::Read, 0, 383_496_192, 32_768),
            request(100_000, Op::Write, 1, 383_496_192, 4096),
            request(1_000_000_000_000, Op::Read, 2, 0, 512),
        ]
    );
    assert_eq!(tally.volumes, ["hm,0", "hm,1", "proj,0"]);
}

#[test]
fn files_of_several_volumes_are_merged_and_share_their_numbering() {
    let other = b"128166372003061629,hm,1,Read,0,512,0\n128166372003061631,hm,0,Read,0,512,0\n";
    let (requests, tally) = read_several(&[TRACE, other], &Options::default()).unwrap();
    let seen: Vec<(u64, u32)> =
        requests.iter().map(|request| (request.arrival.as_ps(), request.volume)).collect();
    assert_eq!(seen, [(0, 0), (0, 1), (100_000, 1), (200_000, 0), (1_000_000_000_000, 2)]);
    assert_eq!(tally.volumes, ["hm,0", "hm,1", "proj,0"]);
}

#[test]
fn a_first_line_of_names_is_no_record() {
    let names: &[u8] = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let (requests, tally) = read_several(&[&[names, TRACE].concat()], &strictly("msr")).unwrap();
    assert_eq!((requests.len(), tally.bad_records, tally.skipped), (3, 0, 1));
    let (_, tally) = read_several(&[&[TRACE, names].concat()], &Options::default()).unwrap();
    assert_eq!(tally.bad_records, 1, "it is one anywhere else");
}

#[test]
fn a_bad_line_is_named_with_what_is_wrong() {
    let bad =
        [TRACE, b"128166372013061630,hm,0,Trim,0,512,0\n128166372013061630,hm,0,Read,0,-1,0\n"].concat();
    let (requests, tally) = read_several(&[&bad], &Options::default()).unwrap();
    assert_eq!((requests.len(), tally.bad_records), (3, 2));
    assert_eq!(
        tally.first_bad[0].reason,
        "the type is neither Read nor Write: \"128166372013061630,hm,0,Trim,0,512,0\""
    );
    let error = read_several(&[&bad], &strictly("msr")).unwrap_err();
    assert!(matches!(error, TraceError::BadRecord { .. }));
    assert_eq!(
        error.to_string(),
        "a.trace, line 4: the type is neither Read nor Write: \"128166372013061630,hm,0,Trim,0,512,0\"; \
         disable strict (strict = false, or no --strict) to skip and count bad records"
    );
}
