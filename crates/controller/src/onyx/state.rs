//! The drive's state as bytes, for an image that outlives the process: all reservations included, so that
//! what a power failure takes is the same before and after.

use super::model::Onyx;
use nacre_kernel::Time;
use nacre_kernel::state::{StateError, StateReader, StateWriter};
use nacre_media::store::Store;

impl<S: Store> Onyx<S> {
    pub(super) fn write_state(&self, state: &mut StateWriter) {
        state.section("onyx");
        state.put_u64(self.latest.as_ps());
        state.put_u64(self.worn_out_at.map_or(u64::MAX, Time::as_ps));
        self.cpus.save(state);
        self.tags.save(state);
        self.pipeline.save(state);
        [&self.ring, &self.from_host, &self.to_host].into_iter().for_each(|link| link.save(state));
        self.controllers.iter().for_each(|controller| controller.save(state));
        self.unfinished.save(state);
    }

    pub(super) fn read_state(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.section("onyx")?;
        self.latest = Time::from_ps(state.u64("when the latest request came")?);
        let worn_out_at = state.u64("when the first row was worn out")?;
        self.worn_out_at = (worn_out_at != u64::MAX).then(|| Time::from_ps(worn_out_at));
        self.cpus.restore(state)?;
        self.tags.restore(state)?;
        self.pipeline.restore(state)?;
        for link in [&mut self.ring, &mut self.from_host, &mut self.to_host] {
            link.restore(state)?;
        }
        self.controllers.iter_mut().try_for_each(|controller| controller.restore(state))?;
        self.unfinished.restore(state)?;
        self.check_unfinished(state)
    }

    /// What is unfinished lies within the drive.
    fn check_unfinished(&self, state: &StateReader<'_>) -> Result<(), StateError> {
        let rows = self.config.rows();
        let lies_within = |write: &&super::unfinished::PartWrite| {
            write.controller < self.controllers.len()
                && write.row < rows
                && write.old.len() == write.new.len()
                && write.offset + write.new.len() <= self.config.row.0 as usize
        };
        let physical = self.controllers.first().map_or(0, |controller| controller.rows.count());
        let is_place = |moved: &&super::unfinished::RowMove| {
            moved.controller < self.controllers.len() && moved.from < physical && moved.to < physical
        };
        match self.unfinished.writes.iter().all(|write| lies_within(&write))
            && self.unfinished.moves.iter().all(|moved| is_place(&moved))
        {
            true => Ok(()),
            false => Err(state.error("writes within the drive".into(), "others".into())),
        }
    }
}
