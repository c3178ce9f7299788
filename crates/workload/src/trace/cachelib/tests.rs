//! Tests of the reader with handwritten lines.

use crate::trace::Options;
use crate::trace::testing::{read_as, read_several, request};
use nacre_kernel::Op;

const HEADER: &[u8] = b"op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,op_count,host_name,rs_shard_id\n";
const LINES: &[u8] = b"1702511878,aa-11,40,8388608,0,1,2,getChunkData.NotInitialized,1,3,4\n\
1702511879,bb-22,40,39,8376320,1,2,putChunk.Permanent,2,3,4\n\
1702511879,aa-11,40,4096,512,1,2,getChunkData.Permanent,1,3,4\n";

#[test]
fn each_block_has_its_own_16_mib() {
    let with_header = [HEADER, LINES].concat();
    for (trace, skipped) in [(&with_header[..], 1), (LINES, 0)] {
        let (requests, tally) =
            read_several(&[trace], &Options { strict: true, ..Options::default() }).unwrap();
        assert_eq!((tally.format, tally.skipped), ("cachelib", skipped));
        assert_eq!(
            requests,
            [
                request(0, Op::Read, 0, 0, 8_388_608),
                request(1_000_000_000_000, Op::Write, 0, (16 << 20) + 8_376_320, 39),
                request(1_000_000_000_000, Op::Read, 0, 512, 4096),
            ]
        );
        assert_eq!(tally.notes[1], "1 lines represent more than one operation, but each is one request");
    }
}

#[test]
fn the_header_says_where_the_columns_are() {
    let trace = b"op_count,op_name,io_offset,io_size,block_id,op_time\n1,getChunk,512,1024,x,7\n";
    let (requests, _) = read_as("cachelib", trace).unwrap();
    assert_eq!(requests, [request(0, Op::Read, 0, 512, 1024)]);
}

#[test]
fn requests_beyond_their_block_and_unknown_operations_are_bad() {
    let bad = [
        HEADER,
        LINES,
        b"1702511879,aa,40,1,16777216,1,2,getChunk,1,3,4\n1702511879,aa,40,1,0,1,2,scan,1,3,4\n",
    ]
    .concat();
    let (_, tally) = read_as("cachelib", &bad).unwrap();
    assert_eq!(tally.bad_records, 2);
}
