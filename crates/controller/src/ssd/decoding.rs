//! Reads of the host from a drive whose bits go wrong.

use super::errors::{Errors, Sensing};
use super::model::Ssd;
use super::reading::{Found, Last};
use super::retry_times::RetryTimes;
use nacre_kernel::{Activity, Breakdown, Completion, Data, Request, Status, Time};
use nacre_media::store::Store;

/// Units of one operation that were read.
struct Part {
    last: Last,
    again: RetryTimes,
    is_lost: bool,
}

impl<S: Store> Ssd<S> {
    /// Reads the units of `request`; it fails where one of them is lost.
    fn read_decoded(&mut self, now: Time, request: &Request, breakdown: &mut Breakdown) -> Completion {
        let (first, last) = self.array.geometry.units_of(request);
        let at = self.interface.enter(now, request, u64::from(last - first) + 1, breakdown);
        let nothing = Last { translated: at, fetch: None, done: at };
        let mut slowest = Part { last: nothing, again: RetryTimes::default(), is_lost: false };
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
        let fetch = self.fetch::<false>(now, translated, found, run);
        let done = fetch.map_or(translated, |fetch| fetch.done);
        let mut part = Part {
            last: Last { translated, fetch, done },
            again: RetryTimes::default(),
            // What a loss of power left without a place reads as zero.
            is_lost: found.superblock != u32::MAX && self.errors().is_lost(run),
        };
        if fetch.is_some() && found.superblock != u32::MAX {
            let (sensing, beyond) = self.decode(found, (unit, units), done);
            for _ in 0..sensing.senses {
                let from = part.last.done;
                let again = self.schedule.fetch(
                    (now, from),
                    (found.spot, self.planes_of(unit, units)),
                    units,
                    Activity::Read,
                );
                self.schedule.count_read(Activity::Read, 1);
                part.again.add(from, &again);
                part.last.done = again.done;
            }
            part.last.done += sensing.decoding;
            part.again.decoding = sensing.decoding;
            part.is_lost |= sensing.is_lost && beyond.is_empty();
            self.rebuild_all((now, found), &beyond, &mut part);
        }
        part
    }

    /// Rebuilds the units `beyond` the code of what was read from `found` as `part`, beside each other. What cannot be is
    /// lost.
    #[inline]
    fn rebuild_all(&mut self, (now, found): (Time, &Found), beyond: &[u32], part: &mut Part) {
        let (from, mut slowest) = (part.last.done, RetryTimes::default());
        for &unit in beyond {
            let rebuilt = self.rebuild((now, from), unit, found);
            if rebuilt.done > part.last.done {
                (part.last.done, slowest) = (rebuilt.done, rebuilt.again);
            }
            if rebuilt.is_lost {
                part.is_lost = true;
                self.errors().lose(unit);
            }
        }
        part.again.go_on(&slowest);
    }

    /// Decodes the units of `run`, which one operation holds that was read at `at`. What is uncorrectable is lost, or, where
    /// there is parity and it was not lost before, told.
    fn decode(&mut self, found: &Found, (first, units): (u32, u32), at: Time) -> (Sensing, Vec<u32>) {
        let has_parity = self.array.geometry.stripes.is_some();
        let erases = self.array.flash.blocks()[found.superblock as usize].erases;
        let pages = &self.array.table[first as usize..(first + units) as usize];
        let errors = self.schedule.errors.0.as_mut().expect("its bits go wrong");
        let (mut all, mut beyond) = (Sensing::default(), Vec::new());
        for (unit, &entry) in (first..).zip(pages) {
            let sensing = errors.decode(entry - 1, erases, found.spot.cells, at);
            all.senses = all.senses.max(sensing.senses);
            all.decoding += sensing.decoding;
            all.is_lost |= sensing.is_lost;
            match has_parity && !errors.is_lost((unit, 1)) {
                true if sensing.is_lost => beyond.push(unit),
                false if sensing.is_lost => errors.lose(unit),
                _ => {}
            }
        }
        errors.count_reads(pages, all.senses);
        (all, beyond)
    }

    /// The rest of `unit`, a part of which is written, is read from `found`. Where it is lost, so is what is written.
    pub(super) fn decode_rest(&mut self, unit: u32, found: &Found, at: Time) {
        if found.superblock == u32::MAX {
            return self.replace(unit);
        }
        if !found.is_buffered {
            let (sensing, beyond) = self.decode(found, (unit, 1), at);
            let mut from = at;
            for _ in 0..sensing.senses {
                from = self
                    .schedule
                    .fetch((at, from), (found.spot, self.planes_of(unit, 1)), 1, Activity::Read)
                    .done;
                self.schedule.count_read(Activity::Read, 1);
            }
            if !beyond.is_empty() && self.rebuild((at, from), unit, found).is_lost {
                self.errors().lose(unit);
            }
        }
        self.errors().lose_again(unit);
    }

    fn errors(&mut self) -> &mut Errors {
        self.schedule.errors.0.as_mut().expect("its bits go wrong")
    }
}
