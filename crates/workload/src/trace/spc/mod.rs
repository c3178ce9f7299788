//! The trace format of the Storage Performance Council (SPC), used for UMass's Financial and WebSearch traces.
//!
//! # Model
//! Each line is `ASU,LBA,Size,Opcode,Timestamp`, optionally with more fields. The LBA is in sectors of 512
//! B, the size is in bytes, the opcode is r, R, w, or W, and the timestamp is in decimal seconds. Each
//! application storage unit (ASU) is a volume.
//!
//! # Not modeled
//! The reader ignores optional fields after the timestamp.
//!
//! # Sources
//! "SPC Trace File Format Specification", revision 1.0.1, 2002; the UMass Trace Repository.
//!
//! # Checks
//! The tests read handwritten lines, and check a round trip that preserves picoseconds.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request, sectors};
use crate::trace::volumes::Volumes;
use crate::trace::write::{Encoded, Encoder, Limits, decimal, decimal_time};
use crate::trace::{Format, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "spc",
    summary: "SPC / UMass CSV: ASU, LBA in sectors, size in bytes, r or w, seconds",
    extensions: &["spc"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, Spc::new(TimeUnit::S.picoseconds())),
    open,
    create: Some(|sink, options| Ok(Box::new(Encoded::new(Writer, sink, options)))),
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Spc::new(options.unit.picoseconds()))))
}

struct Spc {
    unit_ps: u64,
    clock: Clock,
}

impl Spc {
    fn new(unit_ps: u64) -> Spc {
        Spc { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for Spc {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let asu = fields.number_comma().ok_or(Fault("the ASU is not a whole number"))?;
        let lba = fields.number_comma().ok_or(Fault("the LBA is not a whole number of sectors"))?;
        let size = fields.number_comma().ok_or(Fault("the size is not a whole number of bytes"))?;
        let op = match fields.until(b',') {
            b"r" | b"R" => Op::Read,
            b"w" | b"W" => Op::Write,
            _ => return Err(Fault("the opcode is none of r, R, w, W")),
        };
        let time = fields.time(self.unit_ps).ok_or(Fault("the timestamp is not a number of seconds"))?;
        if !fields.is_done() && !fields.byte(b',') {
            return Err(Fault("the timestamp is not followed by a comma or the end of the line"));
        }
        let volume = volumes.numbered(asu)?;
        request(&mut self.clock, time, op, volume, sectors(lba), size).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

struct Writer;

impl Encoder for Writer {
    const LIMITS: Limits = Limits {
        kind: "spc",
        tick_ps: 1,
        sector_bytes: 512,
        sized_in_sectors: false,
        trims: false,
        flushes: false,
        volumes: true,
    };

    #[inline]
    fn request(&mut self, request: &Request, _ticks: u64, out: &mut Vec<u8>) {
        decimal(u64::from(request.volume), out);
        out.push(b',');
        decimal(request.address / 512, out);
        out.push(b',');
        decimal(u64::from(request.bytes), out);
        out.extend_from_slice(if request.op == Op::Read { b",r," } else { b",w," });
        decimal_time(request.arrival, TimeUnit::S.picoseconds(), 6, out);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
