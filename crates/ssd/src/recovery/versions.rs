//! Versions of units that are not in flash yet.
//!
//! Reads return the latest write, although it may not be programmed yet. This module keeps the version that
//! each write replaced until the program of the write has ended. A page whose program was interrupted by a
//! power loss is torn. The error correction detects the torn page, which then counts as not programmed.

use nacre_kernel::state::{State, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Previous content of a unit: `None` if it was unmapped.
pub(crate) type Before = Option<Vec<u8>>;

/// A version of a unit.
#[derive(Clone, Debug, Value)]
pub(crate) struct Version {
    pub(crate) unit: u64,
    /// Superblock of the operation that programs the version.
    pub(crate) superblock: u32,
    pub(crate) operation: u32,
    /// Number of the write to which the version belongs.
    pub(crate) write: u32,
    /// Whether the write has completed.
    pub(crate) is_acknowledged: bool,
    /// Whether the version survives a power loss.
    pub(crate) has_landed: bool,
    pub(crate) before: Before,
}

/// Versions that may not be in flash yet, in write order.
#[derive(Debug, Default, State)]
pub(crate) struct Versions {
    #[state(varies)]
    pending: VecDeque<Version>,
}

/// Effects of a power loss.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    /// Reverted units, with their previous content.
    pub(crate) back: BTreeMap<u64, Before>,
    /// Reverted units whose newer version was acknowledged.
    pub(crate) acknowledged: BTreeSet<u64>,
    /// Operations that would have programmed the newer versions of the units in `acknowledged`, as pairs of
    /// a superblock and an operation number.
    pub(crate) operations: BTreeSet<(u32, u32)>,
}

impl Versions {
    /// Adds the latest version.
    pub(crate) fn push(&mut self, version: Version) {
        self.pending.push_back(version);
    }

    /// Records a trim of `unit`. The trim is in the journal, so no older version is restored.
    pub(crate) fn trim(&mut self, unit: u64) {
        self.pending.retain(|version| version.unit != unit);
    }

    /// Records that a write has completed.
    pub(crate) fn acknowledge(&mut self, write: u32) {
        for version in self.pending.iter_mut().filter(|version| version.write == write) {
            // Write numbers are reused.
            (version.is_acknowledged, version.write) = (true, u32::MAX);
        }
    }

    /// Records that an operation is programmed, which stores its versions in flash.
    pub(crate) fn programmed(&mut self, superblock: u32, operation: u32) {
        let is_own = |version: &Version| (version.superblock, version.operation) == (superblock, operation);
        for version in self.pending.iter_mut().filter(|version| is_own(version)) {
            version.has_landed = true;
        }
        while self.pending.front().is_some_and(|version| version.has_landed) {
            self.pending.pop_front();
        }
    }

    /// Handles a power loss and returns the reverted units. Afterwards, every version is in flash or lost.
    pub(crate) fn fail(&mut self) -> Lost {
        let mut all = Lost::default();
        for version in self.pending.drain(..) {
            let Version { unit, superblock, operation, is_acknowledged, has_landed, before, .. } = version;
            if has_landed {
                // A later version that is in flash stays valid, regardless of earlier versions.
                all.back.remove(&unit);
                all.acknowledged.remove(&unit);
                continue;
            }
            all.back.entry(unit).or_insert(before);
            if is_acknowledged {
                all.acknowledged.insert(unit);
                all.operations.insert((superblock, operation));
            }
        }
        all
    }
}
