//! SYSTOR '17: block traces of a virtual desktop infrastructure.
//!
//! # Model
//! Each line is `Timestamp,Response,IOType,LUN,Offset,Size`, and the first line may be this header. The
//! timestamp is in decimal seconds. The response is in decimal seconds or empty. The type is R, W, or empty.
//! Offset and size are in bytes. Each LUN is a volume. A line without a type counts as skipped, because the
//! command was not recorded. Several files are parts of one recording.
//!
//! # Not modeled
//! The reader ignores the response times.
//!
//! # Sources
//! Lee et al., "Understanding storage traffic characteristics on enterprise virtual desktop infrastructure",
//! SYSTOR 2017; the description at SNIA IOTTA.
//!
//! # Checks
//! The tests read handwritten lines, with and without a header, with empty types, and with empty response
//! times.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request};
use crate::trace::left_out::LeftOut;
use crate::trace::volumes::Volumes;
use crate::trace::{Format, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "systor",
    summary: "SYSTOR '17 CSV: seconds, response, R or W or nothing, LUN, offset, size",
    extensions: &["csv"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::Merged,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, Systor::new(TimeUnit::S.picoseconds())),
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Systor::new(options.unit.picoseconds()))))
}

struct Systor {
    unit_ps: u64,
    left_out: LeftOut,
    clock: Clock,
}

impl Systor {
    fn new(unit_ps: u64) -> Systor {
        Systor { unit_ps, left_out: LeftOut::default(), clock: Clock::default() }
    }
}

impl LineFormat for Systor {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let Some(time) = fields.time(self.unit_ps) else {
            if line.starts_with(b"Timestamp,") {
                return Ok(None);
            }
            return Err(Fault("the timestamp is not a number of seconds"));
        };
        if !fields.byte(b',') {
            return Err(Fault("the timestamp is not followed by a comma"));
        }
        let response = Fields(fields.until(b','));
        if !response.0.is_empty() && { response }.time(1).is_none() {
            return Err(Fault("the response time is neither empty nor a number"));
        }
        let op = match fields.until(b',') {
            b"R" => Some(Op::Read),
            b"W" => Some(Op::Write),
            b"" => None,
            _ => return Err(Fault("the type is none of R, W and nothing")),
        };
        let lun = fields.number_comma().ok_or(Fault("the LUN is not a whole number"))?;
        let offset = fields.number_comma().ok_or(Fault("the offset is not a whole number of bytes"))?;
        let size = fields.number().filter(|_| fields.is_done());
        let size = size.ok_or(Fault("the size is not a whole number of bytes at the end of the line"))?;
        let Some(op) = op else {
            self.left_out.add("lines without a type".into());
            return Ok(None);
        };
        request(&mut self.clock, time, op, volumes.numbered(lun)?, offset, size).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        self.left_out.note("lines that are no requests").into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
