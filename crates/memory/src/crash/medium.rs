//! Faults of the host disk under a crashing image. The image must report all data that these faults destroy.

use super::{ImageRun, JOURNAL_BYTES, read};
use crate::error::MemoryError;
use crate::persistent_device::PersistentDevice;
use nacre_image::tape::{Followed, Harm, JOURNAL_START, MediumFault};
use nacre_image::{Image, Problem};
use std::ops::Range;

/// Number of crashes with one fault of the host disk, by what the image reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Number of images that did not open.
    pub refused: u64,
    /// Number of reads of a damaged page that failed.
    pub unreadable: u64,
    /// Number of cases in which the last synced records appeared torn. The file had no mark that they were
    /// synced, because a power loss destroyed the mark.
    pub torn: u64,
    /// Number of cases like `torn` in which the file did not even contain a part of the last records.
    pub unmarked: u64,
    /// Number of cases in which synced steps were lost, and the image reported a torn record or nothing. In
    /// these cases, a misdirected write overwrote the end of the journal, including its marks.
    pub overwritten: u64,
    /// Number of cases in which no data was missing, because the file stores the data twice or replays it.
    pub unharmed: u64,
}

impl Reported {
    pub(super) fn add(&mut self, other: &Reported) {
        self.refused += other.refused;
        self.unreadable += other.unreadable;
        self.torn += other.torn;
        self.unmarked += other.unmarked;
        self.overwritten += other.overwritten;
        self.unharmed += other.unharmed;
    }

    /// Number of crashes in which the disk had the fault.
    pub fn points(&self) -> u64 {
        self.refused + self.unreadable + self.torn + self.unmarked + self.overwritten + self.unharmed
    }
}

/// Byte range of the journal.
const JOURNAL: Range<u64> = JOURNAL_START..JOURNAL_START + JOURNAL_BYTES;
/// Sections of an image, by byte range.
const PARTS: [(&str, Range<u64>); 3] = [
    ("superblocks", 0..JOURNAL_START),
    ("journal", JOURNAL),
    ("pages and checkpoints", JOURNAL_START + JOURNAL_BYTES..u64::MAX),
];

impl ImageRun<'_> {
    /// Injects a random fault, if applicable, into the disk of `file`, which holds `bytes` after the crash.
    pub(super) fn harm(&mut self, file: &Followed, bytes: &mut Vec<u8>) -> Option<Harm> {
        let fault = MediumFault::ALL[self.random.below(MediumFault::ALL.len() as u64) as usize];
        let (_, part) = PARTS[self.random.below(PARTS.len() as u64) as usize].clone();
        file.harm(bytes, fault, part, &mut self.random)
    }

    /// Checks that the `opened` image reports the data that `harm` destroyed. If the image reports no damage,
    /// it must have the content after `marked` or more steps. A mark or a checkpoint lists these steps as
    /// synced. The image may lack the steps between `marked` and `least`, and also earlier steps if `harm`
    /// overwrote the journal.
    ///
    /// Returns an error if the image returns wrong content without a report.
    pub(super) fn is_reported(
        &mut self,
        harm: &Harm,
        opened: Result<PersistentDevice, MemoryError>,
        least: u64,
        marked: u64,
    ) -> Result<(), String> {
        let Harm { fault, range, .. } = harm;
        let (part, _) =
            PARTS.into_iter().find(|(_, part)| part.contains(&range.start)).expect("no part is missing");
        let described = |problem: String| format!("{harm:?}: {problem}");
        let reported = match opened {
            Err(MemoryError::Image(error))
                if is_damage(&error.problem) || is_effaced(&error.problem, harm) =>
            {
                Reported { refused: 1, ..Reported::default() }
            }
            Err(error) => {
                return Err(described(format!(
                    "the image does not open and does not report damage: {error}"
                )));
            }
            Ok(device) => self.reported_by(device, harm, least, marked).map_err(described)?,
        };
        self.crashed.disk_faults.entry((fault.name(), part)).or_default().add(&reported);
        Ok(())
    }

    fn reported_by(
        &self,
        mut device: PersistentDevice,
        harm: &Harm,
        least: u64,
        marked: u64,
    ) -> Result<Reported, String> {
        let found = read(&mut device, &self.history.blocks());
        if let Some(error) = device.image().and_then(Image::error) {
            return match is_damage(&error.problem) {
                true => Ok(Reported { unreadable: 1, ..Reported::default() }),
                false => Err(format!("the error does not report a damaged page: {error}")),
            };
        }
        let found = found?;
        let is_after = |steps| self.history.steps_of(&found, steps, self.steps).is_some();
        let overwrites = |range: &Range<u64>| range.start < JOURNAL.end && range.end > JOURNAL.start;
        match (is_after(least), is_after(marked), device.was_torn()) {
            (false, false, _) if is_after(0) && harm.overwritten.as_ref().is_some_and(overwrites) => {
                Ok(Reported { overwritten: 1, ..Reported::default() })
            }
            (true, ..) => Ok(Reported { unharmed: 1, ..Reported::default() }),
            (false, true, true) => Ok(Reported { torn: 1, ..Reported::default() }),
            (false, true, false) => Ok(Reported { unmarked: 1, ..Reported::default() }),
            (false, false, was_torn) => {
                let torn = if was_torn { "only that its journal ended in a torn record" } else { "nothing" };
                Err(format!(
                    "the image has content that it never had after step {marked}, and it reports {torn}"
                ))
            }
        }
    }
}

/// Whether the file can no longer be identified as an image, because `harm` overwrote the start of both
/// copies of the superblock.
fn is_effaced(problem: &Problem, harm: &Harm) -> bool {
    let second_copy = JOURNAL_START / 2;
    let overwrites_both = |range: &Range<u64>| range.start == 0 && range.end > second_copy;
    matches!(problem, Problem::NotAnImage { .. }) && harm.overwritten.as_ref().is_some_and(overwrites_both)
}

/// Whether `problem` reports that bytes of the file differ from the bytes that were written.
fn is_damage(problem: &Problem) -> bool {
    matches!(problem, Problem::Damaged { .. } | Problem::DamagedPage { .. })
}
