//! User options for reading a trace.

use super::error::TraceError;

/// Time unit of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Steps of 100 ns, as in Windows file times.
    HundredNs,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// All units, shortest first.
    pub const ALL: [TimeUnit; 5] =
        [TimeUnit::Ns, TimeUnit::HundredNs, TimeUnit::Us, TimeUnit::Ms, TimeUnit::S];

    /// Name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Ns => "ns",
            TimeUnit::HundredNs => "100ns",
            TimeUnit::Us => "us",
            TimeUnit::Ms => "ms",
            TimeUnit::S => "s",
        }
    }

    /// Length of the unit in picoseconds.
    pub const fn picoseconds(self) -> u64 {
        match self {
            TimeUnit::Ns => 1_000,
            TimeUnit::HundredNs => 100_000,
            TimeUnit::Us => 1_000_000,
            TimeUnit::Ms => 1_000_000_000,
            TimeUnit::S => 1_000_000_000_000,
        }
    }

    /// Returns the unit called `name`. The error lists the units.
    pub fn parse(name: &str) -> Result<TimeUnit, TraceError> {
        let compact: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        TimeUnit::ALL.into_iter().find(|unit| unit.name() == compact).ok_or_else(|| TraceError::Option {
            option: format!("time unit {name}"),
            problem: "there is no such unit of time".into(),
            remedy: "use ns, 100ns, us, ms or s".into(),
        })
    }
}

/// Event of the Linux block layer that counts as a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The host queued the request (`Q`).
    Queue,
    /// The request was issued to the driver (`D`).
    Issue,
    /// The device completed the request (`C`).
    Complete,
}

impl Action {
    /// Letter that blkparse prints for the event.
    pub const fn letter(self) -> char {
        match self {
            Action::Queue => 'Q',
            Action::Issue => 'D',
            Action::Complete => 'C',
        }
    }

    /// Returns the action called `letter`. The error lists the letters.
    pub fn parse(letter: &str) -> Result<Action, TraceError> {
        match letter {
            "Q" | "q" => Ok(Action::Queue),
            "D" | "d" => Ok(Action::Issue),
            "C" | "c" => Ok(Action::Complete),
            _ => Err(TraceError::Option {
                option: format!("action {letter}"),
                problem: "there is no such action".into(),
                remedy: "use Q (queued), D (issued to the driver) or C (completed)".into(),
            }),
        }
    }
}

/// Options for reading a trace. By default, the format is detected from the content.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name of the format. `None` detects the format from the content.
    pub format: Option<String>,
    /// Time unit in the file. `None` selects the unit of the format.
    pub time_unit: Option<TimeUnit>,
    /// Whether the reader returns an error at the first bad record. Otherwise, it skips bad records.
    pub strict: bool,
    /// For blkparse and blktrace, the event that counts as a request. `None` selects `Q` if the head of the
    /// trace has such events, and `D` otherwise, with a note.
    pub action: Option<Action>,
    /// Page size of an `arc` trace in bytes (default 512), or distance between adjacent objects of an
    /// `oracle_general` or `lcs` trace in bytes (default 4096). A power of two from 512 to 2^30.
    pub page_bytes: Option<u64>,
}
