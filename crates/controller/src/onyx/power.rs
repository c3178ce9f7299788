//! Power failures: what is programmed nevertheless, what is lost, and what is copied again.
//!
//! A program that has ended is on the medium. For the others the capacitors have energy or not; it goes to them
//! in the order in which they would have ended. A program without it that was under way has written its chunk
//! up to where it was. A copy of wear levelling needs no energy: its row is still where it was, and it is
//! copied again when the power is back.

use super::config::CompletionPoint;
use super::model::Onyx;
use nacre_kernel::{Activity, Random, Recovery, Time, Timeline};
use nacre_media::persistence::{Loss, Torn};
use nacre_media::store::Store;

impl<S: Store> Onyx<S> {
    /// The power fails at `at`.
    pub(super) fn lose_power(&mut self, at: Time, chance: &mut Random) {
        self.has_failed = true;
        self.settle(at);
        let powered = self.powered_programs();
        let mut pending = std::mem::take(&mut self.pending);
        let torn = Torn::Progress { unit: 1 };
        let put_back = |address: u64, old: &[u8]| self.put_back(address, old);
        let Loss { ready, programs_finished, programs_lost, bytes_lost } =
            pending.fail_with_energy(at, powered, torn, chance, put_back);
        self.interrupted = Recovery {
            done: ready,
            programs_finished,
            programs_lost,
            bytes_lost,
            programs_repeated: self.moves.len() as u64,
            ..Recovery::default()
        };
        self.cancel_work(at, ready);
    }

    /// Programs of a chunk that the capacitors have energy for; `None` where it is enough for all.
    pub(super) fn powered_programs(&self) -> Option<u64> {
        match (self.config.capacitors, self.config.chips.cells.program_energy) {
            (Some(held), Some(each)) if each.0 > 0.0 => {
                // A budget of exactly so many programs is not to fall short by a rounding of floats.
                Some((held.0 / (each.0 * f64::from(self.config.chips.count())) * (1.0 + 1e-12)) as u64)
            }
            (None, _) if self.config.completion == CompletionPoint::Late => Some(0),
            _ => None,
        }
    }

    /// Nothing is under way any more from `at` on, but for programs that stored energy finishes by `ready`.
    fn cancel_work(&mut self, at: Time, ready: Time) {
        self.host.power_fail(at);
        self.tags.clear();
        self.book.pipeline.give_back(Activity::Software, self.pipeline.busy_after(at));
        self.pipeline = Timeline::new();
        self.ring.power_fail(at);
        let writes = self.config.writes_at_a_time();
        for controller in &mut self.controllers {
            controller.power_fail(at, ready, writes);
        }
    }

    /// The power is back at `at`: rows whose copies were interrupted are copied again.
    pub(super) fn repair(&mut self, at: Time) -> Recovery {
        self.has_failed = false;
        let mut recovery = std::mem::take(&mut self.interrupted);
        let start = at.max(recovery.done);
        recovery.done = start;
        let mut moves = std::mem::take(&mut self.moves);
        for moved in &mut moves {
            // Until then the power may fail again, and it is copied once more.
            moved.end = self.controllers[moved.controller].copy_again(start, moved.from, moved.to);
            recovery.done = recovery.done.max(moved.end);
        }
        moves.make_contiguous().sort_by_key(|moved| moved.end);
        self.moves = moves;
        (self.latest, self.ready) = (recovery.done, recovery.done);
        recovery
    }
}
