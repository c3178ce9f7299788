//! What is asked of a memory, as records of its journal.
//!
//! A record: what it is (one byte), when it was asked, then its own fields. Numbers have seven bits to a byte,
//! the lowest first; all bytes but the last have their highest bit set.

use nacre_kernel::Time;

/// What changes a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Write { address: u64, bytes: &'a [u8] },
    Begin,
    Commit,
    Abort,
    PowerFail,
    Recover,
    Idle(Time),
    Flush,
}

const WRITE: u8 = 0;
const BEGIN: u8 = 1;
const COMMIT: u8 = 2;
const ABORT: u8 = 3;
const POWER_FAIL: u8 = 4;
const RECOVER: u8 = 5;
const IDLE: u8 = 6;
const FLUSH: u8 = 7;

impl<'a> Step<'a> {
    /// Writes the record of this step, asked at `at`, over what is in `into`.
    pub(crate) fn encode(&self, at: Time, into: &mut Vec<u8>) {
        into.clear();
        into.push(match self {
            Step::Write { .. } => WRITE,
            Step::Begin => BEGIN,
            Step::Commit => COMMIT,
            Step::Abort => ABORT,
            Step::PowerFail => POWER_FAIL,
            Step::Recover => RECOVER,
            Step::Idle(_) => IDLE,
            Step::Flush => FLUSH,
        });
        put(at.as_ps(), into);
        match *self {
            Step::Write { address, bytes } => {
                put(address, into);
                into.extend_from_slice(bytes);
            }
            Step::Idle(time) => put(time.as_ps(), into),
            _ => {}
        }
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Step::Write { .. } => "a write",
            Step::Begin => "the beginning of a transaction",
            Step::Commit => "a commit",
            Step::Abort => "an abort",
            Step::PowerFail => "a power failure",
            Step::Recover => "a recovery",
            Step::Idle(_) => "idle time",
            Step::Flush => "a flush",
        }
    }

    /// The step of a record and when it was asked; `None` where it is no such record.
    pub(crate) fn decode(record: &'a [u8]) -> Option<(Time, Step<'a>)> {
        let (&what, mut rest) = record.split_first()?;
        let at = Time::from_ps(take(&mut rest)?);
        let step = match what {
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
            _ => return None,
        };
        rest.is_empty().then_some((at, step))
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
