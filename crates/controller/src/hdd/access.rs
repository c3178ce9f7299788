//! Starts and ends accesses of the arm, and serves reads from the read-ahead buffer.

use super::arm::{Busy, Waiting};
use super::buffer::ReadAhead;
use super::drive::Hdd;
use super::request::{Event, Spans};
use nacre_kernel::event::Completions;
use nacre_kernel::{Activity, Energy, Ledger, Time};
use nacre_media::disk::Access;
use nacre_media::store::Store;

impl<S: Store> Hdd<S> {
    /// Selects a request and starts its access. The arm must be free at `now`.
    pub(super) fn begin_access(&mut self, now: Time) {
        let chosen = self.arm.choose(now, &self.disk);
        let end = chosen.address + u64::from(chosen.bytes);
        if !chosen.is_write
            && let Some(ready) =
                self.read_ahead.and_then(|ahead| ahead.ready(self.disk.layout(), chosen.address, end))
        {
            return self.read_buffered(now, &chosen, ready);
        }
        let spin_up = self.spin_up(now);
        let start = now + spin_up;
        let access = self.disk.plan_from(&self.disk.arm(), start, &chosen.target);
        let until = start + access.total();
        self.disk.perform(access, end);
        self.charged_to = until;
        self.read_ahead = None;
        self.active[chosen.number].spans =
            Spans { link: self.active[chosen.number].spans.link, ..Spans::of(&access, spin_up) };
        let (number, is_write) = (Some(chosen.number), chosen.is_write);
        self.arm.begin(Busy { until, number, is_write, begun: now, spin_up, access });
    }

    /// Ends the access in progress.
    pub(super) fn end_access(&mut self, at: Time, completions: &mut Completions) {
        let busy = self.arm.busy().expect("an access ends");
        self.arm.free(at);
        let Some(number) = busy.number else { return };
        let request = self.active[number].request;
        if busy.is_write {
            if !self.cached.holds(number) {
                self.complete(at, number, completions);
            }
            return self.land(at, number);
        }
        self.complete(at, number, completions);
        self.active.give_back(number);
        let depth = self.config.read_ahead.0;
        let end = request.address + u64::from(request.bytes);
        self.read_ahead = (depth > 0).then(|| ReadAhead::new(self.disk.layout(), end, at, depth));
    }

    /// Serves a read from the read-ahead buffer. The last byte of the read crosses the interface at `ready`
    /// or later. The arm stays busy until `ready`.
    fn read_buffered(&mut self, now: Time, chosen: &Waiting, ready: Time) {
        let (address, end) = (chosen.address, chosen.address + u64::from(chosen.bytes));
        let link = self.interface.time_for(end - address);
        let available = ready.saturating_sub(link).max(now);
        let spans = &mut self.active[chosen.number].spans;
        (spans.transfer, spans.link) = (available - now, link);
        self.agenda.schedule(available, Event::Buffered(chosen.number));
        let layout = self.disk.layout();
        let transfer = layout.turns_at(end) - layout.turns_at(address);
        if let Some(ahead) = &mut self.read_ahead {
            ahead.take(layout, now, end);
        }
        self.charge_read_ahead(ready.max(now), transfer, end);
        self.counts.read_ahead_hits += 1;
        if ready > now {
            let access = Access { seek: Time::ZERO, rotate: Time::ZERO, transfer: ready - now };
            let (number, is_write, spin_up) = (None, false, Time::ZERO);
            self.arm.begin(Busy { until: ready, number, is_write, begun: now, spin_up, access });
        } else {
            self.arm.free(now);
        }
    }

    /// Charges the transfer of a read-ahead that ended by `until`. Charges only the time after the arm's last
    /// charged access and after the start of measurement.
    fn charge_read_ahead(&mut self, until: Time, transfer: Time, end: u64) {
        let from = self.charged_to.max(self.counts.since.unwrap_or_default());
        let transfer = transfer.min(until.saturating_sub(from));
        self.charged_to = from + transfer;
        self.disk.perform(Access { seek: Time::ZERO, rotate: Time::ZERO, transfer }, end);
    }

    /// Time to spin up for an access at `start`. Zero if the platters are already spinning.
    fn spin_up(&mut self, start: Time) -> Time {
        let Some(standby) = &self.config.standby else { return Time::ZERO };
        let stood_from = self.arm.free_since() + standby.after;
        if start <= stood_from {
            return Time::ZERO;
        }
        let since = stood_from.max(self.counts.since.unwrap_or_default());
        self.counts.standing += start.saturating_sub(since);
        self.counts.spin_ups += 1;
        standby.spin_up
    }

    /// Handles a power loss at `at`. The rest of the access in progress is not performed, and waiting
    /// requests are dropped.
    pub(super) fn cut_access(&mut self, at: Time) {
        if let Some(Busy { number, begun, spin_up, access, .. }) = self.arm.busy() {
            let spun = begun + spin_up;
            if at < spun {
                self.counts.spin_ups_cut += spun - begun.max(at);
            }
            // Read-ahead is charged separately.
            let parts = [
                (Activity::Seek, access.seek),
                (Activity::Rotate, access.rotate),
                (Activity::Transfer, access.transfer),
            ];
            let mut begin = spun;
            for (activity, time) in parts.into_iter().filter(|_| number.is_some()) {
                let end = begin + time;
                self.disk.give_back(activity, end.saturating_sub(begin.max(at)));
                begin = end;
            }
        }
        self.arm.forget_waiting();
        self.arm.free(at);
    }

    /// The ledger of the arm, including spin-ups.
    pub(super) fn arm_ledger(&self) -> Ledger {
        let mut ledger = self.disk.ledger().clone();
        let ups = self.counts.spin_ups;
        if let Some(standby) = &self.config.standby {
            let busy = u128::from(standby.spin_up.as_ps()) * u128::from(ups);
            let busy = busy.saturating_sub(u128::from(self.counts.spin_ups_cut.as_ps()));
            let each = standby.spin_up_energy.unwrap_or_default();
            ledger.charge_sum(Activity::SpinUp, busy, Energy(each.0 * ups as f64));
        }
        ledger
    }

    /// Idle energy over the time `elapsed`, or `None` if the power is unknown.
    pub(super) fn idle_energy(&self, elapsed: Time) -> Option<Energy> {
        self.config.idle_energy(elapsed, self.counts.standing.min(elapsed))
    }
}
