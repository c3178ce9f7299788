//! libCacheSim's own trace format (LCS), versions 1 to 8.
//!
//! # Model
//! A header of 8192 bytes (magic number, version, statistics of the trace, magic number) is followed by
//! little-endian records.
//!
//! - Version 1: `u32 clock, u64 obj_id, u32 size, i64 next_access`.
//! - Version 2 adds an operation of 8 bits and a tenant of 24 bits before the last field.
//! - Version 3 has sizes of 64 bits, and `u32 ttl` after the tenant.
//! - Versions 4 to 8 are version 3 with 1, 2, 4, 8, and 16 additional features of 32 bits, respectively.
//!
//! The operations get, gets, and read are reads, delete is a trim, and all others are writes. libCacheSim
//! writes `nop` if the original trace has no operations. `nop` is converted to a read, as in libCacheSim's
//! caches, and a note reports the number of such operations. An object id is opaque and is converted to an
//! address, as in `oracle_general`: object `i` starts at `i * 4096` bytes, or at `i` times the distance given
//! by the user.
//!
//! # Not modeled
//! The reader ignores statistics, `next_access`, lifetimes, features, and tenants. An id is the same object
//! for all tenants. The arrival times have a resolution of one second, like the clock in the records.
//! Version 1 has no operations, so all of its requests are reads. Files from 2024 with a header of 1024
//! bytes have another format and are not supported.
//!
//! # Sources
//! libCacheSim, `traceReader/customizedReader/lcs.h` and `include/libCacheSim/enum.h`.
//!
//! # Checks
//! The tests read handwritten records of all versions, records that libCacheSim 0.3.5 wrote in versions 2
//! and 3, and truncated headers and records.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, RecordFormat, Records};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::request;
use crate::trace::objects::{OBJECT_BYTES, Objects};
use crate::trace::source::Source;
use crate::trace::tally::Log;
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "lcs",
    summary: "libCacheSim LCS, versions 1 to 8: header, then seconds, object id, size, operation; binary",
    extensions: &["lcs"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: Some(OBJECT_BYTES),
    detect: |head| if version(head).is_some() { 100 } else { 0 },
    open,
    create: None,
};

const HEADER: usize = 8192;
const MAGIC: u64 = 0x1234_5678_9abc_def0;
/// Offset of the operation in a record of version 2, in bytes. Only the next access and the features follow
/// the operation.
const OPERATION_V2: usize = 16;
const OPERATION_V3: usize = 20;

/// Version number in the header. `None` if the file is not in this format.
fn version(head: Head<'_>) -> Option<u64> {
    let (words, _) = head.bytes.as_chunks::<8>();
    let [magic, version, ..] = words else { return None };
    let version = u64::from_le_bytes(*version);
    (u64::from_le_bytes(*magic) == MAGIC && (1..=8).contains(&version)).then_some(version)
}

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    let version = version(options.head).unwrap_or(1);
    let lcs = Lcs {
        version,
        unit_ps: options.unit.picoseconds(),
        objects: Objects::new(options.page_bytes),
        unknown: 0,
        clock: Clock::default(),
    };
    Ok(match version {
        1 => behind_header::<24>(lcs),
        2 => behind_header::<28>(lcs),
        3 => behind_header::<36>(lcs),
        4 => behind_header::<40>(lcs),
        5 => behind_header::<44>(lcs),
        6 => behind_header::<52>(lcs),
        7 => behind_header::<68>(lcs),
        _ => behind_header::<100>(lcs),
    })
}

fn behind_header<const N: usize>(lcs: Lcs) -> Box<dyn Decoder> {
    Box::new(BehindHeader { left: HEADER, records: Records::<Lcs, N>::new(lcs) })
}

/// Skips a header, and then decodes records.
struct BehindHeader<D> {
    left: usize,
    records: D,
}

impl<D: Decoder> Decoder for BehindHeader<D> {
    fn decode(
        &mut self,
        source: &mut Source,
        out: &mut Vec<Request>,
        limit: usize,
        log: &mut Log,
    ) -> Result<bool, TraceError> {
        if self.left > 0 {
            self.left -= source.skip(self.left)?;
            if self.left > 0 {
                return Ok(false);
            }
        }
        self.records.decode(source, out, limit, log)
    }

    fn clock(&self) -> &Clock {
        self.records.clock()
    }

    fn volumes(&self) -> &[String] {
        self.records.volumes()
    }

    fn notes(&self) -> Vec<String> {
        self.records.notes()
    }
}

struct Lcs {
    version: u64,
    unit_ps: u64,
    objects: Objects,
    /// Number of records without an operation.
    unknown: u64,
    clock: Clock,
}

impl<const N: usize> RecordFormat<N> for Lcs {
    #[inline]
    fn record(&mut self, record: &[u8; N]) -> Result<Option<Request>, Fault> {
        let clock = u32::from_le_bytes(word(record, 0));
        let [low, high] = [4, 8].map(|at| u64::from(u32::from_le_bytes(word(record, at))));
        let id = high << 32 | low;
        let mut size = u64::from(u32::from_le_bytes(word(record, 12)));
        if self.version >= 3 {
            size |= u64::from(u32::from_le_bytes(word(record, 16))) << 32;
        }
        let known = match self.version {
            1 => Some(Op::Read),
            2 => operation(record[OPERATION_V2])?,
            _ => operation(record[OPERATION_V3])?,
        };
        let op = known.unwrap_or(Op::Read);
        let address = self.objects.place(id, size);
        let ps = u128::from(clock) * u128::from(self.unit_ps);
        let made = request(&mut self.clock, ps, op, 0, address, size)?;
        self.unknown += u64::from(known.is_none());
        Ok(Some(made))
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.objects.notes();
        if self.version == 1 {
            notes.insert(0, "version 1 has no operations: all requests read".into());
        }
        if self.unknown > 0 {
            notes.insert(0, format!("records without an operation (nop), which read: {}", self.unknown));
        }
        notes
    }
}

fn word<const N: usize>(record: &[u8; N], at: usize) -> [u8; 4] {
    record[at..at + 4].try_into().expect("four bytes")
}

/// Returns the operation that libCacheSim encodes as `number`, or `None` for a record without an operation.
/// Returns an error if libCacheSim does not define `number`.
fn operation(number: u8) -> Result<Option<Op>, Fault> {
    match number {
        0 => Ok(None),
        1 | 2 | 12 => Ok(Some(Op::Read)),
        3..=8 | 10 | 11 | 13 | 14 => Ok(Some(Op::Write)),
        9 => Ok(Some(Op::Trim)),
        _ => Err(Fault("the operation is none of libCacheSim's, 0 to 14")),
    }
}

#[cfg(test)]
mod tests;
