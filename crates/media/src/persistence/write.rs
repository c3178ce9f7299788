//! Writes of bytes in place, program by program, with stored energy for some of them.

use super::pending::{Change, Pending};
use nacre_kernel::state::Value;
use nacre_kernel::{Random, Time};
use std::ops::Range;

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

/// A write, with the bytes before it.
#[derive(Clone, Debug, Value)]
pub struct Write {
    /// Its first byte.
    pub address: u64,
    /// What was there.
    pub old: Vec<u8>,
    /// How it lands.
    pub programs: Vec<Program>,
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

impl Change for Write {
    type Ends = ();

    fn place(&self) -> Range<u64> {
        self.address..self.address + self.old.len() as u64
    }

    fn landed_at(&self, (): &()) -> Time {
        self.programs.iter().fold(Time::ZERO, |end, program| end.max(program.end))
    }

    fn check(&self) -> Result<(), String> {
        let holds = |program: &Program| {
            program.first.checked_add(program.count).is_some_and(|end| end <= self.old.len())
                && program.begin <= program.end
        };
        match self.address.checked_add(self.old.len() as u64).is_some() && self.programs.iter().all(holds) {
            true => Ok(()),
            false => Err("a write that is none".into()),
        }
    }
}

/// A program that has not ended: when it would, and where it is in the list.
type Waiting = (Time, usize, usize);

impl Pending<Write> {
    /// The power fails at `at`, with stored energy for `powered` programs, for all where it is `None`: it goes to
    /// them in the order in which they would have ended. `put_back` is given addresses and the bytes to be there
    /// again, in turn. Afterwards nothing is pending.
    pub fn fail_with_energy(
        &mut self,
        at: Time,
        powered: Option<u64>,
        torn: Torn,
        chance: &mut Random,
        mut put_back: impl FnMut(u64, &[u8]),
    ) -> Loss {
        let writes: Vec<(&Write, Time)> = self.iter().collect();
        let mut waiting: Vec<Waiting> = Vec::new();
        for (number, (write, _)) in writes.iter().enumerate() {
            let open = write.programs.iter().enumerate().filter(|(_, program)| program.end > at);
            waiting.extend(open.map(|(index, program)| (program.end, number, index)));
        }
        waiting.sort_unstable();
        let powered = powered.map_or(waiting.len(), |most| waiting.len().min(most as usize));
        let ready = waiting[..powered].last().map_or(at, |&(end, ..)| end);
        let mut loss = Loss { ready, programs_finished: powered as u64, ..Loss::default() };
        let mut missing: Vec<Vec<Range<u64>>> = vec![Vec::new(); writes.len()];
        for &(_, number, index) in &waiting[powered..] {
            let (write, acknowledged) = writes[number];
            let parts = torn.missing(write, &write.programs[index], at, chance);
            if acknowledged <= at {
                loss.programs_lost += 1;
                loss.bytes_lost += parts.iter().map(|part| part.end - part.start).sum::<u64>();
            }
            missing[number].extend(parts);
        }
        missing.iter_mut().for_each(|parts| parts.sort_unstable_by_key(|part| part.start));
        self.take_back(missing, |lost| {
            let Write { address, old, .. } = &lost.change;
            for part in lost.parts {
                put_back(part.start, &old[(part.start - address) as usize..(part.end - address) as usize]);
            }
        });
        loss
    }
}

impl Torn {
    /// The bytes of a program of `write` that are not there when the power failed at `at`.
    fn missing(self, write: &Write, program: &Program, at: Time, chance: &mut Random) -> Vec<Range<u64>> {
        let &Program { first, count, begin, end } = program;
        let start = write.address + first as u64;
        let bytes = start..start + count as u64;
        match self {
            _ if at <= begin => vec![bytes],
            Torn::Progress { unit } => {
                let (since, whole) = ((at - begin).as_ps(), (end - begin).as_ps());
                let written = u128::from(since) * count as u128 / u128::from(whole);
                let reached = (start + written as u64) / u64::from(unit) * u64::from(unit);
                let left = start.max(reached)..bytes.end;
                vec![left]
            }
            Torn::Units(unit) => drawn_units(bytes, unit, chance),
        }
    }
}

/// Of `bytes`, the units of `unit` bytes of the address space that chance chooses to be of one version; the others are
/// of the other one.
pub fn drawn_units(bytes: Range<u64>, unit: u32, chance: &mut Random) -> Vec<Range<u64>> {
    let unit = u64::from(unit);
    let next = |&start: &u64| Some((start / unit + 1) * unit).filter(|&next| next < bytes.end);
    let starts = std::iter::successors(Some(bytes.start).filter(|_| !bytes.is_empty()), next);
    let units = starts.map(|start| start..((start / unit + 1) * unit).min(bytes.end));
    units.filter(|_| chance.chance(0.5)).collect()
}
