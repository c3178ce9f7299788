//! Negotiation, from the first byte to the selection of an export (proto.md, "Fixed newstyle negotiation").

use crate::options::{Fields, Frame, contexts, info};
use crate::wire::{NBD_MAGIC, OPTION_MAGIC, answer, handshake, info as told, option};
use crate::{Export, Violation};

/// Maximum number of options that a client may send.
pub(crate) const OPTIONS_MAX: u32 = 4096;
/// The only supported metadata context, which reports allocation.
pub(crate) const ALLOCATION: &str = "base:allocation";
/// Identifier of the context [`ALLOCATION`] in a session.
pub(crate) const ALLOCATION_ID: u32 = 1;

/// TLS state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// The connection is never encrypted.
    Off,
    /// Encryption is required but not established yet.
    Required,
    /// The connection is encrypted.
    On,
}

/// The server side of a negotiation.
#[derive(Clone, Debug)]
pub struct Negotiation<'a> {
    exports: &'a [Export],
    tls: Tls,
    /// Whether the flags of the client have arrived.
    greeted: bool,
    no_zeroes: bool,
    structured: bool,
    /// Index of the export for which the client requested the allocation context, if any.
    allocation: Option<usize>,
    options: u32,
}

/// Result of parsing data from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// More bytes are needed.
    More,
    /// The given number of bytes was parsed, and the reply is ready to be sent. The input may contain more
    /// bytes.
    Took(usize),
    /// The given number of bytes was parsed. After the reply is sent, the connection must be encrypted, and
    /// negotiation restarts with [`Tls::On`].
    StartTls(usize),
    /// The given number of bytes was parsed. After the reply is sent, the connection must be closed.
    Over(usize),
    /// The given number of bytes was parsed, and the client has selected an export. After the reply is sent,
    /// requests may arrive.
    Chosen(usize, Session),
}

/// Options that a client has selected for the transmission phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Index of the selected export.
    pub export: usize,
    /// Whether replies to reads are structured (in chunks).
    pub structured: bool,
    /// Whether the client may request block status.
    pub allocation: bool,
}

impl<'a> Negotiation<'a> {
    /// Starts a negotiation for `exports`.
    pub fn new(exports: &'a [Export], tls: Tls) -> Negotiation<'a> {
        Negotiation {
            exports,
            tls,
            greeted: false,
            no_zeroes: false,
            structured: false,
            allocation: None,
            options: 0,
        }
    }

    /// Returns the state of the negotiation after the upgrade to TLS. The upgrade resets all state except the
    /// client flags.
    #[must_use]
    pub fn encrypted(&self) -> Negotiation<'a> {
        let fresh = Negotiation::new(self.exports, Tls::On);
        Negotiation { greeted: self.greeted, no_zeroes: self.no_zeroes, ..fresh }
    }

    /// Appends the greeting of the server to `out`.
    pub fn greet(&self, out: &mut Vec<u8>) {
        out.extend(NBD_MAGIC.to_be_bytes());
        out.extend(OPTION_MAGIC.to_be_bytes());
        out.extend((handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES).to_be_bytes());
    }

    /// Parses the next complete message at the head of `input` and appends the reply to `out`.
    ///
    /// Returns an error if the client must be disconnected.
    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Parsed, Violation> {
        if !self.greeted {
            return self.client_flags(input);
        }
        let Some(frame) = Frame::parse(input)? else { return Ok(Parsed::More) };
        self.options += 1;
        if self.options > OPTIONS_MAX {
            return Err(Violation::TooManyOptions);
        }
        let bytes = frame.bytes();
        if self.tls == Tls::Required && !matches!(frame.option, option::ABORT | option::STARTTLS) {
            if frame.option == option::EXPORT_NAME {
                return Err(Violation::NoExport);
            }
            frame.reply(answer::ERROR_TLS_REQUIRED, &[b"encryption is required"], out);
            return Ok(Parsed::Took(bytes));
        }
        match frame.option {
            option::EXPORT_NAME => return self.export_name(frame, out),
            option::ABORT => {
                frame.reply(answer::ACK, &[], out);
                return Ok(Parsed::Over(bytes));
            }
            option::LIST => self.list(frame, out),
            option::STARTTLS => return Ok(self.start_tls(frame, out)),
            option::INFO | option::GO => {
                if let Some(session) = self.info(frame, out) {
                    return Ok(Parsed::Chosen(bytes, session));
                }
            }
            option::STRUCTURED_REPLY => {
                if frame.data.is_empty() {
                    self.structured = true;
                    frame.reply(answer::ACK, &[], out);
                } else {
                    frame.reply(answer::ERROR_INVALID, &[b"it must not have data"], out);
                }
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.contexts(frame, out),
            _ => frame.reply(answer::ERROR_UNSUPPORTED, &[b"there is no such option here"], out),
        }
        Ok(Parsed::Took(bytes))
    }

    fn client_flags(&mut self, input: &[u8]) -> Result<Parsed, Violation> {
        let Some(flags) = Fields(input).u32() else { return Ok(Parsed::More) };
        let known = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        if flags & u32::from(handshake::FIXED_NEWSTYLE) == 0 || flags & !known != 0 {
            return Err(Violation::ClientFlags(flags));
        }
        self.greeted = true;
        self.no_zeroes = flags & u32::from(handshake::NO_ZEROES) != 0;
        Ok(Parsed::Took(4))
    }

    /// Handles the option `EXPORT_NAME`, which selects an export and has no error reply.
    fn export_name(&self, frame: Frame<'_>, out: &mut Vec<u8>) -> Result<Parsed, Violation> {
        let name = std::str::from_utf8(frame.data).ok();
        let export = name.and_then(|name| self.find(name)).ok_or(Violation::NoExport)?;
        out.extend(self.exports[export].bytes.to_be_bytes());
        out.extend(self.exports[export].flags().to_be_bytes());
        if !self.no_zeroes {
            out.extend([0; 124]);
        }
        Ok(Parsed::Chosen(frame.bytes(), self.session(export)))
    }

    fn list(&self, frame: Frame<'_>, out: &mut Vec<u8>) {
        if !frame.data.is_empty() {
            return frame.reply(answer::ERROR_INVALID, &[b"it must not have data"], out);
        }
        for export in self.exports {
            let length = (export.name.len() as u32).to_be_bytes();
            let parts: [&[u8]; 3] = [&length, export.name.as_bytes(), export.description.as_bytes()];
            frame.reply(answer::SERVER, &parts, out);
        }
        frame.reply(answer::ACK, &[], out);
    }

    fn start_tls(&self, frame: Frame<'_>, out: &mut Vec<u8>) -> Parsed {
        let bytes = frame.bytes();
        match self.tls {
            Tls::Required if frame.data.is_empty() => {
                frame.reply(answer::ACK, &[], out);
                return Parsed::StartTls(bytes);
            }
            Tls::Required => frame.reply(answer::ERROR_INVALID, &[b"it must not have data"], out),
            Tls::On => frame.reply(answer::ERROR_INVALID, &[b"the connection is encrypted"], out),
            Tls::Off => frame.reply(answer::ERROR_POLICY, &[b"there is no encryption here"], out),
        }
        Parsed::Took(bytes)
    }

    /// Handles the options `INFO` and `GO`, which describe an export. `GO` also selects the export.
    fn info(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) -> Option<Session> {
        let Some((name, wanted)) = info(frame.data) else {
            frame.reply(answer::ERROR_INVALID, &[b"its data is incomplete"], out);
            return None;
        };
        let Some(number) = self.find(name) else {
            frame.reply(answer::ERROR_UNKNOWN, &[b"there is no such export"], out);
            return None;
        };
        let export = &self.exports[number];
        let mut tell = |kind: u16, data: &[&[u8]]| {
            let kind = kind.to_be_bytes();
            let mut parts: Vec<&[u8]> = vec![&kind];
            parts.extend(data);
            frame.reply(answer::INFO, &parts, out);
        };
        tell(told::EXPORT, &[&export.bytes.to_be_bytes(), &export.flags().to_be_bytes()]);
        // A client that does not request the sizes may ignore them.
        let block = &export.block;
        let sizes = [block.minimum, block.preferred, block.maximum].map(u32::to_be_bytes);
        tell(told::BLOCK_SIZE, &[&sizes[0], &sizes[1], &sizes[2]]);
        if wanted.contains(&told::NAME) {
            tell(told::NAME, &[export.name.as_bytes()]);
        }
        if wanted.contains(&told::DESCRIPTION) {
            tell(told::DESCRIPTION, &[export.description.as_bytes()]);
        }
        frame.reply(answer::ACK, &[], out);
        (frame.option == option::GO).then(|| self.session(number))
    }

    /// Handles the options that list or select metadata contexts for block status.
    fn contexts(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) {
        let sets = frame.option == option::SET_META_CONTEXT;
        if sets {
            self.allocation = None;
        }
        let Some((name, queries)) = contexts(frame.data) else {
            return frame.reply(answer::ERROR_INVALID, &[b"its data is incomplete"], out);
        };
        if !self.structured {
            return frame.reply(answer::ERROR_INVALID, &[b"structured replies come first"], out);
        }
        let Some(export) = self.find(name) else {
            return frame.reply(answer::ERROR_UNKNOWN, &[b"there is no such export"], out);
        };
        // When listing, an empty list of queries means all contexts. When setting, it means none. "base:"
        // lists all contexts of this namespace.
        let lists = |query: &str| query == ALLOCATION || !sets && query == "base:";
        if queries.iter().any(|query| lists(query)) || !sets && queries.is_empty() {
            let id = if sets { ALLOCATION_ID } else { 0 };
            frame.reply(answer::META_CONTEXT, &[&id.to_be_bytes(), ALLOCATION.as_bytes()], out);
            if sets {
                self.allocation = Some(export);
            }
        }
        frame.reply(answer::ACK, &[], out);
    }

    fn session(&self, export: usize) -> Session {
        Session { export, structured: self.structured, allocation: self.allocation == Some(export) }
    }

    /// Returns the index of the export `name`, if it exists. An empty name selects the first export if no
    /// export has an empty name.
    fn find(&self, name: &str) -> Option<usize> {
        let named = self.exports.iter().position(|export| export.name == name);
        named.or((name.is_empty() && !self.exports.is_empty()).then_some(0))
    }
}
