//! Block traces of FUJITSU's K5 cloud: 3088 virtual volumes over a week of 2017.
//!
//! # Model
//! Each line is `ID,Timestamp,Type,Offset,Length`. The ID is the volume number, and the timestamp is in
//! seconds since the first request of all volumes. The type is R or W. Offset and length are in bytes. The
//! distribution has one file per volume and day. Several files are parts of one recording.
//!
//! # Not modeled
//! The reader uses all fields.
//!
//! # Sources
//! SNIA IOTTA, "FUJITSU K5 cloud service traces", README (2018).
//!
//! # Checks
//! The tests read handwritten lines.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request};
use crate::trace::volumes::Volumes;
use crate::trace::{Format, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "k5cloud",
    summary: "FUJITSU K5 cloud CSV: volume, seconds, R or W, offset, length",
    extensions: &["csv"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::Merged,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, K5::new(TimeUnit::S.picoseconds())),
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(K5::new(options.unit.picoseconds()))))
}

struct K5 {
    unit_ps: u64,
    clock: Clock,
}

impl K5 {
    fn new(unit_ps: u64) -> K5 {
        K5 { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for K5 {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let volume = fields.number_comma().ok_or(Fault("the volume is not a whole number"))?;
        let time = fields.time(self.unit_ps).filter(|_| fields.byte(b','));
        let time = time.ok_or(Fault("the timestamp is not a number of seconds"))?;
        let op = match fields.until(b',') {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(Fault("the type is neither R nor W")),
        };
        let offset = fields.number_comma().ok_or(Fault("the offset is not a whole number of bytes"))?;
        let length = fields.number().filter(|_| fields.is_done());
        let length = length.ok_or(Fault("the length is not a whole number at the end of the line"))?;
        request(&mut self.clock, time, op, volumes.numbered(volume)?, offset, length).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[cfg(test)]
mod tests;
