//! Power losses: the programs that complete with stored energy, the lost data, and the row copies to repeat.
//!
//! A program that has ended is on the medium. Stored energy is used for the programs in progress, in the
//! order of their end times. The remaining energy is used for programs that had not started, oldest first.
//! Each program needs the energy for arbitrary data. If a program in progress gets no energy, its chunk
//! contains only the words of 8 B that were written before the power loss. A wear-leveling copy needs no
//! stored energy: its source row still has the data, so the copy is repeated when power returns.

use super::config::{CompletionPoint, Config, ROUNDING};
use super::drive::{Drive, SlotPool};
use super::part::Row;
use nacre_kernel::event::Payload;
use nacre_kernel::{Random, Recovery, Time};
use nacre_media::store::Store;

/// Number of bytes that a program writes at once.
const WORD: u64 = 8;

/// A chunk whose program has not ended.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// End time of the program, or [`Time::MAX`] if it has not started.
    end: Time,
    begin: Time,
    /// Index of the part in the list of buffered writes, and the range of bytes in this part.
    position: usize,
    first: u64,
    to: u64,
}

/// Number of chunk programs that the capacitors can power. `None` if they can power all programs of full
/// buffers.
pub(super) fn powered_programs(config: &Config) -> Option<u64> {
    let is_enough = config.powered_rows().is_some_and(|rows| rows >= config.buffered_rows());
    match (config.capacitors, config.chips.cells.program_energy) {
        (Some(_), _) if is_enough && config.completion == CompletionPoint::Early => None,
        (Some(held), Some(each)) if each.0 > 0.0 => {
            Some((held.0 / (each.0 * f64::from(config.chips.count())) * ROUNDING) as u64)
        }
        (None, _) if config.completion == CompletionPoint::Late => Some(0),
        _ => None,
    }
}

impl<S: Store> Drive<S> {
    pub(super) fn lose_power(&mut self, at: Time, _chance: &mut Random) {
        // Operations that can start at this time have started, regardless of the `until` of earlier calls.
        while self.operations.next() <= at {
            self.operate();
        }
        let (mut lost, mut ready) = (Recovery::default(), at);
        if S::CARRIES_BYTES {
            let mut chunks = self.unfinished(at);
            chunks.sort_by_key(|chunk| chunk.end);
            let powered = powered_programs(&self.config).unwrap_or(u64::MAX);
            let split = chunks.len().min(usize::try_from(powered).unwrap_or(usize::MAX));
            for chunk in &chunks[..split] {
                ready = ready.max(self.end_of(at, chunk));
            }
            self.finish(at, &chunks[split..], &mut lost);
            lost.programs_finished = split as u64;
        }
        lost.done = ready;
        self.moves.retain(|moved| moved.end > at);
        lost.programs_repeated = self.moves.len() as u64;
        self.interrupted = lost;
        self.port.power_fail(at);
        self.pipeline.power_fail(at);
        self.ring.power_fail(at);
        self.controllers.iter_mut().for_each(|controller| controller.power_fail(at, ready));
        self.tags = SlotPool::new(self.config.tags);
        let writes = self.config.writes_at_a_time();
        self.buffers.iter_mut().for_each(|buffer| *buffer = SlotPool::new(writes));
        self.agenda.clear();
        self.crossing.clear();
        self.over.clear();
        self.operations.clear_all();
        self.active.clear();
        self.parts.clear();
        self.buffered.clear();
    }

    /// End time of a program with stored energy. Contention is ignored for programs that had not started.
    fn end_of(&self, at: Time, chunk: &Chunk) -> Time {
        let timing = &self.controllers[0].timing;
        if chunk.end < Time::MAX {
            chunk.end
        } else {
            at + timing.write_setup + timing.fill + timing.rank.program
        }
    }

    /// Chunks of buffered writes whose programs have not ended at `at`.
    fn unfinished(&self, at: Time) -> Vec<Chunk> {
        let size = self.config.rank().chunk;
        let mut chunks = Vec::new();
        for (position, &number) in self.buffered.iter().enumerate() {
            let Row { offset, bytes, programs, .. } = &self.parts[number];
            let (mut first, mut index) = (0, 0);
            while first < *bytes {
                let to = (first + size - (offset + first) % size).min(*bytes);
                let (begin, end) = programs.get(index).copied().unwrap_or((Time::MAX, Time::MAX));
                if end > at {
                    chunks.push(Chunk { end, begin, position, first, to });
                }
                (first, index) = (to, index + 1);
            }
        }
        chunks
    }

    /// Applies all buffered writes to the medium, except the `missing` chunks.
    fn finish(&mut self, at: Time, missing: &[Chunk], lost: &mut Recovery) {
        for (position, number) in std::mem::take(&mut self.buffered).into_iter().enumerate() {
            let part = self.parts[number].clone();
            let place = self.place(&part);
            let data: Payload = self.data_of(&part);
            let Some(bytes) = data.bytes() else { continue };
            let mut from = 0;
            let mut of_part: Vec<&Chunk> =
                missing.iter().filter(|chunk| chunk.position == position).collect();
            of_part.sort_by_key(|chunk| chunk.first);
            for chunk in of_part {
                self.rows.write(place + from, &bytes[from as usize..chunk.first as usize]);
                let written = chunk.written(at, part.offset);
                self.rows.write(
                    place + chunk.first,
                    &bytes[chunk.first as usize..(chunk.first + written) as usize],
                );
                if self.active[part.request].is_complete {
                    lost.programs_lost += 1;
                    lost.bytes_lost += chunk.to - chunk.first - written;
                }
                from = chunk.to;
            }
            self.rows.write(place + from, &bytes[from as usize..]);
        }
    }

    /// Restores power at `at`, and repeats interrupted row copies. Returns the result of the recovery.
    pub(super) fn repair(&mut self, at: Time) -> Recovery {
        let mut recovery = std::mem::take(&mut self.interrupted);
        let start = at.max(recovery.done);
        recovery.done = start;
        for moved in std::mem::take(&mut self.moves) {
            // If power fails again before the end of the copy, the copy is repeated once more.
            let end = self.controllers[moved.controller as usize].copy(start, moved.moved);
            self.copied_again(moved.controller, moved.moved, end);
            recovery.done = recovery.done.max(end);
        }
        self.ready = recovery.done;
        recovery
    }
}

impl Chunk {
    /// Number of bytes of the chunk that were written at `at`. The part starts at `offset` in its row.
    fn written(&self, at: Time, offset: u64) -> u64 {
        if self.begin >= at {
            return 0;
        }
        let share = (at - self.begin).as_secs_f64() / (self.end - self.begin).as_secs_f64();
        let up_to = offset + self.first + ((self.to - self.first) as f64 * share) as u64;
        (up_to / WORD * WORD).saturating_sub(offset + self.first)
    }
}
