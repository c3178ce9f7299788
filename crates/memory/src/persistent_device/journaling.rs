//! Journal records of steps and reads.

use super::{PersistentDevice, WORK_MAX};
use crate::error::NotTaken;
use crate::step::Step;
use nacre_image::{Image, ImageError};
use nacre_kernel::Time;

impl PersistentDevice {
    /// Makes space for `step` in the journal, if necessary by writing a checkpoint. Trims and flushes need no
    /// space: on a full disk, the device performs them without storing them, because a trimmed byte may keep
    /// its content.
    pub(super) fn make_room(&mut self, image: &Image, step: Step<'_>) -> Result<(), NotTaken> {
        let takes_room = matches!(step, Step::Write { .. } | Step::Zero { .. } | Step::Append { .. });
        let is_pressed = takes_room && self.has_changed && image.is_full();
        if self.is_behind || self.work > WORK_MAX || image.wants_checkpoint() || is_pressed {
            match self.checkpoint() {
                Err(NotTaken::Image(error)) if error.is_full() && is_done_without_room(step) => {
                    self.is_behind = true;
                }
                made => made?,
            }
        }
        if takes_room && image.is_full() {
            image.retry()?;
        }
        Ok(())
    }

    /// Appends `step` to the journal, after the reads that precede the step. If the disk is full, a
    /// checkpoint may free enough space.
    pub(super) fn append(&mut self, image: &Image, now: Time, step: Step<'_>) -> Result<(), NotTaken> {
        let mut reads = self.reads.len();
        step.encode(self.when(now), &mut self.reads);
        let mut appended = image.append(&self.reads);
        if appended.as_ref().is_err_and(ImageError::is_full) {
            if is_done_without_room(step) {
                self.is_behind = true;
                appended = Ok(());
            } else if self.has_power && self.has_changed {
                self.reads.truncate(reads);
                self.checkpoint()?;
                reads = 0;
                step.encode(self.when(now), &mut self.reads);
                appended = image.append(&self.reads);
            }
        }
        match appended {
            Ok(()) => self.reads.clear(),
            Err(_) => self.reads.truncate(reads),
        }
        Ok(appended?)
    }

    /// Appends the waiting reads to the journal. If this fails, the reads are dropped, because no step
    /// depends on them.
    pub(super) fn keep_reads(&mut self) {
        let Some(image) = self.journal().cloned() else { return };
        let is_due = self.work > WORK_MAX || image.wants_checkpoint();
        let is_kept = match is_due {
            true => self.has_power && self.checkpoint().is_ok(),
            false => image.append(&self.reads).is_ok(),
        };
        self.is_behind |= !is_kept;
        self.reads.clear();
        if !is_kept {
            // The next attempt is made after the same number of reads.
            (self.steps, self.work) = (0, 0);
        }
    }
}

/// Whether the device may perform `step` without storing it, because a trimmed byte may keep its content.
fn is_done_without_room(step: Step<'_>) -> bool {
    matches!(step, Step::Trim { .. } | Step::Flush)
}
