//! CacheLib's block traces: chunks of Meta's Tectonic file system.
//!
//! # Model
//! The format is CSV with the header
//! `op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,op_count,host_name,rs_shard_id`,
//! in any order of columns. Times are in seconds. Sizes are in bytes, and offsets are in bytes from the
//! start of the block. Operations whose name starts with `get` are reads, and those whose name starts with
//! `put` are writes. A block id is opaque, so each block is assigned a range of 16 MiB in order of first
//! appearance (a block has 8 MiB and checksums). Addresses are exact within a block, and blocks never
//! overlap.
//!
//! # Not modeled
//! The reader ignores users, hosts, shards, and `op_count`. Each line is one request, and a note reports
//! the number of lines that represent several requests.
//!
//! # Sources
//! cachelib.org, "Evaluating SSD hardware for Facebook workloads" and its traces.
//!
//! # Checks
//! The tests read handwritten lines, lines with another column order, and CacheLib's sample.

use crate::trace::clock::Clock;
use crate::trace::decode::{Decoder, LineFormat, Lines, share_of_lines};
use crate::trace::error::{Fault, TraceError};
use crate::trace::fields::{Fields, request};
use crate::trace::volumes::Volumes;
use crate::trace::{Format, Head, OpenOptions, Several, TimeUnit};
use nacre_kernel::{Op, Request};
use rustc_hash::FxHashMap;

/// Descriptor of the trace format.
pub static FORMAT: Format = Format {
    kind: "cachelib",
    summary: "CacheLib block chunk CSV with header: seconds, block id, size, offset, get or put",
    extensions: &["csv"],
    time_unit: Some(TimeUnit::S),
    unit_varies: true,
    unit_unsaid: None,
    several: Several::One,
    queued: None,
    page_bytes: None,
    detect: score,
    open,
    create: None,
};

/// Distance between the addresses of consecutive blocks, in bytes.
const PLACE_BYTES: u64 = 16 << 20;
/// Maximum number of distinct blocks, which limits the memory of the table to 5 GiB. One week of Tectonic has
/// several million blocks.
const MOST_BLOCKS: usize = 1 << 26;

const NAMES: [&[u8]; 6] = [b"op_time", b"block_id", b"io_size", b"io_offset", b"op_name", b"op_count"];

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Decoder>, TraceError> {
    Ok(Box::new(Lines::new(CacheLib::new(options.unit.picoseconds()))))
}

fn score(head: Head<'_>) -> u8 {
    if head.lines().next().and_then(columns).is_some() {
        return 100;
    }
    share_of_lines(head, CacheLib::new(TimeUnit::S.picoseconds()))
}

struct CacheLib {
    unit_ps: u64,
    /// Column number of each name in [`NAMES`].
    columns: [usize; 6],
    blocks: FxHashMap<Box<[u8]>, u32>,
    repeated: u64,
    clock: Clock,
}

impl CacheLib {
    fn new(unit_ps: u64) -> CacheLib {
        let columns = [0, 1, 3, 4, 7, 8];
        CacheLib { unit_ps, columns, blocks: FxHashMap::default(), repeated: 0, clock: Clock::default() }
    }
}

/// Returns the column number of each name in [`NAMES`] if `line` is a header line, and `None` otherwise.
fn columns(line: &[u8]) -> Option<[usize; 6]> {
    let names: Vec<&[u8]> = line.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect();
    let mut columns = [0; 6];
    for (column, name) in columns.iter_mut().zip(NAMES) {
        *column = names.iter().position(|&found| found == name)?;
    }
    Some(columns)
}

impl LineFormat for CacheLib {
    fn line(&mut self, line: &[u8], _volumes: &mut Volumes) -> Result<Option<Request>, Fault> {
        let mut values: [&[u8]; 6] = [&[]; 6];
        let mut found = 0;
        for (index, value) in line.split(|&b| b == b',').enumerate() {
            if let Some(column) = self.columns.iter().position(|&column| column == index) {
                values[column] = value;
                found += 1;
            }
        }
        let [time, block, size, offset, name, repeats] = values;
        let time = Fields(time).number_blank().filter(|_| found == values.len());
        let Some(time) = time else {
            let fault = Fault(
                "the line does not have the fields of the header, with a whole number of seconds as time",
            );
            self.columns = columns(line).ok_or(fault)?;
            return Ok(None);
        };
        let size = Fields(size).number_blank().ok_or(Fault("the size is not a whole number of bytes"))?;
        let offset =
            Fields(offset).number_blank().ok_or(Fault("the offset is not a whole number of bytes"))?;
        let op = match name {
            _ if name.starts_with(b"get") => Op::Read,
            _ if name.starts_with(b"put") => Op::Write,
            _ => return Err(Fault("the operation begins with neither get nor put")),
        };
        let repeats = Fields(repeats).number_blank().ok_or(Fault("the count is not a whole number"))?;
        if offset.saturating_add(size) > PLACE_BYTES {
            return Err(Fault("the request ends beyond 16 MiB of its block"));
        }
        let place = match self.blocks.get(block) {
            Some(&place) => place,
            None if self.blocks.len() >= MOST_BLOCKS => {
                return Err(Fault("it has more than 67108864 different blocks"));
            }
            None => self.blocks.len() as u32,
        };
        let address = u64::from(place) * PLACE_BYTES + offset;
        let ps = u128::from(time) * u128::from(self.unit_ps);
        let made = request(&mut self.clock, ps, op, 0, address, size)?;
        if place as usize == self.blocks.len() {
            self.blocks.insert(block.into(), place);
        }
        self.repeated += u64::from(repeats > 1);
        Ok(Some(made))
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn notes(&self) -> Vec<String> {
        let mut notes =
            vec!["block n of the trace, in order of first appearance, begins at byte n * 16 MiB".into()];
        if self.repeated > 0 {
            notes.push(format!(
                "{} lines represent more than one operation, but each is one request",
                self.repeated
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests;
