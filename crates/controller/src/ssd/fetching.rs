//! Pages that the host waits for: from their die, over its channel.

use super::die::Turn;
use super::geometry::Spot;
use super::line::Task;
use super::schedule::Schedule;
use super::waiting_reads::Read;
use nacre_kernel::{Activity, Time};
use std::ops::Range;

/// A read of the host from a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetch {
    pub(super) turn: Turn,
    /// When the page is in the die's register.
    pub(super) sensed: Time,
    /// When its transfer over the channel began, and ended.
    pub(super) transfer: Time,
    pub(super) done: Time,
}

impl Schedule {
    /// Reads so many `units` of the operation at `spot`, which lie on `planes`, at `at`, for a request that came at `now`.
    /// `activity` is what the die's time is for.
    #[inline]
    pub(super) fn fetch(
        &mut self,
        (now, at): (Time, Time),
        (spot, planes): (Spot, Range<u32>),
        units: u32,
        activity: Activity,
    ) -> Fetch {
        match self.pace.is_plain {
            true => self.fetch_plainly(at, spot, units, activity),
            false => self.fetch_in_turn((now, at), (spot, planes), units, activity),
        }
    }

    /// The same where reads of the host go first and nothing else is to be kept.
    #[inline(always)]
    pub(super) fn fetch_plainly(&mut self, at: Time, spot: Spot, units: u32, activity: Activity) -> Fetch {
        let read = self.pace.reading(spot);
        let (pages, time) = self.crossing(units);
        let die = &mut self.dies[spot.die as usize];
        let turn = die.read(at, read, &self.pace.suspending);
        let sensed = turn.start + read;
        let transfer = self.channels[die.channel as usize].reserve(sensed, time);
        let done = transfer + time;
        self.charge_fetch(activity, &turn, read, time, pages);
        let fetch = Fetch { turn, sensed, transfer, done };
        if self.carries_bytes {
            self.note_fetch(activity, fetch, read, pages);
        }
        fetch
    }

    /// The same where not every read goes first, planes read by themselves, dies have registers, channels choose, or
    /// erases have turns.
    #[inline(never)]
    pub(super) fn fetch_in_turn(
        &mut self,
        (now, at): (Time, Time),
        (spot, planes): (Spot, Range<u32>),
        units: u32,
        activity: Activity,
    ) -> Fetch {
        self.erase_turns.begin(now, &mut self.dies);
        let read = self.pace.reading(spot);
        let (pages, time) = self.crossing(units);
        let die = spot.die as usize;
        let fetch = if self.arbiters.is_empty() {
            let turn = match self.pace.read_priority {
                true if self.pace.reads_by_plane => {
                    self.dies[die].read_on(planes, at, read, &self.pace.suspending)
                }
                true => self.dies[die].read(at, read, &self.pace.suspending),
                false => self.dies[die].read_in_turn(now, at, read, Task::read(activity, 1)),
            };
            let sensed = turn.start + read;
            let transfer = self.channels[self.dies[die].channel as usize].reserve(sensed, time);
            Fetch { turn, sensed, transfer, done: transfer + time }
        } else {
            let command = self.pace.command * u64::from(pages);
            self.fetch_as_channel_chooses(at, die, Read { command, sense: read, page: time - command })
        };
        self.hold_registers(die, fetch.sensed, fetch.done);
        self.charge_fetch(activity, &fetch.turn, read, time, pages);
        if self.carries_bytes {
            self.note_fetch(activity, fetch, read, pages);
        }
        fetch
    }

    /// Has the channel of `die` plan `read`, and takes the die as long as that says.
    fn fetch_as_channel_chooses(&mut self, at: Time, die: usize, read: Read) -> Fetch {
        let (place, channel) = (die / self.channels.len(), self.dies[die].channel as usize);
        let (die, suspending) = (&mut self.dies[die], &self.pace.suspending);
        let (open, suspend) = die.before_read(at, suspending);
        let planned =
            self.arbiters[channel].read(at, place, open, Read { sense: suspend + read.sense, ..read });
        // The die does nothing else while the command waits.
        let taken = open.max(die.reads_until());
        let takes = planned.sensed.saturating_sub(taken).max(suspend + read.sense) - suspend;
        let Turn { has_suspended, .. } = die.read(taken, takes, suspending);
        let turn = Turn { start: planned.command + suspend, suspending: suspend, has_suspended };
        Fetch { turn, sensed: planned.sensed, transfer: planned.page, done: planned.page + read.page }
    }

    /// A page that was `sensed` crosses until `done`: the die's next read begins when a register is free.
    fn hold_registers(&mut self, die: usize, sensed: Time, done: Time) {
        match self.pace.registers {
            None => {}
            Some(1) => self.dies[die].hold(sensed, done),
            Some(registers) => {
                let crossing = &mut self.crossing_until[die];
                crossing.push_back(done);
                // The page moves on from the register it was sensed into when the one that many before it has left.
                if crossing.len() >= registers
                    && let Some(left) = crossing.pop_front()
                {
                    self.dies[die].hold(sensed, left);
                }
            }
        }
    }

    #[inline(always)]
    fn charge_fetch(&mut self, activity: Activity, turn: &Turn, read: Time, crossing: Time, pages: u32) {
        self.die_charges.charge(activity, read);
        if turn.has_suspended {
            self.counts.suspensions += 1;
            self.die_charges.charge(Activity::Suspend, turn.suspending + self.pace.suspending.resume);
        }
        self.charge_crossing(crossing, pages);
    }
}
