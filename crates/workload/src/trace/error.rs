//! Errors of traces, with location and remedy.

use nacre_kernel::{ErrorCode, ErrorData, error_code};
use std::fmt;

/// Reason why a trace could not be read or written.
///
/// All but [`TraceError::Io`] are user errors; each message names the file, the location, the value, the
/// allowed values, and a remedy.
#[derive(Debug)]
pub enum TraceError {
    /// No format matches the first bytes.
    Unrecognized {
        /// The file.
        source_name: String,
        /// Start of the file.
        head: String,
        /// All known formats.
        known: String,
    },
    /// Unsupported compression.
    Packed {
        /// The file.
        source_name: String,
        /// Name of the compression format.
        what: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// Several formats fit the first bytes about equally well.
    Ambiguous {
        /// The file.
        source_name: String,
        /// The kinds that fit, best first, with their scores.
        candidates: String,
    },
    /// Unknown format name.
    NoSuchFormat {
        /// The given name.
        given: String,
        /// All known formats.
        known: String,
    },
    /// An option does not fit the format, or the inputs.
    Option {
        /// The option and its value.
        option: String,
        /// The problem.
        problem: String,
        /// Remedy.
        remedy: String,
    },
    /// A malformed record while bad records are fatal.
    BadRecord {
        /// The file.
        source_name: String,
        /// Location in the file.
        place: Location,
        /// Actual and expected content.
        problem: String,
    },
    /// Most of the records do not match the format, or none does.
    WrongFormat {
        /// The file.
        source_name: String,
        /// The kind it was read as.
        format: &'static str,
        /// Summary of the input, with the first bad record.
        found: String,
        /// Remedy.
        remedy: String,
    },
    /// The unit of time cannot be right.
    TimeUnit {
        /// The unit.
        given: &'static str,
        /// Why it cannot be right.
        problem: String,
        /// Plausible units.
        remedy: String,
    },
    /// The output format cannot represent the input.
    CannotHold {
        /// The kind that is written.
        format: &'static str,
        /// The information that cannot be represented.
        what: String,
        /// Remedy.
        remedy: String,
    },
    /// An I/O error of the operating system.
    Io {
        /// The file.
        source_name: String,
        /// Location in the file.
        place: Location,
        /// Error of the operating system.
        error: std::io::Error,
    },
}

impl TraceError {
    /// Error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            TraceError::Unrecognized { .. } | TraceError::Ambiguous { .. } => ErrorCode::UnknownFormat,
            TraceError::Packed { .. } | TraceError::CannotHold { .. } => ErrorCode::NotSupported,
            TraceError::NoSuchFormat { .. } => ErrorCode::UnknownName,
            TraceError::Option { .. } => ErrorCode::InvalidValue,
            TraceError::BadRecord { .. } | TraceError::WrongFormat { .. } | TraceError::TimeUnit { .. } => {
                ErrorCode::InvalidContent
            }
            // Without a number, the error is from a decompressor instead of the system.
            TraceError::Io { error, .. } if error.raw_os_error().is_none() => ErrorCode::Damaged,
            TraceError::Io { error, .. } => ErrorCode::of_io(error),
        }
    }

    /// Data for programs.
    pub fn data(&self) -> ErrorData {
        match self {
            TraceError::BadRecord { place: Location::Line(line), .. } => vec![("line", (*line).into())],
            TraceError::Io { error, .. } => error_code::errno(error),
            _ => ErrorData::new(),
        }
    }

    /// Description of the error, with the file and the location in it.
    pub fn problem(&self) -> String {
        match self {
            TraceError::Unrecognized { source_name, head, .. } => {
                format!("{source_name}: no known trace format fits its first bytes ({head})")
            }
            TraceError::Ambiguous { source_name, candidates } => {
                format!("{source_name}: its first bytes fit more than one trace format: {candidates}")
            }
            TraceError::Packed { source_name, what, .. } => format!("{source_name}: it is {what}"),
            TraceError::NoSuchFormat { given, .. } => format!("there is no trace format \"{given}\""),
            TraceError::Option { option, problem, .. } => format!("{option}: {problem}"),
            TraceError::BadRecord { source_name, place, problem } => {
                format!("{source_name}, {place}: {problem}")
            }
            TraceError::WrongFormat { source_name, format, found, .. } => {
                format!("{source_name} does not look like {format}: {found}")
            }
            TraceError::TimeUnit { given, problem, .. } => format!("time unit {given}: {problem}"),
            TraceError::CannotHold { format, what, .. } => format!("{format} cannot represent {what}"),
            TraceError::Io { source_name, place, error } => format!("{source_name}, {place}: {error}"),
        }
    }

    /// Remedy for scenarios and the command line; empty for errors of the system.
    pub fn remedy(&self) -> String {
        match self {
            TraceError::Unrecognized { known, .. } => format!(
                "set its format, one of {known}; or convert it to nacre_csv, with the first line \
                 timestamp_us,op,offset,length and lines such as 0,read,4096,512"
            ),
            TraceError::Ambiguous { .. } => "set the correct format".into(),
            TraceError::Packed { remedy, .. } => (*remedy).into(),
            TraceError::NoSuchFormat { known, .. } => format!("the formats are {known}"),
            TraceError::BadRecord { .. } => {
                "disable strict (strict = false, or no --strict) to skip and count bad records".into()
            }
            TraceError::Option { remedy, .. }
            | TraceError::WrongFormat { remedy, .. }
            | TraceError::TimeUnit { remedy, .. }
            | TraceError::CannotHold { remedy, .. } => remedy.clone(),
            TraceError::Io { .. } => String::new(),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remedy() {
            remedy if remedy.is_empty() => f.write_str(&self.problem()),
            remedy => write!(f, "{}; {remedy}", self.problem()),
        }
    }
}

impl std::error::Error for TraceError {}

/// Location in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line number, counted from one.
    Line(u64),
    /// A byte offset, counted from zero.
    Byte(u64),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Line(number) => write!(f, "line {number}"),
            Location::Byte(offset) => write!(f, "byte {offset}"),
        }
    }
}

/// Error in one record: what was expected instead of what was found.
///
/// A static text, because a hostile file may contain millions of bad records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub &'static str);

impl Fault {
    /// The time of a record is too far from the first for [`nacre_kernel::Time`].
    pub const TOO_LATE: Fault =
        Fault("the time is more than 120 days after the first record; check the time unit");
    /// A read, write, or trim of zero bytes.
    pub const NO_BYTES: Fault = Fault("the size is zero");
    /// A size that exceeds [`nacre_kernel::Request`].
    pub const TOO_LONG: Fault = Fault("the size is not below 4 GiB");
    /// An address that no device has.
    pub const TOO_FAR: Fault = Fault("the request ends beyond 4 EiB");
    /// More volumes than [`super::volumes::MAX_VOLUMES`].
    pub const TOO_MANY_VOLUMES: Fault = Fault("it has more than 1048576 volumes");
}

/// The beginning of `bytes` as text for a message: at most 80 characters, control characters escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(80)];
    let dots = if cut.len() < bytes.len() { "..." } else { "" };
    format!("\"{}{dots}\"", cut.escape_ascii())
}
