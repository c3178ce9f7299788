//! Injected media errors.

use nacre_kernel::Ranges;
use nacre_kernel::state::State;
use std::ops::Range;

/// Unit of media errors in bytes, the sector size of every drive.
pub const UNIT: u64 = 512;

/// Kind of a change to the media errors in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Harm {
    /// Reads of a sector fail until a write covers it.
    Reads,
    /// Writes of a sector fail until the errors of the sector are cleared.
    Writes,
    /// Clears all errors of the range.
    Heal,
}

/// Ranges with media errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct Harmed {
    reads: Ranges,
    writes: Ranges,
}

impl Harmed {
    /// Whether there are no media errors.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Applies `harm` to every sector that `range` touches.
    pub fn apply(&mut self, harm: Harm, range: Range<u64>) {
        let sectors = touched(range);
        match harm {
            Harm::Reads => self.reads.insert(sectors),
            Harm::Writes => self.writes.insert(sectors),
            Harm::Heal => {
                self.reads.remove(sectors.clone());
                self.writes.remove(sectors);
            }
        }
    }

    /// Whether a read of `range` fails.
    pub fn fails_reads(&self, range: &Range<u64>) -> bool {
        self.reads.overlaps(range)
    }

    /// Whether a write of `range` fails.
    pub fn fails_writes(&self, range: &Range<u64>) -> bool {
        self.writes.overlaps(range)
    }

    /// Clears read errors of sectors that a successful write of `range` covers completely. Returns the
    /// cleared range, if any.
    pub fn overwritten(&mut self, range: Range<u64>) -> Option<Range<u64>> {
        let covered = range.start.next_multiple_of(UNIT)..range.end / UNIT * UNIT;
        let heals = !covered.is_empty() && self.reads.remove(covered.clone());
        heals.then_some(covered)
    }
}

/// The sectors that `range` touches.
pub fn touched(range: Range<u64>) -> Range<u64> {
    range.start / UNIT * UNIT..range.end.next_multiple_of(UNIT)
}

#[cfg(test)]
mod tests {
    use super::{Harm, Harmed};

    #[test]
    fn a_sector_fails_as_a_whole_and_is_healed_by_a_write_of_all_of_it() {
        let mut harmed = Harmed::default();
        harmed.apply(Harm::Reads, 1000..1001);
        assert!(harmed.fails_reads(&(512..513)) && harmed.fails_reads(&(0..4096)));
        assert!(!harmed.fails_reads(&(0..512)) && !harmed.fails_reads(&(1024..2048)));
        assert_eq!(harmed.overwritten(513..1024), None, "a byte of the sector is missing");
        assert_eq!(harmed.overwritten(0..1536), Some(0..1536));
        assert!(harmed.is_empty());
    }

    #[test]
    fn writes_that_fail_go_on_failing_until_healed() {
        let mut harmed = Harmed::default();
        harmed.apply(Harm::Writes, 0..4096);
        assert_eq!(harmed.overwritten(0..4096), None);
        assert!(harmed.fails_writes(&(4095..4096)) && !harmed.fails_reads(&(0..4096)));
        harmed.apply(Harm::Heal, 0..4096);
        assert!(harmed.is_empty());
    }
}
