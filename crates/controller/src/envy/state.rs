//! Rebuilds and checks a restored device. Derived data is not saved, e.g. the valid pages of a segment, which
//! follow from the page table and the shadows.

use super::array::Array;
use super::model::Envy;
use super::page_table::Location;
use nacre_media::store::Store;

impl<S: Store> Envy<S> {
    pub(super) fn check_restored(&mut self) -> Result<(), String> {
        if self.visits.is_empty() != self.service.is_idle() {
            return Err(format!(
                "{} requests, and the controller does {:?}",
                self.visits.len(),
                self.service
            ));
        }
        let slots = self.buffer.capacity();
        let is_unknown = |location: &Location| matches!(*location, Location::Buffer(slot) if slot >= slots);
        let mut locations = self.array.table.mapped().map(|(_, location)| location);
        match locations.find(is_unknown).or_else(|| self.array.shadows.values().copied().find(is_unknown)) {
            None => Ok(()),
            Some(location) => Err(format!("{location:?} of {slots} slots")),
        }
    }
}

impl<S: Store> Array<S> {
    pub(super) fn rebuild(&mut self) -> Result<(), String> {
        self.check_order()?;
        self.owners.iter_mut().for_each(|owners| *owners = None);
        self.live.fill(0);
        self.positions.iter_mut().for_each(|position| position.live = 0);
        self.partitions.iter_mut().for_each(|partition| partition.live = 0);
        let mapped: Vec<(u32, Location)> =
            self.table.mapped().chain(self.shadows.iter().map(|(&lpn, &location)| (lpn, location))).collect();
        for (lpn, location) in mapped {
            let page = match location {
                Location::Flash(page) => page,
                Location::Buffer(_) | Location::Nowhere => u32::MAX,
            };
            if u64::from(lpn) >= self.geometry.logical_pages
                || (page != u32::MAX && !self.is_programmed(page))
            {
                return Err(format!("page {lpn} in {location:?}"));
            }
            if page != u32::MAX {
                self.keep(lpn, page, self.position_of[self.flash.block_of(page) as usize] as usize);
            }
        }
        Ok(())
    }

    /// Checks that the numbers of segments and positions are in range.
    fn check_order(&self) -> Result<(), String> {
        let (segments, positions) = (self.geometry.segments, self.positions.len() as u32);
        let standing = self.order.iter().chain(&self.standby);
        let standing_at = self.order.iter().map(|&segment| self.position_of.get(segment as usize));
        if let Some(segment) = standing.copied().find(|&segment| segment >= segments) {
            return Err(format!("segment {segment} of {segments}"));
        }
        if let Some(position) = self.filling.iter().copied().find(|&position| position >= positions) {
            return Err(format!("position {position} of {positions}"));
        }
        let active = |partition: &crate::cleaning::Partition| partition.active >= positions as usize;
        if self.partitions.iter().any(active) || standing_at.flatten().any(|&position| position >= positions)
        {
            return Err(format!("a segment beyond the {positions} positions"));
        }
        Ok(())
    }

    fn is_programmed(&self, page: u32) -> bool {
        let block = self.flash.blocks().get(self.flash.block_of(page) as usize);
        let position = self.position_of.get(self.flash.block_of(page) as usize);
        let index = page & (self.geometry.pages_per_segment - 1);
        block.is_some_and(|block| index < block.programmed)
            && position.is_some_and(|&position| (position as usize) < self.positions.len())
    }
}
