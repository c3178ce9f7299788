//! fio's I/O logs, versions 2 and 3 (`write_iolog`).
//!
//! # Model
//! The first line is `fio version 2 iolog` or `fio version 3 iolog`. The other lines are `file action` or
//! `file action offset length`. In version 3, each line starts with a time in microseconds. The actions read,
//! write, and trim are requests. The actions sync, datasync, and sync_file_range are flushes. The actions
//! add, open, and close are skipped. Version 2 has no times: requests arrive at time zero, and `wait`
//! advances the time by its offset in microseconds. Each file is a volume.
//!
//! # Not modeled
//! In fio, waits below 100 us are ignored. Nacre simulates every wait.
//!
//! # Sources
//! fio's HOWTO, "Trace file format v2" and "v3", and `iolog.c` (which writes microseconds).
//!
//! # Checks
//! The tests read handwritten logs of both versions, and the log of fio's test t0038.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, flush, request};
use crate::trace::volumes::Volumes;
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "fio_iolog",
    summary: "fio iolog, versions 2 (no times but waits) and 3 (microseconds)",
    extensions: &["iolog", "log", "fio"],
    time_unit: Some(TimeUnit::Us),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: |head: Head<'_>| if head.lines().next().and_then(version).is_some() { 100 } else { 0 },
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    let unit_ps = options.unit.picoseconds();
    Ok(Box::new(Lines::new(Iolog { unit_ps, version: None, waited: 0, clock: Clock::default() })))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

fn version(line: &[u8]) -> Option<Version> {
    match line.trim_ascii_end() {
        b"fio version 2 iolog" => Some(Version::Two),
        b"fio version 3 iolog" => Some(Version::Three),
        _ => None,
    }
}

struct Iolog {
    unit_ps: u64,
    version: Option<Version>,
    waited: u64,
    clock: Clock,
}

impl LineFormat for Iolog {
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let Some(of) = self.version else {
            self.version = version(line);
            let missing = Fault("the log does not begin with \"fio version 2 iolog\" or 3");
            return if self.version.is_some() { Ok(None) } else { Err(missing) };
        };
        let mut fields = Fields(line);
        let time = match of {
            Version::Two => self.waited,
            Version::Three => fields.number_blank().ok_or(Fault("the time is not a whole number"))?,
        };
        let (file, action, extent) = split(fields.0).ok_or(Fault("the line has no file and action"))?;
        let ps = u128::from(time) * u128::from(self.unit_ps);
        let op = match action {
            b"add" | b"open" | b"close" => return Ok(None),
            b"wait" if of == Version::Two => {
                let (us, _) = extent.ok_or(Fault("a wait has no time"))?;
                self.waited = self.waited.checked_add(us).ok_or(Fault::TOO_LATE)?;
                return Ok(None);
            }
            b"sync" | b"datasync" | b"sync_file_range" => {
                return Ok(Some(flush(self.clock.place(ps)?, volumes.named(file)?)));
            }
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            _ => {
                return Err(Fault(
                    "the action is none of read, write, trim, sync, datasync, wait (version 2), add, open, \
                     close",
                ));
            }
        };
        let (offset, length) = extent.ok_or(Fault("the action lacks offset and length"))?;
        request(&mut self.clock, ps, op, volumes.named(file)?, offset, length).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        if self.version != Some(Version::Two) {
            return Vec::new();
        }
        vec!["version 2 has no times: requests arrive at zero, or after the preceding waits".into()]
    }
}

/// File, action, and, if present, offset and length.
type Parts<'a> = (&'a [u8], &'a [u8], Option<(u64, u64)>);

/// Splits a line into file name, action, and, if present, offset and length. The file name may contain
/// blanks.
fn split(text: &[u8]) -> Option<Parts<'_>> {
    let (before, last) = last_word(text)?;
    if last[0].is_ascii_digit() {
        let (before, offset) = last_word(before)?;
        let extent = (Fields(offset).number_blank()?, Fields(last).number_blank()?);
        let (file, action) = last_word(before)?;
        let file = file.trim_ascii();
        return (!file.is_empty()).then_some((file, action, Some(extent)));
    }
    let file = before.trim_ascii();
    (!file.is_empty()).then_some((file, last, None))
}

fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_end();
    let begin = text.iter().rposition(|b| matches!(b, b' ' | b'\t')).map_or(0, |at| at + 1);
    (begin < text.len()).then(|| text.split_at(begin))
}

#[cfg(test)]
mod tests;
