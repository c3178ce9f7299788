//! The bytes that come with a request.

use std::ops::Range;

/// The bytes of a request. A simulation of time alone has none.
#[derive(Debug)]
pub enum Data<'a> {
    /// The device carries no bytes, or the request has none.
    None,
    /// What is to be written.
    Write(&'a [u8]),
    /// Where what is read goes.
    Read(&'a mut [u8]),
}

impl Data<'_> {
    /// The bytes of a part of the request, `range` counted from the first byte of the request.
    #[inline]
    pub fn part(&mut self, range: Range<usize>) -> Data<'_> {
        match self {
            Data::None => Data::None,
            Data::Write(bytes) => Data::Write(&bytes[range]),
            Data::Read(into) => Data::Read(&mut into[range]),
        }
    }

    /// The same bytes, for somebody who is asked now and not kept.
    #[inline]
    pub fn lend(&mut self) -> Data<'_> {
        match self {
            Data::None => Data::None,
            Data::Write(bytes) => Data::Write(bytes),
            Data::Read(into) => Data::Read(into),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_none(&self) -> bool {
        matches!(self, Data::None)
    }
}
