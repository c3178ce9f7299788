//! Commands to a server on its control socket. Commands and replies are lines of JSON.
//!
//! | command | reply |
//! |---|---|
//! | `{"command": "stats"}`, `"columns": true` for the tables of components | [`Statistics`](crate::statistics::Statistics) |
//! | `{"command": "record", "path": "/a/trace.nacre"}`, `"force": true` to replace a file | `{"path": ...}` |
//! | `{"command": "record-end"}` | [`Recorded`](crate::recorder::Recorded) |
//! | `{"command": "power-fail"}`, `"again_permille": 300` for a second power loss during recovery | [`Outage`](crate::outage::Outage), after all clients are disconnected |
//! | `{"command": "media-error", "offset": 0, "length": 4096, "harm": "reads"}`, or `"writes"`, `"heal"` | `{}` |
//! | `{"command": "step", "op": "write", "offset": 0, "length": 4096, "fill": 90}`, or `"read"`, `"trim"`, `"flush"` | [`ConsoleReply`](nacre_machine::console::ConsoleReply), at its completion time |
//! | `{"command": "fault-add", "settings": "kind = \"stall\"\nduration = \"5 s\""}` | `{"number": ...}` |
//! | `{"command": "fault-list"}` | `{"faults": [...]}`, each a [`ServedFault`](crate::served_fault::ServedFault) |
//! | `{"command": "fault-clear", "number": 0}`; the default is all faults | `{"cleared": ...}`, the number of faults |
//! | `{"command": "medium-fault", "fault": "lost_program", "seed": 7}`; by default, no fault | `{"struck": ...}`, the number of operations that the previous fault affected |
//! | `{"command": "snapshot", "path": "/a/copy.img"}` | `{"bytes": ...}`, the space on the host disk |
//! | `{"command": "stop"}` | `{}`, after which the server exits |
//!
//! A reply is `{"ok": ...}` or `{"error": "...", "code": "...", "data": {...}}`, with the code and the data
//! of the error. If several devices are served, `"export"` selects one. The default is the first.

use crate::recorder::RecordError;
use nacre_image::ImageError;
use nacre_kernel::{Datum, ErrorCode, ErrorData, Op, error_code};
use nacre_memory::harm::Harm;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io;
use std::path::PathBuf;

fn json(datum: Datum) -> Value {
    match datum {
        Datum::Integer(number) => {
            i64::try_from(number).map_or_else(|_| json!(number.to_string()), Value::from)
        }
        Datum::Text(text) => text.into(),
        Datum::Texts(texts) => texts.into(),
    }
}

#[cfg(test)]
mod tests;

/// Maximum size of a command line in bytes.
pub const LINE_MAX: usize = 64 << 10;

/// A command on the control socket.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Returns statistics of the server.
    Stats {
        /// Whether to include the tables of components.
        #[serde(default)]
        columns: bool,
    },
    /// Starts recording requests to a trace.
    Record {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Absolute path of the trace. It must be absolute because the server and the client may have
        /// different working directories.
        path: PathBuf,
        /// Whether the trace may replace an existing file.
        #[serde(default)]
        force: bool,
    },
    /// Stops recording.
    RecordEnd {
        /// Name of the export. The default is the first export.
        export: Option<String>,
    },
    /// Cuts and restores power. All clients are disconnected, and the device loses volatile data.
    PowerFail {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Point of the recovery at which power fails again, in 1/1000 of the recovery time. `None` for a
        /// single power loss.
        again_permille: Option<u32>,
    },
    /// Injects or clears media errors.
    MediaError {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
        /// Kind of change: inject read errors, inject write errors, or clear errors.
        harm: Harming,
    },
    /// Adds a fault, whose times are relative to the current time.
    FaultAdd {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Settings of the fault as a TOML table without a header, like those of a fault in a `faulty`
        /// device.
        settings: String,
    },
    /// Lists the faults that were added.
    FaultList {
        /// Name of the export. The default is the first export.
        export: Option<String>,
    },
    /// Clears one fault or all faults.
    FaultClear {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Number of the fault. By default, all faults are cleared.
        number: Option<usize>,
    },
    /// Injects a fault into operations of the medium.
    MediumFault {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Name of the fault, one of the faults of power-loss tests. If absent, the current fault is removed.
        fault: Option<String>,
        /// Seed of the random stream of the fault.
        #[serde(default)]
        seed: u64,
    },
    /// Copies the image. No request is served during the copy.
    Snapshot {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Absolute path of the copy.
        path: PathBuf,
    },
    /// Submits one request. The reply has a latency breakdown.
    Step {
        /// Name of the export. The default is the first export.
        export: Option<String>,
        /// Operation of the request.
        op: Stepping,
        /// Offset of the first byte.
        #[serde(default)]
        offset: u64,
        /// Number of bytes.
        #[serde(default)]
        length: u32,
        /// Value of every byte of a write.
        fill: Option<u8>,
    },
    /// Stops the server.
    Stop {},
}

/// Operation of a [`Command::Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stepping {
    /// Reads data, which is not returned.
    Read,
    /// Writes data.
    Write,
    /// Trims data.
    Trim,
    /// Makes earlier writes durable.
    Flush,
}

impl From<Stepping> for Op {
    fn from(stepping: Stepping) -> Op {
        match stepping {
            Stepping::Read => Op::Read,
            Stepping::Write => Op::Write,
            Stepping::Trim => Op::Trim,
            Stepping::Flush => Op::Flush,
        }
    }
}

/// Change to the media errors of an address range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harming {
    /// Reads fail until the range is written.
    Reads,
    /// Writes fail until the errors are cleared.
    Writes,
    /// All media errors are cleared.
    Heal,
}

impl From<Harming> for Harm {
    fn from(harming: Harming) -> Harm {
        match harming {
            Harming::Reads => Harm::Reads,
            Harming::Writes => Harm::Writes,
            Harming::Heal => Harm::Heal,
        }
    }
}

/// Reason why a command is rejected, as reported to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Error code.
    pub code: ErrorCode,
    /// Machine-readable data.
    pub data: ErrorData,
    /// Message for people.
    pub message: String,
}

impl Refusal {
    /// Creates a refusal without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, data: ErrorData::new(), message: message.into() }
    }
}

impl From<RecordError> for Refusal {
    fn from(error: RecordError) -> Refusal {
        Refusal { code: error.code(), data: error.data(), message: error.to_string() }
    }
}

impl From<ImageError> for Refusal {
    fn from(error: ImageError) -> Refusal {
        Refusal { code: error.problem.code(), data: error.problem.data(), message: error.to_string() }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        let of_image = error.get_ref().and_then(|inner| inner.downcast_ref::<ImageError>());
        match of_image {
            Some(of_image) => of_image.clone().into(),
            None => {
                let code = match error.kind() {
                    _ if error.raw_os_error().is_some() => ErrorCode::of_io(&error),
                    io::ErrorKind::ReadOnlyFilesystem => ErrorCode::ReadOnly,
                    io::ErrorKind::Unsupported => ErrorCode::NotSupported,
                    io::ErrorKind::InvalidInput => ErrorCode::InvalidValue,
                    _ => ErrorCode::Failed,
                };
                Refusal { code, data: error_code::errno(&error), message: error.to_string() }
            }
        }
    }
}

/// Parses a command from `line`, which has no newline. Returns the reason for a rejection if the line is
/// invalid.
pub fn parse(line: &[u8]) -> Result<Command, Refusal> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        Refusal::new(ErrorCode::InvalidSyntax, format!("this is not a line of JSON: {error}"))
    })?;
    if !value.get("command").is_some_and(Value::is_string) {
        let message = "there is no command; expected e.g. {\"command\": \"stats\"}";
        return Err(Refusal::new(ErrorCode::MissingSetting, message));
    }
    let command: Command = serde_json::from_value(value)
        .map_err(|error| Refusal::new(ErrorCode::InvalidValue, error.to_string()))?;
    match &command {
        Command::Record { path, .. } | Command::Snapshot { path, .. } if !path.is_absolute() => {
            let message = format!("{}: use an absolute path, e.g. /tmp/trace.nacre", path.display());
            Err(Refusal::new(ErrorCode::InvalidValue, message))
        }
        _ => Ok(command),
    }
}

/// Formats a reply as a line, including the newline.
pub fn answer(result: Result<Value, Refusal>) -> Vec<u8> {
    let document = match result {
        Ok(value) => json!({ "ok": value }),
        Err(Refusal { code, data, message }) => {
            let data: Map<String, Value> =
                data.into_iter().map(|(key, datum)| (key.to_string(), json(datum))).collect();
            json!({ "error": message, "code": code.name(), "data": data })
        }
    };
    // JSON escapes line ends within texts.
    format!("{document}\n").into_bytes()
}
