//! Parts of requests at their controllers: write slots, row operations, and wear-leveling copies.

use super::config::CompletionPoint;
use super::drive::{Drive, Event, RowMove};
use super::part::Row;
use super::scoreboard::{Begun, Job};
use crate::wear_leveling::Move;
use nacre_kernel::Time;
use nacre_media::store::Store;

impl<S: Store> Drive<S> {
    /// Receives a part at its controller. A read waits for lines and ranks. A write first waits for a slot.
    pub(super) fn there(&mut self, now: Time, part: u32) {
        let Row { controller, row, offset, bytes, is_write, .. } = self.parts[part];
        if !is_write {
            let scoreboard = &mut self.controllers[controller as usize];
            let physical = scoreboard.leveller.physical(row);
            scoreboard.read(now, Job::Part(part), physical, offset, bytes);
            return self.look(controller);
        }
        if self.buffers[controller as usize].take(part) {
            self.take(now, part);
        } else {
            self.counts.buffer_waits += 1;
        }
    }

    /// Accepts a write into a slot of its controller.
    fn take(&mut self, now: Time, part: u32) {
        let Row { controller, row, offset, bytes, .. } = self.parts[part];
        self.parts[part].taken = now;
        if S::CARRIES_BYTES {
            self.buffered.push(part);
        }
        let words = self.words_of(part);
        let scoreboard = &mut self.controllers[controller as usize];
        let physical = scoreboard.leveller.physical(row);
        scoreboard.write(now, Job::Part(part), physical, (offset, bytes), words);
        if let Some(moved) = scoreboard.wear(row, physical) {
            self.moves.push(RowMove { controller, moved, end: Time::MAX, part });
            self.copy_bytes(controller, moved);
        }
        self.look(controller);
        if self.config.completion == CompletionPoint::Early {
            self.hop(now, controller, Event::Back(part));
        }
    }

    /// Schedules the next operation of a controller, if an operation waits.
    fn look(&mut self, controller: u32) {
        let number = controller as usize;
        self.operations.set(number, self.controllers[number].next_event());
    }

    /// Starts the next operation of a controller.
    pub(super) fn operate(&mut self) {
        let number = self.operations.take_next();
        let begun = self.controllers[number].step();
        self.operated(begun);
        self.look(number as u32);
    }

    /// Handles the start of operations on a row.
    fn operated(&mut self, begun: Begun) {
        if let Job::Part(part) = begun.job {
            let active = &mut self.active[self.parts[part].request];
            active.is_lost |= begun.decoded.is_uncorrectable;
            active.wrong_bits += begun.decoded.wrong_bits;
            self.parts[part].programs.extend(begun.programs);
        }
        let Some(done) = begun.done else { return };
        let event = match begun.job {
            Job::Part(part) => Event::Done(part),
            Job::MoveRead(part) => Event::MoveRead(part),
            Job::MoveWrite(part) => Event::MoveWritten(part),
        };
        self.agenda.schedule(done, event);
    }

    /// Completes the read or write of a part.
    pub(super) fn done(&mut self, now: Time, part: u32) {
        let Row { controller, bytes, is_write, offset, taken, .. } = self.parts[part];
        let timing = &self.controllers[controller as usize].timing;
        if !is_write {
            let (read, beats) = (timing.rank.read, timing.rank.beats(offset, bytes));
            let decoder = &self.controllers[controller as usize].decoder;
            self.parts[part].medium = timing.setup + read * beats + decoder.tail(beats, read);
            return self.cross(now, part);
        }
        if self.config.completion == CompletionPoint::Late {
            let chunks = timing.rank.chunks(offset, bytes).1;
            self.parts[part].medium = timing.alone[chunks as usize - 1].min(now - taken);
            self.hop(now, controller, Event::Back(part));
        }
        self.parts[part].is_written = true;
        if S::CARRIES_BYTES {
            self.land();
        } else {
            self.parts[part].is_landed = true;
        }
        let moved = self.moves.iter().find(|moved| moved.part == part && moved.end == Time::MAX);
        match moved.map(|moved| moved.moved.from) {
            Some(from) => {
                let scoreboard = &mut self.controllers[controller as usize];
                let bytes = scoreboard.timing.row_bytes;
                scoreboard.read(now, Job::MoveRead(part), from, 0, bytes);
                self.look(controller);
            }
            None => self.written(now, part),
        }
    }

    /// Starts to write a row that wear leveling moves and that was just read.
    pub(super) fn move_read(&mut self, now: Time, part: u32) {
        let moved = self.moves.iter().find(|moved| moved.part == part && moved.end == Time::MAX);
        let &RowMove { controller, moved, .. } = moved.expect("a row is being copied");
        let words = self.words_of_row(controller, moved.to);
        let scoreboard = &mut self.controllers[controller as usize];
        let bytes = scoreboard.timing.row_bytes;
        scoreboard.write(now, Job::MoveWrite(part), moved.to, (0, bytes), words);
        self.look(controller);
    }

    /// Ends a write and its wear-leveling copies. The slot is freed now or after the refill time.
    pub(super) fn written(&mut self, now: Time, part: u32) {
        let Row { controller, .. } = self.parts[part];
        if self.worn_out_at.is_none() && self.controllers[controller as usize].rows.worn_out() > 0 {
            self.worn_out_at = Some(now);
        }
        match self.config.completion {
            CompletionPoint::Late if !self.config.late_refill.is_zero() => {
                self.agenda.schedule(now + self.config.late_refill, Event::Refilled(controller));
            }
            _ => self.refilled(now, controller),
        }
        self.parts[part].is_over = true;
        self.settle(part);
    }

    /// Releases a write if its data is on the medium and its controller has finished.
    pub(super) fn settle(&mut self, part: u32) {
        let Row { request, is_landed, is_over, .. } = self.parts[part];
        if is_landed && is_over {
            self.give_back_part(part);
            self.active[request].unwritten -= 1;
            self.give_back(request);
        }
    }

    pub(super) fn refilled(&mut self, now: Time, controller: u32) {
        if let Some(part) = self.buffers[controller as usize].give_back() {
            self.take(now, part);
        }
    }

    /// Records a copy that is repeated after a power loss and ends at `end`.
    pub(super) fn copied_again(&mut self, controller: u32, moved: Move, end: Time) {
        self.moves.push(RowMove { controller, moved, end, part: u32::MAX });
    }
}
