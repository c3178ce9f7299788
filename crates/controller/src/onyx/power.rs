//! Power failures: what is programmed nevertheless, what is lost, and what is copied again.
//!
//! A program that has ended is on the medium. For the others the capacitors have energy or not; it goes to them
//! in the order in which they would have ended. A program without it that was under way has written its chunk
//! up to where it was. A copy of wear levelling needs no energy: its row is still where it was, and it is
//! copied again when the power is back.

use super::config::CompletionPoint;
use super::model::Onyx;
use super::outstanding::Outstanding;
use super::unfinished::{PartWrite, Program};
use nacre_kernel::{Pool, Recovery, Time, Timeline};
use nacre_media::store::Store;
use std::ops::Range;

/// A program that has not ended: when it would, and where it is in the list.
type Waiting = (Time, usize, usize);

impl<S: Store> Onyx<S> {
    /// The power fails at `at`.
    pub(super) fn lose_power(&mut self, at: Time) {
        self.has_failed = true;
        self.unfinished.settle(at);
        let writes: Vec<PartWrite> = self.unfinished.writes.drain(..).collect();
        let mut waiting: Vec<Waiting> = Vec::new();
        for (number, write) in writes.iter().enumerate() {
            let open = write.programs.iter().enumerate().filter(|(_, program)| program.end > at);
            waiting.extend(open.map(|(index, program)| (program.end, number, index)));
        }
        waiting.sort_unstable();
        let powered = self.powered_programs().map_or(waiting.len(), |most| waiting.len().min(most as usize));
        let mut recovery = Recovery { programs_finished: powered as u64, ..Recovery::default() };
        recovery.done = waiting[..powered].last().map_or(at, |&(end, ..)| end);
        self.take_back(&writes);
        let chunk = self.config.rank().chunk as usize;
        let mut lost: Vec<Vec<Range<usize>>> = vec![Vec::new(); writes.len()];
        for &(_, number, index) in &waiting[powered..] {
            let write = &writes[number];
            let bytes = unwritten(write, index, chunk, at);
            if write.acknowledged <= at {
                recovery.programs_lost += 1;
                recovery.bytes_lost += bytes.len() as u64;
            }
            lost[number].push(bytes);
        }
        writes.iter().zip(&lost).for_each(|(write, lost)| self.write_again(write, lost));
        recovery.programs_repeated = self.unfinished.moves.len() as u64;
        self.interrupted = recovery;
        self.forget_work();
    }

    /// Programs of a chunk that the capacitors have energy for; `None` where it is enough for all.
    pub(super) fn powered_programs(&self) -> Option<u64> {
        match (self.config.capacitors, self.config.program_energy) {
            (Some(held), Some(each)) if each.0 > 0.0 => {
                // A budget of exactly so many programs is not to fall short by a rounding of floats.
                Some((held.0 / (each.0 * f64::from(self.config.chips())) * (1.0 + 1e-12)) as u64)
            }
            (None, _) if self.config.completion == CompletionPoint::Late => Some(0),
            _ => None,
        }
    }

    /// The bytes are as before these writes.
    fn take_back(&mut self, writes: &[PartWrite]) {
        for write in writes.iter().rev() {
            self.put(write.controller, write.row, write.offset, &write.old);
        }
    }

    /// The bytes of `write`, but for those that are `lost`.
    fn write_again(&mut self, write: &PartWrite, lost: &[Range<usize>]) {
        let PartWrite { controller, row, offset, new, .. } = write;
        let mut bytes = new.clone();
        for range in lost {
            self.get(*controller, *row, offset + range.start, &mut bytes[range.clone()]);
        }
        self.put(*controller, *row, *offset, &bytes);
    }

    /// Nothing is under way any more.
    fn forget_work(&mut self) {
        self.cpus = Pool::new(self.config.cpus);
        self.tags = Outstanding::new(self.config.tags);
        self.pipeline = Timeline::new();
        for link in [&mut self.ring, &mut self.from_host, &mut self.to_host] {
            link.clear();
        }
        let writes = self.config.writes_at_a_time();
        for controller in &mut self.controllers {
            controller.forget_work(writes);
        }
    }

    /// The power is back at `at`: rows whose copies were interrupted are copied again.
    pub(super) fn repair(&mut self, at: Time) -> Recovery {
        self.has_failed = false;
        let mut recovery = std::mem::take(&mut self.interrupted);
        let start = at.max(recovery.done);
        recovery.done = start;
        for moved in std::mem::take(&mut self.unfinished.moves) {
            let done = self.controllers[moved.controller].copy_again(start, moved.from, moved.to);
            recovery.done = recovery.done.max(done);
        }
        self.latest = recovery.done;
        recovery
    }
}

/// The bytes of chunk `index` of `write` that its program has not come to by `at`.
fn unwritten(write: &PartWrite, index: usize, chunk: usize, at: Time) -> Range<usize> {
    let range = write.chunk(index, chunk);
    let Program { begin, end } = write.programs[index];
    let (since, whole) = (at.saturating_sub(begin).as_ps(), (end - begin).as_ps());
    let written = u128::from(since) * range.len() as u128 / u128::from(whole);
    range.start + written as usize..range.end
}
