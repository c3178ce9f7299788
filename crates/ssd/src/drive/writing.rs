//! Writes, trims and flushes of the host.

use super::Ssd;
use crate::drive::active::{Active, Part, PartTimes, Target};
use crate::flash::backend::HostRead;
use crate::flash::command::Owner;
use crate::ftl::translation::{Outcome, Translation, Written};
use nacre_kernel::event::Completions;
use nacre_kernel::{Activity, Op, Request, Status, Time};

impl<T: Translation> Ssd<T> {
    /// The drive begins with a write.
    #[inline]
    pub(super) fn begin_write(&mut self, number: u32, completions: &mut Completions) {
        let units = self.ftl.geometry().units_of(&self.active[number].request);
        self.active[number].next_unit = units.0;
        if self.look_up(number, units, true) {
            self.take_turn(number, completions);
        }
    }

    /// A write, or a trim that takes its turn, waits for those before it and for room in the buffer.
    #[inline]
    pub(super) fn take_turn(&mut self, number: u32, completions: &mut Completions) {
        self.writers.push_back(number);
        if self.writers.len() == 1 {
            self.write_waiting(completions);
        }
    }

    /// Writes go into the buffer as far as there is room.
    pub(super) fn write_waiting(&mut self, completions: &mut Completions) {
        while let Some(&number) = self.writers.front() {
            let is_over = match self.active[number].request.op {
                Op::Trim => self.trim_in_turn(number, completions),
                _ => self.write_units(number, completions),
            };
            if !is_over {
                return;
            }
            self.writers.pop_front();
        }
    }

    /// Writes what is left of a write, as far as there is room. Returns whether it is over.
    fn write_units(&mut self, number: u32, completions: &mut Completions) -> bool {
        let request = self.active[number].request;
        let (first, last) = self.ftl.geometry().units_of(&request);
        if self.active[number].next_unit == first {
            let outcome = self.ftl.admit(&request, &mut self.book);
            if outcome.is_refused {
                self.end_refused(number, outcome, completions);
                return true;
            }
        }
        let data = std::mem::take(&mut self.active[number].data);
        let mut outcome = Outcome::default();
        let mut unit = self.active[number].next_unit;
        while unit <= last && self.flash.places.has_room() {
            if !is_whole(&request, unit, self.ftl.geometry().unit_bytes) {
                self.read_rest(unit);
            } else if let Some(errors) = &mut self.flash.errors.0 {
                errors.replace(unit);
            }
            let written = Written { number, request: &request, data: &data };
            outcome = self.ftl.write(unit, &written, &mut self.flash);
            if outcome.is_refused {
                break;
            }
            unit += 1;
        }
        let active = &mut self.active[number];
        (active.data, active.next_unit) = (data, unit);
        if outcome.is_refused {
            self.end_refused(number, outcome, completions);
            return true;
        }
        if unit > last {
            self.ftl.end_write(self.now);
            self.end_without_data(number, Status::Done, Activity::Translate, completions);
        }
        unit > last
    }

    fn end_refused(&mut self, number: u32, outcome: Outcome, completions: &mut Completions) {
        self.refuse(self.now, outcome);
        self.end_without_data(number, Status::WriteRefused, Activity::Translate, completions);
    }

    /// A write or a trim is over; what of its time was until its mappings were known counts as `activity`.
    fn end_without_data(
        &mut self,
        number: u32,
        status: Status,
        activity: Activity,
        completions: &mut Completions,
    ) {
        let Active { began, known, .. } = self.active[number];
        self.complete(number, status, (activity, known - began), &PartTimes::default(), completions);
    }

    /// A write was refused at `at`.
    #[cold]
    pub(super) fn refuse(&mut self, at: Time, outcome: Outcome) {
        self.book.refused_writes += 1;
        if outcome.is_worn_out {
            let bytes = self.ftl.host_bytes();
            self.end_of_life.get_or_insert((at, bytes));
        }
    }

    /// A write that covers a unit in part needs the rest of it before it is programmed, not before it completes.
    #[cold]
    fn read_rest(&mut self, unit: u32) {
        self.book.partial_writes += 1;
        let found = self.ftl.find(unit);
        if found.superblock == u32::MAX {
            if let Some(errors) = &mut self.flash.errors.0 {
                errors.replace(unit);
            }
            return;
        }
        let is_buffered =
            found.is_held || self.flash.is_programming(found.superblock, found.operation, found.spot.die);
        if !is_buffered && self.flash.errors.0.is_none() {
            let planes = if self.flash.timing.lanes > 1 { self.ftl.planes_of(unit, 1) } else { 0..1 };
            let spot = found.spot;
            let owner = Owner::Nobody;
            self.flash.read(&HostRead { owner, spot, planes, units: 1, activity: Activity::Read });
        } else if !is_buffered {
            let (part, entry) = self.parts.take();
            *entry = Part { target: Target::Rest, unit, units: 1, found, ..Part::default() };
            self.note_pages(part);
            self.read_page(part);
        }
        if let Some(errors) = &mut self.flash.errors.0 {
            errors.lose_again(unit);
        }
    }

    /// The drive begins with a trim.
    pub(super) fn begin_trim(&mut self, number: u32, completions: &mut Completions) {
        if T::TRIMS_IN_TURN {
            return self.take_turn(number, completions);
        }
        let units = self.ftl.geometry().units_of(&self.active[number].request);
        if self.look_up(number, units, true) {
            self.trim(number, completions);
        }
    }

    /// The mappings of a trim are known.
    pub(super) fn trim(&mut self, number: u32, completions: &mut Completions) {
        let request = self.active[number].request;
        self.ftl.trim(&request, &mut self.flash, &mut self.book);
        self.end_without_data(number, Status::Done, Activity::Translate, completions);
    }

    /// A trim has its turn. Returns whether it is over.
    fn trim_in_turn(&mut self, number: u32, completions: &mut Completions) -> bool {
        let request = self.active[number].request;
        let is_over = self.ftl.trim(&request, &mut self.flash, &mut self.book);
        if is_over {
            self.end_without_data(number, Status::Done, Activity::Translate, completions);
        }
        is_over
    }

    /// The drive begins with a flush: everything in the buffer is programmed, if it would not survive a power loss.
    pub(super) fn begin_flush(&mut self, number: u32, completions: &mut Completions) {
        let waits = self.ftl.flush(&mut self.flash) && self.flash.wait_for_programs(number);
        if !waits {
            self.end_flush(number, completions);
        }
    }

    /// What a flush waited for is on the flash. A drive that is worn out programs no more: what it still holds makes the
    /// flush fail.
    pub(super) fn end_flush(&mut self, number: u32, completions: &mut Completions) {
        let mut status = Status::Done;
        if !self.config.power_protected {
            if self.ftl.flushed().is_refused {
                status = Status::WriteRefused;
            } else if self.flash.errors.0.as_mut().is_some_and(|errors| errors.tell_loss()) {
                // What was lost was not saved.
                status = Status::MediaError;
            }
        }
        let drained = self.now - self.active[number].began;
        self.complete(number, status, (Activity::Drain, drained), &PartTimes::default(), completions);
    }
}

/// Whether `request` covers all of `unit`.
#[inline]
fn is_whole(request: &Request, unit: u32, unit_bytes: u32) -> bool {
    let begin = u64::from(unit) * u64::from(unit_bytes);
    request.address <= begin && begin + u64::from(unit_bytes) <= request.address + u64::from(request.bytes)
}
