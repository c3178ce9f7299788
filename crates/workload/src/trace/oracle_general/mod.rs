//! libCacheSim's oracleGeneral: the format of most published cache traces.
//!
//! # Model
//! Records have 24 bytes in little-endian order: `u32 clock, u64 obj_id, u32 size, i64 next_access`. The
//! clock is in seconds. An object id is opaque and is converted to an address: object `i` starts at `i *
//! 4096` bytes, or at `i` times the distance given by the user. If ids are block numbers, the block size is
//! the correct distance (512 for sectors). Objects that are larger than the distance overlap the following
//! objects. Ids whose address would exceed 2^61 bytes, e.g. hashes, lose their upper bits, and a note reports
//! this.
//!
//! # Not modeled
//! The reader ignores `next_access`, which only an oracle may use. The format has no operations, so all
//! requests are reads.
//!
//! # Sources
//! libCacheSim, `doc/quickstart_cachesim.md` and `traceReader/customizedReader/oracle/oracleGeneralBin.h`.
//!
//! # Checks
//! The tests read handwritten records, hashed ids, and truncated files.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, RecordFormat, Records};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::request;
use crate::trace::objects::{OBJECT_BYTES, Objects};
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "oracle_general",
    summary: "libCacheSim oracleGeneral: seconds, object id, size, next access; binary, reads only",
    extensions: &["oracleGeneral", "bin"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: Some(OBJECT_BYTES),
    detect: score,
    open,
    create: None,
};

const RECORD: usize = 24;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Records::new(Oracle {
        unit_ps: options.unit.picoseconds(),
        objects: Objects::new(options.page_bytes),
        clock: Clock::default(),
    })))
}

/// Score of the head of a file. In a valid record, the clock advances in small steps, the size is valid, and
/// the next access is later or never.
fn score(head: Head<'_>) -> u8 {
    let (records, _) = head.bytes.as_chunks::<RECORD>();
    let records = &records[..records.len().min(200)];
    let mut before = None;
    let mut good = 0;
    for (index, record) in records.iter().enumerate() {
        let (clock, _, size, next) = split(record);
        let forwards = before.is_none_or(|before| clock >= before && clock - before < 7 * 86_400);
        let to_come = next == -1 || next == i64::MAX || next > index as i64;
        good += usize::from(forwards && to_come && is_access(next) && size > 0 && size < 1 << 31);
        before = Some(clock);
    }
    // Text and zeros may resemble one or two records. With more records, the fraction is more reliable.
    let share = (good * 90).checked_div(records.len()).unwrap_or(0) as u8;
    if head.is_text() { 0 } else { share }
}

/// Whether `next` is a valid next access, i.e. never, or the number of a request. No trace has 2^40 requests.
fn is_access(next: i64) -> bool {
    matches!(next, -1..=0xff_ffff_ffff | i64::MAX)
}

fn split(record: &[u8; RECORD]) -> (u32, u64, u32, i64) {
    let [a, b, c, d, i0, i1, i2, i3, i4, i5, i6, i7, s0, s1, s2, s3, next @ ..] = *record;
    (
        u32::from_le_bytes([a, b, c, d]),
        u64::from_le_bytes([i0, i1, i2, i3, i4, i5, i6, i7]),
        u32::from_le_bytes([s0, s1, s2, s3]),
        i64::from_le_bytes(next),
    )
}

struct Oracle {
    unit_ps: u64,
    objects: Objects,
    clock: Clock,
}

impl RecordFormat<RECORD> for Oracle {
    #[inline]
    fn record(&mut self, record: &[u8; RECORD]) -> Result<Option<Request>, Fault> {
        let (clock, id, size, next) = split(record);
        if !is_access(next) {
            return Err(Fault(
                "the next access is neither never (-1) nor the number of a request below 2^40",
            ));
        }
        let address = self.objects.place(id, u64::from(size));
        let ps = u128::from(clock) * u128::from(self.unit_ps);
        request(&mut self.clock, ps, Op::Read, 0, address, u64::from(size)).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec!["the format has no operations: all requests read".into()];
        notes.extend(self.objects.notes());
        notes
    }
}

#[cfg(test)]
mod tests;
