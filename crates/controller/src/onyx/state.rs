//! What a restored drive checks. All reservations are in the state, so that what a power failure takes is the
//! same before and after.

use super::model::Onyx;
use super::unfinished::{PartWrite, RowMove};
use nacre_media::store::Store;

impl<S: Store> Onyx<S> {
    /// What is unfinished lies within the drive.
    pub(super) fn check_restored(&mut self) -> Result<(), String> {
        let rows = self.config.rows();
        let lies_within = |write: &PartWrite| {
            write.controller < self.controllers.len()
                && write.row < rows
                && write.old.len() == write.new.len()
                && write
                    .offset
                    .checked_add(write.new.len())
                    .is_some_and(|end| end <= self.config.row.0 as usize)
        };
        let physical = self.controllers.first().map_or(0, |controller| controller.rows.count());
        let is_place = |moved: &RowMove| {
            moved.controller < self.controllers.len() && moved.from < physical && moved.to < physical
        };
        match self.unfinished.writes.iter().all(lies_within) && self.unfinished.moves.iter().all(is_place) {
            true => Ok(()),
            false => Err("writes beyond the drive".into()),
        }
    }
}
