//! Decoding of trace formats: splits a source into lines or records, and counts bad records with their
//! locations.

use super::clock::Clock;
use super::error::{Fault, Location, TraceError};
use super::source::{Head, Source, is_comment, is_names};
use super::tally::Log;
use super::volumes::Volumes;
use nacre_kernel::Request;

/// Decodes one source into requests. Arrivals are provisional, i.e. relative to [`Clock::origin`].
pub trait Decoder: Send {
    /// Appends up to `limit` requests to `out`. Returns whether there may be more requests.
    fn decode(
        &mut self,
        source: &mut Source,
        out: &mut Vec<Request>,
        limit: usize,
        log: &mut Log,
    ) -> Result<bool, TraceError>;
    /// Clock of the provisional arrivals.
    fn clock(&self) -> &Clock;
    /// Names of the volumes found so far, by number. The list is empty if the format has no volumes.
    fn volumes(&self) -> &[String];
    /// Notes for the user about reading this source.
    fn notes(&self) -> Vec<String>;
    /// Whether the file has a header, so that a trace without requests is valid.
    fn empty_is_valid(&self) -> bool {
        false
    }
}

/// A line-based format. Each line has at most one request.
pub trait LineFormat: Send {
    /// Decodes the request in a line. Returns `None` for a line that is not a request, e.g. a header.
    fn line(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Option<Request>, Fault>;
    /// Clock of the provisional arrivals.
    fn clock(&self) -> &Clock;
    /// Notes for the user about reading this source.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether a header was found, so that a trace without requests is valid.
    fn empty_is_valid(&self) -> bool {
        false
    }
}

/// Maximum line length in bytes. Longer lines are bad records.
const LONGEST_LINE: usize = 16 << 10;

/// Decoder of a line-based format.
pub struct Lines<F> {
    format: F,
    volumes: Volumes,
    line: u64,
    carried: Vec<u8>,
}

impl<F: LineFormat> Lines<F> {
    /// Creates a decoder of `format` that starts at the first line.
    pub fn new(format: F) -> Lines<F> {
        Lines { format, volumes: Volumes::new(), line: 0, carried: Vec::new() }
    }

    #[inline]
    fn take(
        &mut self,
        line: &[u8],
        start: usize,
        out: &mut Vec<Request>,
        log: &mut Log,
    ) -> Result<(), TraceError> {
        self.line += 1;
        let line = if let [rest @ .., b'\r'] = line { rest } else { line };
        let parsed = if line.len() > LONGEST_LINE {
            Err(Fault("the line is longer than 16 KiB"))
        } else {
            self.format.line(line, &mut self.volumes)
        };
        match parsed {
            Ok(Some(request)) => out.push(request),
            Ok(None) => log.skipped += 1,
            Err(_) if is_comment(line) || (self.line == 1 && is_names(line)) => log.skipped += 1,
            Err(fault) => {
                let good = log.good;
                log.good += (out.len() - start) as u64;
                log.bad(Location::Line(self.line), fault, line)?;
                log.good = good;
            }
        }
        Ok(())
    }

    /// Appends bytes to a line that started in an earlier chunk. If a line is too long, stores only enough
    /// bytes to detect this.
    fn carry(&mut self, bytes: &[u8]) {
        let room = (LONGEST_LINE + 1).saturating_sub(self.carried.len());
        self.carried.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take_carried(
        &mut self,
        start: usize,
        out: &mut Vec<Request>,
        log: &mut Log,
    ) -> Result<(), TraceError> {
        let line = std::mem::take(&mut self.carried);
        self.take(&line, start, out, log)?;
        self.carried = line;
        self.carried.clear();
        Ok(())
    }
}

impl<F: LineFormat> Decoder for Lines<F> {
    fn decode(
        &mut self,
        source: &mut Source,
        out: &mut Vec<Request>,
        limit: usize,
        log: &mut Log,
    ) -> Result<bool, TraceError> {
        let start = out.len();
        out.reserve(limit);
        let mut more = true;
        while more && out.len() - start < limit {
            let chunk = source.chunk()?;
            let mut at = 0;
            if chunk.is_empty() {
                more = false;
                if !self.carried.is_empty() {
                    self.take_carried(start, out, log)?;
                }
            } else if !self.carried.is_empty() {
                let end = memchr::memchr(b'\n', chunk);
                self.carry(&chunk[..end.unwrap_or(chunk.len())]);
                at = end.map_or(chunk.len(), |end| end + 1);
                if end.is_some() {
                    self.take_carried(start, out, log)?;
                }
            }
            while at < chunk.len() && out.len() - start < limit {
                let Some(length) = memchr::memchr(b'\n', &chunk[at..]) else {
                    self.carry(&chunk[at..]);
                    at = chunk.len();
                    break;
                };
                self.take(&chunk[at..at + length], start, out, log)?;
                at += length + 1;
            }
            source.consume(at);
        }
        log.good += (out.len() - start) as u64;
        Ok(more)
    }

    fn clock(&self) -> &Clock {
        self.format.clock()
    }

    fn volumes(&self) -> &[String] {
        self.volumes.names()
    }

    fn notes(&self) -> Vec<String> {
        self.format.notes()
    }

    fn empty_is_valid(&self) -> bool {
        self.format.empty_is_valid()
    }
}

/// Percentage of requests among the requests and bad lines at the start of a file.
pub fn share_of_lines(head: Head<'_>, mut format: impl LineFormat) -> u8 {
    let mut volumes = Volumes::new();
    let (mut good, mut bad) = (0u32, 0u32);
    for line in head.lines().take(100) {
        match format.line(line, &mut volumes) {
            Ok(Some(_)) => good += 1,
            Ok(None) => {}
            Err(_) => bad += 1,
        }
    }
    (good * 100).checked_div(good + bad).unwrap_or(0) as u8
}

/// A format with records of `N` bytes, each with at most one request.
pub trait RecordFormat<const N: usize>: Send {
    /// Decodes the request in a record. Returns `None` for a record that is not a request.
    fn record(&mut self, record: &[u8; N]) -> Result<Option<Request>, Fault>;
    /// Clock of the provisional arrivals.
    fn clock(&self) -> &Clock;
    /// Notes for the user about reading this source.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Decoder of a format with records of fixed size.
pub struct Records<F, const N: usize> {
    format: F,
}

impl<F: RecordFormat<N>, const N: usize> Records<F, N> {
    /// Creates a decoder of `format` that starts at the first byte.
    pub fn new(format: F) -> Records<F, N> {
        Records { format }
    }

    #[inline]
    fn take(
        &mut self,
        record: &[u8; N],
        offset: u64,
        start: usize,
        out: &mut Vec<Request>,
        log: &mut Log,
    ) -> Result<(), TraceError> {
        match self.format.record(record) {
            Ok(Some(request)) => out.push(request),
            Ok(None) => log.skipped += 1,
            Err(fault) => {
                let good = log.good;
                log.good += (out.len() - start) as u64;
                log.bad(Location::Byte(offset), fault, record)?;
                log.good = good;
            }
        }
        Ok(())
    }
}

impl<F: RecordFormat<N>, const N: usize> Decoder for Records<F, N> {
    fn decode(
        &mut self,
        source: &mut Source,
        out: &mut Vec<Request>,
        limit: usize,
        log: &mut Log,
    ) -> Result<bool, TraceError> {
        let start = out.len();
        out.reserve(limit);
        while out.len() - start < limit {
            let offset = source.offset();
            let (records, _) = source.chunk()?.as_chunks::<N>();
            if records.is_empty() {
                let mut record = [0; N];
                let got = source.take(&mut record)?;
                if got < N {
                    log.good += (out.len() - start) as u64;
                    if got > 0 {
                        let fault = Fault("the file ends within a record");
                        log.bad(Location::Byte(offset), fault, &record[..got])?;
                    }
                    return Ok(false);
                }
                self.take(&record, offset, start, out, log)?;
                continue;
            }
            let mut used = 0;
            for record in records.iter().take(limit - (out.len() - start)) {
                self.take(record, offset + (used * N) as u64, start, out, log)?;
                used += 1;
            }
            source.consume(used * N);
        }
        log.good += (out.len() - start) as u64;
        Ok(true)
    }

    fn clock(&self) -> &Clock {
        self.format.clock()
    }

    fn volumes(&self) -> &[String] {
        &[]
    }

    fn notes(&self) -> Vec<String> {
        self.format.notes()
    }
}

/// Percentage of the records at the start of a file that are requests in `format`.
pub fn share_of_records<const N: usize>(head: Head<'_>, mut format: impl RecordFormat<N>) -> u8 {
    let (records, _) = head.bytes.as_chunks::<N>();
    let looked_at = &records[..records.len().min(200)];
    let good = looked_at.iter().filter(|record| matches!(format.record(record), Ok(Some(_)))).count();
    (good * 100).checked_div(looked_at.len()).unwrap_or(0) as u8
}
