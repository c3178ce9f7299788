//! Requests between the host and the controllers: driver, tags, pipeline, ring, and link.

use super::drive::{Active, Drive, Event};
use super::part::Row;
use crate::host_interface::{Arrival, Leg, Part, Spent};
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Status, Time};
use nacre_media::store::Store;

impl<S: Store> Drive<S> {
    pub(super) fn accept(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.counts.host.record(request);
        let (number, active) = self.active.take();
        let mut parts = std::mem::take(&mut active.parts);
        parts.clear();
        *active = Active { id, arrived: now, request: *request, parts, ..Active::default() };
        if S::CARRIES_BYTES && request.op == Op::Write {
            active.data = data;
        }
        if now < self.ready {
            self.agenda.schedule(self.ready, Event::Ready(number));
        } else {
            self.begin(now, number);
        }
    }

    fn begin(&mut self, now: Time, number: u32) {
        let request = self.active[number].request;
        if let Some(spent) = self.port.submit(now, number, &request, Time::ZERO) {
            self.begun(now, number, &spent);
        }
    }

    /// Receives a request. A read enters the pipeline when its first part is requested.
    fn begun(&mut self, now: Time, number: u32, spent: &Spent) {
        self.spend(number, spent);
        match self.active[number].request.op {
            Op::Read => self.bring(now, number),
            Op::Write => self.ask_for_tag(now, number),
            Op::Trim | Op::Flush => self.end(now, number),
        }
    }

    fn spend(&mut self, number: u32, spent: &Spent) {
        let active = &mut self.active[number];
        active.software += spent.software;
        active.link += spent.link;
        active.device += spent.device;
    }

    /// Splits the request into rows, and starts their transfers from or to the host.
    fn bring(&mut self, now: Time, number: u32) {
        let request = self.active[number].request;
        let (mut address, end) = (request.address, request.address + u64::from(request.bytes));
        let is_write = request.op == Op::Write;
        let mut parts = std::mem::take(&mut self.active[number].parts);
        while address < end {
            let row = self.row(address, end - address);
            address += row.bytes;
            let (part, entry) = self.parts.take();
            *entry = Row { request: number, is_write, ..row };
            parts.push(part);
        }
        let active = &mut self.active[number];
        active.left = parts.len() as u32;
        active.unwritten = if is_write { active.left } else { 0 };
        active.parts = parts;
        for index in 0..self.active[number].left as usize {
            let piece = self.active[number].parts[index];
            let bytes = self.parts[piece].bytes;
            if let Some(spent) = self.port.bring(now, Part { request: number, piece }, request.op, bytes) {
                self.brought(now, piece, spent);
            }
        }
    }

    fn brought(&mut self, now: Time, part: u32, spent: Spent) {
        let Row { request, is_write, .. } = self.parts[part];
        if is_write {
            self.parts[part].spent = spent;
            self.cross(now, part);
        } else if !std::mem::replace(&mut self.active[request].is_asked, true) {
            self.spend(request, &spent);
            self.ask_for_tag(now, request);
        }
    }

    /// Sends a part over the ring, between the pipeline and a controller.
    pub(super) fn cross(&mut self, now: Time, part: u32) {
        let row = &mut self.parts[part];
        let time = self.ring.time_for(row.bytes);
        row.carried = time + self.ring_delays[row.controller as usize] * 2;
        let across = self.ring.cross(now, time);
        if across == now && self.crossing.is_empty() {
            self.crossed(now, part);
        } else {
            self.crossing.push_back((across, part));
        }
    }

    /// Handles the time at which the last byte of a part has crossed the ring.
    pub(super) fn crossed(&mut self, now: Time, part: u32) {
        let Row { controller, is_write, .. } = self.parts[part];
        self.hop(now, controller, if is_write { Event::There(part) } else { Event::Back(part) });
    }

    /// Schedules `event` after the ring latency between the pipeline and `controller`.
    pub(super) fn hop(&mut self, now: Time, controller: u32, event: Event) {
        let delay = self.ring_delays[controller as usize];
        if delay.is_zero() {
            return self.happen(now, event);
        }
        self.agenda.schedule(now + delay, event);
    }

    fn ask_for_tag(&mut self, now: Time, number: u32) {
        if self.tags.take(number) {
            self.pipeline.arrive(now, number, self.config.pipeline);
        } else {
            self.counts.tag_waits += 1;
        }
    }

    /// Ends the pipeline's work on request `number`, and sends its parts to their controllers.
    pub(super) fn processed(&mut self, now: Time, number: u32) {
        let active = &mut self.active[number];
        active.software += self.config.pipeline;
        if active.request.op == Op::Write {
            return self.bring(now, number);
        }
        for index in 0..active.left as usize {
            let part = self.active[number].parts[index];
            self.hop(now, self.parts[part].controller, Event::There(part));
        }
    }

    /// Starts the reply to a part that has returned to the pipeline.
    pub(super) fn back(&mut self, now: Time, piece: u32) {
        let Row { request, bytes, is_write, .. } = self.parts[piece];
        let op = if is_write { Op::Write } else { Op::Read };
        let part = Part { request, piece };
        if let Some(spent) = self.port.answer(now, part, op, bytes) {
            self.answered(now, part, &spent);
        }
    }

    /// Handles a reply to the host. The last reply of a request completes the latency breakdown.
    fn answered(&mut self, now: Time, part: Part, spent: &Spent) {
        let Part { request, piece } = part;
        self.active[request].left -= 1;
        let is_last = self.active[request].left == 0;
        let row = &mut self.parts[piece];
        row.is_answered = true;
        if is_last {
            let brought = std::mem::take(&mut row.spent);
            let (medium, carried) = (row.medium, row.carried);
            self.active[request].medium = medium;
            self.active[request].link += carried;
            self.spend(request, &brought);
            self.spend(request, spent);
        }
        self.give_back_part(piece);
        if is_last {
            if let Some(next) = self.tags.give_back() {
                self.pipeline.arrive(now, next, self.config.pipeline);
            }
            self.end(now, request);
        }
    }

    pub(super) fn give_back_part(&mut self, number: u32) {
        let row = &self.parts[number];
        if row.is_answered && (!row.is_write || row.is_over && row.is_landed) {
            self.parts.give_back(number);
        }
    }

    fn end(&mut self, now: Time, number: u32) {
        let op = self.active[number].request.op;
        if let Some(spent) = self.port.end(now, number, op) {
            self.spend(number, &spent);
            // Only `run` returns completions, but `submit` may also call this function.
            self.over.push_back((now, number));
        }
    }

    /// Notifies the host of a completed request.
    pub(super) fn complete(&mut self, now: Time, number: u32, completions: &mut Completions) {
        let active = &mut self.active[number];
        active.is_complete = true;
        let (id, request, is_lost, wrong_bits) =
            (active.id, active.request, active.is_lost, active.wrong_bits);
        let (software, link, medium) = (active.software, active.link, active.medium + active.device);
        let activity = if request.op == Op::Read { Activity::Read } else { Activity::Write };
        let spans = [
            (Activity::Software, software),
            (Activity::Queue, now - active.arrived - software - link - medium),
            (Activity::Link, link),
            (activity, medium),
        ];
        let status = if is_lost { Status::MediaError } else { Status::Done };
        let completed = completions.push(id, now, status, self.id, spans);
        if S::CARRIES_BYTES && request.op == Op::Read && !is_lost {
            let data = self.read_bytes(&request);
            completed.data = self.read_wrong(data, wrong_bits);
        }
        self.give_back(number);
    }

    pub(super) fn give_back(&mut self, number: u32) {
        let active = &mut self.active[number];
        if active.is_complete && active.unwritten == 0 {
            active.data = Payload::NONE;
            self.active.give_back(number);
        }
    }

    pub(super) fn happen(&mut self, at: Time, event: Event) {
        match event {
            Event::Ready(number) => self.begin(at, number),
            Event::There(part) => self.there(at, part),
            Event::Back(part) => self.back(at, part),
            Event::Done(part) => self.done(at, part),
            Event::MoveRead(part) => self.move_read(at, part),
            Event::MoveWritten(part) => {
                self.moves.retain(|moved| moved.part != part || moved.end < Time::MAX);
                self.written(at, part);
            }
            Event::Refilled(controller) => self.refilled(at, controller),
        }
    }

    pub(super) fn arrived(&mut self, arrival: Arrival, completions: &mut Completions) {
        let Arrival { at, part, leg, spent } = arrival;
        match leg {
            Leg::Begun => self.begun(at, part.request, &spent),
            Leg::Brought => self.brought(at, part.piece, spent),
            Leg::Answered => self.answered(at, part, &spent),
            Leg::Ended => {
                self.spend(part.request, &spent);
                self.complete(at, part.request, completions);
            }
        }
    }
}
