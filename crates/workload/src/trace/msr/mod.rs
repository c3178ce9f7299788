//! MSR Cambridge: block traces of 13 servers of Microsoft Research, 2007.
//!
//! # Model
//! Each line is `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`. There is no header. The
//! timestamp is a Windows file time in steps of 100 ns since 1601. The type is Read or Write. Offset and
//! size are in bytes. Each disk of each host is a volume. Several files are parts of one recording and are
//! merged by time.
//!
//! # Not modeled
//! The reader ignores the response times, because they are those of the recorded system.
//!
//! # Sources
//! Narayanan et al., "Write Off-Loading: Practical Power Management for Enterprise Storage", FAST 2008; the
//! README of the traces at SNIA IOTTA.
//!
//! # Checks
//! The tests read handwritten lines and volumes that must not alias, and check a round trip.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request};
use crate::trace::volumes::Volumes;
use crate::trace::write::{Encoded, Encoder, Limits, decimal};
use crate::trace::{Format, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "msr",
    summary: "MSR Cambridge CSV: Windows file time, host, disk, Read or Write, offset, size, response time",
    extensions: &["csv"],
    time_unit: Some(TimeUnit::HundredNs),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::Merged,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, Msr::new(100_000)),
    open,
    create: Some(|sink, options| Ok(Box::new(Encoded::new(Writer, sink, options)))),
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Msr::new(options.unit.picoseconds()))))
}

struct Msr {
    unit_ps: u64,
    clock: Clock,
}

impl Msr {
    fn new(unit_ps: u64) -> Msr {
        Msr { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for Msr {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let time = fields.number_comma().ok_or(Fault("the timestamp is not a whole number"))?;
        let disk_text = fields.0;
        fields.until(b',');
        fields.number_comma().ok_or(Fault("the disk number is not a whole number"))?;
        let disk = &disk_text[..disk_text.len() - fields.0.len() - 1];
        let op = match fields.until(b',') {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            _ => return Err(Fault("the type is neither Read nor Write")),
        };
        let offset = fields.number_comma().ok_or(Fault("the offset is not a whole number of bytes"))?;
        let size = fields.number_comma().ok_or(Fault("the size is not a whole number of bytes"))?;
        if fields.number().is_none() || !fields.is_done() {
            return Err(Fault("the line does not end with a response time"));
        }
        let ps = u128::from(time) * u128::from(self.unit_ps);
        request(&mut self.clock, ps, op, volumes.named(disk)?, offset, size).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

/// Start time of written traces: 2007-02-22 17:00:00 UTC, the first full hour of the original traces.
const FIRST_FILE_TIME: u64 = 128_166_372_000_000_000;

struct Writer;

impl Encoder for Writer {
    const LIMITS: Limits = Limits {
        kind: "msr",
        tick_ps: 100_000,
        sector_bytes: 1,
        sized_in_sectors: false,
        trims: false,
        flushes: false,
        volumes: true,
    };

    #[inline]
    fn request(&mut self, request: &Request, ticks: u64, out: &mut Vec<u8>) {
        decimal(FIRST_FILE_TIME + ticks, out);
        out.extend_from_slice(b",nacre,");
        decimal(u64::from(request.volume), out);
        out.extend_from_slice(if request.op == Op::Read { b",Read," } else { b",Write," });
        decimal(request.address, out);
        out.push(b',');
        decimal(u64::from(request.bytes), out);
        out.extend_from_slice(b",0\n");
    }
}

#[cfg(test)]
mod tests;
