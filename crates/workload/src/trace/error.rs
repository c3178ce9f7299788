//! What can go wrong with a trace, in words that say where and what to do.

use nacre_kernel::{ErrorCode, ErrorData, error_code};
use std::fmt;

/// Why a trace could not be read or written.
///
/// All but [`TraceError::Io`] are the user's to mend; each text names the file, the place, what was
/// found, what is allowed and a remedy.
#[derive(Debug)]
pub enum TraceError {
    /// No format fits the first bytes.
    Unrecognized {
        /// The file.
        source_name: String,
        /// How the file begins.
        head: String,
        /// Every kind there is.
        known: String,
    },
    /// It is packed in a way that is not unpacked here.
    Packed {
        /// The file.
        source_name: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Several formats fit the first bytes about equally well.
    Ambiguous {
        /// The file.
        source_name: String,
        /// The kinds that fit, best first, with their scores.
        candidates: String,
    },
    /// There is no format of the given name.
    NoSuchFormat {
        /// What was given.
        given: String,
        /// Every kind there is.
        known: String,
    },
    /// An option does not suit the format, or the inputs.
    Option {
        /// The option and its value.
        option: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A record breaks the format, and bad records are fatal.
    BadRecord {
        /// The file.
        source_name: String,
        /// Where in the file.
        place: Place,
        /// What was found, and what is expected.
        problem: String,
    },
    /// Most of what was read does not fit the format, or nothing does.
    WrongFormat {
        /// The file.
        source_name: String,
        /// The kind it was read as.
        format: &'static str,
        /// What was read, with the first bad record.
        found: String,
        /// What to do.
        remedy: String,
    },
    /// The unit of time cannot be right.
    TimeUnit {
        /// The unit.
        given: &'static str,
        /// Why it cannot be right.
        problem: String,
        /// The units that would be plausible.
        remedy: String,
    },
    /// The format that is written cannot hold what it is given.
    CannotHold {
        /// The kind that is written.
        format: &'static str,
        /// What it cannot hold.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Reading or writing failed underneath.
    Io {
        /// The file.
        source_name: String,
        /// Where in the file.
        place: Place,
        /// What the system said.
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
            // Without a number it is not the system that complains but a decompressor.
            TraceError::Io { error, .. } if error.raw_os_error().is_none() => ErrorCode::Damaged,
            TraceError::Io { error, .. } => ErrorCode::of_io(error),
        }
    }

    /// Data for programs.
    pub fn data(&self) -> ErrorData {
        match self {
            TraceError::BadRecord { place: Place::Line(line), .. } => vec![("line", (*line).into())],
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
            TraceError::CannotHold { format, what, .. } => format!("{format} cannot hold {what}"),
            TraceError::Io { source_name, place, error } => format!("{source_name}, {place}: {error}"),
        }
    }

    /// Remedy for scenarios and the command line; empty for errors of the system.
    pub fn remedy(&self) -> String {
        match self {
            TraceError::Unrecognized { known, .. } => format!(
                "name its format, one of {known}; or write it as nacre_csv, whose first line is \
                 timestamp_us,op,offset,length and whose next is such as 0,read,4096,512"
            ),
            TraceError::Ambiguous { .. } => "name the right format".into(),
            TraceError::Packed { remedy, .. } => (*remedy).into(),
            TraceError::NoSuchFormat { known, .. } => format!("the formats are {known}"),
            TraceError::BadRecord { .. } => {
                "read without strict (strict = false, or no --strict) to count bad records and read on".into()
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
pub enum Place {
    /// A line, counted from one.
    Line(u64),
    /// A byte, counted from zero.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, "line {number}"),
            Place::Byte(offset) => write!(f, "byte {offset}"),
        }
    }
}

/// What is wrong with one record: what was expected where something else was found.
///
/// A fixed text, because a hostile file may hold millions of bad records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub &'static str);

impl Fault {
    /// The time of a record lies too far from the first for [`nacre_kernel::Time`].
    pub const TOO_LATE: Fault =
        Fault("the time is more than 120 days after the first record; check the time unit");
    /// A read, write or trim of nothing.
    pub const NO_BYTES: Fault = Fault("the size is zero");
    /// A size that [`nacre_kernel::Request`] cannot hold.
    pub const TOO_LONG: Fault = Fault("the size is not below 4 GiB");
    /// An address that no device has.
    pub const TOO_FAR: Fault = Fault("the request ends beyond 4 EiB");
    /// More volumes than [`super::volumes::MAX_VOLUMES`].
    pub const TOO_MANY_VOLUMES: Fault = Fault("it is on yet another volume, past 1048576 of them");
}

/// The beginning of `bytes` as text for a message: at most 80 characters, control characters escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(80)];
    let dots = if cut.len() < bytes.len() { "..." } else { "" };
    format!("\"{}{dots}\"", cut.escape_ascii())
}
