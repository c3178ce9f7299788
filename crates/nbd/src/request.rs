//! Parsing of one request, and the check whether the export may serve the request (proto.md, "Request
//! message").

use crate::options::Fields;
use crate::wire::{Errno, REQUEST_MAGIC, flag};
use crate::{Export, Session, Violation};

/// Size in bytes of a request, excluding the data of a write.
pub const HEADER_BYTES: usize = 28;

/// Command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Read data.
    Read,
    /// Write the data that follows the header.
    Write,
    /// Disconnect.
    Disconnect,
    /// Make all acknowledged writes durable.
    Flush,
    /// Discard data.
    Trim,
    /// Read ahead.
    Cache,
    /// Write zeros.
    WriteZeroes,
    /// Return allocation status.
    BlockStatus,
    /// Unknown command.
    Unknown(u16),
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The command.
    pub command: Command,
    /// Command flags as received.
    flags: u16,
    /// Cookie, which the server returns so that the client can match the reply to the request.
    pub cookie: u64,
    /// Address of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}

/// Reason why a request is rejected, as reported to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Error number that the protocol defines.
    pub error: Errno,
    /// Explanation for people.
    pub reason: &'static str,
}

impl Request {
    /// Parses a request header. The data of a write follows the header.
    ///
    /// Returns an error if the request is invalid. The client must then be disconnected.
    pub fn parse(header: &[u8; HEADER_BYTES]) -> Result<Request, Violation> {
        let mut fields = Fields(header);
        let magic = fields.u32().unwrap_or(0);
        if magic != REQUEST_MAGIC {
            return Err(Violation::NoRequest(magic));
        }
        let mut read = || {
            let (flags, kind) = (fields.u16()?, fields.u16()?);
            let (cookie, offset, length) = (fields.u64()?, fields.u64()?, fields.u32()?);
            Some(Request { command: Command::of(kind), flags, cookie, offset, length })
        };
        Ok(read().expect("a header has all its fields"))
    }

    /// Returns the number of data bytes after the header. Returns an error if the number exceeds `maximum`,
    /// because the data then cannot be skipped.
    pub fn payload(&self, maximum: u32) -> Result<usize, Violation> {
        match self.command {
            Command::Write if self.length > maximum => Err(Violation::WriteTooLong(self.length, maximum)),
            Command::Write => Ok(self.length as usize),
            _ => Ok(0),
        }
    }

    /// Returns whether the request completes only when its data is durable (FUA).
    pub fn is_forced(&self) -> bool {
        self.flags & flag::FUA != 0
    }

    /// Returns whether the range of a zero write must remain allocated.
    pub fn keeps_room(&self) -> bool {
        self.flags & flag::NO_HOLE != 0
    }

    /// Returns whether the server must reject a zero write that is not faster than a write of zeros as data.
    pub fn is_fast(&self) -> bool {
        self.flags & flag::FAST_ZERO != 0
    }

    /// Returns whether the reply to a read must have its data in one chunk.
    pub fn in_one_chunk(&self) -> bool {
        self.flags & flag::DF != 0
    }

    /// Returns whether the client requests the status of only one extent.
    pub fn wants_one_extent(&self) -> bool {
        self.flags & flag::REQ_ONE != 0
    }
}

impl Command {
    fn of(kind: u16) -> Command {
        match kind {
            0 => Command::Read,
            1 => Command::Write,
            2 => Command::Disconnect,
            3 => Command::Flush,
            4 => Command::Trim,
            5 => Command::Cache,
            6 => Command::WriteZeroes,
            7 => Command::BlockStatus,
            _ => Command::Unknown(kind),
        }
    }

    /// Returns the flags that the command allows. FUA is allowed with all commands, as in the protocol. Linux
    /// sends FUA with commands other than writes, too, e.g. with flushes.
    fn flags(self) -> u16 {
        flag::FUA
            | match self {
                Command::Read => flag::DF,
                Command::WriteZeroes => flag::NO_HOLE | flag::FAST_ZERO,
                Command::BlockStatus => flag::REQ_ONE,
                _ => 0,
            }
    }

    fn writes(self) -> bool {
        matches!(self, Command::Write | Command::Trim | Command::WriteZeroes)
    }
}

impl Session {
    /// Checks whether `export` can serve `request` in this session. If not, returns the refusal to send.
    pub fn check(&self, request: &Request, export: &Export) -> Result<(), Refusal> {
        let refuse = |error, reason| Err(Refusal { error, reason });
        let command = request.command;
        match command {
            Command::Unknown(_) => return refuse(Errno::Invalid, "there is no such command"),
            Command::Disconnect => return Ok(()),
            _ if request.flags & !command.flags() != 0 => {
                return refuse(Errno::Invalid, "the command does not support this flag");
            }
            Command::Flush if request.offset != 0 || request.length != 0 => {
                return refuse(Errno::Invalid, "a flush has neither offset nor length");
            }
            Command::Flush => return Ok(()),
            _ => {}
        }
        if command.writes() && export.read_only {
            return refuse(Errno::NotPermitted, "the export is read-only");
        }
        if command == Command::BlockStatus && !self.allocation {
            return refuse(Errno::Invalid, "no metadata context was negotiated");
        }
        if request.in_one_chunk() && !self.structured {
            return refuse(Errno::Invalid, "structured replies were not negotiated");
        }
        let past = request.offset.checked_add(u64::from(request.length)).is_none_or(|end| end > export.bytes);
        if past {
            let error = if command.writes() { Errno::NoSpace } else { Errno::Invalid };
            return refuse(error, "it reaches past the end");
        }
        if request.length == 0 {
            return refuse(Errno::Invalid, "its length is zero");
        }
        let block = export.block;
        let aligned = request.offset.is_multiple_of(u64::from(block.minimum));
        if !aligned || !request.length.is_multiple_of(block.minimum) {
            return refuse(Errno::Invalid, "it is not aligned to the minimum block size");
        }
        if command == Command::Read && request.length > block.maximum {
            return refuse(Errno::Overflow, "it is longer than the maximum block size");
        }
        Ok(())
    }
}
