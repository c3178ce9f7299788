//! Applies faults to a request and its reply.

use super::kinds::{Decision, Later, Wrong};
use super::layer::{Below, Layer};
use super::requests::{Active, Stage};
use nacre_kernel::event::Payload;
use nacre_kernel::{Status, Time, ZoneAnswer};

impl Layer {
    /// Applies the faults to a request that arrives at `now`. The request is then sent to the device,
    /// delayed, or ended without reaching the device.
    pub(super) fn meet_faults(&mut self, below: &mut dyn Below, now: Time, number: u32) {
        let mut at = now;
        for index in 0..self.faults.len() {
            let sent = self.active[number].sent;
            let decision = self.faults[index].arrives(at, &sent);
            match decision {
                Decision::None => continue,
                Decision::Hold(until) => {
                    self.active[number].added.push((index as u32, until - at));
                    at = until;
                }
                Decision::Stale => {
                    self.active[number].stale.get_or_insert(index as u32);
                    continue;
                }
                Decision::Later(later) => self.active[number].later.push((index as u32, later)),
                Decision::AnswerLost { after } => {
                    self.active[number].lost.get_or_insert((index as u32, after));
                }
                Decision::Instead { after, status } => {
                    self.faults[index].touches();
                    if status != Status::Done {
                        self.faults[index].fails(&sent);
                    }
                    return self.end_without_device((index as u32, at, after), number, status);
                }
                Decision::Write(Wrong::Lost { after }) => {
                    self.faults[index].touches();
                    self.faults[index].counts.silent_bytes += u64::from(sent.bytes);
                    return self.end_without_device((index as u32, at, after), number, Status::Done);
                }
                Decision::Write(wrong) => {
                    let Some(bytes) = spoil(&mut self.active[number], wrong, self.capacity) else { continue };
                    self.faults[index].counts.silent_bytes += bytes;
                }
            }
            self.faults[index].touches();
        }
        self.active[number].released = at;
        if at == now { self.send(below, now, number) } else { self.wait_until(at, number, Stage::Held) }
    }

    /// Ends a request that does not reach the device. At `at`, a fault decided to reply with `status` after
    /// the delay `after`.
    fn end_without_device(&mut self, (fault, at, after): (u32, Time, Time), number: u32, status: Status) {
        let active = &mut self.active[number];
        active.added.push((fault, after));
        active.status = status;
        active.released = at + after;
        self.wait_until(at + after, number, Stage::Answered);
    }

    /// Replaces the data of a successful read with old data, if a fault selected the read.
    pub(super) fn answer_stale(&mut self, number: u32) {
        let active = &mut self.active[number];
        if let (Some(fault), Status::Done) = (active.stale, active.status) {
            self.faults[fault as usize].answers_stale(&active.request, &mut active.answer);
        }
    }

    /// Handles the device's reply to a request at `now`. Returns the time at which the host receives the
    /// reply.
    pub(super) fn answer_leaves(&mut self, now: Time, number: u32) -> Time {
        let mut at = now;
        let served = now - self.active[number].released;
        for index in 0..self.active[number].later.len() {
            let (fault, later) = self.active[number].later[index];
            let added = match later {
                Later::By(time) => time,
                Later::Times(factor) => served.scaled(factor),
            };
            self.active[number].added.push((fault, added));
            at += added;
        }
        let (request, arrived) = (self.active[number].request, self.active[number].arrived);
        for index in 0..self.faults.len() {
            match self.faults[index].answers(at, arrived, &request) {
                Decision::Hold(until) => {
                    self.active[number].added.push((index as u32, until - at));
                    at = until;
                }
                Decision::AnswerLost { after } => {
                    self.active[number].lost.get_or_insert((index as u32, after));
                }
                _ => continue,
            }
            self.faults[index].touches();
        }
        if let Some((fault, after)) = self.active[number].lost {
            let active = &mut self.active[number];
            active.added.push((fault, after));
            (active.status, active.answer) = (Status::TransportError, Payload::NONE);
            active.zone = ZoneAnswer::default();
            at += after;
            self.faults[fault as usize].fails(&request);
        }
        at
    }
}

/// Corrupts a write. Returns the number of corrupted bytes, or `None` if this corruption cannot affect the
/// write.
fn spoil(active: &mut Active, wrong: Wrong, capacity: Option<u64>) -> Option<u64> {
    debug_assert_eq!(active.stage, Stage::Held, "it is not in the device yet");
    let sent = &mut active.sent;
    match wrong {
        Wrong::Lost { .. } => unreachable!("the device is not asked"),
        Wrong::Torn { bytes } => {
            let missing = sent.bytes.checked_sub(bytes).filter(|&missing| missing > 0 && bytes > 0)?;
            sent.bytes = bytes;
            active.data = active.data.slice(0, bytes as usize);
            Some(u64::from(missing))
        }
        Wrong::Misdirected { distance } => {
            let end = sent.address.checked_add(distance)?.checked_add(u64::from(sent.bytes))?;
            sent.address = match capacity.is_none_or(|capacity| end <= capacity) {
                true => sent.address + distance,
                false => sent.address.checked_sub(distance)?,
            };
            Some(2 * u64::from(sent.bytes))
        }
        Wrong::Rotten { bit } => {
            if let Some(bytes) = active.data.bytes() {
                let mut bytes = bytes.to_vec();
                // An earlier fault may have shortened the data.
                let place = (bit / 8) as usize % bytes.len();
                bytes[place] ^= 1 << (bit % 8);
                active.data = bytes.into();
            }
            Some(1)
        }
    }
}
