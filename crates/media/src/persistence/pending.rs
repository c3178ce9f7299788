//! Writes that may not have landed.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Random, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// Where bytes are put back.
pub trait Medium {
    /// Copies the bytes from `address` on.
    fn read(&self, address: u64, into: &mut [u8]);

    /// Replaces the bytes from `address` on.
    fn write(&mut self, address: u64, bytes: &[u8]);
}

/// The time in which the medium takes on a part of a write.
#[derive(Clone, Debug, PartialEq, Eq, Value)]
pub struct Program {
    /// Its first byte, counted from that of the write.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// When it begins.
    pub begin: Time,
    /// When it has landed.
    pub end: Time,
}

/// A write, with the bytes before and after it.
#[derive(Clone, Debug, Value)]
pub struct Write {
    /// Its first byte.
    pub address: u64,
    /// What was there.
    pub old: Vec<u8>,
    /// What is written, as long as `old`.
    pub new: Vec<u8>,
    /// How it lands.
    pub programs: Vec<Program>,
    /// When the host is told that it is done; [`Time::MAX`] until [`Pending::acknowledge`].
    pub acknowledged: Time,
}

/// What a program leaves that was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    /// The bytes that it had come to are new, in whole units of so many bytes of the address space.
    Progress {
        /// Bytes that are taken on together.
        unit: u32,
    },
    /// Each unit of so many bytes of the address space is old or new, as chance chooses.
    Units(u32),
}

/// What a loss of power did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// When the last program that stored energy finished has ended.
    pub ready: Time,
    /// Programs that stored energy finished.
    pub programs_finished: u64,
    /// Programs of acknowledged writes for which there was none.
    pub programs_lost: u64,
    /// Bytes of acknowledged writes that are not what was written.
    pub bytes_lost: u64,
}

/// Writes in the order in which they were asked for. Those that have landed leave from the front: one before
/// them may still be taken away, and bytes follow from all in turn.
#[derive(Clone, Debug, Default, State)]
#[state(after = "Pending::check")]
pub struct Pending {
    writes: VecDeque<Write>,
}

/// A program that has not ended: when it would, and where it is in the list.
type Waiting = (Time, usize, usize);

impl Write {
    fn landed_at(&self) -> Time {
        self.programs.iter().fold(self.acknowledged, |end, program| end.max(program.end))
    }
}

impl Pending {
    /// One more write, the newest.
    pub fn push(&mut self, write: Write) {
        debug_assert_eq!(write.old.len(), write.new.len(), "a write replaces as many bytes as it brings");
        self.writes.push_back(write);
    }

    /// The newest writes, those that were pushed with [`Time::MAX`], are acknowledged at `done`.
    pub fn acknowledge(&mut self, done: Time) {
        let open = self.writes.iter_mut().rev().take_while(|write| write.acknowledged == Time::MAX);
        open.for_each(|write| write.acknowledged = done);
    }

    /// Whether everything has landed.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// No loss of power comes before `time`: what has landed by then stays.
    pub fn settle(&mut self, time: Time) {
        while self.writes.front().is_some_and(|write| write.landed_at() <= time) {
            self.writes.pop_front();
        }
    }

    /// The power fails at `at`, with stored energy for `powered` programs, for all where it is `None`. Afterwards
    /// nothing is pending, and `medium` holds what is left.
    pub fn fail(
        &mut self,
        at: Time,
        powered: Option<u64>,
        torn: Torn,
        medium: &mut dyn Medium,
        chance: &mut Random,
    ) -> Loss {
        self.settle(at);
        let writes: Vec<Write> = self.writes.drain(..).collect();
        let mut waiting: Vec<Waiting> = Vec::new();
        for (number, write) in writes.iter().enumerate() {
            let open = write.programs.iter().enumerate().filter(|(_, program)| program.end > at);
            waiting.extend(open.map(|(index, program)| (program.end, number, index)));
        }
        waiting.sort_unstable();
        let powered = powered.map_or(waiting.len(), |most| waiting.len().min(most as usize));
        let ready = waiting[..powered].last().map_or(at, |&(end, ..)| end);
        let mut loss = Loss { ready, programs_finished: powered as u64, ..Loss::default() };
        let mut lost: Vec<Vec<Range<usize>>> = vec![Vec::new(); writes.len()];
        for &(_, number, index) in &waiting[powered..] {
            let write = &writes[number];
            let before = lost[number].len();
            unwritten(write, index, at, torn, chance, &mut lost[number]);
            if write.acknowledged <= at {
                loss.programs_lost += 1;
                loss.bytes_lost += lost[number][before..].iter().map(|range| range.len() as u64).sum::<u64>();
            }
        }
        writes.iter().rev().for_each(|write| medium.write(write.address, &write.old));
        for (write, lost) in writes.iter().zip(&lost) {
            let mut bytes = write.new.clone();
            for range in lost {
                medium.read(write.address + range.start as u64, &mut bytes[range.clone()]);
            }
            medium.write(write.address, &bytes);
        }
        loss
    }

    /// Where the last byte of all writes ends; 0 without writes.
    pub fn reach(&self) -> u64 {
        self.writes.iter().fold(0, |reach, write| reach.max(write.address + write.new.len() as u64))
    }

    fn check(&mut self) -> Result<(), String> {
        for Write { address, old, new, programs, .. } in &self.writes {
            let holds = |program: &Program| {
                program.first.checked_add(program.count).is_some_and(|end| end <= new.len())
                    && program.begin <= program.end
            };
            let size = new.len() as u64;
            if old.len() != new.len() || address.checked_add(size).is_none() || !programs.iter().all(holds) {
                return Err("a write that is none".into());
            }
        }
        Ok(())
    }
}

/// The bytes of program `index` of `write` that are not there when the power failed at `at`.
fn unwritten(
    write: &Write,
    index: usize,
    at: Time,
    torn: Torn,
    chance: &mut Random,
    into: &mut Vec<Range<usize>>,
) {
    let Program { first, count, begin, end } = &write.programs[index];
    let bytes = *first..first + count;
    if at <= *begin {
        into.push(bytes);
        return;
    }
    match torn {
        Torn::Progress { unit } => {
            let (since, whole) = ((at - *begin).as_ps(), (*end - *begin).as_ps());
            let written = u128::from(since) * bytes.len() as u128 / u128::from(whole);
            let reached = write.address + (bytes.start as u64) + written as u64;
            let reached =
                (reached / u64::from(unit) * u64::from(unit)).saturating_sub(write.address) as usize;
            into.push(bytes.start.max(reached)..bytes.end);
        }
        Torn::Units(unit) => {
            let mut start = bytes.start;
            while start < bytes.end {
                let address = write.address + start as u64;
                let rest = u64::from(unit) - address % u64::from(unit);
                let end = bytes.end.min(start + rest as usize);
                if chance.chance(0.5) {
                    into.push(start..end);
                }
                start = end;
            }
        }
    }
}
