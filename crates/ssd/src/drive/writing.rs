//! Writes, trims, and flushes of the host.

use super::Ssd;
use crate::drive::active::{Part, Target};
use crate::flash::command::Owner;
use crate::ftl::translation::{Translation, Written};
use nacre_kernel::{Op, Request, Status, Time, ZoneRefusal};
use std::ops::Range;

impl<T: Translation> Ssd<T> {
    /// Starts a write in the drive.
    #[inline]
    pub(super) fn begin_write(&mut self, number: u32) {
        let units = self.ftl.geometry().units_of(&self.active[number].request);
        self.active[number].next_unit = units.0;
        if self.look_up(number, units, true) {
            self.take_turn(number);
        }
    }

    /// Appends a write, or a trim that must stay in order with writes, to the queue of requests that wait for
    /// buffer space.
    #[inline]
    pub(super) fn take_turn(&mut self, number: u32) {
        self.writers.push_back(number);
        if self.writers.len() == 1 {
            self.write_waiting();
        }
    }

    /// Moves queued writes into the buffer while it has space.
    pub(super) fn write_waiting(&mut self) {
        while let Some(&number) = self.writers.front() {
            let is_over = match self.active[number].request.op {
                Op::Trim if self.active[number].command.is_some() => self.command_in_turn(number),
                Op::Trim => self.trim(number),
                _ => self.write_units(number),
            };
            if !is_over {
                return;
            }
            self.writers.pop_front();
        }
    }

    /// Writes the remaining units of a write while the buffer has space. Returns whether the write is
    /// complete.
    fn write_units(&mut self, number: u32) -> bool {
        if self.active[number].command.is_some()
            && let Err(refusal) = self.place_append(number)
        {
            return self.end_refused(number, refusal);
        }
        let request = self.active[number].request;
        let (first, last) = self.ftl.geometry().units_of(&request);
        if self.active[number].next_unit == first
            && let Err(refusal) = self.ftl.admit(&request)
        {
            return self.end_refused(number, refusal);
        }
        let data = std::mem::take(&mut self.active[number].data);
        let mut outcome = Ok(());
        let mut unit = self.active[number].next_unit;
        while unit <= last && self.flash.slots.has_room() {
            let (unit_bytes, shift) = (self.ftl.geometry().unit_bytes, self.ftl.geometry().unit_shift);
            let new = part_of(&request, unit << shift, unit_bytes);
            let rest = self.ftl.cover(unit, &new);
            if new.len() < unit_bytes as usize {
                if !self.read_rest(unit, rest) {
                    self.active[number].is_lost = true;
                    break;
                }
            } else if let Some(errors) = &mut self.flash.errors {
                errors.replace(unit);
            }
            let written = Written { number, request: &request, data: &data };
            outcome = self.ftl.write(unit, &written, &mut self.flash);
            if outcome.is_err() {
                break;
            }
            unit += 1;
        }
        let active = &mut self.active[number];
        (active.data, active.next_unit) = (data, unit);
        if let Err(refusal) = outcome {
            return self.end_refused(number, refusal);
        }
        if self.active[number].is_lost {
            self.host.answer(self.now, number);
            return true;
        }
        if unit > last {
            self.ftl.end_write(self.now);
            self.host.answer(self.now, number);
        }
        unit > last
    }

    /// Assigns an address to an append at the front of the queue.
    #[cold]
    fn place_append(&mut self, number: u32) -> Result<(), ZoneRefusal> {
        let active = &mut self.active[number];
        if active.written_at.is_none() {
            active.request.address = self.ftl.place_append(&active.request)?;
            active.written_at = Some(active.request.address);
            active.next_unit = self.ftl.geometry().units_of(&active.request).0;
        }
        Ok(())
    }

    /// Ends a rejected write. Returns `true`, because the write is complete.
    fn end_refused(&mut self, number: u32, refusal: ZoneRefusal) -> bool {
        self.refuse(self.now, refusal);
        let active = &mut self.active[number];
        active.status = Status::WriteRefused;
        (active.refusal, active.written_at) = (T::HAS_ZONES.then_some(refusal), None);
        self.host.answer(self.now, number);
        true
    }

    /// Handles a write that is rejected at `at`.
    #[cold]
    pub(super) fn refuse(&mut self, at: Time, refusal: ZoneRefusal) {
        self.counts.refused_writes += 1;
        self.note_end_of_life(at, refusal);
    }

    /// Records the end of life of the drive at `at` if `refusal` is the first rejection caused by wear.
    fn note_end_of_life(&mut self, at: Time, refusal: ZoneRefusal) {
        if refusal == ZoneRefusal::WornOut {
            let bytes = self.ftl.programs().host * u64::from(self.ftl.geometry().unit_bytes);
            self.end_of_life.get_or_insert((at, bytes));
        }
    }

    /// Reads the `rest` remaining bytes of a partially written unit. The bytes are needed before the unit is
    /// programmed but not before the write completes. Returns `false` if the bytes are known to be lost.
    #[cold]
    fn read_rest(&mut self, unit: u64, rest: u32) -> bool {
        self.counts.partial_writes += 1;
        let found = self.ftl.find(unit);
        if found.superblock == u32::MAX {
            if let Some(errors) = &mut self.flash.errors {
                errors.replace(unit);
            }
            return true;
        }
        if self.is_lost((unit, 1)) {
            return false;
        }
        if rest == 0 || self.is_buffered(&found) {
            return true;
        }
        if self.flash.errors.is_none() {
            let data = self.flash.timing.bus.time_for(rest.into());
            self.read_flash(Owner::None, (unit, 1), found.spot, data);
        } else {
            let (part, entry) = self.parts.take();
            *entry = Part { target: Target::Rest, unit, units: 1, found, ..Part::default() };
            self.note_pages(part);
            self.read_page(part);
        }
        true
    }

    /// Starts a trim in the drive.
    pub(super) fn begin_trim(&mut self, number: u32) {
        if T::HAS_ZONES {
            return self.take_turn(number);
        }
        let units = self.ftl.geometry().units_of(&self.active[number].request);
        if self.look_up(number, units, true) {
            self.trim(number);
        }
    }

    /// Performs a trim whose mappings are known, or which has reached the front of the queue. Returns whether
    /// the trim is complete.
    pub(super) fn trim(&mut self, number: u32) -> bool {
        let request = self.active[number].request;
        let is_over = self.ftl.trim(&request, &mut self.flash, &mut self.counts);
        if is_over {
            self.host.answer(self.now, number);
        }
        is_over
    }

    /// Performs the zone command at the front of the queue. The command is not an append. Returns whether
    /// the command is complete.
    fn command_in_turn(&mut self, number: u32) -> bool {
        let active = &mut self.active[number];
        let command = active.command.expect("only zone commands get here");
        let done = self.ftl.command(command, active.request.address, &mut self.flash, &mut self.counts);
        let Some(outcome) = done else { return false };
        if let Err(refusal) = outcome {
            (active.status, active.refusal) = (Status::WriteRefused, Some(refusal));
            self.note_end_of_life(self.now, refusal);
        }
        self.host.answer(self.now, number);
        true
    }

    /// Starts a flush in the drive. All data in the buffer is programmed, unless the buffer survives a power
    /// loss.
    pub(super) fn begin_flush(&mut self, number: u32) {
        let waits = self.ftl.flush(&mut self.flash) && self.flash.wait_for_programs(number);
        if !waits {
            self.end_flush(number);
        }
    }

    /// Completes a flush after the programs that it waited for. In a worn-out drive, the flush fails if data
    /// remains in the buffer.
    pub(super) fn end_flush(&mut self, number: u32) {
        let mut status = Status::Done;
        let (submitted, now) = (self.active[number].arrived, self.now);
        if !self.config.is_power_protected() && self.ftl.flushed().is_err() {
            status = Status::WriteRefused;
        } else if self.flash.errors.as_mut().is_some_and(|errors| errors.fails_flush(submitted, now)) {
            // The lost data may belong to an earlier write: the rest of a partially written unit is read
            // after the write completes.
            status = Status::MediaError;
        }
        let active = &mut self.active[number];
        (active.status, active.drained) = (status, self.now - active.began);
        self.host.answer(self.now, number);
    }
}

/// Returns the bytes of the unit at address `begin` that `request` covers.
#[inline]
fn part_of(request: &Request, begin: u64, unit_bytes: u32) -> Range<u32> {
    let end = request.address + u64::from(request.bytes);
    let within = |address: u64| address.saturating_sub(begin).min(unit_bytes.into()) as u32;
    within(request.address)..within(end)
}
