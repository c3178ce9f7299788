//! Nacre's plain CSV format, for people and scripts.
//!
//! # Model
//! The header is `timestamp_us,op,offset,length`, optionally followed by `,volume`. Each of the other lines
//! is one request. Times are in microseconds with up to six decimals, so picoseconds are exact. The
//! operation is read, write, trim, or flush. Offset and length are in bytes. In a flush, both fields are
//! zero or empty. The number of a volume is its name.
//!
//! # Not modeled
//! Every field of a [`nacre_kernel::Request`] is kept exactly, except that volumes are renumbered in order
//! of first appearance.
//!
//! # Sources
//! This project.
//!
//! # Checks
//! The tests read handwritten lines and a file without a header, and check round trips.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, flush, request};
use crate::trace::volumes::Volumes;
use crate::trace::write::{Encoded, Encoder, Limits, decimal, decimal_time};
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "nacre_csv",
    summary: "Nacre's CSV with header: timestamp_us,op,offset,length[,volume]",
    extensions: &["csv"],
    time_unit: Some(TimeUnit::Us),
    unit_varies: false,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: |head: Head<'_>| if head.lines().next().and_then(header).is_some() { 100 } else { 0 },
    open,
    create: Some(|sink, options| Ok(Box::new(Encoded::new(Writer, sink, options)))),
};

fn open(_options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Csv { with_volume: None, clock: Clock::default() })))
}

struct Csv {
    /// Whether lines have a volume. `None` until the header is read.
    with_volume: Option<bool>,
    clock: Clock,
}

/// Whether the lines after this header have a volume. `None` if the line is not a header.
fn header(line: &[u8]) -> Option<bool> {
    match line.trim_ascii_end() {
        b"timestamp_us,op,offset,length" => Some(false),
        b"timestamp_us,op,offset,length,volume" => Some(true),
        _ => None,
    }
}

impl LineFormat for Csv {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let Some(with_volume) = self.with_volume else {
            self.with_volume = header(line);
            let missing = Fault("the first line is not timestamp_us,op,offset,length[,volume]");
            return if self.with_volume.is_some() { Ok(None) } else { Err(missing) };
        };
        let mut fields = Fields(line);
        let time = fields.time(TimeUnit::Us.picoseconds());
        let time =
            time.filter(|_| fields.byte(b',')).ok_or(Fault("the time is not a number of microseconds"))?;
        let op = match fields.until(b',') {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"flush" => Op::Flush,
            _ => return Err(Fault("the operation is none of read, write, trim, flush")),
        };
        let offset = fields.number().or((op == Op::Flush).then_some(0));
        let offset =
            offset.filter(|_| fields.byte(b',')).ok_or(Fault("the offset is not a whole number of bytes"))?;
        let length = fields.number().or((op == Op::Flush).then_some(0));
        let length = length.ok_or(Fault("the length is not a whole number of bytes"))?;
        let volume = match with_volume {
            false => Some(0),
            true => Some(()).filter(|()| fields.byte(b',')).and_then(|()| fields.number()),
        };
        let volume = volume.filter(|_| fields.is_done());
        let volume = volume.ok_or(Fault(
            "the line does not end with the volume, or with the length if the header has no \
                          volume",
        ))?;
        let volume = if with_volume { volumes.numbered(volume)? } else { 0 };
        if op == Op::Flush {
            return Ok(Some(flush(self.clock.place(time)?, volume)));
        }
        request(&mut self.clock, time, op, volume, offset, length).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn empty_is_valid(&self) -> bool {
        self.with_volume.is_some()
    }
}

struct Writer;

impl Encoder for Writer {
    const LIMITS: Limits = Limits {
        kind: "nacre_csv",
        tick_ps: 1,
        sector_bytes: 1,
        sized_in_sectors: false,
        trims: true,
        flushes: true,
        volumes: true,
    };

    fn header(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"timestamp_us,op,offset,length,volume\n");
    }

    #[inline]
    fn request(&mut self, request: &Request, _ticks: u64, out: &mut Vec<u8>) {
        decimal_time(request.arrival, TimeUnit::Us.picoseconds(), 0, out);
        out.push(b',');
        out.extend_from_slice(request.op.name().as_bytes());
        for value in [request.address, u64::from(request.bytes), u64::from(request.volume)] {
            out.push(b',');
            decimal(value, out);
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
