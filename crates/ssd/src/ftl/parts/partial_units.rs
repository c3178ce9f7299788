//! Partially written units: the part of each unit that was written, which its page records in the spare area.
//!
//! The channel transfers parts of `transfer` bytes. A program omits the parts of a unit that were never
//! written. A write of part of a unit reads only the parts that were written before and that it does not
//! replace. The record of a unit is one range. Parts between two separate writes count as written.

use crate::config::Config;
use nacre_kernel::state::State;
use std::collections::BTreeMap;
use std::ops::Range;

/// Written parts of units.
#[derive(State)]
#[state(after = "Self::check_restored")]
pub(crate) struct PartialUnits {
    /// Size of a part in bytes; the size of a unit if units are transferred whole.
    #[state(skip = "from the configuration")]
    part: u32,
    #[state(skip = "from the configuration")]
    unit: u32,
    /// First and end byte that were written, for each mapped unit that was not written completely.
    written: BTreeMap<u64, (u32, u32)>,
}

impl PartialUnits {
    /// Creates the record for the validated configuration `config`.
    pub(crate) fn new(config: &Config) -> PartialUnits {
        PartialUnits {
            part: config.transfer.unwrap_or(config.unit).0 as u32,
            unit: config.unit.0 as u32,
            written: BTreeMap::new(),
        }
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let wrong = self.written.iter().find(|(_, (begin, end))| begin >= end || *end > self.unit);
        wrong.map_or(Ok(()), |(unit, part)| Err(format!("the written part {part:?} of unit {unit}")))
    }

    /// Records a write of the bytes `new` of `unit`. Returns the number of bytes that must be read from the
    /// previous page of the unit if it has one.
    #[inline]
    pub(crate) fn write(&mut self, unit: u64, new: &Range<u32>, is_mapped: impl FnOnce() -> bool) -> u32 {
        if new.len() as u32 == self.unit {
            self.forget(unit);
            return 0;
        }
        if self.part == self.unit { self.unit } else { self.write_part(unit, new, is_mapped()) }
    }

    fn write_part(&mut self, unit: u64, new: &Range<u32>, is_mapped: bool) -> u32 {
        let part = self.part;
        let (begin, end) = (new.start / part * part, new.end.next_multiple_of(part));
        let old = match self.written.get(&unit) {
            _ if !is_mapped => (begin, begin),
            Some(&old) => old,
            None => (0, self.unit),
        };
        let all = if old.0 == old.1 { (begin, end) } else { (old.0.min(begin), old.1.max(end)) };
        if all == (0, self.unit) {
            self.forget(unit);
        } else {
            self.written.insert(unit, all);
        }
        // A part that is replaced in part is read, too.
        let replaced = new.start.next_multiple_of(part).max(old.0)..(new.end / part * part).min(old.1);
        old.1 - old.0 - replaced.len() as u32
    }

    /// Treats `unit` as completely written or unmapped.
    #[inline]
    pub(crate) fn forget(&mut self, unit: u64) {
        self.written.remove(&unit);
    }

    /// Returns whether every mapped unit was written completely.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// Returns the number of bytes of `unit` that were never written.
    pub(crate) fn unwritten(&self, unit: u64) -> u32 {
        self.written.get(&unit).map_or(0, |(begin, end)| self.unit - (end - begin))
    }
}
