//! What a server is asked over its control socket: a line of JSON for each wish, and one for each answer.
//!
//! | wish | answer |
//! |---|---|
//! | `{"command": "stats"}`, `"columns": true` for the tables of components | [`Statistics`](crate::statistics::Statistics) |
//! | `{"command": "record", "path": "/a/trace.nacre"}`, `"force": true` to replace a file | `{"path": ...}` |
//! | `{"command": "record-end"}` | [`Recorded`](crate::recorder::Recorded) |
//! | `{"command": "power-fail"}` | [`Outage`](crate::outage::Outage), after every client is gone |
//! | `{"command": "media-error", "offset": 0, "length": 4096, "harm": "reads"}`, or `"writes"`, `"heal"` | `{}` |
//! | `{"command": "step", "op": "write", "offset": 0, "length": 4096, "fill": 90}`, or `"read"`, `"trim"`, `"flush"` | [`ConsoleReply`](nacre_machine::console::ConsoleReply), when it is due |
//! | `{"command": "snapshot", "path": "/a/copy.img"}` | `{"bytes": ...}` on the disk |
//! | `{"command": "stop"}` | `{}`; then the server ends |
//!
//! An answer is `{"ok": ...}` or `{"error": "..."}`. Where several devices are served, a wish names its own as
//! `"export"`; without, it is the first.

use nacre_kernel::Op;
use nacre_memory::harm::Harm;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

#[cfg(test)]
mod tests;

/// Most bytes of a wish.
pub const LINE_MAX: usize = 64 << 10;

/// A wish.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// What is known of the server.
    Stats {
        /// With the tables of components.
        #[serde(default)]
        columns: bool,
    },
    /// Requests from now on go into a trace.
    Record {
        /// The export; the first, where none is named.
        export: Option<String>,
        /// The trace, from the root on: the server's folder is not its client's.
        path: PathBuf,
        /// Whether it may replace a file.
        #[serde(default)]
        force: bool,
    },
    /// The recording ends.
    RecordEnd {
        /// The export; the first, where none is named.
        export: Option<String>,
    },
    /// The power fails and comes back: every client is cut off, and the device loses what its design loses.
    PowerFail {
        /// The export; the first, where none is named.
        export: Option<String>,
    },
    /// Parts of the medium fail, or work again.
    MediaError {
        /// The export; the first, where none is named.
        export: Option<String>,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// What is done to them.
        harm: Harming,
    },
    /// The image is copied as it is between two requests.
    Snapshot {
        /// The export; the first, where none is named.
        export: Option<String>,
        /// The copy, from the root on.
        path: PathBuf,
    },
    /// One request, of which the answer says where its time went.
    Step {
        /// The export; the first, where none is named.
        export: Option<String>,
        /// What it asks for.
        op: Stepping,
        /// First byte.
        #[serde(default)]
        offset: u64,
        /// Bytes.
        #[serde(default)]
        length: u32,
        /// What every byte becomes that a write covers.
        fill: Option<u8>,
    },
    /// The server ends.
    Stop {},
}

/// What one request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stepping {
    /// Bytes, which are not told.
    Read,
    /// That bytes are replaced.
    Write,
    /// That bytes are no longer needed.
    Trim,
    /// That everything before is safe.
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

/// What is done to a part of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harming {
    /// Reads fail until it is written.
    Reads,
    /// Writes fail until it is healed.
    Writes,
    /// Everything works again.
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

/// Reads one line, without its end. Errors: what is wrong with it, in words.
pub fn parse(line: &[u8]) -> Result<Command, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("this is no line of JSON: {error}"))?;
    if !value.get("command").is_some_and(Value::is_string) {
        return Err("this names no command: write {\"command\": \"stats\"}".into());
    }
    let command: Command = serde_json::from_value(value).map_err(|error| error.to_string())?;
    match &command {
        Command::Record { path, .. } | Command::Snapshot { path, .. } if !path.is_absolute() => {
            Err(format!("{}: name files from the root on, as /tmp/trace.nacre", path.display()))
        }
        _ => Ok(command),
    }
}

/// The line of an answer, with its end.
pub fn answer(result: Result<Value, String>) -> Vec<u8> {
    let document = match result {
        Ok(value) => json!({ "ok": value }),
        Err(problem) => json!({ "error": problem }),
    };
    // JSON escapes line ends within texts.
    format!("{document}\n").into_bytes()
}
