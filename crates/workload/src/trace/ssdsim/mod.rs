//! ASCII traces of SSDsim and MQSim.
//!
//! # Model
//! Each line is `time device lba size op`, separated by blanks or tabs. Address and size are in sectors of
//! 512 B. Op 1 is a read, op 0 is a write, and op 2 is a trim. (The usual convention for 0 and 1 is the
//! opposite.) Each device is a volume, although MQSim ignores the device. Times are in nanoseconds unless
//! the user selects another unit. Traces derived from the MSR traces have times in units of 100 ns.
//!
//! # Not modeled
//! The reader uses all fields.
//!
//! # Sources
//! Hu et al., "Performance impact and interplay of SSD parallelism", ICS 2011 (SSDsim, `get_requests`);
//! Tavakkol et al., "MQSim", FAST 2018 (`ASCII_Trace_Definition.h`).
//!
//! # Checks
//! The tests read handwritten lines, every op code, both time units, and the samples of both simulators.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request, sectors};
use crate::trace::volumes::Volumes;
use crate::trace::write::{Encoded, Encoder, Limits, decimal};
use crate::trace::{Format, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "ssdsim",
    summary: "SSDsim and MQSim ASCII: time, device, LBA, sectors, 1 read 0 write 2 trim; ns, or optionally \
              100 ns",
    extensions: &["trace", "ascii"],
    time_unit: Some(TimeUnit::Ns),
    unit_varies: true,
    unit_unsaid: Some("traces derived from MSR's have units of 100 ns"),
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, SsdSim::new(TimeUnit::Ns.picoseconds())),
    open,
    create: Some(|sink, options| Ok(Box::new(Encoded::new(Writer, sink, options)))),
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(SsdSim::new(options.unit.picoseconds()))))
}

struct SsdSim {
    unit_ps: u64,
    clock: Clock,
}

impl SsdSim {
    fn new(unit_ps: u64) -> SsdSim {
        SsdSim { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for SsdSim {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let time = fields.number_blank().ok_or(Fault("the time is not a whole number"))?;
        let device = fields.number_blank().ok_or(Fault("the device is not a whole number"))?;
        let lba = fields.number_blank().ok_or(Fault("the address is not a whole number of sectors"))?;
        let size = fields.number_blank().ok_or(Fault("the size is not a whole number of sectors"))?;
        let op = match fields.number_blank() {
            Some(1) => Op::Read,
            Some(0) => Op::Write,
            Some(2) => Op::Trim,
            _ => return Err(Fault("the operation is none of 1 (read), 0 (write), 2 (trim)")),
        };
        if !fields.is_done() {
            return Err(Fault("there are more than five fields"));
        }
        let ps = u128::from(time) * u128::from(self.unit_ps);
        let volume = volumes.numbered(device)?;
        request(&mut self.clock, ps, op, volume, sectors(lba), sectors(size)).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

struct Writer;

impl Encoder for Writer {
    const LIMITS: Limits = Limits {
        kind: "ssdsim",
        tick_ps: 1_000,
        sector_bytes: 512,
        sized_in_sectors: true,
        trims: true,
        flushes: false,
        volumes: true,
    };

    #[inline]
    fn request(&mut self, request: &Request, ticks: u64, out: &mut Vec<u8>) {
        decimal(ticks, out);
        for value in [u64::from(request.volume), request.address / 512, u64::from(request.bytes) / 512] {
            out.push(b' ');
            decimal(value, out);
        }
        out.extend_from_slice(match request.op {
            Op::Read => b" 1\n",
            Op::Write | Op::Flush => b" 0\n",
            Op::Trim => b" 2\n",
        });
    }
}

#[cfg(test)]
mod tests;
