//! Reader of the format, which checks each block and then decodes it column by column.

use super::column::{Cursor, Layout, PADDING};
use super::{
    BLOCK_HEADER, BLOCK_MARK, BLOCK_RECORDS, COLUMNS, HEADER, LONGEST_NAMES, LONGEST_PAYLOAD,
    LONGEST_PROVENANCE, MAGIC, TRAILER, TRAILER_MARK, VERSION,
};
use crate::trace::clock::Clock;
use crate::trace::decode::Decoder;
use crate::trace::error::{Fault, Location, TraceError};
use crate::trace::fields::{flush, request};
use crate::trace::source::Source;
use crate::trace::tally::Log;
use nacre_kernel::{Op, Request};

/// Number of requests decoded at a time. Five columns of this size fit into the L1 cache.
const STEP: usize = 512;

pub(super) struct Reader {
    clock: Clock,
    notes: Vec<String>,
    names: Vec<String>,
    begun: bool,
    ended: bool,
    block: Block,
    /// Number of requests in the blocks so far, including damaged blocks.
    seen: u64,
}

/// The current block.
struct Block {
    offset: u64,
    left: usize,
    payload: Vec<u8>,
    columns: [Cursor; COLUMNS],
}

/// The next item in the file.
enum Next {
    Block,
    Damaged,
    End,
}

impl Reader {
    pub(super) fn new() -> Reader {
        let nothing =
            Cursor::new(Layout { kind: super::column::Kind::Offset, width: 0, base: 0, scale: 1 }, 0);
        let columns = std::array::from_fn(|_| nothing.clone());
        Reader {
            clock: Clock::default(),
            notes: Vec::new(),
            names: Vec::new(),
            begun: false,
            ended: false,
            block: Block { offset: 0, left: 0, payload: Vec::new(), columns },
            seen: 0,
        }
    }

    fn begin(&mut self, source: &mut Source, log: &Log) -> Result<(), TraceError> {
        let wrong = |found: &str, remedy: &str| TraceError::WrongFormat {
            source_name: log.source_name.clone(),
            format: "nacre",
            found: found.into(),
            remedy: remedy.into(),
        };
        let mut header = vec![0; HEADER];
        let got = source.take(&mut header)?;
        if got < HEADER || header[..8] != MAGIC {
            return Err(wrong(
                "it does not begin with the 32 bytes of a header",
                "check the format, and that the file was transferred unchanged",
            ));
        }
        let version = u16::from_le_bytes([header[8], header[9]]);
        if version != VERSION {
            return Err(wrong(&format!("its version is {version}, not 1"), "read it with a newer Nacre"));
        }
        let length = word(&header, 12) as usize;
        let mut rest = vec![0; length.min(LONGEST_PROVENANCE) + 4];
        let got = source.take(&mut rest)?;
        let (provenance, check) = rest.split_at(rest.len() - 4);
        header.extend_from_slice(provenance);
        if length > LONGEST_PROVENANCE || got < rest.len() || crc32fast::hash(&header) != word(check, 0) {
            return Err(wrong("its header is damaged", "download or convert it again"));
        }
        if !provenance.is_empty() {
            self.notes.push(format!("made from {}", String::from_utf8_lossy(provenance)));
        }
        Ok(())
    }

    /// Loads the next block. If the block is damaged or truncated, records the reason in the log.
    fn next(&mut self, source: &mut Source, log: &mut Log) -> Result<Next, TraceError> {
        let offset = source.offset();
        let mut header = [0; BLOCK_HEADER];
        let got = source.take(&mut header[..TRAILER])?;
        if got == TRAILER && header[..4] == TRAILER_MARK {
            return self.end(source, &header[..TRAILER], offset, log);
        }
        let got = got + if got == TRAILER { source.take(&mut header[TRAILER..])? } else { 0 };
        if got < BLOCK_HEADER {
            let reason = format!(
                "the file ends {got} bytes after the start of a block or the trailer; it was truncated \
                 after {} requests",
                self.seen
            );
            log.bad_because(Location::Byte(offset), 1, reason)?;
            return Ok(Next::End);
        }
        let (count, size) = (word(&header, 4) as usize, word(&header, 8) as usize);
        let Some(columns) = columns(&header, count, size) else {
            let reason = "the header of a block is damaged; what follows cannot be read".into();
            log.bad_because(Location::Byte(offset), 1, reason)?;
            return Ok(Next::End);
        };
        self.block.payload.resize(size, 0);
        let got = source.take(&mut self.block.payload)?;
        if got < size {
            let reason = format!("the file ends within a block of {count} requests");
            log.bad_because(Location::Byte(offset), count as u64, reason)?;
            return Ok(Next::End);
        }
        self.seen += count as u64;
        if crc32fast::hash(&self.block.payload) != word(&header, 12) {
            let reason = format!("a block of {count} requests is damaged: its checksum differs");
            log.bad_because(Location::Byte(offset), count as u64, reason)?;
            return Ok(Next::Damaged);
        }
        self.block = Block { offset, left: count, columns, payload: std::mem::take(&mut self.block.payload) };
        Ok(Next::Block)
    }

    fn end(
        &mut self,
        source: &mut Source,
        start: &[u8],
        offset: u64,
        log: &mut Log,
    ) -> Result<Next, TraceError> {
        let (length, records) = (word(start, 4) as usize, long(start, 8));
        let mut trailer = start.to_vec();
        let mut whole = length <= LONGEST_NAMES;
        // The trailer is read in steps. A damaged length therefore cannot allocate more memory than the file
        // has bytes.
        while whole && trailer.len() < TRAILER + length + 4 {
            let begin = trailer.len();
            trailer.resize((begin + (64 << 10)).min(TRAILER + length + 4), 0);
            whole = source.take(&mut trailer[begin..])? == trailer.len() - begin;
        }
        let (body, check) = trailer.split_at(if whole { TRAILER + length } else { 0 });
        let reason = if !whole || crc32fast::hash(body) != word(check, 0) {
            Some("the trailer is damaged".to_string())
        } else if records != self.seen {
            Some(format!("the trailer counts {records} requests, the blocks {}", self.seen))
        } else if !source.chunk()?.is_empty() {
            Some("there are bytes after the trailer".to_string())
        } else {
            self.names = names(&body[TRAILER..]);
            None
        };
        if let Some(reason) = reason {
            log.bad_because(Location::Byte(offset), 1, reason)?;
        }
        Ok(Next::End)
    }

    /// Appends the next `count` requests of the block. `count` must be at most [`STEP`].
    fn step(&mut self, count: usize, out: &mut Vec<Request>, log: &mut Log) -> Result<(), TraceError> {
        let mut values = [[0u64; STEP]; COLUMNS];
        for (cursor, values) in self.block.columns.iter_mut().zip(&mut values) {
            cursor.read(&self.block.payload, &mut values[..count]);
        }
        self.block.left -= count;
        let before = out.len();
        let [arrivals, addresses, sizes, volumes, ops] = &values;
        for i in 0..count {
            let (arrival, volume) = (u128::from(arrivals[i]), volumes[i] as u32);
            let made = match ops[i] {
                0 => request(&mut self.clock, arrival, Op::Read, volume, addresses[i], sizes[i]),
                1 => request(&mut self.clock, arrival, Op::Write, volume, addresses[i], sizes[i]),
                2 => request(&mut self.clock, arrival, Op::Trim, volume, addresses[i], sizes[i]),
                3 => self.clock.place(arrival).map(|at| flush(at, volume)),
                _ => Err(Fault("the operation is not 0 to 3")),
            };
            match made {
                Ok(request) if volumes[i] <= u64::from(u32::MAX) => out.push(request),
                made => {
                    let fault = made.err().unwrap_or(Fault::TOO_MANY_VOLUMES);
                    let good = log.good;
                    log.good += (out.len() - before) as u64;
                    let reason = format!("a request in this block: {}", fault.0);
                    log.bad_because(Location::Byte(self.block.offset), 1, reason)?;
                    log.good = good;
                }
            }
        }
        log.good += (out.len() - before) as u64;
        Ok(())
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
        if !self.begun {
            self.begin(source, log)?;
            self.begun = true;
        }
        let start = out.len();
        out.reserve(limit);
        while !self.ended && out.len() - start < limit {
            if self.block.left == 0 {
                self.ended = matches!(self.next(source, log)?, Next::End);
                continue;
            }
            let count = self.block.left.min(STEP).min(limit - (out.len() - start));
            self.step(count, out, log)?;
        }
        Ok(!self.ended)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn volumes(&self) -> &[String] {
        &self.names
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn empty_is_valid(&self) -> bool {
        self.begun
    }
}

/// Reads the columns of a block from its `header`. Returns `None` if the header is invalid, or if the columns
/// do not fit the payload size.
fn columns(header: &[u8; BLOCK_HEADER], count: usize, size: usize) -> Option<[Cursor; COLUMNS]> {
    let sound = header[..4] == BLOCK_MARK
        && crc32fast::hash(&header[..BLOCK_HEADER - 4]) == word(header, BLOCK_HEADER - 4)
        && (1..=BLOCK_RECORDS).contains(&count)
        && size <= LONGEST_PAYLOAD;
    if !sound {
        return None;
    }
    let (layouts, _) = header[16..].as_chunks::<{ Layout::BYTES }>();
    let mut offset = 0;
    let mut cursors = Vec::with_capacity(COLUMNS);
    for bytes in &layouts[..COLUMNS] {
        let layout = Layout::load(bytes)?;
        cursors.push(Cursor::new(layout, offset));
        offset += layout.size(count);
    }
    (offset + PADDING == size).then_some(())?;
    cursors.try_into().ok()
}

fn names(bytes: &[u8]) -> Vec<String> {
    let (mut rest, mut names) = (bytes, Vec::new());
    while let [low, high, tail @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        names.push(String::from_utf8_lossy(&tail[..length]).into_owned());
        rest = &tail[length..];
    }
    names
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}
