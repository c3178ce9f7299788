//! Crash tests of images: process kills and host power losses, between and inside operations on the file.
//!
//! A device whose image is a file in memory performs steps. After a step, the file is reset to a state in the
//! middle of the operations of that step, and reopened. The device must then have the content that it had
//! after some number of steps. This number must include every step that was acknowledged before a kill, and
//! every step that was synced before a power loss. The device must then accept writes and keep them across
//! another power loss. Sometimes the run continues after the crash.
//!
//! In half of the crashes, the host disk also has a fault, and the image must report the data that the fault
//! destroyed.

mod history;
mod medium;
mod steps;
mod tape;
#[cfg(test)]
mod tests;

pub use medium::Reported;
pub use tape::Fault;

use crate::error::MemoryError;
use crate::persistent_device::PersistentDevice;
use crate::step::Step;
use history::{History, UNREAD};
use nacre_kernel::{Random, Status, Streams};
use nacre_machine::{Checked, Files};
use std::collections::BTreeMap;
use tape::Recorded;

/// Counts of the events in crash tests, and the first violation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crashed {
    /// Number of process kills.
    pub kills: u64,
    /// Number of power losses.
    pub power_losses: u64,
    /// Number of kills and power losses inside a write to the file.
    pub inside_writes: u64,
    /// Number of kills and power losses after which the journal ended with a torn record.
    pub torn_records: u64,
    /// Number of kills and power losses that lost acknowledged but unsynced steps.
    pub unsynced_lost: u64,
    /// Number of steps in all runs.
    pub steps: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Number of trims and zero writes.
    pub trims: u64,
    /// Number of transactions that ended.
    pub transactions: u64,
    /// Kills and power losses with a disk fault, by fault and section of the file.
    pub disk_faults: BTreeMap<(&'static str, &'static str), Reported>,
    /// Description of the first violation, if any.
    pub finding: Option<String>,
}

impl Crashed {
    /// Adds the counts of `other`, but not its violation.
    pub fn add(&mut self, other: &Crashed) {
        self.kills += other.kills;
        self.power_losses += other.power_losses;
        self.inside_writes += other.inside_writes;
        self.torn_records += other.torn_records;
        self.unsynced_lost += other.unsynced_lost;
        self.steps += other.steps;
        self.checkpoints += other.checkpoints;
        self.trims += other.trims;
        self.transactions += other.transactions;
        for (&fault, reported) in &other.disk_faults {
            self.disk_faults.entry(fault).or_default().add(reported);
        }
    }

    /// Number of kills and power losses.
    pub fn points(&self) -> u64 {
        self.kills + self.power_losses
    }
}

/// Size of the journal in bytes, which is small so that checkpoints are frequent.
const JOURNAL_BYTES: u64 = 32 << 10;
/// Size of a block in bytes.
const BLOCK: u64 = 512;
/// Maximum number of blocks per write.
const BLOCKS_MAX: u64 = 4;
/// Number of blocks that are written.
const LOCATIONS: u64 = 24;
/// Maximum number of crashes after one step.
const CRASHES_MAX: u64 = 6;
/// Share of the crashes in which the disk has a fault.
const HARMED: f64 = 0.5;
/// On average, the run continues after one in `STAYS` crashes in the last step if no record was torn.
const STAYS: u64 = 8;
/// Like `STAYS`, for crashes that tear a record.
const STAYS_TORN: u64 = 2;

/// Crashes an image of the stack in `checked` at `points` points, and injects `fault` into the image file.
///
/// Returns an error if the stack stores no data, or cannot be built or saved.
pub fn crash(
    checked: &Checked,
    files: &dyn Files,
    points: u64,
    seed: u64,
    fault: Fault,
) -> Result<Crashed, MemoryError> {
    let mut run = ImageRun::new(checked, files, seed, fault)?;
    while run.crashed.points() < points && run.crashed.finding.is_none() {
        if let Err(problem) = run.step() {
            run.crashed.finding = Some(problem);
        }
    }
    Ok(run.crashed)
}

struct ImageRun<'a> {
    checked: &'a Checked,
    files: &'a dyn Files,
    fault: Fault,
    random: Random,
    tape: Recorded,
    device: PersistentDevice,
    history: History,
    blocks: u64,
    /// Number of steps whose changes are in the device.
    steps: u64,
    /// Number of steps that were synced.
    synced: u64,
    /// Number of steps that a synced mark or checkpoint covers.
    marked: u64,
    /// First block of the last step, if it was a write.
    wrote: Option<u64>,
    /// First block of the last step, if that step was a write whose record was torn. The run often repeats
    /// this write.
    torn: Option<u64>,
    crashed: Crashed,
}

impl<'a> ImageRun<'a> {
    fn new(
        checked: &'a Checked,
        files: &'a dyn Files,
        seed: u64,
        fault: Fault,
    ) -> Result<ImageRun<'a>, MemoryError> {
        let mut tape = Recorded::of(Vec::new(), fault);
        let device = open(checked, files, &tape, fault)?;
        device.check_saves()?;
        tape.settle();
        let (random, blocks) = (Streams::new(seed).stream("image"), device.capacity() / BLOCK);
        let (history, crashed) = (History::default(), Crashed::default());
        Ok(ImageRun {
            checked,
            files,
            fault,
            random,
            tape,
            device,
            history,
            blocks,
            steps: 0,
            synced: 0,
            marked: 0,
            wrote: None,
            torn: None,
            crashed,
        })
    }

    /// Performs one step, and crashes several times in the middle of it. Returns an error if a guarantee is
    /// violated.
    fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        self.crashed.steps += 1;
        let before = (self.synced, self.marked);
        let torn = self.torn.take();
        match torn {
            Some(first) if self.random.chance(0.75) => self.write(first)?,
            _ => self.any_step()?,
        }
        let count = if torn.is_some() { CRASHES_MAX } else { self.random.below(CRASHES_MAX) };
        for number in 0..count {
            if self.crash(before, number + 1 == count)? {
                return Ok(());
            }
        }
        self.tape.settle();
        Ok(())
    }

    /// Crashes in the middle of the last step. Returns whether the run continues from this crash, which is
    /// possible only if `is_last` is true.
    fn crash(&mut self, before: (u64, u64), is_last: bool) -> Result<bool, String> {
        let operations = self.tape.operations();
        let cut = self.random.below(operations as u64 + 1) as usize;
        let torn = match self.tape.bytes_of(cut) {
            bytes if bytes > 1 && self.random.chance(0.6) => 1 + self.random.below(bytes as u64 - 1) as usize,
            _ => 0,
        };
        let is_kill = self.random.chance(0.4);
        let file = self.tape.upto(cut, torn);
        let mut bytes = match is_kill {
            true => file.bytes.clone(),
            false => file.powerless(&mut self.random),
        };
        let harm = self.random.chance(HARMED).then(|| self.harm(&file, &mut bytes)).flatten();
        let is_over = cut == operations;
        let acknowledged = if is_over { self.steps } else { self.steps - 1 };
        let (synced, marked) = if is_over { (self.synced, self.marked) } else { before };
        let least = if is_kill { acknowledged } else { synced };
        let what = if is_kill { "a kill" } else { "a power loss" };
        let told =
            |problem| format!("after {what} at operation {cut} of {operations}, {torn} bytes: {problem}");
        let tape = Recorded::of(bytes, self.fault);
        self.crashed.kills += u64::from(is_kill);
        self.crashed.power_losses += u64::from(!is_kill);
        self.crashed.inside_writes += u64::from(torn > 0);
        let opened = self.open(&tape);
        if let Some(harm) = harm {
            // After a kill, the page cache and the file have the same mark.
            let marked = if is_kill { synced } else { marked };
            return self.is_reported(&harm, opened, least, marked).map_err(told).map(|()| false);
        }
        let mut device = opened.map_err(|error| told(error.to_string()))?;
        self.crashed.torn_records += u64::from(device.was_torn());
        let blocks = self.history.blocks();
        let found = read(&mut device, &blocks)?;
        let Some(steps) = self.history.steps_of(&found, least, self.steps) else {
            let stranger = self.history.stranger(&found, least);
            return Err(told(match stranger {
                Some((block, _)) => {
                    format!("block {block} has no content that it had after step {least} or later")
                }
                None => format!("blocks have content from different steps after step {least}"),
            }));
        };
        self.crashed.unsynced_lost += u64::from(steps < acknowledged);
        let stays_one_in = if device.was_torn() { STAYS_TORN } else { STAYS };
        if !is_last || self.random.below(stays_one_in) > 0 {
            return works_after(self, device, &tape).map_err(told).map(|()| false);
        }
        self.torn = self.wrote.take().filter(|_| device.was_torn());
        self.history.continue_after(steps, &found);
        (self.steps, self.synced) = (steps, if is_kill { self.synced.min(steps) } else { steps });
        self.marked = self.marked.min(steps);
        (self.tape, self.device) = (tape, device);
        self.tape.settle();
        Ok(true)
    }

    fn open(&self, tape: &Recorded) -> Result<PersistentDevice, MemoryError> {
        open(self.checked, self.files, tape, self.fault)
    }
}

fn open(
    checked: &Checked,
    files: &dyn Files,
    tape: &Recorded,
    fault: Fault,
) -> Result<PersistentDevice, MemoryError> {
    let has_checksums = fault != Fault::NoChecksums;
    PersistentDevice::on_disk(checked, files, tape.file.clone(), JOURNAL_BYTES, has_checksums)
}

/// Checks that data written and synced after a crash survives a power loss.
fn works_after(run: &ImageRun<'_>, mut device: PersistentDevice, tape: &Recorded) -> Result<(), String> {
    let Some(&block) = run.history.blocks().first() else { return Ok(()) };
    let word = u64::MAX;
    let bytes = word.to_le_bytes().repeat(BLOCK as usize / 8);
    if device.is_in_transaction() {
        device
            .change(device.until(), Step::Commit)
            .map_err(|error| format!("the commit failed: {error:?}"))?;
    }
    let step = Step::Write { address: block * BLOCK, bytes: &bytes };
    let done = device.change(device.until(), step).map_err(|error| format!("the write failed: {error:?}"))?;
    if done.completion.status != Status::Done {
        return Ok(());
    }
    device.sync().map_err(|error| error.to_string())?;
    let mut chance = Streams::new(run.steps).stream("again");
    let bytes = tape.upto(tape.operations(), 0).powerless(&mut chance);
    let again = Recorded::of(bytes, run.fault);
    let mut device = run.open(&again).map_err(|error| format!("the image cannot be reopened: {error}"))?;
    match read(&mut device, &[block])?[..] {
        [found] if found == word || found == UNREAD => Ok(()),
        _ => Err("data that was written and synced after the crash is lost at the next power loss".into()),
    }
}

/// Reads `blocks`. Returns the word that fills each block, or [`UNREAD`] if the device reports the block as
/// lost.
fn read(device: &mut PersistentDevice, blocks: &[u64]) -> Result<Vec<u64>, String> {
    let mut bytes = vec![0; BLOCK as usize];
    let mut word = |&block: &u64| {
        if device.read(device.until(), block * BLOCK, &mut bytes).status != Status::Done {
            return Ok(UNREAD);
        }
        let words = bytes.as_chunks::<8>().0;
        match words.iter().all(|word| *word == words[0]) {
            true => Ok(u64::from_le_bytes(words[0])),
            false => Err(format!("block {block} holds parts of several writes")),
        }
    };
    blocks.iter().map(&mut word).collect()
}
