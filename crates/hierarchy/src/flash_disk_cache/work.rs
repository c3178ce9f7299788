//! Handling of the start and end of operations.

use super::cache::{FlashCache, SHIFT};
use super::operation::{Event, NONE, Operation, Purpose, Waiter, total};
use crate::visit::Part;
use nacre_kernel::event::{Payload, RequestId};
use nacre_kernel::{Activity, Status, Time};
use nacre_media::store::Store;

impl<S: Store> FlashCache<S> {
    /// Adds an operation that starts when its wait count reaches zero. Returns its number.
    pub(super) fn operation(&mut self, now: Time, operation: Operation) -> u32 {
        let (number, entry) = self.operations.take();
        let mut dependents = std::mem::take(&mut entry.dependents);
        dependents.clear();
        *entry = Operation { waits: 1, dependents, created: now, serial: self.serial, ..operation };
        self.serial += 1;
        number
    }

    /// Makes operation `number` wait for operation `on`, unless `on` is [`NONE`].
    #[inline]
    pub(super) fn behind(&mut self, number: u32, on: u32) {
        if on != NONE {
            self.operations[on].dependents.push(number);
            self.operations[number].waits += 1;
        }
    }

    /// Makes operation `number` wait for the operation in progress that changes backing page `key`, if any.
    pub(super) fn behind_changes(&mut self, number: u32, key: u64) {
        if self.changing.len() > 0
            && let Some(on) = self.changing.get(key)
        {
            self.behind(number, on as u32);
        }
    }

    /// Registers operation `number` as the latest change of backing page `key`. The operation waits for the
    /// previous change of this page.
    pub(super) fn change(&mut self, number: u32, key: u64) {
        self.behind_changes(number, key);
        self.changing.set(key, u64::from(number));
    }

    /// Decrements the wait count of operation `number`, and starts the operation when the count reaches zero.
    pub(super) fn count_down(&mut self, now: Time, number: u32) {
        let operation = &mut self.operations[number];
        operation.waits -= 1;
        if operation.waits > 0 {
            return;
        }
        operation.began = now;
        match operation.purpose {
            Purpose::Sense | Purpose::Journal | Purpose::Erase => self.queue(now, number),
            Purpose::Program => {
                let encoded = self.array.encode_at(now, operation.code);
                if encoded > now {
                    self.agenda.schedule(encoded, Event::Encoded(number));
                } else {
                    self.queue(now, number);
                }
            }
            Purpose::Look => self.agenda.schedule(now, Event::Done(number)),
            Purpose::Fetch => self.begin_fetch(now, number),
            _ => self.ask_backing(now, number),
        }
    }

    /// Queues operation `number` for its die.
    fn queue(&mut self, now: Time, number: u32) {
        let Operation { block, time, activity, .. } = self.operations[number];
        if let Some(end) = self.array.wait(now, number, block, (time, activity)) {
            self.agenda.schedule(end, Event::Die(self.array.die_of(block)));
        }
    }

    pub(super) fn ask_backing(&mut self, now: Time, number: u32) {
        let operation = &mut self.operations[number];
        operation.request.arrival = now;
        self.backing.submit(now, RequestId(number), &operation.request, operation.data.clone());
        self.next = self.backing.next_event();
    }

    /// Handles `event`, which is due at `now`.
    pub(super) fn happens(&mut self, now: Time, event: Event) {
        match event {
            Event::Die(die) => {
                let (number, next) = self.array.die_ends(now, die);
                if let Some(end) = next {
                    self.agenda.schedule(end, Event::Die(die));
                }
                if number != NONE {
                    self.die_is_done(now, number);
                }
            }
            Event::Encoded(number) => self.queue(now, number),
            Event::Done(number) => self.ended(now, number),
            Event::Start(number) => self.count_down(now, number),
        }
    }

    /// Handles the end of operation `number` on its die. If the operation read a page, the page is decoded
    /// next.
    fn die_is_done(&mut self, now: Time, number: u32) {
        let Operation { purpose, code, wrong, .. } = self.operations[number];
        if purpose == Purpose::Sense {
            let decoded = self.array.decode_at(now, code, wrong);
            if decoded > now {
                return self.agenda.schedule(decoded, Event::Done(number));
            }
        }
        self.ended(now, number);
    }

    /// Handles the end of an operation of the controller or the flash.
    fn ended(&mut self, now: Time, number: u32) {
        match self.operations[number].purpose {
            Purpose::Sense => self.sensed(now, number),
            Purpose::Program => self.programmed(now, number),
            Purpose::Erase => self.erased(now, number),
            _ => {}
        }
        self.part_of_operation_ends(now, number);
        self.end_operation(now, number);
    }

    /// Handles the end of reading and decoding a flash page.
    fn sensed(&mut self, now: Time, number: u32) {
        let Operation { created, time, code, wrong, is_hit, .. } = self.operations[number];
        if is_hit {
            self.tables.global.add_hit(now - created);
        }
        let correct = self.array.decoding(code, wrong).time;
        let queue = now - created - time - correct;
        let spans = [(Activity::Queue, queue), (Activity::Read, time), (Activity::Correct, correct)];
        let component = self.id;
        for at in 0..self.operations[number].dependents.len() {
            let dependent = self.operations[number].dependents[at];
            let of = &mut self.operations[dependent];
            // Requests that arrived when this read was created waited for its full duration.
            if of.source == number
                && of.created == created
                && let Some(part) = &mut of.part
            {
                spans.iter().for_each(|&(activity, time)| part.add(component, activity, time));
            }
        }
        if let Some(part) = &mut self.operations[number].part {
            spans.iter().for_each(|&(activity, time)| part.add(component, activity, time));
        }
    }

    /// Handles the end of the program of a flash page.
    fn programmed(&mut self, now: Time, number: u32) {
        let Operation { page, key, time, erased, .. } = self.operations[number];
        let status = &mut self.tables.pages[page as usize];
        if status.program == number {
            status.program = NONE;
        }
        let component = self.id;
        let Some(part) = &mut self.operations[number].part else { return };
        let told = part.since + total(&part.spans);
        let waits = now - told - time;
        let for_erase = erased.saturating_sub(told).min(waits);
        part.add(component, Activity::Erase, for_erase);
        part.add(component, Activity::Queue, waits - for_erase);
        part.add(component, Activity::Write, time);
        self.version_is_there(key, number);
    }

    /// Handles the end of the erase of a block.
    fn erased(&mut self, now: Time, number: u32) {
        let block = self.operations[number].block;
        let status = &mut self.tables.blocks[block as usize];
        if status.erase == number {
            status.erase = NONE;
        }
        for at in 0..self.operations[number].dependents.len() {
            let dependent = self.operations[number].dependents[at];
            self.operations[dependent].erased = now;
        }
    }

    /// Ends an operation. Operations that depend on it no longer wait for it.
    pub(super) fn end_operation(&mut self, now: Time, number: u32) {
        let Operation { purpose, key, pages, .. } = self.operations[number];
        if matches!(
            purpose,
            Purpose::Back | Purpose::Safe | Purpose::Through | Purpose::ThroughSafe | Purpose::Trim
        ) {
            for key in key..key + pages {
                if self.changing.get(key) == Some(u64::from(number)) {
                    self.changing.remove(key);
                }
            }
        }
        let of = &mut self.operations[number];
        let mut dependents = std::mem::take(&mut of.dependents);
        (of.data, of.before, of.keeps, of.part) = Default::default();
        self.operations.give_back(number);
        for dependent in dependents.drain(..) {
            let of = &mut self.operations[dependent];
            if of.source == number {
                of.source = NONE;
            }
            self.count_down(now, dependent);
        }
    }

    /// Records that operation `number` has written page `key` to the flash or the backing. Earlier versions
    /// of the page are then obsolete.
    pub(super) fn version_is_there(&mut self, key: u64, number: u32) {
        let Some(versions) = self.versions.get_mut(&key) else { return };
        let Some(at) = versions.iter().position(|&version| version == number) else { return };
        versions.drain(..=at);
        if versions.is_empty() {
            self.versions.remove(&key);
        }
    }

    /// Records that operation `number` no longer writes page `key`.
    #[cold]
    pub(super) fn forget_version(&mut self, key: u64, number: u32) {
        let Some(versions) = self.versions.get_mut(&key) else { return };
        versions.retain(|&version| version != number);
        if versions.is_empty() {
            self.versions.remove(&key);
        }
    }

    /// Ends the request part that depends on operation `number`.
    fn part_of_operation_ends(&mut self, now: Time, number: u32) {
        let of = &mut self.operations[number];
        if let Some(part) = of.part.take() {
            let (status, data) = (of.status, std::mem::take(&mut of.data));
            self.end_part(now, part, status, Activity::Merge, data);
        }
    }

    /// Ends a request part. Time that its breakdown does not cover is charged to `rest`. `data` starts with
    /// the first requested byte of the page.
    pub(super) fn end_part(
        &mut self,
        now: Time,
        mut part: Waiter,
        status: Status,
        rest: Activity,
        data: Payload,
    ) {
        part.fill_up(self.id, now, rest);
        let address = self.visits.request(part.visit).address.max(part.key << SHIFT);
        let end = Part { status, own: None, before: &[], spans: &part.spans, data: (address, data) };
        self.visits.part_ends(now, part.visit, &end);
    }
}
