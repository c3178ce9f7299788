//! Requests to a device, as records of its journal.
//!
//! A record contains the reads since the previous record, followed by at most one step that changes data or
//! state. Each read or step starts with its kind (one byte) and its time, followed by its fields. If a step
//! was submitted after completions at the same time, the highest bit of its kind is set, and the number of
//! completions follows the time. Numbers have seven bits per byte, lowest bits first. The highest bit is set
//! in all bytes except the last. The data of a write ends the record.

use crate::harm::Harm;
use nacre_kernel::{Time, ZoneCommand};

/// Time of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// Submission time.
    pub at: Time,
    /// Number of completions that occurred at the same time but before the step, usually zero.
    pub behind: u64,
}

impl From<Time> for When {
    fn from(at: Time) -> When {
        When { at, behind: 0 }
    }
}

/// A step of a device: a request or another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Reads data.
    Read {
        /// Address of the first byte.
        address: u64,
        /// Number of bytes.
        bytes: u32,
    },
    /// Writes data.
    Write {
        /// Address of the first byte.
        address: u64,
        /// Data to write.
        bytes: &'a [u8],
    },
    /// Writes zeros.
    Zero {
        /// Address of the first byte.
        address: u64,
        /// Number of bytes.
        bytes: u32,
    },
    /// Trims data.
    Trim {
        /// Address of the first byte.
        address: u64,
        /// Number of bytes.
        bytes: u32,
    },
    /// Appends data to the zone that starts at `address`.
    Append {
        /// Address of the first byte of the zone.
        address: u64,
        /// Data to append.
        bytes: &'a [u8],
    },
    /// Sends a command other than an append to a zone.
    Zone {
        /// The command.
        command: ZoneCommand,
        /// Address of the first byte of the zone.
        address: u64,
    },
    /// Makes all acknowledged data durable.
    Flush,
    /// Begins a transaction.
    Begin,
    /// Commits the transaction.
    Commit,
    /// Rolls the transaction back.
    Abort,
    /// Cuts power.
    PowerFail,
    /// Restores power.
    Recover,
    /// Advances time by this duration without requests.
    Idle(Time),
    /// Changes the media errors of a range.
    Harm {
        /// Kind of the change.
        harm: Harm,
        /// Address of the first byte.
        address: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

const WRITE: u8 = 0;
const BEGIN: u8 = 1;
const COMMIT: u8 = 2;
const ABORT: u8 = 3;
const POWER_FAIL: u8 = 4;
const RECOVER: u8 = 5;
const IDLE: u8 = 6;
const FLUSH: u8 = 7;
const READ: u8 = 8;
const ZERO: u8 = 9;
const TRIM: u8 = 10;
/// Kind byte of a media error step. The kind of the change follows.
const HARM: u8 = 11;
/// Kind byte of a zone step. It is increased by the number of the zone command, which is 0 for an append.
const ZONE: u8 = 14;
/// Bit that is set in the kind byte if the step follows completions at the same time.
const BEHIND: u8 = 0x80;
const HARMS: [Harm; 3] = [Harm::Reads, Harm::Writes, Harm::Heal];

impl<'a> Step<'a> {
    /// Appends this step at `when` to the record in `into`.
    pub fn encode(&self, when: When, into: &mut Vec<u8>) {
        let what = match self {
            Step::Read { .. } => READ,
            Step::Write { .. } => WRITE,
            Step::Zero { .. } => ZERO,
            Step::Trim { .. } => TRIM,
            Step::Append { .. } => ZONE + ZoneCommand::Append as u8,
            Step::Zone { command, .. } => ZONE + *command as u8,
            Step::Begin => BEGIN,
            Step::Commit => COMMIT,
            Step::Abort => ABORT,
            Step::PowerFail => POWER_FAIL,
            Step::Recover => RECOVER,
            Step::Idle(_) => IDLE,
            Step::Flush => FLUSH,
            Step::Harm { harm, .. } => HARM + *harm as u8,
        };
        into.push(what | if when.behind > 0 { BEHIND } else { 0 });
        put(when.at.as_ps(), into);
        if when.behind > 0 {
            put(when.behind, into);
        }
        match *self {
            Step::Zone { address, .. } => put(address, into),
            Step::Write { address, bytes } | Step::Append { address, bytes } => {
                put(address, into);
                into.extend_from_slice(bytes);
            }
            Step::Read { address, bytes } | Step::Zero { address, bytes } | Step::Trim { address, bytes } => {
                put(address, into);
                put(bytes.into(), into);
            }
            Step::Idle(time) => put(time.as_ps(), into),
            Step::Harm { address, bytes, .. } => {
                put(address, into);
                put(bytes, into);
            }
            _ => {}
        }
    }

    /// Name of the step in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Step::Read { .. } => "a read",
            Step::Write { .. } | Step::Zero { .. } => "a write",
            Step::Trim { .. } => "a trim",
            Step::Append { .. } => "an append",
            Step::Zone { .. } => "a zone command",
            Step::Begin => "the beginning of a transaction",
            Step::Commit => "a commit",
            Step::Abort => "an abort",
            Step::PowerFail => "a power failure",
            Step::Recover => "a recovery",
            Step::Idle(_) => "idle time",
            Step::Flush => "a flush",
            Step::Harm { .. } => "harm to the medium",
        }
    }

    /// Reads the next step of the record `from`, with its time, or `None` if there is no valid step.
    pub fn decode(from: &mut &'a [u8]) -> Option<(When, Step<'a>)> {
        let (&what, mut rest) = from.split_first()?;
        let at = Time::from_ps(take(&mut rest)?);
        let behind = if what & BEHIND != 0 { take(&mut rest)? } else { 0 };
        let (what, when) = (what & !BEHIND, When { at, behind });
        let mut range = || Some((take(&mut rest)?, u32::try_from(take(&mut rest)?).ok()?));
        let step = match what {
            READ => range().map(|(address, bytes)| Step::Read { address, bytes })?,
            ZERO => range().map(|(address, bytes)| Step::Zero { address, bytes })?,
            TRIM => range().map(|(address, bytes)| Step::Trim { address, bytes })?,
            WRITE => {
                let address = take(&mut rest)?;
                Step::Write { address, bytes: std::mem::take(&mut rest) }
            }
            BEGIN => Step::Begin,
            COMMIT => Step::Commit,
            ABORT => Step::Abort,
            POWER_FAIL => Step::PowerFail,
            RECOVER => Step::Recover,
            FLUSH => Step::Flush,
            IDLE => Step::Idle(Time::from_ps(take(&mut rest)?)),
            ZONE.. => match *ZoneCommand::ALL.get(usize::from(what - ZONE))? {
                ZoneCommand::Append => {
                    let address = take(&mut rest)?;
                    Step::Append { address, bytes: std::mem::take(&mut rest) }
                }
                command => Step::Zone { command, address: take(&mut rest)? },
            },
            _ => {
                let harm = *HARMS.get(usize::from(what.checked_sub(HARM)?))?;
                Step::Harm { harm, address: take(&mut rest)?, bytes: take(&mut rest)? }
            }
        };
        *from = rest;
        // Only reads may precede another step.
        (rest.is_empty() || what == READ).then_some((when, step))
    }
}

fn put(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn take(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        let part = u64::from(byte & 0x7F);
        if part << shift >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
