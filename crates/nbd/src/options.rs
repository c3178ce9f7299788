//! Parsing of one option of a client: its frame, and the names and lists in its data.

use crate::wire::{OPTION_MAGIC, OPTION_REPLY_MAGIC};
use crate::{Errno, Violation};

/// Maximum size of an option in bytes. A name has at most 4,096 bytes, and a list of contexts contains
/// several names.
pub(crate) const BYTES_MAX: u32 = 64 << 10;
/// Maximum size of a name in bytes (proto.md, "Values").
pub(crate) const NAME_MAX: usize = 4096;
/// Number of bytes in an option before its data.
const FRAME: usize = 16;

/// A received option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) option: u32,
    pub(crate) data: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Parses the first option of `input`. Returns `None` if the option is incomplete.
    pub(crate) fn parse(input: &'a [u8]) -> Result<Option<Frame<'a>>, Violation> {
        let mut fields = Fields(input);
        let Some(magic) = fields.u64() else { return Ok(None) };
        if magic != OPTION_MAGIC {
            return Err(Violation::NoOption(magic));
        }
        let (Some(option), Some(length)) = (fields.u32(), fields.u32()) else { return Ok(None) };
        if length > BYTES_MAX {
            return Err(Violation::OptionTooLong(length));
        }
        Ok(fields.take(length as usize).map(|data| Frame { option, data }))
    }

    /// Returns the total size of the option, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        FRAME + self.data.len()
    }

    /// Appends a reply to the option.
    pub(crate) fn reply(&self, kind: u32, data: &[&[u8]], out: &mut Vec<u8>) {
        let length: usize = data.iter().map(|part| part.len()).sum();
        out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
        out.extend(self.option.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend((length as u32).to_be_bytes());
        data.iter().for_each(|part| out.extend(*part));
    }
}

/// Parser for a sequence of numbers and texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes(bytes.try_into().expect("two bytes")))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take(8).map(|bytes| u64::from_be_bytes(bytes.try_into().expect("eight bytes")))
    }

    /// Parses the length of a text and the text. Returns `None` if the text is incomplete, too long, or not
    /// UTF-8.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        let length = self.u32()? as usize;
        let name = self.take(length).filter(|_| length <= NAME_MAX)?;
        std::str::from_utf8(name).ok()
    }

    /// Returns `Some` if all bytes were parsed, and `None` otherwise.
    pub(crate) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Parses the data of `INFO` and `GO`: a name, and the requested information types.
pub(crate) fn info(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut fields = Fields(data);
    let name = fields.name()?;
    let count = fields.u16()?;
    let wanted = (0..count).map(|_| fields.u16()).collect::<Option<Vec<_>>>()?;
    fields.end()?;
    Some((name, wanted))
}

/// Parses the data of the context options: an export name, and queries.
pub(crate) fn contexts(data: &[u8]) -> Option<(&str, Vec<&str>)> {
    let mut fields = Fields(data);
    let name = fields.name()?;
    let count = fields.u32()?;
    // Each query takes at least four bytes, so the number of queries is limited by the size of the option.
    let queries = (0..count).map(|_| fields.name()).collect::<Option<Vec<_>>>()?;
    fields.end()?;
    Some((name, queries))
}

impl Errno {
    /// Returns the error number that the protocol defines.
    pub(crate) fn number(self) -> u32 {
        self as u32
    }
}
