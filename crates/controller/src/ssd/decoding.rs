//! Reads of the host from a drive whose bits go wrong.

use super::errors::{Errors, Sensing};
use super::fetching::Fetch;
use super::model::Ssd;
use super::reading::{Found, Last};
use nacre_kernel::{Activity, Breakdown, Completion, ComponentId, Data, Request, Status, Time};
use nacre_media::store::Store;

/// Where the time went after the first sense of a page.
#[derive(Clone, Copy, Default)]
struct Again {
    waits: Time,
    suspending: Time,
    senses: Time,
    crossing: Time,
    decoding: Time,
}

impl Again {
    /// A page that was there at `from` is sensed once more.
    fn add(&mut self, from: Time, fetch: &Fetch) {
        self.waits += fetch.turn.start - from - fetch.turn.suspending + (fetch.transfer - fetch.sensed);
        self.suspending += fetch.turn.suspending;
        self.senses += fetch.sensed - fetch.turn.start;
        self.crossing += fetch.done - fetch.transfer;
    }

    fn tell(&self, id: ComponentId, breakdown: &mut Breakdown) {
        let spans = [
            (Activity::Queue, self.waits),
            (Activity::Suspend, self.suspending),
            (Activity::Read, self.senses),
            (Activity::Transfer, self.crossing),
            (Activity::Correct, self.decoding),
        ];
        breakdown.add_all(id, spans);
    }
}

/// Units of one operation that were read.
struct Part {
    last: Last,
    again: Again,
    is_lost: bool,
}

impl<S: Store> Ssd<S> {
    /// Reads the units of `request`; it fails where one of them is lost.
    fn read_decoded(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, last) = self.array.geometry.units_of(request);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let nothing = Last { translated: at, fetch: None, done: at };
        let mut slowest = Part { last: nothing, again: Again::default(), is_lost: false };
        let mut unit = first;
        while unit <= last {
            let translated = self.translate(at, unit, false, true);
            let found = self.find(unit, at);
            let mut units = 1;
            while !found.is_buffered && unit + units <= last && self.is_beside(unit + units, &found) {
                self.translate(at, unit + units, false, true);
                units += 1;
            }
            let part = self.read_part(at, translated, &found, (unit, units));
            let is_lost = slowest.is_lost || part.is_lost;
            if part.last.done >= slowest.last.done {
                slowest = part;
            }
            slowest.is_lost = is_lost;
            unit += units;
        }
        let crossing = self.interface.answer(slowest.last.done, u64::from(request.bytes));
        slowest.last.tell(self.id, at, &crossing, breakdown);
        slowest.again.tell(self.id, breakdown);
        let done = self.interface.leave(crossing.there, breakdown);
        self.refresh_due(at);
        let status = if slowest.is_lost { Status::MediaError } else { Status::Done };
        Completion { done, status }
    }

    /// The same with the bytes. Of a read that fails none are given.
    #[inline(never)]
    pub(super) fn read_and_give_decoded(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let completion = self.read_decoded(now, request, breakdown);
        match (completion.status, data) {
            (Status::Done, data) => self.give(request.address, data),
            (_, Data::Read(into)) => into.fill(0),
            _ => {}
        }
        completion
    }

    /// The host has written or trimmed all of `unit`: if it was lost, it is not any more.
    #[inline]
    pub(super) fn replace(&mut self, unit: u32) {
        if let Some(errors) = &mut self.schedule.errors.0 {
            errors.replace(unit);
        }
    }

    fn read_part(&mut self, now: Time, translated: Time, found: &Found, run: (u32, u32)) -> Part {
        let (unit, units) = run;
        let fetch = self.fetch::<false>(now, translated, found, units);
        let done = fetch.map_or(translated, |fetch| fetch.done);
        let mut part = Part {
            last: Last { translated, fetch, done },
            again: Again::default(),
            // What a loss of power left without a place reads as zero.
            is_lost: found.superblock != u32::MAX && self.errors().is_lost(run),
        };
        if fetch.is_some() && found.superblock != u32::MAX {
            let sensing = self.decode(found, (unit, units), done);
            part.is_lost |= sensing.is_lost;
            for _ in 0..sensing.senses {
                let from = part.last.done;
                let again = self.schedule.fetch(now, from, found.spot, units, Activity::Read);
                self.schedule.count_read(Activity::Read, 1);
                part.again.add(from, &again);
                part.last.done = again.done;
            }
            part.last.done += sensing.decoding;
            part.again.decoding = sensing.decoding;
        }
        part
    }

    /// Decodes the units of `run`, which one operation holds that was read at `at`. What is uncorrectable is lost.
    fn decode(&mut self, found: &Found, (first, units): (u32, u32), at: Time) -> Sensing {
        let erases = self.array.flash.blocks()[found.superblock as usize].erases;
        let pages = &self.array.table[first as usize..(first + units) as usize];
        let errors = self.schedule.errors.0.as_mut().expect("its bits go wrong");
        let mut all = Sensing::default();
        for (unit, &entry) in (first..).zip(pages) {
            let sensing = errors.decode(entry - 1, erases, found.spot.cells, at);
            all.senses = all.senses.max(sensing.senses);
            all.decoding += sensing.decoding;
            all.is_lost |= sensing.is_lost;
            if sensing.is_lost {
                errors.lose(unit);
            }
        }
        errors.count_reads(pages, all.senses);
        all
    }

    /// The rest of `unit`, a part of which is written, is read from `found`. Where it is lost, so is what is written.
    pub(super) fn decode_rest(&mut self, unit: u32, found: &Found, at: Time) {
        if found.superblock == u32::MAX {
            return self.replace(unit);
        }
        if !found.is_buffered {
            let sensing = self.decode(found, (unit, 1), at);
            let mut from = at;
            for _ in 0..sensing.senses {
                from = self.schedule.fetch(at, from, found.spot, 1, Activity::Read).done;
                self.schedule.count_read(Activity::Read, 1);
            }
        }
        self.errors().lose_again(unit);
    }

    fn errors(&mut self) -> &mut Errors {
        self.schedule.errors.0.as_mut().expect("its bits go wrong")
    }
}
