//! Tencent's block traces: 4995 cloud volumes over ten days of 2018.
//!
//! # Model
//! Each line is `timestamp,offset,size,iotype,volume`. The timestamp is in seconds. Offset and size are in
//! sectors of 512 B. The type is 0 for a read and 1 for a write, and the volume is a number. There is no
//! header. Several files are parts of one recording.
//!
//! # Not modeled
//! The trace does not contain arrival times within a second. All requests arrive at the start of their
//! second, and a note reports this.
//!
//! # Sources
//! Zhang et al., "OSCA: An Online-Model Based Cache Allocation Scheme in Cloud Block Storage Systems", USENIX
//! ATC 2020; SNIA IOTTA.
//!
//! # Checks
//! The tests read handwritten lines.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request, sectors};
use crate::trace::volumes::Volumes;
use crate::trace::{Format, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "tencent",
    summary: "Tencent block storage CSV: seconds, sector, sectors, 0 read 1 write, volume",
    extensions: &["csv", "tgz"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::Merged,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, Tencent::new(TimeUnit::S.picoseconds())),
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Tencent::new(options.unit.picoseconds()))))
}

struct Tencent {
    unit_ps: u64,
    clock: Clock,
}

impl Tencent {
    fn new(unit_ps: u64) -> Tencent {
        Tencent { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for Tencent {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let time = fields.number_comma().ok_or(Fault("the timestamp is not a whole number of seconds"))?;
        let offset = fields.number_comma().ok_or(Fault("the offset is not a whole number of sectors"))?;
        let size = fields.number_comma().ok_or(Fault("the size is not a whole number of sectors"))?;
        let op = match fields.number_comma() {
            Some(0) => Op::Read,
            Some(1) => Op::Write,
            _ => return Err(Fault("the type is neither 0 (read) nor 1 (write)")),
        };
        let volume = fields.number().filter(|_| fields.is_done());
        let volume = volume.ok_or(Fault("the volume is not a whole number at the end of the line"))?;
        let ps = u128::from(time) * u128::from(self.unit_ps);
        let volume = volumes.numbered(volume)?;
        request(&mut self.clock, ps, op, volume, sectors(offset), sectors(size)).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        if self.unit_ps < TimeUnit::S.picoseconds() {
            return Vec::new();
        }
        vec!["times are whole seconds: requests of one second arrive together".into()]
    }
}

#[cfg(test)]
mod tests;
