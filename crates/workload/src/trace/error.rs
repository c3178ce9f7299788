//! What can go wrong with a trace, in words that say where and what to do.

use std::fmt;

/// Why a trace could not be read or written.
///
/// All but [`TraceError::Io`] are the user's to mend; each text names the file, the place, what was
/// found, what is allowed and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// No format fits the first bytes.
    #[error(
        "{source_name}: no known trace format fits its first bytes ({head}); name it with --format, one of {known}"
    )]
    Unrecognised {
        /// The file.
        source_name: String,
        /// How the file begins.
        head: String,
        /// Every kind there is.
        known: String,
    },
    /// Several formats fit the first bytes about equally well.
    #[error(
        "{source_name}: its first bytes fit more than one trace format: {candidates}; name the right one with --format"
    )]
    Ambiguous {
        /// The file.
        source_name: String,
        /// The kinds that fit, best first, with their scores.
        candidates: String,
    },
    /// There is no format of the given name.
    #[error("there is no trace format \"{given}\"; the formats are {known}")]
    NoSuchFormat {
        /// What was given.
        given: String,
        /// Every kind there is.
        known: String,
    },
    /// An option does not suit the format, or the inputs.
    #[error("{option}: {problem}; {remedy}")]
    Option {
        /// The option and its value.
        option: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A record breaks the format, and bad records are fatal.
    #[error("{source_name}, {place}: {problem}; leave out --strict to count bad records and read on")]
    BadRecord {
        /// The file.
        source_name: String,
        /// Where in the file.
        place: Place,
        /// What was found, and what is expected.
        problem: String,
    },
    /// Most of what was read does not fit the format, or nothing does.
    #[error("{source_name} does not look like {format}: {found}; {remedy}")]
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
    #[error("--time-unit {given}: {problem}; {remedy}")]
    TimeUnit {
        /// The unit.
        given: &'static str,
        /// Why it cannot be right.
        problem: String,
        /// The units that would be plausible.
        remedy: String,
    },
    /// The format that is written cannot hold what it is given.
    #[error("{format} cannot hold {what}; {remedy}")]
    CannotHold {
        /// The kind that is written.
        format: &'static str,
        /// What it cannot hold.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Reading or writing failed underneath.
    #[error("{source_name}, {place}: {error}")]
    Io {
        /// The file.
        source_name: String,
        /// Where in the file.
        place: Place,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Where in a file something is.
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
