//! Loss of power: what the arm has done, what is lost, and what it is charged for.

use super::buffer::WriteCache;
use super::model::Hdd;
use nacre_kernel::{Activity, Cancelled, Operations, Random, Recovery, Time, Timeline};
use nacre_media::disk::Access;
use nacre_media::persistence::Loss;
use nacre_media::store::Store;

impl<S: Store> Hdd<S> {
    /// The arm is busy with `access` from `start` on.
    #[inline]
    pub(super) fn note(&mut self, start: Time, access: &Access) {
        if S::CARRIES_BYTES {
            let mut begin = start;
            for (activity, time) in [
                (Activity::Seek, access.seek),
                (Activity::Rotate, access.rotate),
                (Activity::Transfer, access.transfer),
            ] {
                self.under_way.add(activity, begin, begin + time, Operations::default());
                begin += time;
            }
        }
    }

    /// The power fails at `at`.
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        let loss = self.bytes.power_fail(at, chance);
        let Loss { programs_lost, bytes_lost, .. } = loss;
        self.lost = Recovery { programs_lost, bytes_lost, ..Recovery::default() };
        self.cancel(at);
        self.arm = Timeline::new();
        self.queue.clear();
        self.interface.power_fail(at);
        self.read_ahead = None;
        self.write_cache = WriteCache::new(self.config.write_cache.0);
        self.written_at = self.written_at.min(at);
        self.charged_to = self.charged_to.min(at);
    }

    /// What the arm has not done at `at` it does not do.
    fn cancel(&mut self, at: Time) {
        for cancelled in self.under_way.cancel(at) {
            let Cancelled { activity, time, .. } = cancelled;
            match activity {
                Activity::SpinUp if cancelled.is_whole() => {
                    self.book.spin_ups = self.book.spin_ups.saturating_sub(1);
                }
                Activity::SpinUp => self.book.spin_ups_cut += time,
                _ => self.disk.give_back(activity, time),
            }
        }
    }
}
