//! Rows that switch their mode, and pages that change their code.
//!
//! A row switches to SLC mode because one of its pages is hit often, or because a page has at least as many
//! bit errors as its code corrects. The other page of the row moves to the least recently used frame, whose
//! page is evicted, and the remaining page is rewritten. The frame of the page that moved is then
//! *withdrawn*. When a page that was hit often leaves the cache, its row returns to MLC mode. A row with worn
//! cells stays in SLC mode.
//!
//! A row switches only if nothing has to wait: both of its frames must not be busy, and a dirty page that is
//! evicted must find a slot for its write-back. Otherwise, the next read of the page tries again.

use super::cache::{Event, Frame, FrameCache};
use super::operation::NONE;
use super::{Memory, NONE as NO_PAGE, WRITE_BACKS};
use crate::programmable::Remedy;
use nacre_kernel::Time;

impl<M: Memory> FrameCache<M> {
    /// Records that the page of `frame` leaves. If its row switched to SLC mode because of hits, the row
    /// returns to MLC mode.
    #[inline]
    pub(super) fn leave_row(&mut self, frame: u32) {
        if !self.modes.is_programmable() {
            return;
        }
        self.modes.global.leaves(self.modes.uses[frame as usize]);
        let row = &mut self.modes.rows[(frame >> 1) as usize];
        if row.withdrawn != NONE && !row.is_worn {
            self.free.push(row.withdrawn);
            row.withdrawn = NONE;
            self.modes.withdrawn -= 1;
            self.memory.to_mlc(frame);
        }
    }

    /// Adapts the row of `frame` after its page was read: first to the bit errors of the page, then to its
    /// hits.
    #[inline]
    pub(super) fn adapt(&mut self, now: Time, frame: u32) {
        if !self.modes.is_programmable() {
            return;
        }
        if self.memory.is_at_limit(frame) {
            match self.remedy(frame) {
                Some(Remedy::Strength) => self.raise(frame),
                Some(Remedy::Density) => self.lower(now, frame),
                None => {}
            }
        }
        self.promote(now, frame);
    }

    /// Switches the row of `frame` to SLC mode if its page had enough hits.
    #[inline]
    pub(super) fn promote(&mut self, now: Time, frame: u32) {
        let Some(rules) = self.modes.rules else { return };
        let is_hot = rules.promotes_at.is_some_and(|at| self.modes.uses[frame as usize].hits >= at);
        let has_page = self.frames[frame as usize].key != NO_PAGE;
        if is_hot && has_page && !self.modes.is_slc(frame) && self.switch(now, frame) {
            self.modes.counts.pages_promoted += 1;
            self.modes.enters(frame);
        }
    }

    /// Selects a remedy for the page of `frame`, which has at least as many bit errors as its code corrects.
    /// `None` if no remedy is possible.
    pub(super) fn remedy(&self, frame: u32) -> Option<Remedy> {
        let rules = self.modes.rules?;
        let stronger = self.memory.stronger(frame);
        let can_lower = rules.lowers_density && !self.modes.is_slc(frame);
        let (global, page) = (&self.modes.global, self.modes.uses[frame as usize]);
        Remedy::cheaper(stronger.is_some(), can_lower, || {
            let decode = stronger.expect("there is a stronger code");
            [global.cost_of_strength(page, decode), global.cost_of_density(page, rules.reads)]
        })
    }

    /// Adapts the row of `frame` after the unreadable page of this frame has left.
    #[cold]
    pub(super) fn adapt_empty(&mut self, now: Time, frame: u32, remedy: Option<Remedy>) {
        match remedy {
            Some(Remedy::Strength) => self.raise(frame),
            // The frame itself is withdrawn, so no page has to move.
            Some(Remedy::Density) => self.lower(now, frame ^ 1),
            None => {}
        }
    }

    fn raise(&mut self, frame: u32) {
        self.memory.raise(frame);
        self.modes.counts.strength_raised += 1;
    }

    /// Switches the row of frame `keep` to SLC mode permanently.
    fn lower(&mut self, now: Time, keep: u32) {
        if self.switch(now, keep) {
            self.modes.rows[(keep >> 1) as usize].is_worn = true;
            self.modes.counts.density_lowered += 1;
        }
    }

    /// Switches the row of frame `keep` to SLC mode, and withdraws the other frame of this row. Returns
    /// whether this was possible.
    fn switch(&mut self, now: Time, keep: u32) -> bool {
        let gone = keep ^ 1;
        let is_busy = |frame: u32| self.frames.get(frame as usize).is_some_and(|of| of.busy != NONE);
        if is_busy(keep) || is_busy(gone) || !self.empty(now, gone) {
            return false;
        }
        self.modes.rows[(keep >> 1) as usize].withdrawn = gone;
        self.modes.withdrawn += 1;
        let has_page = self.frames.get(keep as usize).is_some_and(|of| of.key != NO_PAGE);
        let end = self.memory.to_slc(keep, has_page, now);
        self.agenda.schedule(end, Event::Copied);
        true
    }

    /// Empties frame `gone`, which is then neither free nor in use. Returns false if the page in the frame
    /// cannot leave.
    fn empty(&mut self, now: Time, gone: u32) -> bool {
        if gone as usize == self.frames.len() {
            self.frames.push(Frame { key: NO_PAGE, busy: NONE });
            return true;
        }
        let key = self.frames[gone as usize].key;
        if key == NO_PAGE {
            let free = self.free.iter().rposition(|&frame| frame == gone);
            self.free.swap_remove(free.expect("a frame without a page is free"));
            return true;
        }
        let Some(to) = self.frame_to_move_to(now, gone) else { return false };
        if to != gone {
            let end = self.memory.move_page(gone, to, now);
            self.agenda.schedule(end, Event::Copied);
            self.index.relocate(key, gone, to);
            self.frames[to as usize] = Frame { key, busy: NONE };
            self.frames[gone as usize].key = NO_PAGE;
            self.used.replace(gone, to);
            if self.dirty.holds(gone) {
                self.dirty.replace(gone, to);
            }
            self.modes.uses[to as usize] = self.modes.uses[gone as usize];
            self.modes.counts.pages_relocated += 1;
        }
        true
    }

    /// Provides a frame for the page of `gone`. Returns `gone` itself if its page was evicted instead, and
    /// `None` if no page can be evicted now.
    fn frame_to_move_to(&mut self, now: Time, gone: u32) -> Option<u32> {
        if let Some(frame) = self.free.pop() {
            return Some(frame);
        }
        if self.frames.len() < self.settings.frames as usize {
            self.frames.push(Frame { key: NO_PAGE, busy: NONE });
            return Some(self.frames.len() as u32 - 1);
        }
        let mut by_use = self.used.oldest_first(0);
        let oldest = by_use.find(|&frame| frame != gone ^ 1 && self.busy_of(frame).is_none());
        drop(by_use);
        let oldest = oldest?;
        if self.dirty.holds(oldest) {
            if self.on_their_way >= WRITE_BACKS as u32 {
                return None;
            }
            self.write_back(oldest, now);
        }
        self.counts.evictions += 1;
        self.vacate(oldest);
        self.free.pop()
    }

    /// Panics unless the modes of the rows match their frames.
    pub(super) fn check_modes(&self) {
        let withdrawn = self.modes.rows.iter().filter(|row| row.withdrawn != NONE);
        assert_eq!(withdrawn.clone().count(), self.modes.withdrawn as usize, "withdrawn frames");
        for row in withdrawn {
            let Frame { key, busy } = self.frames[row.withdrawn as usize];
            assert!(key == NO_PAGE && busy == NONE, "frame {} is withdrawn, and in use", row.withdrawn);
        }
    }
}
