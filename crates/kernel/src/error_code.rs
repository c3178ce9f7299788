//! Error codes for programs. Messages are for people and may change.

use std::fmt;

/// Declares [`ErrorCode`] with the name, the meaning, and the data keys of each code.
macro_rules! error_codes {
    ($($variant:ident = $name:literal [$($key:literal),*]: $meaning:literal)+) => {
        /// Code of an error. Its name is stable: programs compare it instead of parsing the message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in documentation order.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),+];

            /// Name of the code, e.g. `unknown-setting`.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)+ }
            }

            /// Meaning of the code in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => $meaning,)+ }
            }

            /// Keys that the data of an error with this code may have.
            pub const fn keys(self) -> &'static [&'static str] {
                match self { $(ErrorCode::$variant => &[$($key),*],)+ }
            }
        }
    };
}

error_codes! {
    InvalidSyntax = "invalid-syntax" []: "The text cannot be parsed."
    UnknownSetting = "unknown-setting" ["known", "nearest"]: "The component has no setting with this name."
    UnknownName = "unknown-name" ["known", "nearest"]: "No component, preset, choice, column or other item has this name."
    MissingSetting = "missing-setting" ["expected"]: "A required setting or argument is missing."
    WrongType = "wrong-type" ["expected"]: "The value has the wrong type, e.g. text where a number is required."
    NeedsUnit = "needs-unit" ["expected"]: "The quantity has no unit."
    InvalidValue = "invalid-value" ["expected"]: "The value has the right type, but it is not valid there."
    OutOfRange = "out-of-range" ["min", "max"]: "The value is below the smallest or above the largest allowed value."
    InvalidPath = "invalid-path" []: "The path does not lead to a setting."
    ConflictingSettings = "conflicting-settings" []: "The value is valid alone, but it does not fit other settings."
    NotSupported = "not-supported" []: "The component, format, or command cannot do what is requested."
    DuplicateName = "duplicate-name" []: "Two items have the same name."
    OverLimit = "over-limit" ["limit"]: "The number or size is above a limit of Nacre."
    PastTheEnd = "past-the-end" ["end", "capacity"]: "A request reaches past the last byte: `end` is the first byte after it, `capacity` the size of the device."
    NeverEnds = "never-ends" []: "The workload or trace has no end where one is required."
    EndOfTime = "end-of-time" []: "The simulation reaches the end of simulated time."
    TooLittleMemory = "too-little-memory" ["needed", "available"]: "The tables of the model do not fit into memory; both values are bytes."
    NoFunction = "no-function" []: "No Python function is known under this name, or it cannot be imported."
    FunctionFailed = "function-failed" []: "A policy written in Python returned an invalid decision."
    FileNotFound = "file-not-found" ["errno", "known", "nearest"]: "The file or folder does not exist."
    FileExists = "file-exists" ["errno"]: "The file exists and is not overwritten."
    NotAFile = "not-a-file" ["errno"]: "The path names something other than a regular file, e.g. a folder or a link."
    PermissionDenied = "permission-denied" ["errno"]: "The operating system denies access."
    ReadOnly = "read-only" []: "The file or device was opened for reading only."
    InUse = "in-use" ["pid", "errno"]: "Another process uses the file."
    DiskFull = "disk-full" ["errno"]: "The disk or its quota is full."
    OsError = "os-error" ["errno"]: "Another error of the operating system."
    FileReplaced = "file-replaced" []: "The file was moved or replaced while it was being opened."
    InvalidContent = "invalid-content" ["line"]: "The file can be read, but its content is not what it has to be."
    UnknownFormat = "unknown-format" []: "The format of the file is not recognized, or several formats match."
    WrongVersion = "wrong-version" ["found", "known"]: "The file was written by a version of Nacre with another format."
    WrongDevice = "wrong-device" ["differences"]: "The image or the saved state belongs to a device with other settings."
    Damaged = "damaged" ["at"]: "The file is damaged or truncated; `at` is the first byte of the damaged part."
    Unfinished = "unfinished" []: "The file was never written completely."
    CannotSave = "cannot-save" []: "The state of a component cannot be saved."
    MediaError = "media-error" ["address", "size"]: "A read covers data that the device has lost."
    WornOut = "worn-out" ["address", "size"]: "The medium is worn out and refuses writes."
    ZoneRefused = "zone-refused" ["address", "size", "write_pointer", "end", "reason"]: "The zone refuses the write or the command; `reason` is the name of its counter in a record, without `refused_`."
    LostData = "lost-data" []: "Data that the device had accepted since the last flush is lost."
    TransactionTooLarge = "transaction-too-large" ["pages", "page_bytes"]: "The transaction changes more pages than the device can keep old versions of."
    TransactionOpen = "transaction-open" []: "A transaction is already open."
    NoTransaction = "no-transaction" []: "No transaction is open."
    PowerOff = "power-off" []: "The device has no power."
    PowerOn = "power-on" []: "The device has power, so there is nothing to recover from."
    Closed = "closed" []: "The memory is closed."
    InvalidAddress = "invalid-address" []: "The network or socket address cannot be used."
    InvalidCertificate = "invalid-certificate" []: "A certificate or key cannot be used."
    NoAnswer = "no-answer" []: "A server, worker, or cluster does not answer, or the connection was lost."
    ProcessFailed = "process-failed" ["status"]: "A process that Nacre started failed or ended early; `status` is its exit status."
    MissingProgram = "missing-program" ["program"]: "A program that is needed is not installed."
    MissingPackage = "missing-package" ["package"]: "A Python package that is needed is not installed."
    SystemLimit = "system-limit" ["needed", "limit"]: "A limit of the system (`ulimit -a`) is too low."
    OutOfThreads = "out-of-threads" ["errno"]: "The system refuses another thread or process."
    Stopped = "stopped" []: "The run was stopped before it had a result."
    NoData = "no-data" ["known"]: "The result does not hold the requested data, or there is nothing to draw."
    Failed = "failed" []: "Any other error."
    Bug = "bug" []: "An assertion in Nacre failed. Please report it."
}

impl ErrorCode {
    /// Code of an operating-system error.
    pub fn of_io(error: &std::io::Error) -> ErrorCode {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound => ErrorCode::FileNotFound,
            ErrorKind::AlreadyExists => ErrorCode::FileExists,
            ErrorKind::IsADirectory | ErrorKind::NotADirectory => ErrorCode::NotAFile,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ErrorCode::PermissionDenied,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                ErrorCode::DiskFull
            }
            ErrorKind::ResourceBusy => ErrorCode::InUse,
            // This error occurs if a thread cannot be started.
            ErrorKind::WouldBlock => ErrorCode::OutOfThreads,
            _ => ErrorCode::OsError,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value in the data of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    /// A whole number.
    Integer(i128),
    /// Text, e.g. a name or a quantity with its unit.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

impl From<u64> for Datum {
    fn from(number: u64) -> Datum {
        Datum::Integer(number.into())
    }
}

impl From<i32> for Datum {
    fn from(number: i32) -> Datum {
        Datum::Integer(number.into())
    }
}

impl From<u128> for Datum {
    fn from(number: u128) -> Datum {
        Datum::Integer(i128::try_from(number).unwrap_or(i128::MAX))
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Datum {
        Datum::Text(text)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Datum {
        Datum::Text(text.into())
    }
}

impl From<&[&str]> for Datum {
    fn from(texts: &[&str]) -> Datum {
        Datum::Texts(texts.iter().map(ToString::to_string).collect())
    }
}

impl From<Vec<String>> for Datum {
    fn from(texts: Vec<String>) -> Datum {
        Datum::Texts(texts)
    }
}

/// Data of an error: values for programs, with their keys.
pub type ErrorData = Vec<(&'static str, Datum)>;

/// Operating-system error number of `error`, as error data.
pub fn errno(error: &std::io::Error) -> ErrorData {
    error.raw_os_error().map(|number| ("errno", number.into())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_kebab_case_and_different() {
        let names: BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        for name in names {
            let fits = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            assert!(name.chars().all(fits) && !name.starts_with('-') && !name.ends_with('-'), "{name}");
        }
    }
}
