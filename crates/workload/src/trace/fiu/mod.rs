//! Traces of Florida International University (FIU): mail, web, home, and research servers, with content hashes.
//!
//! # Model
//! Each line is `timestamp pid process lba size type major minor md5`. The timestamp is in nanoseconds. `lba`
//! and `size` are in sectors of 512 B. The type is W or R. `major` and `minor` are the device numbers, and
//! `md5` is the hash of 4096 bytes. Each device is a volume. Several files are parts of one recording.
//!
//! # Not modeled
//! The reader ignores processes and content hashes. Blocks with equal content are therefore treated as
//! different data.
//!
//! # Sources
//! Koller and Rangaswami, "I/O Deduplication: Utilizing Content Similarity to Improve I/O Performance", FAST
//! 2010; SNIA IOTTA.
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
    kind: "fiu",
    summary: "FIU text: nanoseconds, pid, process, sector, sectors, W or R, major, minor, MD5",
    extensions: &["blkparse"],
    time_unit: Some(TimeUnit::Ns),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::Merged,
    queued: None,
    page_bytes: None,
    detect: |head| share_of_lines(head, Fiu::new(TimeUnit::Ns.picoseconds())),
    open,
    create: None,
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(Fiu::new(options.unit.picoseconds()))))
}

struct Fiu {
    unit_ps: u64,
    clock: Clock,
}

impl Fiu {
    fn new(unit_ps: u64) -> Fiu {
        Fiu { unit_ps, clock: Clock::default() }
    }
}

impl LineFormat for Fiu {
    #[inline]
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut fields = Fields(line);
        let time = fields.number_blank().ok_or(Fault("the timestamp is not a whole number"))?;
        fields.number_blank().ok_or(Fault("the process id is not a whole number"))?;
        fields.word();
        let lba = fields.number_blank().ok_or(Fault("the LBA is not a whole number of sectors"))?;
        let size = fields.number_blank().ok_or(Fault("the size is not a whole number of sectors"))?;
        let op = match fields.word() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(Fault("the type is neither R nor W")),
        };
        let major = fields.number_blank().ok_or(Fault("the major number is not a whole number"))?;
        let minor = fields.number_blank().ok_or(Fault("the minor number is not a whole number"))?;
        let device = major.checked_shl(32).filter(|_| major < 1 << 32 && minor < 1 << 32);
        let device = device.ok_or(Fault("the device is not of two numbers below 2^32"))? | minor;
        let volume =
            volumes.numbered_as(device, |device| format!("{}:{}", device >> 32, device & 0xffff_ffff))?;
        let ps = u128::from(time) * u128::from(self.unit_ps);
        request(&mut self.clock, ps, op, volume, sectors(lba), sectors(size)).map(Some)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[cfg(test)]
mod tests;
