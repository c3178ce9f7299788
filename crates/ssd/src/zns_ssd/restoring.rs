//! Changes to the table of zones after a power loss, and checks of a restored table.

use crate::ops::Untimed;
use crate::superblocks::ABSENT;
use crate::zns_ssd::table::Zones;
use nacre_kernel::ZoneState;
use nacre_media::store::Store;

impl<S: Store> Zones<S> {
    /// Handles a power loss: makes active zones without data empty, and closes the other open zones.
    pub(crate) fn close_all(&mut self) {
        for zone in 0..self.zones.len() as u32 {
            let entry = self.zones[zone as usize];
            if entry.state.is_active() && entry.written == 0 {
                self.empty(zone, &mut Untimed);
            } else if entry.state.is_open() {
                self.change_state(zone, ZoneState::Closed);
            }
        }
    }

    /// Clears the write pointers of active zones, because a power loss clears the memory of the controller.
    pub(crate) fn forget_write_pointers(&mut self) {
        self.zones.iter_mut().filter(|entry| entry.state.is_active()).for_each(|entry| entry.written = 0);
    }

    /// Restores the write pointer of each active zone to the position after its last programmed page.
    pub(crate) fn find_write_pointers(&mut self) {
        for zone in 0..self.zones.len() {
            if self.zones[zone].state.is_active() {
                self.zones[zone].written = self.programmed(zone as u32);
            }
        }
    }

    /// Returns the superblocks of `zone`.
    fn superblocks_of(&self, zone: u32) -> &[u32] {
        let first = (zone * self.limits.superblocks) as usize;
        &self.members[first..first + self.limits.superblocks as usize]
    }

    /// Returns the number of programmed units in the superblocks of `zone`, including units that are still in
    /// the buffer.
    fn programmed(&self, zone: u32) -> u32 {
        let of = |&superblock: &u32| {
            self.pool.flash.blocks().get(superblock as usize).map_or(0, |block| block.programmed)
        };
        self.superblocks_of(zone).iter().map(of).sum()
    }

    /// Panics if the numbers of zones, superblocks, and programs are inconsistent.
    pub(super) fn check_zones(&self) {
        let [empty, implicit, explicit, closed, full] = self.by_state();
        let open = implicit + explicit;
        assert_eq!((self.open, self.active), (open, open + closed), "open and active zones");
        for (zone, entry) in (0..).zip(&self.zones) {
            self.check_zone(zone);
            assert!(
                entry.issued <= entry.written || entry.state == ZoneState::Full,
                "zone {zone}: {entry:?}"
            );
        }
        assert_eq!(empty + open + closed + full, self.zones.len() as u32);
        let in_zones = self.members.iter().filter(|&&superblock| superblock != ABSENT).count();
        let erased: usize =
            (0..self.geometry.regions as usize).map(|region| self.pool.erased_count(region)).sum();
        let usable: u32 = self.pool.blocks.usable_counts().sum();
        assert!(in_zones + erased >= usable as usize, "a superblock is neither in a zone nor erased");
        self.pool.check_invariants();
    }

    /// Panics if the state of `zone` is inconsistent with its superblocks.
    fn check_zone(&self, zone: u32) {
        let (entry, programmed) = (&self.zones[zone as usize], self.programmed(zone));
        match entry.state {
            ZoneState::Empty => {
                assert_eq!((entry.written, entry.issued, programmed), (0, 0, 0), "zone {zone}");
            }
            ZoneState::Full => {
                assert!(entry.written <= programmed, "zone {zone} holds {programmed}: {entry:?}");
            }
            _ => assert_eq!(entry.written, programmed, "the write pointer of zone {zone}"),
        }
        let superblocks = self.superblocks_of(zone).iter().filter(|&&superblock| superblock != ABSENT);
        let mut regions = superblocks.map(|&superblock| self.geometry.region_of(superblock));
        assert!(regions.all(|region| region == self.region_of(zone)), "the dies of zone {zone}");
    }

    pub(crate) fn check_restored(&mut self) -> Result<(), String> {
        let superblocks = self.geometry.superblocks;
        let real = |superblock: &&u32| **superblock != ABSENT;
        if let Some(wrong) = self.members.iter().filter(real).find(|of| **of >= superblocks) {
            return Err(format!("superblock {wrong} of {superblocks}"));
        }
        for (zone, entry) in (0..).zip(&self.zones) {
            let most = self.limits.zone_units;
            // A zone that was finished while it was empty has no superblocks.
            let needs_flash = entry.state.is_active() || entry.written > 0 || entry.issued > 0;
            let has_flash = !needs_flash || self.superblocks_of(zone).iter().all(|of| *of != ABSENT);
            if entry.written > most || entry.issued > most || !has_flash {
                return Err(format!("zone {zone} is {entry:?}"));
            }
        }
        Ok(())
    }
}
