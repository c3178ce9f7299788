//! Power losses: interrupted operations and their recovery.
//!
//! Flash keeps programmed pages. The page table, the buffer, and the cleaning state are in battery-backed
//! SRAM. An interrupted program leaves undefined data on a page that cannot be programmed again before an
//! erase. The data of an interrupted program is still in the buffer, or in the segment being cleaned.

use super::background::{Background, Operation};
use super::model::Envy;
use super::page_table::Location;
use super::write_buffer::SlotState;
use nacre_kernel::{Recovery, Time};
use nacre_media::store::Store;

impl<S: Store> Envy<S> {
    /// Cuts power at `at`.
    pub(super) fn lose_power(&mut self, at: Time) {
        self.has_failed = true;
        self.translation.clear();
        self.cut_service(at);
        (self.interrupted, self.free_at) = (Recovery::default(), at);
        for operation in self.background.interrupt() {
            match operation {
                Operation::Erase { .. } => {
                    self.interrupted.erases_repeated += 1;
                    continue;
                }
                Operation::Drain { slot, .. } => self.repeat_drain(slot),
                Operation::Copy { task, from, .. } => {
                    let segment = self.array.flash.block_of(from);
                    let index = from & (self.array.geometry.pages_per_segment - 1);
                    if segment == task {
                        self.background.repeat_copy(task, index);
                    } else {
                        let position = self.array.position_of[segment as usize];
                        self.background.take_another(task, position);
                    }
                }
            }
            self.array.programs.lost += 1;
            self.interrupted.programs_repeated += 1;
        }
    }

    /// Marks the slot of an interrupted program as dirty or as a shadow again if the page in the slot is
    /// still needed.
    fn repeat_drain(&mut self, slot: u32) {
        let content = *self.buffer.slot(slot);
        if content.state == SlotState::Draining {
            self.buffer.put_back(slot, SlotState::Dirty);
        } else if self.array.shadows.get(&content.lpn) == Some(&Location::Buffer(slot)) {
            self.buffer.put_back(slot, SlotState::Shadow);
        } else {
            self.buffer.set_free(slot);
        }
    }

    /// Restores power at `at`, and returns the result of the recovery. Each page of a rolled-back transaction
    /// takes one SRAM access.
    pub(super) fn repair(&mut self, at: Time) -> Recovery {
        self.has_failed = false;
        let pages = self.roll_back().unwrap_or(0);
        let done = at.max(self.free_at) + Time::from_ps(self.config.access.as_ps() * pages);
        (self.free_at, self.worked_until) = (done, done);
        let is_cleaning = self.background.is_relocating();
        Recovery { done, is_cleaning, pages_rolled_back: pages, ..self.interrupted }
    }
}

impl Background {
    /// Aborts and returns the operations in progress. Every aborted erase must be repeated.
    fn interrupt(&mut self) -> Vec<Operation> {
        self.tasks.iter_mut().for_each(|task| task.is_erasing = false);
        self.running.drain(..).map(|running| running.operation).collect()
    }

    /// Makes the relocation copy the page at `index` again if it is still valid.
    fn repeat_copy(&mut self, segment: u32, index: u32) {
        let relocation = &mut self.task_mut(segment).relocation;
        relocation.cursor = relocation.cursor.min(index);
        relocation.copied -= 1;
    }

    /// Makes the relocation copy another page from `position` instead of one whose copy was
    /// interrupted.
    fn take_another(&mut self, segment: u32, position: u32) {
        let relocation = &mut self.task_mut(segment).relocation;
        relocation.copied -= 1;
        let taken = relocation.takes.iter_mut().find(|taken| {
            // A source that has given no page is in its initial state.
            taken.position == position && (taken.from_end || taken.cursor > 0)
        });
        taken.expect("a page came from there").left += 1;
    }

    fn is_relocating(&self) -> bool {
        !self.tasks.is_empty()
    }
}
