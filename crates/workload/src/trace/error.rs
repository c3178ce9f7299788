//! Errors in traces, with location and remedy.

use nacre_kernel::{ErrorCode, ErrorData, error_code};
use std::fmt;

/// Reason why a trace cannot be read or written.
///
/// All errors except [`TraceError::Io`] are user errors. Each message names the file, the location, the
/// value, the allowed values, and a remedy.
#[derive(Debug)]
pub enum TraceError {
    /// No format matches the start of the file.
    Unrecognized {
        /// Name of the file.
        source_name: String,
        /// Start of the file.
        head: String,
        /// Names of all formats.
        known: String,
    },
    /// The file has an unsupported compression.
    Packed {
        /// Name of the file.
        source_name: String,
        /// Name of the compression format.
        what: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// Several formats match the start of the file about equally well.
    Ambiguous {
        /// Name of the file.
        source_name: String,
        /// Names of the matching formats, best first, with their scores.
        candidates: String,
    },
    /// The format name is unknown.
    NoSuchFormat {
        /// The given name.
        given: String,
        /// Names of all formats.
        known: String,
    },
    /// An option does not fit the format or the inputs.
    Option {
        /// Name and value of the option.
        option: String,
        /// Description of the problem.
        problem: String,
        /// Remedy.
        remedy: String,
    },
    /// A record is malformed, and the option `strict` is on.
    BadRecord {
        /// Name of the file.
        source_name: String,
        /// Location in the file.
        place: Location,
        /// Actual and expected content.
        problem: String,
    },
    /// Most of the records, or all of them, do not match the format.
    WrongFormat {
        /// Name of the file.
        source_name: String,
        /// Format with which the file was read.
        format: &'static str,
        /// Summary of the input, with the first bad record.
        found: String,
        /// Remedy.
        remedy: String,
    },
    /// The given time unit is impossible for the times in the file.
    TimeUnit {
        /// The given time unit.
        given: &'static str,
        /// Reason why it is impossible.
        problem: String,
        /// Plausible units.
        remedy: String,
    },
    /// The output format cannot represent the input.
    CannotHold {
        /// Name of the output format.
        format: &'static str,
        /// Information that cannot be represented.
        what: String,
        /// Remedy.
        remedy: String,
    },
    /// An I/O error of the operating system.
    Io {
        /// Name of the file.
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
            // Without an OS error number, the error is from a decompressor.
            TraceError::Io { error, .. } if error.raw_os_error().is_none() => ErrorCode::Damaged,
            TraceError::Io { error, .. } => ErrorCode::of_io(error),
        }
    }

    /// Named values of the error, for programs that process the error.
    pub fn data(&self) -> ErrorData {
        match self {
            TraceError::BadRecord { place: Location::Line(line), .. } => vec![("line", (*line).into())],
            TraceError::Io { error, .. } => error_code::errno(error),
            _ => ErrorData::new(),
        }
    }

    /// Description of the error, with the file and the location in the file.
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

    /// Remedy for scenarios and the command line. The text is empty for OS errors.
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

/// Error in one record, with the expected and the actual content.
///
/// The text is static to save memory, because a malicious file may contain millions of bad records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub &'static str);

impl Fault {
    /// The time of a record is too far after that of the first record to fit into [`nacre_kernel::Time`].
    pub const TOO_LATE: Fault =
        Fault("the time is more than 120 days after the first record; check the time unit");
    /// A read, write, or trim of zero bytes.
    pub const NO_BYTES: Fault = Fault("the size is zero");
    /// A size that does not fit into [`nacre_kernel::Request`].
    pub const TOO_LONG: Fault = Fault("the size is not below 4 GiB");
    /// An address beyond the limit of all devices.
    pub const TOO_FAR: Fault = Fault("the request ends beyond 4 EiB");
    /// More volumes than [`super::volumes::MAX_VOLUMES`].
    pub const TOO_MANY_VOLUMES: Fault = Fault("it has more than 1048576 volumes");
}

/// The start of `bytes` as text for a message: at most 80 characters, with control characters escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(80)];
    let dots = if cut.len() < bytes.len() { "..." } else { "" };
    format!("\"{}{dots}\"", cut.escape_ascii())
}
