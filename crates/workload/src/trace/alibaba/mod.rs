//! Alibaba's block traces of 2020: a thousand cloud volumes over a month.
//!
//! # Model
//! Each line is `device_id,opcode,offset,length,timestamp`. The device id is a number, and the opcode is R or
//! W. Offset and length are in bytes, and the timestamp is in microseconds. There is no header. Each device
//! is a volume. Several files are parts of one recording.
//!
//! # Not modeled
//! The reader ignores the capacities in `device_size.csv`.
//!
//! # Sources
//! Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production", IISWC 2020;
//! github.com/alibaba/block-traces.
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
    kind: "alibaba",
    summary: "Alibaba 2020 CSV: device, R or W, offset, length, microseconds",
    extensions: &["csv"],
    time_unit: Some(TimeUnit::Us),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::Merged,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, Alibaba::new(TimeUnit::Us.picoseconds())),
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Alibaba::new(options.unit.picoseconds()))))
}

struct Alibaba {
    unit_ps: u64,
    clock: Clock,
}

impl Alibaba {
    fn new(unit_ps: u64) -> Alibaba {
        Alibaba { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for Alibaba {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let device = fields.number_comma().ok_or(Fault("the device is not a whole number"))?;
        let op = match fields.until(b',') {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(Fault("the opcode is neither R nor W")),
        };
        let offset = fields.number_comma().ok_or(Fault("the offset is not a whole number of bytes"))?;
        let length = fields.number_comma().ok_or(Fault("the length is not a whole number of bytes"))?;
        let time = fields.number().filter(|_| fields.is_done());
        let time = time.ok_or(Fault("the timestamp is not a whole number at the end of the line"))?;
        let ps = u128::from(time) * u128::from(self.unit_ps);
        request(&mut self.clock, ps, op, volumes.numbered(device)?, offset, length).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[cfg(test)]
mod tests;
