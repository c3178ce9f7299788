//! The flash back end: channels, dies, and their queues.
//!
//! The translation layer issues commands ([`FlashOps`](crate::ops::FlashOps)), and the commands wait at their
//! dies. The next operation of a die is selected when its array is free, and the next transfer of a channel
//! when the channel is free ([`deciding`]).

mod deciding;
mod happening;
mod issuing;
mod power;
#[cfg(test)]
mod tests;
mod turns;

pub(crate) use issuing::HostRead;
pub(crate) use power::{Held, Unfinished};

use crate::buffer::Slots;
use crate::config::{Arbitration, Config};
use crate::errors::Errors;
use crate::flash::channel::Channel;
use crate::flash::command::{Command, Owner};
use crate::flash::die::Die;
use crate::flash::prerequisites::Prerequisites;
use crate::flash::timing::Timing;
use crate::layout::geometry::Geometry;
use nacre_kernel::event::{Agenda, Slab, Timers};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Time};
use nacre_media::charge::Charges;
use nacre_media::flash::Operation;
use turns::Turns;

/// Completed work, which the drive then handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Done {
    /// A page of a request or of a part has crossed its channel.
    Read {
        /// Request or part that waited for the page.
        owner: Owner,
        /// Times of the read, one per activity.
        times: ReadTimes,
    },
    /// An operation is programmed. This event is reported only if the drive stores data.
    Programmed {
        /// Superblock of the operation.
        superblock: u32,
        /// Number of the operation in the superblock.
        operation: u32,
    },
    /// All programs that a flush waited for have ended. The value identifies the flush.
    Flushed(u32),
}

/// Times of a host read, by activity, excluding the time for which it waits for the die and the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct ReadTimes {
    /// Time for suspending the operation of the die.
    pub(crate) suspend: Time,
    /// Sensing time in the array.
    pub(crate) sense: Time,
    /// Transfer time on the channel.
    pub(crate) transfer: Time,
    /// Decoding time.
    pub(crate) correct: Time,
}

impl ReadTimes {
    /// Adds the times of another read, which followed this one.
    pub(crate) fn add(&mut self, next: &ReadTimes) {
        self.suspend += next.suspend;
        self.sense += next.sense;
        self.transfer += next.transfer;
        self.correct += next.correct;
    }
}

/// Counters since measurement started, excluding the counters of the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Counts {
    pub(crate) copy_reads: u64,
    pub(crate) programs: u64,
    pub(crate) suspensions: u64,
    /// Number of pages that a power loss prevented from being programmed, for each activity.
    pub(crate) unprogrammed: [u64; Activity::COUNT],
}

/// Operations and energy of the flash since measurement started.
pub(crate) type FlashCharges = Charges<{ Operation::COUNT }>;

/// Channels, dies, and all commands in progress.
#[derive(State)]
pub(crate) struct Backend {
    #[state(skip = "from the configuration")]
    pub(crate) geometry: Geometry,
    #[state(skip = "from the configuration")]
    pub(crate) timing: Timing,
    #[state(skip = "from the configuration")]
    arbitration: Arbitration,
    /// Current time.
    pub(crate) now: Time,
    commands: Slab<Command>,
    /// Number of commands issued so far.
    issued: u64,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// End time of the transfer on each channel, of the read in each lane, and of the operation in each
    /// array.
    timers: Timers,
    /// Commands of copies whose data is being decoded.
    decoding: Agenda<u32>,
    /// Dies and channels with decisions due at the current time.
    #[state(varies)]
    due_dies: Vec<u32>,
    #[state(varies)]
    due_channels: Vec<u32>,
    /// Lists of the copies on which programs and erases depend: one list for all dies, or one list per die
    /// with allocation by plane.
    copies: Vec<Prerequisites>,
    /// List of the programs for which flushes wait.
    programs: Prerequisites,
    #[state(skip = "from the configuration")]
    flush_waits: bool,
    pub(crate) slots: Slots,
    erase_turns: Turns,
    program_turns: Turns,
    /// Work that is completed and that the drive has not handled yet.
    #[state(varies)]
    done: Vec<Done>,
    #[state(skip = "whether there are bytes is not part of the state")]
    carries_bytes: bool,
    pub(crate) die_charges: FlashCharges,
    pub(crate) channel_charges: FlashCharges,
    pub(crate) counts: Counts,
    /// Bit error model.
    pub(crate) errors: Option<Box<Errors>>,
}

impl Backend {
    /// Creates an idle back end for `config`.
    pub(crate) fn new(geometry: Geometry, config: &Config, carries_bytes: bool) -> Backend {
        let timing = Timing::of(config, &geometry);
        let operations = config.buffer.0 / config.operation_bytes() - config.operations_filled();
        let dies = geometry.dies as usize;
        let scopes = (geometry.dies / geometry.dies_of_superblock()) as usize;
        Backend {
            arbitration: config.arbitration,
            now: Time::ZERO,
            commands: Slab::new(),
            issued: 0,
            dies: (0..geometry.dies).map(|_| Die::new(geometry.operations_per_die(), timing.lanes)).collect(),
            channels: vec![Channel::default(); geometry.channels as usize],
            timers: Timers::new(geometry.channels as usize + dies * timers_of_die(&timing)),
            decoding: Agenda::new(),
            due_dies: Vec::new(),
            due_channels: Vec::new(),
            copies: vec![Prerequisites::default(); scopes],
            programs: Prerequisites::default(),
            flush_waits: !config.is_power_protected(),
            slots: Slots::new(config.buffer_places, operations * config.operation_bytes()),
            erase_turns: Turns::new(config.erases_at_once, geometry.dies),
            program_turns: Turns::new(config.programs_at_once, geometry.dies),
            done: Vec::new(),
            carries_bytes,
            die_charges: FlashCharges::default(),
            channel_charges: FlashCharges::default(),
            counts: Counts::default(),
            errors: None,
            geometry,
            timing,
        }
    }

    /// Returns the time of the next event, or [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        self.timers.next().min(self.decoding.next())
    }

    /// Returns whether decisions are due at the current time.
    #[inline]
    pub(crate) fn has_decisions(&self) -> bool {
        !self.due_dies.is_empty() || !self.due_channels.is_empty()
    }

    /// Moves the completed work into `into`.
    #[inline]
    pub(crate) fn take_done(&mut self, into: &mut Vec<Done>) {
        into.append(&mut self.done);
    }

    /// Returns whether `operation` of `superblock`, on `die`, is not programmed yet and its data is still in
    /// the buffer.
    #[inline]
    pub(crate) fn is_programming(&self, superblock: u32, operation: u32, die: u32) -> bool {
        self.dies[die as usize].is_programming(self.geometry.number_on_die(superblock, operation))
    }

    /// Returns whether no command is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.commands.is_empty()
    }

    /// Makes the flush `who` wait for all host programs in progress. Returns whether any program is in
    /// progress.
    pub(crate) fn wait_for_programs(&mut self, who: u32) -> bool {
        self.programs.wait(who)
    }

    /// Returns the timer of `lane` of `die`.
    #[inline]
    fn lane_timer(&self, die: u32, lane: u32) -> usize {
        (self.geometry.channels + die * timers_of_die(&self.timing) as u32 + lane) as usize
    }

    /// Returns the timer of the array of `die`. A die with a single lane uses one timer for the lane and
    /// the array, because no read is sensed while the array is busy.
    #[inline]
    fn array_timer(&self, die: u32) -> usize {
        let last = if self.timing.lanes > 1 { self.timing.lanes } else { 0 };
        self.lane_timer(die, last)
    }

    /// Returns the index of the list of copies that programs and erases of `die` depend on.
    #[inline]
    fn scope_of(&self, die: u32) -> usize {
        if self.copies.len() == 1 { 0 } else { self.geometry.by_dies_of_superblock.divide(die).0 as usize }
    }

    /// Marks the next operation of `die` as due for a decision.
    #[inline]
    fn look_at(&mut self, die: u32) {
        let state = &mut self.dies[die as usize];
        if !state.is_due {
            state.is_due = true;
            self.due_dies.push(die);
        }
    }

    #[inline]
    fn channel_of(&self, die: u32) -> u32 {
        die % self.geometry.channels
    }

    /// Charges `time` on a channel for the transfer of this number of pages.
    #[inline]
    fn charge_crossing(&mut self, time: Time, pages: u32) {
        self.channel_charges.charge(Activity::Transfer, time);
        self.channel_charges.count(Operation::Transfer as usize, Activity::Transfer, u64::from(pages));
    }

    /// Resets the counters at the start of measurement.
    pub(crate) fn restart_ledger(&mut self) {
        self.die_charges = FlashCharges::default();
        self.channel_charges = FlashCharges::default();
        self.counts = Counts::default();
        if let Some(errors) = &mut self.errors {
            errors.restart_ledger();
        }
    }

    /// Returns the numbers of reads, programs, erases, and suspensions since measurement started.
    pub(crate) fn flash_counters(&self) -> [(&'static str, u64); 4] {
        let did = |operation: Operation, activity| self.die_charges.counted(operation as usize, activity);
        [
            ("flash_reads", did(Operation::Read, Activity::Read)),
            ("flash_programs", self.counts.programs),
            ("flash_erases", did(Operation::Erase, Activity::Erase)),
            ("suspensions", self.counts.suspensions),
        ]
    }

    /// Panics if work remains although no command is in progress.
    pub(crate) fn check_invariants(&self) {
        self.slots.check_invariants();
        if self.is_idle() {
            assert!(self.dies.iter().all(Die::is_idle), "a die works for no command");
            assert!(self.channels.iter().all(Channel::is_idle), "a channel works for no command");
            assert!(self.copies.iter().all(|copies| copies.open() == 0), "a copy is open");
            assert_eq!(self.programs.open(), 0, "a program is open");
        }
    }
}

/// Returns the number of timers of a die.
fn timers_of_die(timing: &Timing) -> usize {
    if timing.lanes > 1 { timing.lanes as usize + 1 } else { 1 }
}
