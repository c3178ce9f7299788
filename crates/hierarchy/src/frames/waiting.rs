//! Request parts that wait at a busy frame or for a frame.

use super::Memory;
use super::busy::{Busy, Wait, Waiter, Why};
use super::cache::FrameCache;
use super::operation::NONE;
use super::reads::Run;
use crate::visit::Part;
use nacre_kernel::{Status, Time};
use std::collections::VecDeque;

impl<M: Memory> FrameCache<M> {
    /// Makes `frame` busy with page `key`. If `behind` is a write-back, the frame can be used only when this
    /// write-back has a slot. Returns the number of the busy state.
    pub(super) fn make_busy(&mut self, why: Why, frame: u32, key: u64, behind: u32) -> u32 {
        let (number, busy) = self.busy.take();
        let mut waiters = std::mem::take(&mut busy.waiters);
        waiters.clear();
        *busy = Busy { why, frame, key, behind, fetch: NONE, waiters, ..Busy::default() };
        self.frames[frame as usize].busy = number;
        self.fetching += u64::from(why == Why::Fetching);
        if behind != NONE {
            self.operations[behind].back.frame_of = number;
        }
        number
    }

    /// Ends the busy state of a frame. Returns the request parts that waited for it.
    fn free_busy(&mut self, number: u32) -> VecDeque<Waiter> {
        let busy = &mut self.busy[number];
        self.frames[busy.frame as usize].busy = NONE;
        self.fetching -= u64::from(busy.why == Why::Fetching);
        if busy.behind != NONE {
            self.operations[busy.behind].back.frame_of = NONE;
        }
        let waiters = std::mem::take(&mut busy.waiters);
        *busy = Busy::default();
        self.busy.give_back(number);
        waiters
    }

    /// Handles a busy frame whose page does not arrive or is unreadable. The parts that wait for the page
    /// look it up again.
    pub(super) fn give_up_busy(&mut self, number: u32) {
        let waiters = self.free_busy(number);
        for waiter in waiters.into_iter().rev() {
            self.without_frame.push_front(waiter);
        }
    }

    /// Serves the parts that wait at a busy frame, until a part must wait longer.
    pub(super) fn serve_waiters(&mut self, now: Time, number: u32) {
        loop {
            let Busy { why, frame, key, .. } = self.busy[number];
            let may_write = !matches!(why, Why::Filling | Why::Fetching);
            let next = self.busy[number].waiters.front().map(|waiter| (waiter.is_write, waiter.trim));
            let trims = next.and_then(|(_, trim)| trim).filter(|_| may_write);
            if let Some(trim) = trims {
                self.busy[number].waiters.pop_front();
                if !self.dirty.holds(frame) {
                    self.give_up_busy(number);
                    return self.trim_page(now, trim, key);
                }
                self.count_down(now, trim);
                continue;
            }
            match next.map(|(is_write, trim)| is_write || trim.is_some()) {
                Some(false) => {
                    let of = self.busy[number].waiters.pop_front().expect("one waits");
                    let waited = (of.since, Some(of.waited));
                    if let Some(from) = self.read_frame(now, frame, of.visit, key, waited) {
                        // The frame is no longer busy.
                        let run = Run { first: key, pages: 1, from };
                        self.fetch(now, of.visit, of.since, run);
                        return;
                    }
                    if self.busy_of(frame) != Some(number) {
                        return;
                    }
                }
                Some(true) if may_write => {
                    let of = self.busy[number].waiters.pop_front().expect("one waits");
                    self.busy[number].why = Why::Writing;
                    return self.write_busy(now, number, of);
                }
                Some(true) => return,
                None if why == Why::Filling => return,
                None => {
                    self.free_busy(number);
                    return;
                }
            }
        }
    }

    /// Repeats the page look-ups of parts that waited for a frame, as long as frames are available.
    pub(super) fn serve_without_frame(&mut self, now: Time) {
        while let Some(waiter) = self.without_frame.front()
            && (self.has_frame()
                || waiter.trim.is_some()
                || self.find(waiter.key).is_some()
                || !waiter.is_write && self.is_lost(waiter.key))
        {
            let mut waiter = self.without_frame.pop_front().expect("one waits");
            self.is_their_turn = true;
            if let Some(trim) = waiter.trim {
                self.trim_page(now, trim, waiter.key);
                continue;
            }
            if waiter.is_write {
                self.write_page(now, waiter);
                continue;
            }
            let Waiter { visit, key, since, waited, .. } = waiter;
            match self.find(key) {
                Some(frame) => {
                    self.used.touch(0, frame);
                    match self.busy_of(frame) {
                        Some(busy) if self.busy[busy].why != Why::Filling => {
                            waiter.waited = Wait::Page;
                            self.busy[busy].waiters.push_back(waiter);
                        }
                        _ => {
                            if let Some(from) = self.read_frame(now, frame, visit, key, (since, Some(waited)))
                            {
                                self.fetch(now, visit, since, Run { first: key, pages: 1, from });
                            }
                        }
                    }
                }
                None if self.is_lost(key) => {
                    self.counts.read_lost += 1;
                    let own = Some((waited.activity(), now - since));
                    let part = Part { own, ..Part::at_once(Status::MediaError) };
                    self.visits.part_ends(now, visit, &part);
                }
                None => {
                    self.visits.drop_part(visit);
                    self.fetch(now, visit, since, Run { first: key, pages: 1, from: now });
                }
            }
        }
        self.is_their_turn = false;
    }

    /// Whether at least one frame is not busy.
    #[inline]
    fn has_frame(&self) -> bool {
        self.busy.len() < (self.settings.frames - self.modes.withdrawn) as usize
    }

    /// Whether a page may take a frame, i.e. no earlier page waits for a frame.
    #[inline]
    pub(super) fn may_take_frame(&self) -> bool {
        self.has_frame() && (self.is_their_turn || self.without_frame.is_empty())
    }
}
