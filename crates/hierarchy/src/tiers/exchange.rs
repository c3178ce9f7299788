//! Exchange of chunks between two extents, stage by stage.

use super::chunk::{Active, Moving, Stage};
use super::model::Tiers;
use super::operation::Purpose;
use super::tier::Location;
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Status, Time};

impl Tiers {
    /// Starts the next chunk, which is due.
    pub(super) fn take_up_chunk(&mut self, now: Time) {
        if self.migration.stage == Stage::Again {
            return self.write_chunks(now);
        }
        if self.migration.active.is_none() {
            let exchange = self.migration.queue.pop().expect("an exchange is due");
            let locations = [exchange.extent, exchange.partner].map(|extent| self.locations[extent as usize]);
            self.migration.active = Some(Active { exchange, locations, upto: 0 });
        }
        self.migration.began = now;
        self.migration.is_unreadable = false;
        self.migration.moving = Default::default();
        self.hold(now, Stage::Held);
    }

    fn active(&self) -> Active {
        self.migration.active.expect("an exchange is in progress")
    }

    /// Waits until host operations at the two locations have ended: writes and trims in [`Stage::Held`], and
    /// reads in [`Stage::InMemory`].
    fn hold(&mut self, now: Time, stage: Stage) {
        self.migration.stage = stage;
        let active = self.active();
        let (from, to) = (active.upto, active.upto + self.migration.length(&active));
        let mut left = 0;
        for (_, operation) in self.operations.iter_mut() {
            let is_there = active.locations.iter().any(|&location| operation.is_at(location, from, to));
            if is_there && operation.is_change() == (stage == Stage::Held) {
                operation.holds_up = true;
                left += 1;
            }
        }
        self.migration.left = left;
        if left == 0 {
            self.next_stage(now);
        }
    }

    /// Ends one of the waits of the current stage. After the last wait, starts the next stage.
    pub(super) fn stage_counts_down(&mut self, now: Time) {
        self.migration.left -= 1;
        if self.migration.left == 0 {
            self.next_stage(now);
        }
    }

    fn next_stage(&mut self, now: Time) {
        match self.migration.stage {
            Stage::Held => self.read_chunks(now),
            Stage::Reading if self.migration.is_unreadable => self.end_unreadable(now),
            Stage::Reading => {
                let length = self.migration.length(&self.active());
                self.migration.bytes += 2 * length;
                self.hold(now, Stage::InMemory);
            }
            Stage::InMemory => self.write_chunks(now),
            Stage::Writing => self.end_chunk(now),
            Stage::Idle | Stage::Again => unreachable!("nothing is waited for"),
        }
    }

    fn read_chunks(&mut self, now: Time) {
        (self.migration.stage, self.migration.left) = (Stage::Reading, 2);
        let active = self.active();
        let length = self.migration.length(&active);
        for (side, location) in active.locations.into_iter().enumerate() {
            let chunk = (location, active.upto, length);
            self.send_own(now, Purpose::ChunkRead, side, chunk, Payload::NONE);
        }
    }

    fn write_chunks(&mut self, now: Time) {
        self.migration.stage = Stage::Writing;
        let active = self.active();
        let length = self.migration.length(&active);
        let open = [0, 1].map(|side| !self.migration.moving[side].is_safe);
        self.migration.left = open.iter().map(|&is_open| u32::from(is_open)).sum();
        for side in (0..2).filter(|&side| open[side]) {
            let bytes = self.migration.moving[side].bytes.clone();
            let chunk = (active.locations[1 - side], active.upto, length);
            self.send_own(now, Purpose::ChunkWrite, side, chunk, bytes);
        }
    }

    /// Handles the end of an operation on the chunk of `side`.
    pub(super) fn chunk_step_ended(
        &mut self,
        now: Time,
        purpose: Purpose,
        side: usize,
        status: Status,
        data: Payload,
    ) {
        let is_done = status == Status::Done;
        match purpose {
            Purpose::ChunkRead => {
                self.migration.is_unreadable |= !is_done;
                self.migration.moving[side].bytes = data;
            }
            Purpose::ChunkWrite if is_done => {
                // Data that the host has flushed must be equally durable at its new location.
                let location = self.active().locations[1 - side];
                let persistence = self.tiers[location.tier()].device.capabilities().persistence;
                if persistence.needs_flush() || persistence.is_up_to_energy() {
                    return self.send_own(now, Purpose::ChunkFlush, side, (location, 0, 0), Payload::NONE);
                }
                self.migration.moving[side].is_safe = true;
            }
            Purpose::ChunkFlush if is_done => self.migration.moving[side].is_safe = true,
            Purpose::ChunkFlush => {
                self.migration.report.lose();
                self.migration.moving[side].is_refused = true;
            }
            _ => self.migration.moving[side].is_refused = true,
        }
        self.stage_counts_down(now);
    }

    /// Handles a failed read of a chunk. The rest of each extent stays at its location.
    #[cold]
    fn end_unreadable(&mut self, now: Time) {
        let active = self.active();
        let migration = &mut self.migration;
        migration.failed += 1;
        migration.next = now;
        (migration.stage, migration.active) = (Stage::Idle, None);
        migration.moving = Default::default();
        if active.upto > 0 {
            migration.ended.push(active);
        }
        self.release(now);
    }

    /// Ends the exchange of a chunk. The data of each side is at its new location, or stays in memory because
    /// a tier rejected it.
    fn end_chunk(&mut self, now: Time) {
        let mut active = self.active();
        let migration = &mut self.migration;
        let length = migration.length(&active);
        let mut is_refused = false;
        for (side, Moving { bytes, .. }) in
            std::mem::take(&mut migration.moving).iter().enumerate().filter(|(_, of)| of.is_refused)
        {
            migration.rejected.keep(active.locations[1 - side], active.upto, length, bytes);
            is_refused = true;
        }
        active.upto += length;
        migration.next = now.max(migration.began + migration.bandwidth.time_for(2 * length));
        (migration.stage, migration.active) = (Stage::Idle, None);
        if is_refused {
            migration.failed += 1;
            migration.is_over = true;
            migration.drop_queue();
        }
        if active.upto == migration.extent {
            migration.exchanges += 1;
            self.locations.swap(active.exchange.extent as usize, active.exchange.partner as usize);
        } else if is_refused {
            migration.ended.push(active);
        } else {
            migration.active = Some(active);
        }
        self.release(now);
    }

    /// Resumes the host writes, trims, and flushes that waited for the chunk, in the order in which they
    /// arrived.
    fn release(&mut self, now: Time) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for of in waiting.drain(..) {
            match of.op {
                Op::Flush => self.flush_tiers(now, of.visit, of.since),
                _ => self.serve(now, of.visit, (of.extent, of.from, of.to), of.op, of.since, &of.data),
            }
            self.visits.leave(of.visit);
        }
        if self.waiting.is_empty() {
            self.waiting = waiting;
        }
    }

    fn send_own(
        &mut self,
        now: Time,
        purpose: Purpose,
        side: usize,
        (location, from, length): (Location, u64, u64),
        data: Payload,
    ) {
        let op = match purpose {
            Purpose::ChunkRead => Op::Read,
            Purpose::ChunkWrite => Op::Write,
            _ => Op::Flush,
        };
        let number = self.operation(purpose, op, location, from, length);
        self.operations[number].owner = side as u32;
        self.send(now, number, location.tier(), data);
    }
}
