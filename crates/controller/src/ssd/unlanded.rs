//! Versions of units that may not have landed, and what a loss of power leaves of them.
//!
//! Reads see what was written last, and the array is as it will be. Beside it stands, for each version of a unit
//! that may not be on the flash yet, what it replaced. A version has landed when its program has ended, or when
//! a flush that covers it was answered; under power protection, when the buffer has it. A page that was being
//! programmed is torn, which its error correction shows: it counts as not programmed.

use super::schedule::{Issued, Schedule};
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a unit was before: `None` where it was mapped to nothing.
pub(super) type Before = Option<Vec<u8>>;

/// A version of a unit.
#[derive(Clone, Debug, Value)]
pub(super) struct Version {
    pub(super) unit: u32,
    /// The operation that programs it.
    pub(super) superblock: u32,
    pub(super) operation: u32,
    /// The die that does, and where that ends on its line; `None` while the buffer holds it.
    pub(super) program: Option<(u32, Time)>,
    /// From when on it survives whatever becomes of its program.
    pub(super) safe: Time,
    pub(super) acknowledged: Time,
    pub(super) before: Before,
}

/// Versions in the order in which they were written; those that have landed leave from the front.
#[derive(Debug, Default, State)]
#[state(after = "Unlanded::check_restored")]
pub(super) struct Unlanded {
    versions: VecDeque<Version>,
    /// Number of the first version.
    first: u64,
    /// Numbers of the versions that the buffer holds.
    #[state(varies)]
    held: Vec<u64>,
}

/// What a loss of power took.
#[derive(Debug, Default)]
pub(super) struct Lost {
    /// Units that go back, and to what.
    pub(super) back: BTreeMap<u32, Before>,
    /// Of these, units whose newer version was acknowledged, and the operations that would have programmed it.
    pub(super) acknowledged: BTreeSet<u32>,
    pub(super) operations: BTreeSet<(u32, u32)>,
}

impl Version {
    fn landed_at(&self, schedule: &Schedule) -> Time {
        self.program.map_or(self.safe, |program| schedule.end_of(program).min(self.safe))
    }
}

impl Unlanded {
    /// One more version, the newest; where the buffer does not hold it, its program was issued.
    pub(super) fn push(&mut self, mut version: Version, is_held: bool, schedule: &mut Schedule) {
        let (superblock, operation) = (version.superblock, version.operation);
        if is_held {
            self.held.push(self.first + self.versions.len() as u64);
        } else {
            let issued = schedule.issued.iter().rev();
            let mut own = issued.filter(|it| (it.superblock, it.operation) == (superblock, operation));
            version.program = Some(own.next().expect("its program was just issued").program);
        }
        self.versions.push_back(version);
        self.note_issued(schedule);
    }

    /// `unit` was trimmed at `at`: the journal has it.
    pub(super) fn trim(&mut self, unit: u32, at: Time) {
        let version = Version {
            unit,
            superblock: 0,
            operation: 0,
            program: None,
            safe: at,
            acknowledged: at,
            before: None,
        };
        self.versions.push_back(version);
    }

    /// The newest versions, those of the request that is being served, are acknowledged at `done`.
    #[inline]
    pub(super) fn acknowledge(&mut self, done: Time) {
        let open = self.versions.iter_mut().rev().take_while(|version| version.acknowledged == Time::MAX);
        open.for_each(|version| version.acknowledged = done);
    }

    /// A flush of all that was written so far is answered at `done`.
    pub(super) fn flush(&mut self, done: Time, schedule: &mut Schedule) {
        self.note_issued(schedule);
        // A trim that the drive comes to later has no program: the flush does not wait for it.
        let is_later_trim =
            |version: &Version| version.program.is_none() && version.safe > done && version.safe < Time::MAX;
        for version in self.versions.iter_mut().filter(|version| !is_later_trim(version)) {
            debug_assert!(
                version.landed_at(schedule) <= done,
                "the flush at {done} does not wait for {version:?}"
            );
            version.safe = version.safe.min(done);
        }
    }

    /// No loss of power comes before `to`: what has landed by then stays.
    pub(super) fn settle(&mut self, to: Time, schedule: &mut Schedule) {
        self.note_issued(schedule);
        while self.versions.front().is_some_and(|version| version.landed_at(schedule) <= to) {
            self.versions.pop_front();
            self.first += 1;
        }
        self.held.retain(|&number| number >= self.first);
    }

    /// The power fails at `at`: what goes back. Afterwards every version has landed or is gone.
    pub(super) fn fail(&mut self, at: Time, schedule: &mut Schedule) -> Lost {
        self.note_issued(schedule);
        let (mut lost, mut landed) = (Lost::default(), BTreeSet::new());
        while let Some(version) = self.versions.pop_back() {
            if landed.contains(&version.unit) {
                continue;
            }
            if version.landed_at(schedule) <= at {
                landed.insert(version.unit);
                continue;
            }
            if version.acknowledged <= at {
                lost.acknowledged.insert(version.unit);
                lost.operations.insert((version.superblock, version.operation));
            }
            lost.back.insert(version.unit, version.before);
        }
        self.held.clear();
        lost
    }

    /// Programs were issued: what the buffer held of them is on its way.
    fn note_issued(&mut self, schedule: &mut Schedule) {
        for Issued { superblock, operation, program } in schedule.issued.drain(..) {
            self.held.retain(|&number| {
                let version = &mut self.versions[(number - self.first) as usize];
                let is_own = (version.superblock, version.operation) == (superblock, operation);
                if is_own {
                    version.program = Some(program);
                }
                !is_own
            });
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let end = self.first.saturating_add(self.versions.len() as u64);
        match self.held.iter().all(|&number| self.first <= number && number < end) {
            true => Ok(()),
            false => Err("a version in the buffer that was not written".into()),
        }
    }
}
