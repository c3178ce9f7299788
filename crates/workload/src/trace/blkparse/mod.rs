//! Default text output of blkparse: events of the Linux block layer.
//!
//! # Model
//! Each line is `major,minor cpu sequence seconds pid ACTION RWBS sector + sectors [process]`. The requests
//! are the lines with one of these actions, which the user selects: queued (Q), issued to the driver (D), or
//! completed (C).
//!
//! - In RWBS, the letter R, W, or D (discard) after an optional F (flush) is the operation. ZA (zone append)
//!   is a write. F without data is a flush.
//! - Sectors have 512 B. Each device is a volume.
//! - Lines with other actions, commands without a sector, and the summary at the end count as skipped.
//! - Events with the selected action that are not requests are skipped, and a note counts them: zone
//!   management (ZR, ZRA, ZO, ZC, and ZF), and commands without an operation (N). An unknown operation is a
//!   bad record.
//!
//! # Not modeled
//! The reader ignores the flush before a write with data, forced unit access, merges, and remapping. Every
//! event with the selected action counts as a request. With action Q, a trace of both a partition and its
//! disk therefore contains each request twice. A zone reset discards its zone but is not converted to a
//! trim, because its line does not contain the zone size.
//!
//! # Sources
//! blkparse(1) and `blkparse_fmt.c` of blktrace 1.3; `blk_fill_rwbs` in Linux 6.17,
//! `kernel/trace/blktrace.c`, for zones.
//!
//! # Checks
//! The tests read handwritten lines of every type, and samples with actions Q and D.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, flush, request, sectors};
use crate::trace::left_out::LeftOut;
use crate::trace::volumes::Volumes;
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "blkparse",
    summary: "blkparse text of Linux blktrace: one action (Q, D or C) counts",
    extensions: &["blkparse", "txt"],
    time_unit: Some(TimeUnit::Ns),
    unit_varies: false,
    unit_unsaid: None,
    several: Several::Merged,
    queued: Some(has_queue),
    page_bytes: None,
    detect: score,
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(BlkParse {
        action: options.action.letter() as u8,
        summary: false,
        left_out: LeftOut::default(),
        clock: Clock::default(),
    })))
}

fn score(head: Head<'_>) -> u8 {
    let (mut events, mut lines) = (0u32, 0u32);
    for line in head.lines().take(100).take_while(|line| !begins_summary(line)) {
        lines += 1;
        events += u32::from(Event::parse(line).is_ok());
    }
    (events * 100).checked_div(lines).unwrap_or(0) as u8
}

/// Whether the head of the file contains a queue event.
fn has_queue(head: Head<'_>) -> bool {
    head.lines().any(|line| Event::parse(line).is_ok_and(|event| event.action == b"Q"))
}

struct BlkParse {
    action: u8,
    summary: bool,
    /// Events with the selected action that are not requests.
    left_out: LeftOut,
    clock: Clock,
}

/// Fields that every event line contains.
struct Event<'a> {
    device: u64,
    time_ps: u128,
    action: &'a [u8],
    rwbs: &'a [u8],
    rest: Fields<'a>,
}

impl<'a> Event<'a> {
    #[inline]
    fn parse(line: &'a [u8]) -> Result<Event<'a>, Fault> {
        let mut fields = Fields(line);
        fields.blanks();
        let (major, minor) = fields
            .number_comma()
            .zip(fields.number_blank())
            .ok_or(Fault("the line does not begin with major,minor"))?;
        if major.max(minor) >= 1 << 32 {
            return Err(Fault("the line does not begin with major,minor"));
        }
        fields.number_blank().ok_or(Fault("the processor is not a whole number"))?;
        fields.number_blank().ok_or(Fault("the sequence is not a whole number"))?;
        fields.blanks();
        let time_ps =
            fields.time(TimeUnit::S.picoseconds()).ok_or(Fault("the time is not a number of seconds"))?;
        fields.number_blank().ok_or(Fault("the process is not a whole number"))?;
        let (action, rwbs) = (fields.word(), fields.word());
        if action.is_empty() || action.len() > 2 || !action[0].is_ascii_alphabetic() {
            return Err(Fault("the action is not one or two letters"));
        }
        Ok(Event { device: major << 32 | minor, time_ps, action, rwbs, rest: fields })
    }
}

impl LineFormat for BlkParse {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let event = match Event::parse(line) {
            Ok(event) => event,
            Err(fault) => {
                self.summary |= begins_summary(line);
                let heading = line.starts_with(b"===");
                return if self.summary || heading { Ok(None) } else { Err(fault) };
            }
        };
        if event.action != [self.action] {
            return Ok(None);
        }
        let (flushes, rwbs) = match event.rwbs {
            [b'F', rest @ ..] => (true, rest),
            all => (false, all),
        };
        let op = match rwbs {
            [b'R', ..] => Op::Read,
            [b'W', ..] | [b'Z', b'A', ..] => Op::Write,
            [b'D', ..] => Op::Trim,
            [b'Z', b'R' | b'O' | b'C' | b'F', ..] | [b'N', ..] if !flushes => {
                self.left_out.add(management(rwbs).into());
                return Ok(None);
            }
            [] | [b'A' | b'F' | b'M' | b'N' | b'S', ..] if flushes => Op::Flush,
            _ => {
                return Err(Fault(
                    "the operation in RWBS is none of R, W, D, F, N and Z with A, R, O, C or F",
                ));
            }
        };
        let mut rest = event.rest;
        let sector = rest.number_blank();
        let count = (rest.word() == b"+").then(|| rest.number_blank());
        match (sector, count) {
            (Some(sector), Some(Some(count))) if op != Op::Flush && (count > 0 || !flushes) => {
                let volume = volumes.numbered_as(event.device, device_name)?;
                let (address, bytes) = (sectors(sector), sectors(count));
                request(&mut self.clock, event.time_ps, op, volume, address, bytes).map(Some)
            }
            (_, Some(None)) => Err(Fault("the number of sectors behind + is not a whole number")),
            _ if flushes => {
                let volume = volumes.numbered_as(event.device, device_name)?;
                Ok(Some(flush(self.clock.place(event.time_ps)?, volume)))
            }
            (None, Some(_)) => Err(Fault("the sector before + is not a whole number")),
            _ => Ok(None),
        }
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        self.left_out.note("events of the chosen action that are no requests").into_iter().collect()
    }
}

/// Name of the operation in an RWBS field of a command that moves no data.
fn management(rwbs: &[u8]) -> &'static str {
    match rwbs {
        [b'Z', b'R', b'A', ..] => "ZRA (all zones reset)",
        [b'Z', b'R', ..] => "ZR (zone reset)",
        [b'Z', b'O', ..] => "ZO (zone open)",
        [b'Z', b'C', ..] => "ZC (zone close)",
        [b'Z', b'F', ..] => "ZF (zone finish)",
        _ => "N (no operation)",
    }
}

fn begins_summary(line: &[u8]) -> bool {
    line.starts_with(b"CPU") || line.starts_with(b"Total") || line.starts_with(b"Input file")
}

fn device_name(device: u64) -> String {
    format!("{},{}", device >> 32, device & 0xffff_ffff)
}

#[cfg(test)]
mod tests;
