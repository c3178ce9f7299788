//! A die: what its array does, and what waits for it.

use crate::flash::command::{Kind, NONE};
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// A set of small numbers.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Bits(#[state(sparse)] Vec<u64>);

impl Bits {
    /// None of `count` numbers.
    pub(crate) fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn has(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u32, is_in: bool) {
        let word = &mut self.0[number as usize / 64];
        *word = *word & !(1 << (number % 64)) | u64::from(is_in) << (number % 64);
    }
}

/// What the array does apart from reads that go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// It is given to a command whose cycles or data cross the channel.
    Taken,
    /// It works until its event.
    Running,
    /// It is being suspended.
    Suspending,
    /// It stands still for reads.
    Suspended,
}

/// Commands of one superblock that cannot begin yet, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Parked {
    pub(crate) superblock: u32,
    pub(crate) commands: VecDeque<u32>,
}

/// A command that waits in the line of its die, with the part of it that decides about its turn: lines are long while
/// blocks are cleaned, and commands are far apart in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Lined {
    /// As of the command.
    pub(crate) order: u64,
    pub(crate) command: u32,
    pub(crate) kind: Kind,
}

/// One die.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Die {
    /// Reads that go before all else, oldest first, until their command crosses.
    #[state(varies)]
    pub(crate) reads: VecDeque<u32>,
    /// Everything else that can begin, oldest first, until it begins.
    #[state(varies)]
    pub(crate) line: VecDeque<Lined>,
    /// What cannot begin yet: it waits for copies, or behind something of its superblock that does.
    #[state(varies)]
    pub(crate) parked: Vec<Parked>,
    /// Lanes that sense, or to which a command crosses.
    pub(crate) sensing: u64,
    /// By lane: the read that is sensed there.
    pub(crate) sensed: Vec<u32>,
    /// Lanes whose next read waits for the channel.
    pub(crate) offered: u64,
    /// By lane: pages that are sensed or wait to cross. Kept if registers are limited.
    pub(crate) held: Vec<u32>,
    /// What the array does for the line.
    pub(crate) phase: Phase,
    /// The command it does that for.
    pub(crate) job: u32,
    /// When that ends, if nothing suspends it; while it is suspended, how much is left.
    pub(crate) until: Time,
    /// When it works for that again, if it is being resumed; while it is suspended, how much is left of resuming it.
    pub(crate) resumed: Time,
    /// When it stands still, if it is being suspended.
    pub(crate) suspended: Time,
    /// How often it was suspended.
    pub(crate) suspensions: u32,
    /// The command of the line that waits for the channel.
    pub(crate) wanted: u32,
    /// The program whose data crosses, while the array may do something else.
    pub(crate) loading: u32,
    /// The program whose data is in the die.
    pub(crate) loaded: u32,
    /// Programs that have not ended, by their numbers.
    programs: Bits,
    /// Of these, once more for each: numbers of which another program has not ended either. A superblock may be erased and
    /// filled again before that.
    #[state(varies)]
    programs_again: Vec<u32>,
    /// Time of what waits in the line and in the registers.
    pub(crate) queued: Time,
    /// Whether what it does next is to be looked at.
    pub(crate) is_due: bool,
}

impl Die {
    /// A die that never did anything, with programs of so many numbers.
    pub(crate) fn new(programs: usize, lanes: u32) -> Die {
        Die {
            job: NONE,
            wanted: NONE,
            loading: NONE,
            loaded: NONE,
            held: vec![0; lanes as usize],
            sensed: vec![NONE; lanes as usize],
            programs: Bits::new(programs),
            ..Die::default()
        }
    }

    /// Whether reads that go first leave the array alone: none waits, and none is sensed.
    #[inline]
    pub(crate) fn has_no_reads(&self) -> bool {
        self.reads.is_empty() && self.sensing == 0
    }

    /// Whether one of `lanes` holds as many pages as it has registers.
    #[inline]
    pub(crate) fn is_full(&self, lanes: u64, registers: Option<u32>) -> bool {
        let Some(registers) = registers else { return false };
        self.held.iter().enumerate().any(|(lane, &held)| lanes >> lane & 1 == 1 && held >= registers)
    }

    /// A page more or less in the registers of `lanes`.
    #[inline]
    pub(crate) fn hold(&mut self, lanes: u64, more: u32) {
        for (lane, held) in self.held.iter_mut().enumerate() {
            if lanes >> lane & 1 == 1 {
                *held = held.wrapping_add(more);
            }
        }
    }

    /// Takes `command`, which is mostly the first, out of the line.
    #[inline]
    pub(crate) fn leave_line(&mut self, command: u32) {
        if self.line.front().is_some_and(|first| first.command == command) {
            self.line.pop_front();
            return;
        }
        let place = self.line.iter().position(|waiting| waiting.command == command);
        self.line.remove(place.expect("it waits there"));
    }

    /// The program with this number is issued.
    #[inline]
    pub(crate) fn add_program(&mut self, number: u32) {
        if self.programs.has(number) {
            self.programs_again.push(number);
        } else {
            self.programs.set(number, true);
        }
    }

    /// The oldest program with this number has ended.
    #[inline]
    pub(crate) fn end_program(&mut self, number: u32) {
        match self.programs_again.iter().position(|&other| other == number) {
            Some(place) => _ = self.programs_again.swap_remove(place),
            None => self.programs.set(number, false),
        }
    }

    /// Whether a program with this number has not ended.
    #[inline]
    pub(crate) fn is_programming(&self, number: u32) -> bool {
        self.programs.has(number)
    }

    /// Whether it does nothing and nothing waits for it.
    pub(crate) fn is_idle(&self) -> bool {
        self.reads.is_empty()
            && self.line.is_empty()
            && self.parked.is_empty()
            && self.sensing == 0
            && self.phase == Phase::Idle
            && self.loading == NONE
            && self.loaded == NONE
            && self.programs_again.is_empty()
    }
}

impl Die {
    /// When it has done all that waits, if no read comes.
    pub(crate) fn expected_free(&self, now: Time) -> Time {
        let under_way = match self.phase {
            Phase::Running => self.until.max(now),
            Phase::Suspending | Phase::Suspended => now + self.until,
            Phase::Idle | Phase::Taken => now,
        };
        under_way + self.queued
    }
}
