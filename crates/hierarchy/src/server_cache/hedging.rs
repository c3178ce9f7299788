//! Hedged reads. If a level does not reply to a read in time, the read is also sent to the backing. The first
//! reply counts.

use super::cache::ServerCache;
use super::hedges::Hedging;
use super::ops::{NONE, Purpose};
use super::parts::part_of;
use crate::visit::Part;
use nacre_kernel::event::{Canceled, Completions, Payload, RequestId};
use nacre_kernel::{Activity, Request, Span, Status, Time};

impl ServerCache {
    /// Schedules the hedge of a read from a level, which was submitted at `now`.
    pub(super) fn hedge_later(&mut self, now: Time, number: u32) {
        let of = &mut self.operations[number];
        if let Some(hedging) = &mut self.hedging
            && matches!(of.purpose, Purpose::Alone | Purpose::Hit)
            && of.data.is_none()
        {
            of.hedged_at = now + hedging.after;
            hedging.due.insert((of.hedged_at, number));
        }
    }

    /// Sends the hedges that are due at `now`.
    pub(super) fn hedge_due(&mut self, now: Time) {
        while let Some(hedging) = &mut self.hedging
            && hedging.next() == now
            && let Some((_, number)) = hedging.due.pop_first()
        {
            self.operations[number].hedged_at = Time::MAX;
            if self.backing_has_copy_of(number) {
                self.hedge(now, number);
            }
        }
    }

    /// Whether the backing has the current version of the block that operation `number` reads from a level,
    /// and no write of the block is in progress.
    fn backing_has_copy_of(&self, number: u32) -> bool {
        let of = &self.operations[number];
        let (level, block) = (usize::from(of.level), of.block);
        let is_dirty = self
            .write_back
            .as_ref()
            .is_some_and(|work| work.dirty.contains(block) || work.has_refused(block..block + 1));
        !(of.is_broken || is_dirty)
            && self.levels.all[level].location(block).is_some()
            && self.operations.writing_copy(level, block).next().is_none()
            && !self.operations.writes_backing(block)
    }

    fn hedge(&mut self, now: Time, number: u32) {
        let of = &self.operations[number];
        let block = of.block;
        let part = match of.purpose {
            Purpose::Alone => {
                let offset = of.request.address & ((1 << self.shift) - 1);
                Request { address: block << self.shift | offset, ..of.request }
            }
            _ => part_of(block, &self.visits[of.owner].request, self.shift),
        };
        let hedge = self.operations.add(Purpose::Hedge, self.backing(), now, Request { volume: 0, ..part });
        (self.operations[hedge].block, self.operations[hedge].twin) = (block, number);
        self.operations[number].twin = hedge;
        self.counts.backing_reads += 1;
        self.hedging().counts.sent += 1;
        self.operations.launch(hedge);
    }

    fn hedging(&mut self) -> &mut Hedging {
        self.hedging.as_mut().expect("only a cache that hedges has hedges")
    }

    /// Handles a level's reply to a read. Cancels the hedge of the read if it was sent, and sends none from now
    /// on.
    pub(super) fn settle_hedge(&mut self, now: Time, number: u32) {
        let Some(hedging) = &mut self.hedging else { return };
        let of = &mut self.operations[number];
        hedging.due.remove(&(of.hedged_at, number));
        of.hedged_at = Time::MAX;
        if matches!(of.purpose, Purpose::Alone | Purpose::Hit) && of.twin != NONE {
            let hedge = std::mem::replace(&mut of.twin, NONE);
            self.withdraw(now, hedge);
        }
    }

    /// Handles the end of a hedge whose read from the level has not ended.
    pub(super) fn hedge_ends(
        &mut self,
        now: Time,
        number: u32,
        status: Status,
        (spans, data): (&[Span], Payload),
        completions: &mut Completions,
    ) {
        let read = self.operations[number].twin;
        self.operations.end(number, false, |_| Payload::NONE);
        let of = &mut self.operations[read];
        of.twin = NONE;
        if status != Status::Done {
            // The level read may still succeed.
            return;
        }
        let told = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
        let (purpose, owner, block, waited) = (of.purpose, of.owner, of.block, now - of.since - told);
        self.hedging().counts.won += 1;
        if purpose == Purpose::Alone {
            let own = [(Activity::Software, self.lookup), (Activity::Queue, waited)];
            completions.push_behind(RequestId(owner), now, status, self.id, own, spans).data = data;
        } else {
            let from = self.visits[owner].request.address.max(block << self.shift);
            let own = Some((Activity::Queue, waited));
            self.part_ends(now, owner, &Part { own, spans, data: (from, data), ..Part::at_once(status) });
        }
        self.withdraw(now, read);
    }

    /// Cancels the slower of a read and its hedge. If this read has already started, its reply is ignored.
    fn withdraw(&mut self, now: Time, number: u32) {
        let device = usize::from(self.operations[number].device);
        let canceled = self.devices[device].cancel(now, RequestId(number));
        self.next[device] = self.devices[device].next_event();
        match canceled {
            Canceled::Yes => {
                self.hedging().counts.canceled += 1;
                self.operations.end(number, false, |_| Payload::NONE);
            }
            Canceled::TooLate => self.operations[number].purpose = Purpose::Wait,
        }
    }
}
