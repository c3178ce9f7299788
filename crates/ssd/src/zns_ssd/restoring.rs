//! What becomes of the table when the power fails, and what a restored one checks.

use crate::ftl::parts::frontier::ABSENT;
use crate::zns_ssd::table::{Phase, ZoneTable};
use nacre_media::store::Store;

impl<S: Store> ZoneTable<S> {
    /// The power is gone: every zone that was open is closed.
    pub(crate) fn close_all(&mut self) {
        for entry in self.zones.iter_mut().filter(|entry| entry.phase == Phase::Open) {
            entry.phase = Phase::Closed;
        }
        self.open = 0;
    }

    /// What the controller knew of write pointers is gone.
    pub(crate) fn forget_write_pointers(&mut self) {
        self.zones.iter_mut().filter(|entry| entry.phase.is_active()).for_each(|entry| entry.written = 0);
    }

    /// The write pointers are found again: behind the last page of each zone that was programmed.
    pub(crate) fn find_write_pointers(&mut self) {
        for zone in 0..self.zones.len() {
            if self.zones[zone].phase.is_active() {
                self.zones[zone].written = self.programmed(zone as u32);
            }
        }
    }

    /// Units of the superblocks of `zone` that are programmed, or held to be.
    fn programmed(&self, zone: u32) -> u32 {
        let first = (zone * self.limits.superblocks) as usize;
        let members = &self.members[first..first + self.limits.superblocks as usize];
        let of = |&superblock: &u32| {
            self.flash.blocks().get(superblock as usize).map_or(0, |block| block.programmed)
        };
        members.iter().map(of).sum()
    }

    /// Panics when the books do not agree.
    pub(crate) fn check_invariants(&self) {
        let [empty, open, closed, full] = self.by_phase();
        assert_eq!((self.open, self.active), (open, open + closed), "zones that are open, and active");
        let mut standing = 0;
        for (zone, entry) in (0..).zip(&self.zones) {
            let programmed = self.programmed(zone);
            standing += u32::from(entry.phase != Phase::Empty) * self.limits.superblocks;
            assert!(entry.issued <= entry.written || entry.phase == Phase::Full, "zone {zone}: {entry:?}");
            match entry.phase {
                Phase::Empty => {
                    assert_eq!((entry.written, entry.issued, programmed), (0, 0, 0), "zone {zone}");
                }
                Phase::Full => {
                    assert!(entry.written <= programmed, "zone {zone} holds {programmed}: {entry:?}");
                }
                _ => assert_eq!(entry.written, programmed, "the write pointer of zone {zone}"),
            }
        }
        assert_eq!(empty + open + closed + full, self.zones.len() as u32);
        let usable = self.blocks.usable_count(0) as usize;
        assert!(standing as usize + self.erased.len() >= usable, "a superblock is nowhere");
        let programs = self.programs.host + self.programs.padding;
        assert_eq!(programs, self.flash.programs(), "every unit that was programmed");
        self.blocks.check_invariants(self.flash.erases());
    }

    pub(crate) fn check_restored(&mut self) -> Result<(), String> {
        let superblocks = self.geometry.superblocks;
        let real = |superblock: &&u32| **superblock != ABSENT;
        let erased = self.erased.iter().map(|(_, superblock)| superblock);
        if let Some(wrong) = self.members.iter().filter(real).chain(erased).find(|of| **of >= superblocks) {
            return Err(format!("superblock {wrong} of {superblocks}"));
        }
        for (zone, entry) in self.zones.iter().enumerate() {
            let most = self.limits.zone_units;
            let has_flash = entry.phase == Phase::Empty || {
                let first = zone * self.limits.superblocks as usize;
                self.members[first..first + self.limits.superblocks as usize].iter().all(|of| *of != ABSENT)
            };
            if entry.written > most || entry.issued > most || !has_flash {
                return Err(format!("zone {zone} is {entry:?}"));
            }
        }
        Ok(())
    }
}
