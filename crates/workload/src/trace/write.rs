//! Writing of traces. Information that a format cannot represent is counted or rejected.

use super::detect::format_named;
use super::error::{Location, TraceError};
use nacre_kernel::{Op, Request, Time};
use std::io::Write;

/// Options for writing a trace.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Whether a request that the format cannot represent exactly is an error. Otherwise, [`Written`] counts
    /// such requests.
    pub strict: bool,
    /// Origin of the trace, for formats that store it.
    pub provenance: String,
}

/// Writes requests in time order.
pub trait TraceWriter: Send {
    /// Writes `batch`.
    fn write(&mut self, batch: &[Request]) -> Result<(), TraceError>;
    /// Sets the names of the volumes, indexed by number. Writers of formats without names ignore the names.
    /// Call this function before [`TraceWriter::finish`].
    fn name_volumes(&mut self, names: &[String]) {
        let _ = names;
    }
    /// Writes the remaining data, and returns statistics. Without this call, the file is incomplete.
    fn finish(&mut self) -> Result<Written, TraceError>;
}

/// Statistics of a written trace, including information that could not be stored exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Number of requests written.
    pub records: u64,
    /// Number of bytes written.
    pub bytes: u64,
    /// Number of trims that were skipped.
    pub dropped_trims: u64,
    /// Number of flushes that were skipped.
    pub dropped_flushes: u64,
    /// Number of requests whose arrival was rounded to the unit of the format.
    pub rounded_times: u64,
    /// Number of requests that were extended to whole sectors.
    pub widened: u64,
}

impl Written {
    /// Returns one sentence for each type of lost information.
    pub fn notes(&self) -> Vec<String> {
        [
            (self.dropped_trims, "trims were skipped"),
            (self.dropped_flushes, "flushes were skipped"),
            (self.rounded_times, "arrivals were rounded to the unit of the format"),
            (self.widened, "requests were extended to whole sectors"),
        ]
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }
}

/// Creates a writer of the format `kind` for an open stream.
pub fn create(
    kind: &str,
    sink: Box<dyn Write + Send>,
    options: &WriteOptions,
) -> Result<Box<dyn TraceWriter>, TraceError> {
    let format = format_named(kind)?;
    let Some(create) = format.create else {
        let writable: Vec<&str> = super::FORMATS
            .iter()
            .filter(|format| format.create.is_some())
            .map(|format| format.kind)
            .collect();
        return Err(TraceError::Option {
            option: format!("--to {kind}"),
            problem: "this format can be read but not written".into(),
            remedy: format!("use {}", writable.join(", ")),
        });
    };
    create(sink, options)
}

/// Limits of what a format can represent.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Name of the format.
    pub kind: &'static str,
    /// Unit of arrivals in picoseconds.
    pub tick_ps: u64,
    /// Unit of addresses, and of sizes if `sized_in_sectors`, in bytes.
    pub sector_bytes: u64,
    /// Whether sizes must also be whole sectors.
    pub sized_in_sectors: bool,
    /// Whether the format supports trims.
    pub trims: bool,
    /// Whether the format supports flushes.
    pub flushes: bool,
    /// Whether the format supports volumes.
    pub volumes: bool,
}

/// Encodes one request that fits the [`Limits`].
pub trait Encoder: Send {
    /// Limits of the format.
    const LIMITS: Limits;
    /// Appends the header before the first request.
    fn header(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
    /// Appends `request`, which arrives at `ticks` units of the format.
    fn request(&mut self, request: &Request, ticks: u64, out: &mut Vec<u8>);
}

/// Writer of a format that has an [`Encoder`].
pub struct Encoded<E> {
    encoder: E,
    sink: Sink,
    strict: bool,
    written: Written,
    buffer: Vec<u8>,
}

/// Size of the write buffer in bytes.
const GATHERED: usize = 256 << 10;

impl<E: Encoder> Encoded<E> {
    /// Creates a writer that encodes with `encoder` and writes to `sink`.
    pub fn new(mut encoder: E, sink: Box<dyn Write + Send>, options: &WriteOptions) -> Encoded<E> {
        let mut buffer = Vec::with_capacity(GATHERED + 256);
        encoder.header(&mut buffer);
        Encoded {
            encoder,
            sink: Sink::new(sink),
            strict: options.strict,
            written: Written::default(),
            buffer,
        }
    }

    /// Returns the request as the format can store it, and its arrival in units of the format. Returns
    /// `None` if the request is skipped.
    #[inline]
    fn fit(&mut self, request: &Request) -> Result<Option<(Request, u64)>, TraceError> {
        let limits = E::LIMITS;
        if request.volume != 0 && !limits.volumes {
            return Err(TraceError::CannotHold {
                format: limits.kind,
                what: format!("more than one volume (request {})", self.written.records + 1),
                remedy: "sample one volume first, or write nacre, which stores volumes".into(),
            });
        }
        let dropped = match request.op {
            Op::Trim if !limits.trims => &mut self.written.dropped_trims,
            Op::Flush if !limits.flushes => &mut self.written.dropped_flushes,
            _ => return self.fit_extent(request).map(Some),
        };
        *dropped += 1;
        self.lose(|| format!("a {}", request.op.name()))?;
        Ok(None)
    }

    #[inline]
    fn fit_extent(&mut self, request: &Request) -> Result<(Request, u64), TraceError> {
        let limits = E::LIMITS;
        let ps = request.arrival.as_ps();
        let ticks = ps / limits.tick_ps + u64::from(ps % limits.tick_ps >= limits.tick_ps.div_ceil(2));
        if !ps.is_multiple_of(limits.tick_ps) {
            self.written.rounded_times += 1;
            self.lose(|| format!("an arrival of {} exactly", request.arrival))?;
        }
        let sector = limits.sector_bytes;
        let size_sector = if limits.sized_in_sectors { sector } else { 1 };
        let mut fitted = *request;
        if !request.address.is_multiple_of(sector) || !u64::from(request.bytes).is_multiple_of(size_sector) {
            let end = (request.address + u64::from(request.bytes)).next_multiple_of(size_sector);
            fitted.address -= request.address % sector;
            let bytes = u32::try_from(end - fitted.address);
            fitted.bytes = bytes.unwrap_or(u32::MAX - (size_sector as u32 - 1));
            self.written.widened += 1;
            self.lose(|| format!("address {} and size {} exactly", request.address, request.bytes))?;
        }
        Ok((fitted, ticks))
    }

    fn lose(&self, what: impl Fn() -> String) -> Result<(), TraceError> {
        if !self.strict {
            return Ok(());
        }
        Err(TraceError::CannotHold {
            format: E::LIMITS.kind,
            what: format!("{} (request {})", what(), self.written.records + 1),
            remedy: "disable strict to count such losses, or write nacre".into(),
        })
    }
}

impl<E: Encoder> TraceWriter for Encoded<E> {
    fn write(&mut self, batch: &[Request]) -> Result<(), TraceError> {
        for request in batch {
            if let Some((fitted, ticks)) = self.fit(request)? {
                self.encoder.request(&fitted, ticks, &mut self.buffer);
                self.written.records += 1;
            }
            if self.buffer.len() >= GATHERED {
                self.sink.write(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Written, TraceError> {
        self.sink.write(&self.buffer)?;
        self.buffer.clear();
        self.written.bytes = self.sink.finish()?;
        Ok(self.written)
    }
}

/// A stream that counts the bytes written to it.
pub struct Sink {
    stream: Box<dyn Write + Send>,
    bytes: u64,
}

impl Sink {
    /// Creates a sink for `stream`. Its byte count starts at zero.
    pub fn new(stream: Box<dyn Write + Send>) -> Sink {
        Sink { stream, bytes: 0 }
    }

    /// Writes all of `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        self.stream.write_all(bytes).map_err(|error| self.failed(error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Flushes the stream. Returns the number of bytes written.
    pub fn finish(&mut self) -> Result<u64, TraceError> {
        self.stream.flush().map_err(|error| self.failed(error))?;
        Ok(self.bytes)
    }

    fn failed(&self, error: std::io::Error) -> TraceError {
        TraceError::Io { source_name: "output".into(), place: Location::Byte(self.bytes), error }
    }
}

/// Appends `value` in decimal.
#[inline]
pub fn decimal(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let (mut rest, mut at) = (value, digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends the exact `time` in units of `unit_ps` picoseconds, with as many decimals as necessary, but at
/// least `fewest`.
pub fn decimal_time(time: Time, unit_ps: u64, fewest: usize, out: &mut Vec<u8>) {
    decimal(time.as_ps() / unit_ps, out);
    let (mut rest, mut unit, mut decimals) = (time.as_ps() % unit_ps, unit_ps, 0);
    while rest > 0 || decimals < fewest {
        if decimals == 0 {
            out.push(b'.');
        }
        unit /= 10;
        out.push(b'0' + (rest / unit) as u8);
        rest %= unit;
        decimals += 1;
    }
}
