//! DiskSim's ASCII traces.
//!
//! # Model
//! Each line is `time device block count flags`, separated by blanks. The time is in decimal milliseconds.
//! Block and count are in sectors of 512 B. Bit 0 of the flags is set for a read. Each device is a volume.
//!
//! # Not modeled
//! The reader ignores the other flags (order and time criticality), because requests in Nacre have no such
//! properties.
//!
//! # Sources
//! Bucy, Schindler, Schlosser and Ganger, "The DiskSim Simulation Environment Version 4.0 Reference Manual",
//! CMU-PDL-08-101, section on trace formats.
//!
//! # Checks
//! The tests read handwritten lines, lines with flags beyond bit 0, and the sample of Microsoft's SSD
//! extension.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request, sectors};
use crate::trace::volumes::Volumes;
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "disksim",
    summary: "DiskSim ASCII: milliseconds, device, block, sectors, flags with bit 0 for reads",
    extensions: &["trace", "trc", "disksim"],
    time_unit: Some(TimeUnit::Ms),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: score,
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(DiskSim::new(options.unit.picoseconds()))))
}

/// Score of the head of a file. Times without a decimal point reduce the score, because they indicate SSDsim.
fn score(head: Head<'_>) -> u8 {
    let share = share_of_lines(head, DiskSim::new(TimeUnit::Ms.picoseconds()));
    let decimal = head.lines().take(100).any(|line| Fields(line).word().contains(&b'.'));
    if decimal { share } else { share / 5 }
}

struct DiskSim {
    unit_ps: u64,
    clock: Clock,
}

impl DiskSim {
    fn new(unit_ps: u64) -> DiskSim {
        DiskSim { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for DiskSim {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        fields.blanks();
        let time = fields.time(self.unit_ps).ok_or(Fault("the time is not a number of milliseconds"))?;
        if !matches!(fields.0.first(), Some(b' ' | b'\t')) {
            return Err(Fault("the time is not followed by a blank"));
        }
        let device = fields.number_blank().ok_or(Fault("the device is not a whole number"))?;
        let block = fields.number_blank().ok_or(Fault("the block is not a whole number of sectors"))?;
        let count = fields.number_blank().ok_or(Fault("the size is not a whole number of sectors"))?;
        let flags = flags(fields.word()).ok_or(Fault("the flags are not a number"))?;
        if !fields.is_done() {
            return Err(Fault("there are more than five fields"));
        }
        let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
        let volume = volumes.numbered(device)?;
        request(&mut self.clock, time, op, volume, sectors(block), sectors(count)).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

/// Parses flags, which DiskSim reads as hexadecimal numbers. Returns `None` for other text.
fn flags(word: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

#[cfg(test)]
mod tests;
