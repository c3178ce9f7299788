//! An input of a reader, i.e. a name for messages and a decompressed stream of bytes.

use super::error::{Location, TraceError};
use std::io::{BufRead, ErrorKind};

/// Number of bytes at the start of an input from which Nacre detects its format.
pub const HEAD_BYTES: usize = 64 << 10;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A named stream of bytes. The caller opens the file and decompresses it.
pub struct Source {
    name: String,
    head: Vec<u8>,
    head_used: usize,
    whole: bool,
    rest: Box<dyn BufRead + Send>,
    offset: u64,
}

impl Source {
    /// Creates a source with the name `name` for messages, usually a path. `stream` should have a buffer of
    /// at least 256 KiB.
    pub fn new(name: impl Into<String>, stream: Box<dyn BufRead + Send>) -> Source {
        Source { name: name.into(), head: Vec::new(), head_used: 0, whole: false, rest: stream, offset: 0 }
    }

    /// Name of the source in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first [`HEAD_BYTES`] bytes, or all bytes if there are fewer, without consuming them.
    ///
    /// Call this function before any bytes are consumed.
    pub fn head(&mut self) -> Result<Head<'_>, TraceError> {
        while self.offset == 0 && !self.whole && self.head.len() < HEAD_BYTES {
            let got = fill(&mut self.rest, &self.name, self.head.len() as u64)?;
            let take = got.len().min(HEAD_BYTES - self.head.len());
            self.head.extend_from_slice(&got[..take]);
            self.whole = take == 0;
            self.rest.consume(take);
        }
        // Windows programs start text files with a UTF-8 byte order mark.
        let bytes = self.head.strip_prefix(MARK).filter(|text| is_text(text));
        if self.offset == 0 && bytes.is_some() {
            self.head_used = MARK.len();
        }
        Ok(Head { bytes: bytes.unwrap_or(&self.head), whole: self.whole })
    }

    /// Returns the available bytes, or an empty slice at the end of the stream.
    pub fn chunk(&mut self) -> Result<&[u8], TraceError> {
        if self.head_used < self.head.len() {
            return Ok(&self.head[self.head_used..]);
        }
        fill(&mut self.rest, &self.name, self.offset)
    }

    /// Consumes `count` bytes of the chunk.
    pub fn consume(&mut self, count: usize) {
        self.offset += count as u64;
        if self.head_used < self.head.len() {
            self.head_used += count;
        } else {
            self.rest.consume(count);
        }
    }

    /// Number of consumed bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Fills `buffer`. Returns the number of bytes read, which is smaller only at the end of the stream.
    pub fn take(&mut self, buffer: &mut [u8]) -> Result<usize, TraceError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                break;
            }
            let count = chunk.len().min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&chunk[..count]);
            filled += count;
            self.consume(count);
        }
        Ok(filled)
    }

    /// Skips `count` bytes. Returns the number of bytes skipped, which is smaller only at the end of the
    /// stream.
    pub fn skip(&mut self, count: usize) -> Result<usize, TraceError> {
        let mut skipped = 0;
        while skipped < count {
            let step = self.chunk()?.len().min(count - skipped);
            if step == 0 {
                break;
            }
            skipped += step;
            self.consume(step);
        }
        Ok(skipped)
    }
}

/// Returns the available bytes of `stream`.
fn fill<'a>(
    stream: &'a mut Box<dyn BufRead + Send>,
    name: &str,
    offset: u64,
) -> Result<&'a [u8], TraceError> {
    loop {
        match stream.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                let (source_name, place) = (name.to_string(), Location::Byte(offset));
                return Err(TraceError::Io { source_name, place, error });
            }
        }
    }
    // A second call returns the buffer that is already filled. It is needed because the borrow checker
    // rejects the buffer of the loop above.
    stream.fill_buf().map_err(|error| TraceError::Io {
        source_name: name.to_string(),
        place: Location::Byte(offset),
        error,
    })
}

/// The start of an input.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Content of the head.
    pub bytes: &'a [u8],
    /// Whether the head contains all bytes of the source.
    pub whole: bool,
}

impl<'a> Head<'a> {
    /// Whether the head is text, without control characters except tabs, line ends, and form feeds.
    pub fn is_text(&self) -> bool {
        is_text(self.bytes)
    }

    /// Complete lines of the head, without line ends, blank lines, and comments. If the head is binary data,
    /// there are no lines.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let text = if self.is_text() { self.bytes } else { &[] };
        let end = if self.whole { text.len() } else { memchr::memrchr(b'\n', text).unwrap_or(0) };
        text[..end].split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !is_comment(line))
    }
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.iter().any(|&b| b < 32 && !matches!(b, b'\t' | b'\n' | 12 | b'\r'))
}

/// Whether a line is blank or a comment. Comments start with `#` in all text formats.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

/// Whether a line contains column names, i.e. comma-separated fields that all start with a letter.
pub(crate) fn is_names(line: &[u8]) -> bool {
    let is_name = |field: &[u8]| field.trim_ascii_start().first().is_some_and(u8::is_ascii_alphabetic);
    line.contains(&b',') && line.split(|&byte| byte == b',').all(is_name)
}
