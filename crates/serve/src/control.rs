//! Commands to a server over its control socket: one line of JSON per command, and one per reply.
//!
//! | command | reply |
//! |---|---|
//! | `{"command": "stats"}`, `"columns": true` for the tables of components | [`Statistics`](crate::statistics::Statistics) |
//! | `{"command": "record", "path": "/a/trace.nacre"}`, `"force": true` to replace a file | `{"path": ...}` |
//! | `{"command": "record-end"}` | [`Recorded`](crate::recorder::Recorded) |
//! | `{"command": "power-fail"}`, `"again_permille": 300` for a second power loss during recovery | [`Outage`](crate::outage::Outage), after every client is disconnected |
//! | `{"command": "media-error", "offset": 0, "length": 4096, "harm": "reads"}`, or `"writes"`, `"heal"` | `{}` |
//! | `{"command": "step", "op": "write", "offset": 0, "length": 4096, "fill": 90}`, or `"read"`, `"trim"`, `"flush"` | [`ConsoleReply`](nacre_machine::console::ConsoleReply), at its completion time |
//! | `{"command": "fault-add", "settings": "kind = \"stall\"\nduration = \"5 s\""}` | `{"number": ...}` |
//! | `{"command": "fault-list"}` | `{"faults": [...]}`, each a [`ServedFault`](crate::served_fault::ServedFault) |
//! | `{"command": "fault-clear", "number": 0}`; default: all | `{"cleared": ...}`, number of faults |
//! | `{"command": "medium-fault", "fault": "lost_program", "seed": 7}`; default: none | `{"struck": ...}`, number of operations the previous fault affected |
//! | `{"command": "snapshot", "path": "/a/copy.img"}` | `{"bytes": ...}` on the host disk |
//! | `{"command": "stop"}` | `{}`; then the server ends |
//!
//! A reply is `{"ok": ...}` or `{"error": "...", "code": "...", "data": {...}}`, with the code and the data
//! of the error. If several devices are served, `"export"` selects one; default: the first.

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

/// Maximum bytes of a command.
pub const LINE_MAX: usize = 64 << 10;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Return statistics of the server.
    Stats {
        /// With the tables of components.
        #[serde(default)]
        columns: bool,
    },
    /// Start recording requests to a trace.
    Record {
        /// The export; default: the first.
        export: Option<String>,
        /// Absolute path of the trace: the server's working directory may differ from the client's.
        path: PathBuf,
        /// Whether it may replace an existing file.
        #[serde(default)]
        force: bool,
    },
    /// Stop recording.
    RecordEnd {
        /// The export; default: the first.
        export: Option<String>,
    },
    /// Cut power and restore it: disconnects every client, and the device loses volatile data.
    PowerFail {
        /// The export; default: the first.
        export: Option<String>,
        /// Power fails again at this point of the recovery, in 1/1000 of its duration.
        again_permille: Option<u32>,
    },
    /// Inject or clear media errors.
    MediaError {
        /// The export; default: the first.
        export: Option<String>,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// Change of media errors.
        harm: Harming,
    },
    /// Add a fault with times relative to now.
    FaultAdd {
        /// The export; default: the first.
        export: Option<String>,
        /// Settings as a TOML table without header, as for faults of a `faulty` device.
        settings: String,
    },
    /// List the added faults.
    FaultList {
        /// The export; default: the first.
        export: Option<String>,
    },
    /// Clear faults.
    FaultClear {
        /// The export; default: the first.
        export: Option<String>,
        /// Number of the fault; default: all.
        number: Option<usize>,
    },
    /// Inject faults into operations of the medium.
    MediumFault {
        /// The export; default: the first.
        export: Option<String>,
        /// Name of the fault in power-loss tests; default: none.
        fault: Option<String>,
        /// Seed of its random stream.
        #[serde(default)]
        seed: u64,
    },
    /// Copy the image between two requests.
    Snapshot {
        /// The export; default: the first.
        export: Option<String>,
        /// Absolute path of the copy.
        path: PathBuf,
    },
    /// Submit one request; the reply has a latency breakdown.
    Step {
        /// The export; default: the first.
        export: Option<String>,
        /// Operation.
        op: Stepping,
        /// First byte.
        #[serde(default)]
        offset: u64,
        /// Bytes.
        #[serde(default)]
        length: u32,
        /// Value of every byte that a write stores.
        fill: Option<u8>,
    },
    /// Stop the server.
    Stop {},
}

/// A requested step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stepping {
    /// Read data, which is not returned.
    Read,
    /// Write data.
    Write,
    /// Trim data.
    Trim,
    /// Make earlier writes durable.
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

/// Change to a part of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harming {
    /// Reads fail until it is written.
    Reads,
    /// Writes fail until it is healed.
    Writes,
    /// Clear all media errors.
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

/// Reason for a rejected command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Error code.
    pub code: ErrorCode,
    /// Data for programs.
    pub data: ErrorData,
    /// Message for people.
    pub message: String,
}

impl Refusal {
    /// A refusal without data.
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

/// Parses one line, without its end. Errors: the reason.
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

/// The line of a reply, with its end.
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
