//! A small valid file of every format, for tests of all formats.

use crate::trace::testing::{request, written};
use crate::trace::{FORMATS, WriteOptions};
use nacre_kernel::{Op, Request};

/// Requests that every format with times, sectors, and one volume represents exactly.
pub(super) fn plain() -> Vec<Request> {
    (0..40u64)
        .map(|i| {
            let op = if i % 3 == 0 { Op::Write } else { Op::Read };
            request(i * 250_000_000, op, 0, (i * 7919 % 1000) * 4096, 4096 << (i % 4))
        })
        .collect()
}

/// Returns a file in format `kind` with 40 requests.
pub(super) fn file(kind: &str) -> Vec<u8> {
    if FORMATS.iter().any(|format| format.kind == kind && format.create.is_some()) {
        return written(kind, &plain(), &WriteOptions::default()).unwrap().0;
    }
    let mut out = match kind {
        "fio_iolog" => b"fio version 3 iolog\n0 /dev/sdb open\n".to_vec(),
        "cachelib" => b"op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,op_count,host_name,rs_shard_id\n".to_vec(),
        "systor" => b"Timestamp,Response,IOType,LUN,Offset,Size\n".to_vec(),
        _ => Vec::new(),
    };
    for (index, request) in plain().iter().enumerate() {
        let (us, read) = (request.arrival.as_ps() / 1_000_000, request.op == Op::Read);
        let (address, bytes) = (request.address, request.bytes);
        let (sector, sectors, letter) = (address / 512, bytes / 512, if read { 'R' } else { 'W' });
        let line = match kind {
            "disksim" => format!("{}.{:03} 0 {sector} {sectors} {}\n", us / 1000, us % 1000, u8::from(read)),
            "blkparse" => {
                format!("  8,33  3  {index}  0.{us:06}000  5025  Q  {letter}S {sector} + {sectors} [a b]\n")
            }
            "fio_iolog" => format!("{us} /dev/sdb {} {address} {bytes}\n", request.op.name()),
            "systor" => format!("1456095145.{us:06}000,0.000806000,{letter},2,{address},{bytes}\n"),
            "alibaba" => format!("7,{letter},{address},{bytes},{}\n", 1_577_808_000_000_626 + us),
            "tencent" => format!("{},{sector},{sectors},{},9\n", 1_538_323_199 + index, u8::from(!read)),
            "k5cloud" => format!("9,0.{us:06},{letter},{address},{bytes}\n"),
            "fiu" => format!("{}000 12 httpd {sector} {sectors} {letter} 8 1 0f\n", 89_966_590 + us),
            "cachelib" => format!(
                "{},b{},40,{bytes},0,1,2,{}Chunk,1,3,4\n",
                1_702_511_878 + index,
                index % 5,
                if read { "get" } else { "put" }
            ),
            "arc" => format!("{sector} {sectors} 0 {}\n", index + 1),
            _ => String::new(),
        };
        out.extend_from_slice(line.as_bytes());
        match kind {
            "lcs" => {
                if index == 0 {
                    out.extend_from_slice(&0x1234_5678_9abc_def0u64.to_le_bytes());
                    out.extend_from_slice(&2u64.to_le_bytes());
                    out.resize(8192, 0);
                }
                out.extend_from_slice(&(100 + index as u32).to_le_bytes());
                out.extend_from_slice(&(address / 4096).to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
                out.extend_from_slice(&if read { 12u32 } else { 13 }.to_le_bytes());
                out.extend_from_slice(&(-1i64).to_le_bytes());
            }
            "oracle_general" => {
                out.extend_from_slice(&(100 + index as u32).to_le_bytes());
                out.extend_from_slice(&(address / 4096).to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
                out.extend_from_slice(&(-1i64).to_le_bytes());
            }
            "blktrace" => {
                out.extend_from_slice(&0x6561_7407u32.to_le_bytes());
                out.extend_from_slice(&(index as u32).to_le_bytes());
                out.extend_from_slice(&(us * 1000).to_le_bytes());
                out.extend_from_slice(&sector.to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
                out.extend_from_slice(&(1u32 | 1 << (16 + u32::from(!read))).to_le_bytes());
                out.extend_from_slice(&[0; 14]);
                out.extend_from_slice(&3u16.to_le_bytes());
                out.extend_from_slice(b"abc");
            }
            _ => {}
        }
    }
    out
}

/// Returns the names of all formats.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.kind)
}

#[test]
fn every_small_file_holds_forty_requests() {
    for kind in kinds() {
        let (requests, tally) =
            crate::trace::testing::read_several(&[&file(kind)], &crate::trace::testing::strictly(kind))
                .unwrap();
        assert_eq!((requests.len(), tally.records, tally.bad_records), (40, 40, 0), "{kind}");
        assert_eq!(requests[0].arrival.as_ps(), 0, "{kind}");
    }
}
