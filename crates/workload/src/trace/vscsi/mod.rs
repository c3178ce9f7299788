//! VMware's vscsi traces, as published by CloudPhysics: requests of virtual machines to virtual disks.
//!
//! # Model
//! Version 1 has records of 32 bytes: `u32 sn, u32 len, u32 nSG, u16 cmd, u16 ver, u64 lbn, u64 ts`.
//! Version 2 has records of 40 bytes: `u16 cmd, u16 ver, u32 sn, u32 len, u32 nSG, u64 lbn, u64 ts, u64
//! rt`. All fields are little-endian. `len` is in bytes, `lbn` is in sectors of 512 B, and `ts` is in
//! microseconds. The version is the high byte of `ver`.
//!
//! The SCSI commands 08, 28, 88, and A8 are reads. The commands 0A, 2A, 8A, and AA, and 2E and 8E (write
//! with verification), are writes. The commands 35 and 91 (cache synchronization) are flushes. Each file is
//! one virtual disk and one volume.
//!
//! # Not modeled
//! The reader ignores serial numbers, scatter-gather counts, and response times. Other SCSI commands count
//! as skipped, and a note lists them by opcode. Most of these commands move no data or do not contain their
//! addresses (e.g. UNMAP).
//!
//! # Sources
//! Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015 (the traces); libCacheSim, `vscsi.h`
//! (the layout).
//!
//! # Checks
//! The tests read handwritten records of both versions, truncated files, and the published CloudPhysics
//! sample.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, RecordFormat, Records, share_of_records};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{flush, request, sectors};
use crate::trace::left_out::LeftOut;
use crate::trace::write::{Encoded, Encoder, Limits};
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "vscsi",
    summary: "VMware vscsi, versions 1 and 2 (CloudPhysics); binary, one file per virtual disk",
    extensions: &["vscsi", "vscsitrace"],
    time_unit: Some(TimeUnit::Us),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::VolumePerFile,
    queued: None,
    page_bytes: None,
    detect: |head| score_one(head).max(score_two(head)),
    open,
    create: Some(|sink, options| Ok(Box::new(Encoded::new(Writer { serial: 0 }, sink, options)))),
};

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    let commands = Commands::new(options.unit.picoseconds());
    Ok(if score_two(options.head) > score_one(options.head) {
        Box::new(Records::new(Two(commands)))
    } else {
        Box::new(Records::new(One(commands)))
    })
}

fn score_one(head: Head<'_>) -> u8 {
    share_of_records(head, One(Commands::new(1_000_000)))
}

fn score_two(head: Head<'_>) -> u8 {
    share_of_records(head, Two(Commands::new(1_000_000)))
}

struct One(Commands);

impl RecordFormat<32> for One {
    #[inline]
    fn record(&mut self, r: &[u8; 32]) -> Result<Option<Request>, Fault> {
        let [_, _, _, _, l0, l1, l2, l3, _, _, _, _, c0, c1, _, version, ..] = *r;
        if version != 1 {
            return Err(Fault("the version is not 1 (its high byte, at byte 15 of 32)"));
        }
        let (words, _) = r.as_chunks::<8>();
        let (lbn, ts) = (u64::from_le_bytes(words[2]), u64::from_le_bytes(words[3]));
        let (command, bytes) = (u16::from_le_bytes([c0, c1]), u32::from_le_bytes([l0, l1, l2, l3]));
        self.0.decode(command, lbn, bytes, ts)
    }

    fn clock(&self) -> &Clock {
        &self.0.clock
    }

    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }
}

struct Two(Commands);

/// Decodes commands of both versions.
struct Commands {
    unit_ps: u64,
    /// Numbers of SCSI commands that are not requests.
    left_out: LeftOut,
    clock: Clock,
}

impl RecordFormat<40> for Two {
    #[inline]
    fn record(&mut self, r: &[u8; 40]) -> Result<Option<Request>, Fault> {
        let [c0, c1, _, version, _, _, _, _, l0, l1, l2, l3, ..] = *r;
        if version != 2 {
            return Err(Fault("the version is not 2 (its high byte, at byte 3 of 40)"));
        }
        let (words, _) = r.as_chunks::<8>();
        let (lbn, ts) = (u64::from_le_bytes(words[2]), u64::from_le_bytes(words[3]));
        let (command, bytes) = (u16::from_le_bytes([c0, c1]), u32::from_le_bytes([l0, l1, l2, l3]));
        self.0.decode(command, lbn, bytes, ts)
    }

    fn clock(&self) -> &Clock {
        &self.0.clock
    }

    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }
}

impl Commands {
    fn new(unit_ps: u64) -> Commands {
        Commands { unit_ps, left_out: LeftOut::default(), clock: Clock::default() }
    }

    #[inline]
    fn decode(&mut self, command: u16, lbn: u64, bytes: u32, ts: u64) -> Result<Option<Request>, Fault> {
        let op = match command {
            0x28 | 0x08 | 0x88 | 0xa8 => Op::Read,
            0x2a | 0x0a | 0x8a | 0xaa | 0x2e | 0x8e => Op::Write,
            0x35 | 0x91 => Op::Flush,
            0..=0xff => {
                self.left_out.add(format!("0x{command:02x}"));
                return Ok(None);
            }
            _ => return Err(Fault("the SCSI command is not below 256")),
        };
        let ps = u128::from(ts) * u128::from(self.unit_ps);
        if op == Op::Flush {
            return Ok(Some(flush(self.clock.place(ps)?, 0)));
        }
        request(&mut self.clock, ps, op, 0, sectors(lbn), u64::from(bytes)).map(Some)
    }

    fn notes(&self) -> Vec<String> {
        self.left_out.note("SCSI commands that do not read, write or flush").into_iter().collect()
    }
}

/// Writer of version 1.
struct Writer {
    serial: u32,
}

impl Encoder for Writer {
    const LIMITS: Limits = Limits {
        kind: "vscsi",
        tick_ps: 1_000_000,
        sector_bytes: 512,
        sized_in_sectors: true,
        trims: false,
        flushes: true,
        volumes: false,
    };

    #[inline]
    fn request(&mut self, request: &Request, ticks: u64, out: &mut Vec<u8>) {
        self.serial = self.serial.wrapping_add(1);
        let command: u16 = match request.op {
            Op::Read => 0x28,
            Op::Write | Op::Trim => 0x2a,
            Op::Flush => 0x35,
        };
        out.extend_from_slice(&self.serial.to_le_bytes());
        out.extend_from_slice(&request.bytes.to_le_bytes());
        out.extend_from_slice(&1u32.to_le_bytes());
        out.extend_from_slice(&command.to_le_bytes());
        out.extend_from_slice(&0x100u16.to_le_bytes());
        out.extend_from_slice(&(request.address / 512).to_le_bytes());
        out.extend_from_slice(&ticks.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
