//! What a restored drive checks. All reservations are in the state, so that what a power failure takes is the
//! same before and after.

use super::model::{Onyx, RowMove};
use nacre_media::persistence::Change;
use nacre_media::store::Store;

impl<S: Store> Onyx<S> {
    /// What may not have landed lies within the drive.
    pub(super) fn check_restored(&mut self) -> Result<(), String> {
        let physical = self.controllers.first().map_or(0, |controller| controller.rows.count());
        let is_place = |moved: &RowMove| {
            moved.controller < self.controllers.len() && moved.from < physical && moved.to < physical
        };
        let reach = self.pending.iter().map(|(write, _)| write.place().end).max().unwrap_or(0);
        match reach <= self.capacity && self.moves.iter().all(is_place) {
            true => Ok(()),
            false => Err("writes beyond the drive".into()),
        }
    }
}
