//! Binary events of Linux blktrace, with one file per processor.
//!
//! # Model
//! Records have 48 bytes in little-endian order: `u32 magic, u32 sequence, u64 time (ns), u64 sector, u32
//! bytes, u32 action, u32 pid, u32 device, u32 cpu, u16 error, u16 pdu_len`. After each record, there are
//! `pdu_len` more bytes. The magic number is 0x65617400, with the version, 7, in its low byte. The low half
//! of `action` is the event type, and the high half is a set of categories.
//!
//! The requests are the events of one of these types, which the user selects: queued (1, Q), issued to the
//! driver (7, D), or completed (8, C). Events in the category discard are trims, and events in the category
//! write are writes. Events without bytes in the category flush are flushes. All other events are reads. A
//! zone append is a write of its bytes. Each device (`major << 20 | minor`) is a volume. Files of several
//! processors are merged by time.
//!
//! # Not modeled
//! Notification records, SCSI passthrough commands, events of other types, and events without bytes count as
//! skipped. A note reports passthrough commands and writes without bytes (zone management). Big-endian
//! files are not supported.
//!
//! # Sources
//! Linux, `include/uapi/linux/blktrace_api.h`; blktrace(8).
//!
//! # Checks
//! The tests read handwritten records, files of several processors, damaged files, and a sample.

use crate::trace::clock::Clock;
use crate::trace::decode::Decoder;
use crate::trace::error::{Fault, Location, TraceError};
use crate::trace::fields::{flush, request, sectors};
use crate::trace::left_out::LeftOut;
use crate::trace::source::Source;
use crate::trace::tally::Log;
use crate::trace::volumes::Volumes;
use crate::trace::{Action, Format, Head, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "blktrace",
    summary: "Linux blktrace, binary, one file per processor: one action (Q, D or C) counts",
    extensions: &["blktrace.0", "blktrace.1", "blktrace.*"],
    time_unit: Some(TimeUnit::Ns),
    unit_varies: false,
    unit_unsaid: None,
    several: Several::Merged,
    queued: Some(has_queue),
    page_bytes: None,
    detect: |head| if head.bytes.starts_with(&MAGIC) { 100 } else { 0 },
    open: |options| Ok(Box::new(Reader::new(options.action))),
    create: None,
};

/// First bytes of every record: version 7 and the letters `tae`.
const MAGIC: [u8; 4] = [7, b't', b'a', b'e'];
const RECORD: usize = 48;

const WRITE: u32 = 1 << (16 + 1);
const FLUSH: u32 = 1 << (16 + 2);
const PASS_THROUGH: u32 = 1 << (16 + 9);
const NOTIFY: u32 = 1 << (16 + 10);
const DISCARD: u32 = 1 << (16 + 13);

fn event(action: Action) -> u32 {
    match action {
        Action::Queue => 1,
        Action::Issue => 7,
        Action::Complete => 8,
    }
}

/// Whether the head of the file contains a queue event.
fn has_queue(head: Head<'_>) -> bool {
    let mut rest = head.bytes;
    while let Some(record) = rest.first_chunk::<RECORD>() {
        let (action, data) = (word(record, 28), usize::from(half(record, 46)));
        if record[..4] != MAGIC {
            return false;
        }
        if action & 0xffff == event(Action::Queue) && action & (NOTIFY | PASS_THROUGH) == 0 {
            return true;
        }
        rest = rest.get(RECORD + data..).unwrap_or(&[]);
    }
    false
}

struct Reader {
    event: u32,
    clock: Clock,
    volumes: Volumes,
    left_out: LeftOut,
}

impl Reader {
    fn new(action: Action) -> Reader {
        Reader {
            event: event(action),
            clock: Clock::default(),
            volumes: Volumes::new(),
            left_out: LeftOut::default(),
        }
    }

    fn record(&mut self, record: &[u8; RECORD]) -> Result<Option<Request>, Fault> {
        let action = word(record, 28);
        if action & 0xffff != self.event || action & NOTIFY != 0 {
            return Ok(None);
        }
        if action & PASS_THROUGH != 0 {
            self.left_out.add("commands that pass through to the device".into());
            return Ok(None);
        }
        let bytes = u64::from(word(record, 24));
        let volume = self.volumes.numbered_as(u64::from(word(record, 36)), device_name)?;
        let ps = u128::from(long(record, 8)) * u128::from(TimeUnit::Ns.picoseconds());
        let op = match action {
            _ if action & DISCARD != 0 => Op::Trim,
            _ if bytes == 0 && action & FLUSH != 0 => {
                return Ok(Some(flush(self.clock.place(ps)?, volume)));
            }
            // The completion of an empty flush appears as a read of zero bytes.
            _ if bytes == 0 => {
                if action & WRITE != 0 {
                    self.left_out.add("writes without bytes".into());
                }
                return Ok(None);
            }
            _ if action & WRITE != 0 => Op::Write,
            _ => Op::Read,
        };
        request(&mut self.clock, ps, op, volume, sectors(long(record, 16)), bytes).map(Some)
    }
}

impl Decoder for Reader {
    fn decode(
        &mut self,
        source: &mut Source,
        out: &mut Vec<Request>,
        limit: usize,
        log: &mut Log,
    ) -> Result<bool, TraceError> {
        let start = out.len();
        while out.len() - start < limit {
            let offset = source.offset();
            let mut record = [0; RECORD];
            let got = source.take(&mut record)?;
            let fault = if got == 0 {
                log.good += (out.len() - start) as u64;
                return Ok(false);
            } else if got < RECORD {
                Some(Fault("the file ends within a record"))
            } else if record[..4] != MAGIC {
                // Without the length of this record, the start of the next record is unknown.
                Some(Fault(
                    "a record does not begin with 07 't' 'a' 'e' (version 7, little-endian); what follows cannot be read",
                ))
            } else {
                let data = usize::from(half(&record, 46));
                let cut = source.skip(data)? < data;
                cut.then_some(Fault("the file ends within the data behind a record"))
            };
            if let Some(fault) = fault {
                log.good += (out.len() - start) as u64;
                log.bad(Location::Byte(offset), fault, &record[..got])?;
                return Ok(false);
            }
            match self.record(&record) {
                Ok(Some(request)) => out.push(request),
                Ok(None) => log.skipped += 1,
                Err(fault) => {
                    let good = log.good;
                    log.good += (out.len() - start) as u64;
                    log.bad(Location::Byte(offset), fault, &record)?;
                    log.good = good;
                }
            }
        }
        log.good += (out.len() - start) as u64;
        Ok(true)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn volumes(&self) -> &[String] {
        self.volumes.names()
    }

    fn notes(&self) -> Vec<String> {
        self.left_out.note("events of the chosen action that are no requests").into_iter().collect()
    }
}

fn device_name(device: u64) -> String {
    format!("{},{}", device >> 20, device & 0xf_ffff)
}

fn half(record: &[u8; RECORD], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

fn word(record: &[u8; RECORD], at: usize) -> u32 {
    u32::from(half(record, at)) | u32::from(half(record, at + 2)) << 16
}

fn long(record: &[u8; RECORD], at: usize) -> u64 {
    u64::from(word(record, at)) | u64::from(word(record, at + 4)) << 32
}

#[cfg(test)]
mod tests;
