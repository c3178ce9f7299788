//! Steps of a run as text, with one line per step, for people and tests.
//!
//! Each line starts with the pause after the previous step:
//!
//! ```text
//! 0 ps write 3 2
//! 12500000 ps flush
//! 0 ps power_loss 3000000 ps seed 17 off 5000000 ps again 32768 off 0 ps
//! ```
//!
//! `write`, `read`, and `trim` are followed by the first block and the number of blocks. Zone commands are
//! followed by a block of their zone, and `append` also by the number of blocks. `power_loss` is followed
//! by the time from its submission to the power loss, the seed of its random stream, and the time without
//! power. With `again`, power fails again after this number of 65536ths of the recovery. With `early`,
//! reads arrive before the recovery ends.

use nacre_kernel::{Time, ZoneCommand};
use std::fmt;
use std::str::{FromStr, SplitWhitespace};

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Pause after the previous step.
    pub pause: Time,
    /// Action that the step performs.
    pub action: Action,
}

/// Action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes blocks: the first block, and the number of blocks.
    Write(u64, u64),
    /// Reads blocks: the first block, and the number of blocks.
    Read(u64, u64),
    /// Trims blocks: the first block, and the number of blocks.
    Trim(u64, u64),
    /// Appends blocks to a zone: any block of the zone, and the number of appended blocks.
    Append(u64, u64),
    /// Sends a command other than an append to a zone: the command, and any block of the zone.
    Zone(ZoneCommand, u64),
    /// Makes all earlier writes durable.
    Flush,
    /// Starts a transaction.
    Begin,
    /// Commits the transaction.
    Commit,
    /// Rolls back the transaction.
    Abort,
    /// Restarts the process: another process continues with the saved state and the same data.
    Restart,
    /// Cuts and restores power.
    PowerLoss(PowerLoss),
}

/// A power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLoss {
    /// Time from the submission of the step to the power loss.
    pub after: Time,
    /// Random seed for the device.
    pub seed: u64,
    /// Time without power.
    pub off: Time,
    /// A second power loss during the recovery, if any: its time in 65536ths of the duration of the
    /// recovery, and the time without power.
    pub again: Option<(u16, Time)>,
    /// Whether requests arrive before the recovery ends.
    pub is_early: bool,
}

/// Steps of a run that starts with a new device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Size of a block in bytes.
    pub block_bytes: usize,
    /// Number of random writes of zeros over the whole device before the first step, without advancing
    /// simulated time.
    pub preconditioned: u64,
    /// The steps.
    pub steps: Vec<Step>,
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "blocks {}", self.block_bytes)?;
        if self.preconditioned > 0 {
            writeln!(f, "preconditioned {}", self.preconditioned)?;
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps ", self.pause.as_ps())?;
        match self.action {
            Action::Write(first, count) => write!(f, "write {first} {count}")?,
            Action::Read(first, count) => write!(f, "read {first} {count}")?,
            Action::Trim(first, count) => write!(f, "trim {first} {count}")?,
            Action::Append(zone, count) => write!(f, "append {zone} {count}")?,
            Action::Zone(command, zone) => write!(f, "{} {zone}", command.name())?,
            Action::Flush => f.write_str("flush")?,
            Action::Begin => f.write_str("begin")?,
            Action::Commit => f.write_str("commit")?,
            Action::Abort => f.write_str("abort")?,
            Action::Restart => f.write_str("restart")?,
            Action::PowerLoss(loss) => write!(f, "power_loss {loss}")?,
        }
        Ok(())
    }
}

impl fmt::Display for PowerLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PowerLoss { after, seed, off, again, is_early } = self;
        write!(f, "{} ps seed {seed} off {} ps", after.as_ps(), off.as_ps())?;
        if let Some((share, off)) = again {
            write!(f, " again {share} off {} ps", off.as_ps())?;
        }
        f.write_str(if *is_early { " early" } else { "" })
    }
}

impl FromStr for Sequence {
    type Err = String;

    fn from_str(text: &str) -> Result<Sequence, String> {
        let mut sequence = Sequence::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let number = |text: &str| text.parse().map_err(|_| format!("{line:?} is not a number"));
            if let Some(bytes) = line.strip_prefix("blocks ") {
                sequence.block_bytes = number(bytes)? as usize;
            } else if let Some(writes) = line.strip_prefix("preconditioned ") {
                sequence.preconditioned = number(writes)?;
            } else {
                sequence.steps.push(line.parse()?);
            }
        }
        match sequence.block_bytes {
            0 => Err("the block size is missing: add a line `blocks BYTES`".into()),
            _ => Ok(sequence),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Step, String> {
        let mut words = line.split_whitespace();
        read_step(&mut words)
            .filter(|_| words.next().is_none())
            .ok_or_else(|| format!("{line:?} is not a step"))
    }
}

fn read_step(words: &mut SplitWhitespace<'_>) -> Option<Step> {
    let pause = read_time(words)?;
    let mut rest = words.clone();
    let action = match rest.next()? {
        "write" => Action::Write(read_number(&mut rest)?, read_number(&mut rest)?),
        "read" => Action::Read(read_number(&mut rest)?, read_number(&mut rest)?),
        "trim" => Action::Trim(read_number(&mut rest)?, read_number(&mut rest)?),
        "flush" => Action::Flush,
        "begin" => Action::Begin,
        "commit" => Action::Commit,
        "abort" => Action::Abort,
        "restart" => Action::Restart,
        "power_loss" => Action::PowerLoss(read_loss(&mut rest)?),
        "append" => Action::Append(read_number(&mut rest)?, read_number(&mut rest)?),
        other => Action::Zone(ZoneCommand::named(other)?, read_number(&mut rest)?),
    };
    *words = rest;
    Some(Step { pause, action })
}

fn read_loss(words: &mut SplitWhitespace<'_>) -> Option<PowerLoss> {
    let after = read_time(words)?;
    let seed = read_word(words, "seed").then(|| read_number(words))??;
    let off = read_word(words, "off").then(|| read_time(words))??;
    let again = match read_word(words, "again") {
        true => {
            let share = words.next()?.parse().ok()?;
            Some((share, read_word(words, "off").then(|| read_time(words))??))
        }
        false => None,
    };
    Some(PowerLoss { after, seed, off, again, is_early: read_word(words, "early") })
}

fn read_time(words: &mut SplitWhitespace<'_>) -> Option<Time> {
    let time = Time::from_ps(read_number(words)?);
    read_word(words, "ps").then_some(time)
}

fn read_number(words: &mut SplitWhitespace<'_>) -> Option<u64> {
    words.next()?.parse().ok()
}

/// Consumes the next word if it is `word`. Returns true if the word was consumed.
fn read_word(words: &mut SplitWhitespace<'_>, word: &str) -> bool {
    let mut rest = words.clone();
    let is_next = rest.next() == Some(word);
    if is_next {
        *words = rest;
    }
    is_next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        let loss =
            PowerLoss { after: Time::from_us(3), seed: 17, off: Time::ZERO, again: None, is_early: false };
        let again = PowerLoss { again: Some((32_768, Time::from_ns(5))), is_early: true, ..loss };
        let actions = [
            Action::Write(3, 2),
            Action::Read(0, 1),
            Action::Trim(9, 8),
            Action::Append(16, 2),
            Action::Zone(ZoneCommand::Open, 32),
            Action::Zone(ZoneCommand::Reset, 0),
            Action::Flush,
            Action::Begin,
            Action::Commit,
            Action::Abort,
            Action::Restart,
            Action::PowerLoss(loss),
            Action::PowerLoss(again),
        ];
        let step = |(number, action)| Step { pause: Time::from_ps(7 * number as u64), action };
        let steps = actions.into_iter().enumerate().map(step).collect();
        let sequence = Sequence { block_bytes: 512, preconditioned: 9, steps };
        assert_eq!(sequence.to_string().parse(), Ok(sequence.clone()));
        assert_eq!(
            "blocks 8\n0 ps write 3".parse::<Sequence>(),
            Err("\"0 ps write 3\" is not a step".into())
        );
    }
}
