//! Versions of units that may not be on the flash yet.
//!
//! Reads see what was written last, and the array is as it will be. Kept here is what each version replaced. It has
//! landed when its program has ended, or when a flush that covers it was answered; under power protection, when the
//! buffer has it. A page that was being programmed is torn, which its error correction shows: it counts as not
//! programmed.

use super::schedule::{Issued, Schedule};
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use nacre_media::persistence::{Change, Pending};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
    pub(super) before: Before,
}

/// Versions that may not have landed.
#[derive(Debug, Default, State)]
#[state(after = "Self::check_restored")]
pub(super) struct Versions {
    pending: Pending<Version>,
    /// Numbers of those that the buffer holds.
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

impl Change for Version {
    type Ends = Schedule;

    fn place(&self) -> Range<u64> {
        u64::from(self.unit)..u64::from(self.unit) + 1
    }

    fn landed_at(&self, schedule: &Schedule) -> Time {
        self.program.map_or(self.safe, |program| schedule.end_of(program).min(self.safe))
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Versions {
    /// One more version, the newest; where the buffer does not hold it, its program was issued.
    pub(super) fn push(&mut self, mut version: Version, is_held: bool, schedule: &mut Schedule) {
        if !is_held {
            let operation = (version.superblock, version.operation);
            let mut own =
                schedule.issued.iter().rev().filter(|it| (it.superblock, it.operation) == operation);
            version.program = Some(own.next().expect("its program was just issued").program);
        }
        let number = self.pending.push(version, Time::MAX);
        if is_held {
            self.held.push(number);
        }
        self.note_issued(schedule);
    }

    /// `unit` was trimmed at `at`: the journal has it.
    pub(super) fn trim(&mut self, unit: u32, at: Time) {
        let version = Version { unit, superblock: 0, operation: 0, program: None, safe: at, before: None };
        self.pending.push(version, at);
    }

    /// The versions of the request that is being served are acknowledged at `done`.
    #[inline]
    pub(super) fn acknowledge(&mut self, done: Time) {
        self.pending.acknowledge(done);
    }

    /// A flush of all that was written so far is answered at `done`.
    pub(super) fn flush(&mut self, done: Time, schedule: &mut Schedule) {
        self.note_issued(schedule);
        // A trim that the drive comes to later has no program: the flush does not wait for it.
        let is_later_trim =
            |version: &Version| version.program.is_none() && version.safe > done && version.safe < Time::MAX;
        for version in self.pending.iter_mut().filter(|version| !is_later_trim(version)) {
            debug_assert!(
                version.landed_at(schedule) <= done,
                "the flush at {done} does not wait for {version:?}"
            );
            version.safe = version.safe.min(done);
        }
    }

    /// No loss of power comes before `to`.
    pub(super) fn settle(&mut self, to: Time, schedule: &mut Schedule) {
        self.note_issued(schedule);
        self.pending.settle(to, schedule);
        let first = self.pending.numbers().start;
        self.held.retain(|&number| number >= first);
    }

    /// The power fails at `at`: what goes back. Afterwards every version has landed or is gone.
    pub(super) fn fail(&mut self, at: Time, schedule: &mut Schedule) -> Lost {
        self.note_issued(schedule);
        self.held.clear();
        let mut all = Lost::default();
        self.pending.fail(at, schedule, |lost| {
            let Version { unit, superblock, operation, before, .. } = lost.change;
            if lost.acknowledged <= at {
                all.acknowledged.insert(unit);
                all.operations.insert((superblock, operation));
            }
            all.back.insert(unit, before);
        });
        all
    }

    /// Programs were issued: what the buffer held of them is on its way.
    fn note_issued(&mut self, schedule: &mut Schedule) {
        for Issued { superblock, operation, program } in schedule.issued.drain(..) {
            self.held.retain(|&number| {
                let version = self.pending.get_mut(number);
                let is_own = (version.superblock, version.operation) == (superblock, operation);
                if is_own {
                    version.program = Some(program);
                }
                !is_own
            });
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let known = self.pending.numbers();
        match self.held.iter().all(|number| known.contains(number)) {
            true => Ok(()),
            false => Err("a version in the buffer that was not written".into()),
        }
    }
}
