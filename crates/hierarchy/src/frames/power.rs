//! What a loss of power leaves, and what is done then.

use super::{Frame, FrameCache, Memory, WRITE_BACKS};
use crate::unfinished::write_again;
use nacre_kernel::{Random, Recovery, Time};

impl<M: Memory> FrameCache<M> {
    /// The power fails: what is volatile is gone, and of the rest what had not landed.
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        if M::IS_VOLATILE {
            self.forgotten += self.index.len() as u64;
            // What was on its way back had not landed there.
            let leaving = self.back.iter().filter(|&&done| done > at).count() as u64;
            self.bytes_lost += (u64::from(self.dirty_count) + leaving) * self.settings.page.0;
            self.drop_where(|_, _| true);
        } else {
            let after = self.unfinished.fail(at, chance);
            for key in &after.gone {
                self.rescued.remove(key);
                if let Some(frame) = self.find(*key) {
                    self.counts.pages_power_failed += 1;
                    self.vacate(frame);
                }
            }
            self.rescued.extend(after.rescued);
            // A page that was on its way in has garbage in its frame. One that had come back before it was there knows of
            // trims that what is sent again does not.
            self.drop_where(|cache, frame| {
                let Frame { key, arrives } = cache.frames[frame as usize];
                !cache.is_dirty(frame) && (arrives > at || cache.rescued.contains_key(&key))
            });
            for frame in &mut self.frames {
                frame.arrives = frame.arrives.min(at);
            }
        }
        self.back = [at; WRITE_BACKS];
        self.all_back = self.all_back.min(at);
        self.memory.power_fail(at);
        self.backing.power_fail(at, chance);
    }

    /// The backing lost something, and perhaps pages of which there are copies here: they go back when they leave.
    #[cold]
    fn keep_copies(&mut self) {
        let clean: Vec<u32> = self.used.oldest_first(0).filter(|&frame| !self.is_dirty(frame)).collect();
        for frame in clean {
            self.dirty.insert(0, frame);
            self.dirty_count += 1;
        }
    }

    fn drop_where(&mut self, is_dropped: impl Fn(&FrameCache<M>, u32) -> bool) {
        let all: Vec<u32> = self.used.oldest_first(0).filter(|&frame| is_dropped(self, frame)).collect();
        self.counts.pages_power_failed += all.len() as u64;
        all.into_iter().for_each(|frame| self.vacate(frame));
    }

    /// The power is back: what was on its way back goes there.
    pub(super) fn come_back(&mut self, at: Time) -> Recovery {
        let below = self.backing.recover(at);
        if below.bytes_lost > 0 {
            self.keep_copies();
        }
        let mut own = Recovery {
            done: at,
            blocks_forgotten: std::mem::take(&mut self.forgotten),
            bytes_lost: std::mem::take(&mut self.bytes_lost),
            ..Recovery::default()
        };
        for (key, bytes) in std::mem::take(&mut self.rescued) {
            let address = key << self.shift;
            let FrameCache { backing, scratch, .. } = &mut *self;
            let safe = match bytes.is_empty() {
                true => None,
                false => write_again(&mut **backing, below.done, address, &bytes, scratch),
            };
            let Some(safe) = safe else {
                self.lose(key);
                own.bytes_lost += self.settings.page.0;
                continue;
            };
            self.lost.remove(&key);
            own.programs_repeated += 1;
            own.done = own.done.max(safe);
            self.unfinished.sent_back(key, safe, bytes);
        }
        own.beside(below)
    }
}
