//! A die: the state of its array and its waiting commands.

use crate::flash::command::{Kind, NONE};
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// A set of small integers, as a bitmap.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Bits(#[state(sparse)] Vec<u64>);

impl Bits {
    /// Creates an empty set for numbers below `count`.
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

/// State of the array of a die. Reads with priority do not change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Phase {
    /// Idle.
    #[default]
    Idle,
    /// Reserved for a command whose command cycles or data are being transferred.
    Taken,
    /// Busy until the next event.
    Running,
    /// The operation in progress is being suspended.
    Suspending,
    /// The operation is suspended for reads.
    Suspended,
}

/// Commands for one superblock that cannot start yet. The oldest command is first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Parked {
    pub(crate) superblock: u32,
    pub(crate) commands: VecDeque<u32>,
}

/// Entry in the queue of a die, with copies of the command fields that determine when the command may
/// start. Reading these copies is faster than accessing the commands: queues are long during garbage
/// collection, and commands are far apart in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Lined {
    /// Number of the command in issue order.
    pub(crate) order: u64,
    pub(crate) command: u32,
    pub(crate) kind: Kind,
}

/// State of one die.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Die {
    /// Queue of the reads with priority whose commands have not been transferred yet, oldest first.
    #[state(varies)]
    pub(crate) reads: VecDeque<u32>,
    /// All other commands that can start, oldest first.
    #[state(varies)]
    pub(crate) line: VecDeque<Lined>,
    /// Commands that cannot start yet because they depend on copies, or on an earlier command for the same
    /// superblock that depends on copies.
    #[state(varies)]
    pub(crate) parked: Vec<Parked>,
    /// Lanes that are sensing or receiving a read command, as a bit set.
    pub(crate) sensing: u64,
    /// Read that each lane is sensing, or [`NONE`].
    pub(crate) sensed: Vec<u32>,
    /// Lanes whose next read waits for the channel, as a bit set.
    pub(crate) offered: u64,
    /// Number of occupied page registers per lane. A page occupies its register while it is sensed and until
    /// its transfer ends. Empty if registers are not limited.
    pub(crate) held: Vec<u32>,
    /// State of the array for queued commands.
    pub(crate) phase: Phase,
    /// Command that the array executes, or [`NONE`].
    pub(crate) job: u32,
    /// End time of the command in `job`, or its remaining time while it is suspended.
    pub(crate) until: Time,
    /// Time at which the resumed command in `job` continues, or the remaining resumption time while it is
    /// suspended.
    pub(crate) resumed: Time,
    /// Time at which the suspension of the command in `job` is complete.
    pub(crate) suspended: Time,
    /// Number of suspensions of the command in `job`.
    pub(crate) suspensions: u32,
    /// Queued command that waits for the channel, or [`NONE`].
    pub(crate) wanted: u32,
    /// Program whose data is being transferred, or [`NONE`]. The array may be busy meanwhile.
    pub(crate) loading: u32,
    /// Program whose data is in the die, or [`NONE`].
    pub(crate) loaded: u32,
    /// Set of the numbers of programs in progress.
    programs: Bits,
    /// Numbers of further programs in progress whose number is already in `programs`. A superblock may be
    /// erased and programmed again before its earlier program ends.
    #[state(varies)]
    programs_again: Vec<u32>,
    /// Total duration of the queued commands and of the command whose data is in the die.
    pub(crate) queued: Time,
    /// Whether the die needs a decision about its next operation.
    pub(crate) is_due: bool,
}

impl Die {
    /// Creates an idle die whose program numbers are below `programs`.
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

    /// Returns whether no read with priority waits or is being sensed, so that the array is available to
    /// other commands.
    #[inline]
    pub(crate) fn has_no_reads(&self) -> bool {
        self.reads.is_empty() && self.sensing == 0
    }

    /// Returns whether one of `lanes` has no free page register.
    #[inline]
    pub(crate) fn is_full(&self, lanes: u64, registers: Option<u32>) -> bool {
        let Some(registers) = registers else { return false };
        self.held.iter().enumerate().any(|(lane, &held)| lanes >> lane & 1 == 1 && held >= registers)
    }

    /// Allocates `more` page registers in each of `lanes`.
    #[inline]
    pub(crate) fn hold(&mut self, lanes: u64, more: u32) {
        for (lane, held) in self.held.iter_mut().enumerate() {
            if lanes >> lane & 1 == 1 {
                *held = held.wrapping_add(more);
            }
        }
    }

    /// Removes `command` from the queue. Usually, it is the first entry.
    #[inline]
    pub(crate) fn leave_line(&mut self, command: u32) {
        if self.line.front().is_some_and(|first| first.command == command) {
            self.line.pop_front();
            return;
        }
        let place = self.line.iter().position(|waiting| waiting.command == command);
        self.line.remove(place.expect("it waits there"));
    }

    /// Adds an issued program with this number.
    #[inline]
    pub(crate) fn add_program(&mut self, number: u32) {
        if self.programs.has(number) {
            self.programs_again.push(number);
        } else {
            self.programs.set(number, true);
        }
    }

    /// Removes the oldest program with this number, because it has ended.
    #[inline]
    pub(crate) fn end_program(&mut self, number: u32) {
        match self.programs_again.iter().position(|&other| other == number) {
            Some(place) => _ = self.programs_again.swap_remove(place),
            None => self.programs.set(number, false),
        }
    }

    /// Returns whether a program with this number is in progress.
    #[inline]
    pub(crate) fn is_programming(&self, number: u32) -> bool {
        self.programs.has(number)
    }

    /// Returns whether the die is idle and has no waiting command.
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
    /// Returns the expected time at which all waiting commands have ended if no read arrives until then.
    pub(crate) fn expected_free(&self, now: Time) -> Time {
        let under_way = match self.phase {
            Phase::Running => self.until.max(now),
            Phase::Suspending | Phase::Suspended => now + self.until,
            Phase::Idle | Phase::Taken => now,
        };
        under_way + self.queued
    }
}
