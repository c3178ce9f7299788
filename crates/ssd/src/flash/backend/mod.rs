//! The flash back end: channels and dies, what waits for them, and what happens when.
//!
//! The translation layer issues commands ([`FlashOps`](crate::ops::FlashOps)); each waits at its die.
//! What a die does next is decided when its array is free, and what crosses a channel when the channel is free
//! ([`deciding`]).

mod deciding;
mod happening;
mod issuing;
mod power;
#[cfg(test)]
mod tests;
mod turns;

pub(crate) use issuing::HostRead;
pub(crate) use power::{Held, Unfinished};

use crate::buffer::places::Places;
use crate::config::{Arbitration, Config};
use crate::flash::channel::Channel;
use crate::flash::command::{Command, Owner};
use crate::flash::die::Die;
use crate::flash::prerequisites::Prerequisites;
use crate::flash::timing::Timing;
use crate::layout::geometry::Geometry;
use crate::optional_part::OptionalPart;
use crate::reliability::errors::Errors;
use nacre_kernel::event::{Agenda, Slab, Timers};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Activity, Time};
use nacre_media::charge::Charges;
use nacre_media::flash::Operation;
use turns::{EraseTurns, ProgramTurns};

/// What the drive is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Done {
    /// A page that a request or a part of one waits for is across its channel.
    Read {
        /// Who waits for it.
        owner: Owner,
        /// Where its time went.
        times: ReadTimes,
    },
    /// An operation is programmed. Told if the drive carries bytes.
    Programmed {
        /// Its superblock.
        superblock: u32,
        /// Its number there.
        operation: u32,
    },
    /// All programs are over that a flush waited for.
    Flushed(u32),
}

/// Where the time of a read of the host went, from its issue to the end of its transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct ReadTimes {
    /// For die and channel.
    pub(crate) queue: Time,
    /// Until what the die did was suspended.
    pub(crate) suspend: Time,
    /// In the array.
    pub(crate) sense: Time,
    /// On the channel.
    pub(crate) transfer: Time,
}

/// What was done since measuring began, in addition to what the medium counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) struct Counts {
    pub(crate) copy_reads: u64,
    pub(crate) programs: u64,
    pub(crate) suspensions: u64,
    /// Pages that a power loss kept from being programmed, by activity.
    pub(crate) unprogrammed: [u64; Activity::COUNT],
}

/// What flash did since measuring began.
pub(crate) type FlashCharges = Charges<{ Operation::COUNT }>;

/// Channels and dies, and all commands that have not ended.
#[derive(State)]
pub(crate) struct Backend {
    #[state(skip = "from the configuration")]
    pub(crate) geometry: Geometry,
    #[state(skip = "from the configuration")]
    pub(crate) timing: Timing,
    #[state(skip = "from the configuration")]
    arbitration: Arbitration,
    /// The moment that is being worked on.
    pub(crate) now: Time,
    commands: Slab<Command>,
    /// Commands issued so far.
    issued: u64,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Of each channel, of the lanes of each die, and of its array.
    timers: Timers,
    /// Copies that are being decoded.
    decoding: Agenda<u32>,
    /// Dies and channels for which something is to be decided now.
    #[state(varies)]
    due_dies: Vec<u32>,
    #[state(varies)]
    due_channels: Vec<u32>,
    /// Copies that programs and erases wait for: of all dies, or of each where planes are cleaned by themselves.
    copies: Vec<Prerequisites>,
    /// Programs that flushes wait for.
    programs: Prerequisites,
    #[state(skip = "from the configuration")]
    flush_waits: bool,
    pub(crate) places: Places,
    erase_turns: EraseTurns,
    program_turns: ProgramTurns,
    /// What the drive was not told yet.
    #[state(varies)]
    done: Vec<Done>,
    #[state(skip = "whether there are bytes is not part of the state")]
    carries_bytes: bool,
    pub(crate) die_charges: FlashCharges,
    pub(crate) channel_charges: FlashCharges,
    pub(crate) counts: Counts,
    /// Bits that go wrong.
    pub(crate) errors: OptionalPart<Errors>,
}

impl Backend {
    /// The idle back end of `config`.
    pub(crate) fn new(geometry: Geometry, config: &Config, carries_bytes: bool) -> Backend {
        let timing = Timing::of(config, &geometry);
        let places = config.buffer.0 / config.operation_bytes() - config.operations_filled();
        let dies = geometry.dies as usize;
        let scopes = if geometry.is_by_plane() { geometry.dies as usize } else { 1 };
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
            places: Places::new(config.buffer_places, places),
            erase_turns: EraseTurns::new(config, &geometry),
            program_turns: ProgramTurns::new(config, &geometry),
            done: Vec::new(),
            carries_bytes,
            die_charges: FlashCharges::default(),
            channel_charges: FlashCharges::default(),
            counts: Counts::default(),
            errors: OptionalPart::default(),
            geometry,
            timing,
        }
    }

    /// When something happens next; [`Time::MAX`] if nothing will.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        self.timers.next().min(self.decoding.next())
    }

    /// Whether something is to be decided at the moment that is being worked on.
    #[inline]
    pub(crate) fn has_decisions(&self) -> bool {
        !self.due_dies.is_empty() || !self.due_channels.is_empty()
    }

    /// Takes what the drive was not told yet.
    #[inline]
    pub(crate) fn take_done(&mut self, into: &mut Vec<Done>) {
        into.append(&mut self.done);
    }

    /// Whether `operation` of `superblock`, on `die`, is yet to be programmed: the buffer still has its data.
    #[inline]
    pub(crate) fn is_programming(&self, superblock: u32, operation: u32, die: u32) -> bool {
        self.dies[die as usize].is_programming(self.geometry.number_on_die(superblock, operation))
    }

    /// Whether no command is left.
    pub(crate) fn is_idle(&self) -> bool {
        self.commands.is_empty()
    }

    /// A flush, `who`, waits for all programs of what the host wrote. Returns whether there are any.
    pub(crate) fn wait_for_programs(&mut self, who: u32) -> bool {
        self.programs.wait(who)
    }

    /// The timer of lane `lane` of `die`.
    #[inline]
    fn lane_timer(&self, die: u32, lane: u32) -> usize {
        (self.geometry.channels + die * timers_of_die(&self.timing) as u32 + lane) as usize
    }

    /// The timer of the array of `die`. With a single lane they share one: no read is sensed while the array runs.
    #[inline]
    fn array_timer(&self, die: u32) -> usize {
        let last = if self.timing.lanes > 1 { self.timing.lanes } else { 0 };
        self.lane_timer(die, last)
    }

    /// Where programs and erases of `die` find the copies that they wait for.
    #[inline]
    fn scope_of(&self, die: u32) -> usize {
        if self.copies.len() == 1 { 0 } else { die as usize }
    }

    /// What `die` does next is to be decided.
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

    /// So many pages take `time` on a channel.
    #[inline]
    fn charge_crossing(&mut self, time: Time, pages: u32) {
        self.channel_charges.charge(Activity::Transfer, time);
        self.channel_charges.count(Operation::Transfer as usize, Activity::Transfer, u64::from(pages));
    }

    /// Measuring begins.
    pub(crate) fn restart_ledger(&mut self) {
        self.die_charges = FlashCharges::default();
        self.channel_charges = FlashCharges::default();
        self.counts = Counts::default();
        if let Some(errors) = &mut self.errors.0 {
            errors.restart_ledger();
        }
    }

    /// What reads, programs and erases were, since measuring began.
    pub(crate) fn flash_counters(&self) -> [(&'static str, u64); 4] {
        let did = |operation: Operation, activity| self.die_charges.counted(operation as usize, activity);
        [
            ("flash_reads", did(Operation::Read, Activity::Read)),
            ("flash_programs", self.counts.programs),
            ("flash_erases", did(Operation::Erase, Activity::Erase)),
            ("suspensions", self.counts.suspensions),
        ]
    }

    /// Panics if something is left over while nothing is under way.
    pub(crate) fn check_invariants(&self) {
        self.places.check_invariants();
        if self.is_idle() {
            assert!(self.dies.iter().all(Die::is_idle), "a die works for no command");
            assert!(self.channels.iter().all(Channel::is_idle), "a channel works for no command");
            assert!(self.copies.iter().all(|copies| copies.open() == 0), "a copy is open");
            assert_eq!(self.programs.open(), 0, "a program is open");
        }
    }
}

/// How many timers a die has.
fn timers_of_die(timing: &Timing) -> usize {
    if timing.lanes > 1 { timing.lanes as usize + 1 } else { 1 }
}
