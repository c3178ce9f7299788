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
    UnknownName = "unknown-name" ["known", "nearest"]: "No component, preset, choice, column, or other item has this name."
    MissingSetting = "missing-setting" ["expected"]: "A required setting or argument is missing."
    WrongType = "wrong-type" ["expected"]: "The value has the wrong type, e.g. text where a number is required."
    NeedsUnit = "needs-unit" ["expected"]: "The quantity has no unit."
    InvalidValue = "invalid-value" ["expected"]: "The value has the right type, but this setting does not allow it."
    OutOfRange = "out-of-range" ["min", "max"]: "The value is below the smallest or above the largest allowed value."
    InvalidPath = "invalid-path" []: "The path does not lead to a setting."
    ConflictingSettings = "conflicting-settings" []: "The value is valid, but it conflicts with other settings."
    NotSupported = "not-supported" []: "The component, format, or command does not support the requested operation."
    DuplicateName = "duplicate-name" []: "Two items have the same name."
    OverLimit = "over-limit" ["limit"]: "A number or size exceeds a limit of Nacre."
    PastTheEnd = "past-the-end" ["end", "capacity"]: "A request extends past the end of the device. `end` is the end of the request, and `capacity` is the size of the device, in bytes."
    NeverEnds = "never-ends" []: "The workload or trace is endless, but the run needs an end."
    EndOfTime = "end-of-time" []: "The simulation reached the largest time that Nacre can represent."
    TooLittleMemory = "too-little-memory" ["needed", "available"]: "The tables of the model do not fit into memory. `needed` and `available` are in bytes."
    NoFunction = "no-function" []: "There is no Python function with this name, or Nacre cannot import the function."
    FunctionFailed = "function-failed" []: "A policy written in Python returned an invalid decision."
    FileNotFound = "file-not-found" ["errno", "known", "nearest"]: "The file or folder does not exist."
    FileExists = "file-exists" ["errno"]: "The file already exists, and Nacre does not overwrite it."
    NotAFile = "not-a-file" ["errno"]: "The path does not name a regular file but, e.g., a folder or a link."
    PermissionDenied = "permission-denied" ["errno"]: "The operating system denies access."
    ReadOnly = "read-only" []: "The file or device is open only for reading."
    InUse = "in-use" ["pid", "errno"]: "Another process uses the file."
    DiskFull = "disk-full" ["errno"]: "The disk or its quota is full."
    OsError = "os-error" ["errno"]: "The operating system reported another error."
    FileReplaced = "file-replaced" []: "The file was moved or replaced while Nacre opened it."
    InvalidContent = "invalid-content" ["line"]: "The file is readable, but its content is invalid."
    UnknownFormat = "unknown-format" []: "The format of the file is not recognized, or several formats match."
    WrongVersion = "wrong-version" ["found", "known"]: "A version of Nacre with another file format wrote the file."
    WrongDevice = "wrong-device" ["differences"]: "The image or the saved state belongs to a device with other settings."
    Damaged = "damaged" ["at"]: "The file is damaged or truncated. `at` is the offset of the first damaged byte."
    Unfinished = "unfinished" []: "The file was not completely written."
    CannotSave = "cannot-save" []: "Nacre cannot save the state of a component."
    MediaError = "media-error" ["address", "size"]: "A read covers data that the device has lost."
    WornOut = "worn-out" ["address", "size"]: "The medium is worn out and rejects writes."
    ZoneRefused = "zone-refused" ["address", "size", "write_pointer", "end", "reason"]: "The zone rejects the write or the command. `reason` is the name of the counter in the record, without `refused_`."
    LostData = "lost-data" []: "The device lost data that it had accepted since the last flush."
    TransactionTooLarge = "transaction-too-large" ["pages", "page_bytes"]: "The transaction changes more pages than the device can restore after an abort."
    TransactionOpen = "transaction-open" []: "A transaction is already open."
    NoTransaction = "no-transaction" []: "No transaction is open."
    PowerOff = "power-off" []: "The device has no power."
    PowerOn = "power-on" []: "The device has power, so no recovery is necessary."
    Closed = "closed" []: "The memory is closed."
    InvalidAddress = "invalid-address" []: "The network or socket address is unusable."
    InvalidCertificate = "invalid-certificate" []: "A certificate or key is unusable."
    NoAnswer = "no-answer" []: "A server, worker, or cluster does not reply, or the connection was lost."
    ProcessFailed = "process-failed" ["status"]: "A process that Nacre started failed or exited early. `status` is its exit status."
    MissingProgram = "missing-program" ["program"]: "A required program is not installed."
    MissingPackage = "missing-package" ["package"]: "A required Python package is not installed."
    SystemLimit = "system-limit" ["needed", "limit"]: "A limit of the system (`ulimit -a`) is too low."
    OutOfThreads = "out-of-threads" ["errno"]: "The system cannot start another thread or process."
    Stopped = "stopped" []: "The run stopped before it had a result."
    NoData = "no-data" ["known"]: "The result does not contain the requested data, or a figure would be empty."
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
