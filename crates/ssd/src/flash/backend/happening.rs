//! Flash events: the end of transfers, reads, programs, erases, suspensions, and decoding.

use super::{Backend, Done, ReadTimes};
use crate::flash::channel::{Crossing, Waiting};
use crate::flash::command::{Command, Kind, NONE, Owner};
use crate::flash::die::Phase;
use nacre_kernel::Time;

impl Backend {
    /// Processes the next event, which is due at `at`.
    #[inline]
    pub(crate) fn happen(&mut self, at: Time) {
        self.now = at;
        if self.timers.next() != at {
            let decoded = self.decoding.pop_before(at + Time::from_ps(1));
            return self.end_copy(decoded.expect("something is due").1);
        }
        let timer = self.timers.take_next() as u32;
        let Some(timer) = timer.checked_sub(self.geometry.channels) else {
            return self.end_crossing(timer);
        };
        if self.timing.lanes > 1 {
            let (die, lane) = (timer / (self.timing.lanes + 1), timer % (self.timing.lanes + 1));
            if lane == self.timing.lanes { self.end_array(die) } else { self.end_sensing(die, lane) }
        } else if self.dies[timer as usize].sensing != 0 {
            self.end_sensing(timer, 0);
        } else {
            self.end_array(timer);
        }
    }

    fn end_crossing(&mut self, channel: u32) {
        let crossed = self.channels[channel as usize].crossing.take();
        let Waiting { command, what, .. } = crossed.expect("something crossed");
        self.due_channels.push(channel);
        let entry = &self.commands[command];
        let (number, lanes, array) = (entry.die, entry.lanes, entry.array);
        match what {
            Crossing::Command => {
                if self.dies[number as usize].job == command {
                    self.run_array(number, command);
                } else {
                    let lane = lanes.trailing_zeros();
                    self.dies[number as usize].sensed[lane as usize] = command;
                    let timer = self.lane_timer(number, lane);
                    self.timers.set(timer, self.now + array);
                }
            }
            Crossing::Page => {
                self.release_register(number, lanes);
                self.end_read(command);
            }
            Crossing::Data => {
                let die = &mut self.dies[number as usize];
                (die.loading, die.loaded) = (NONE, command);
                self.look_at(number);
            }
        }
    }

    /// Frees one page register in each of `lanes` of die `number`.
    fn release_register(&mut self, number: u32, lanes: u64) {
        if self.timing.registers.is_some() {
            self.dies[number as usize].hold(lanes, u32::MAX);
            self.look_at(number);
        }
    }

    /// Handles the end of sensing for the host read of a lane.
    #[inline]
    fn end_sensing(&mut self, die: u32, lane: u32) {
        let command = self.dies[die as usize].sensed[lane as usize];
        self.dies[die as usize].sensing &= !self.commands[command].lanes;
        self.look_at(die);
        self.send_page(command);
    }

    /// Sends a sensed page over the channel, unless the page stays in its die.
    fn send_page(&mut self, command: u32) {
        let Command { die, lanes, order, data, .. } = self.commands[command];
        if data.is_zero() {
            self.release_register(die, lanes);
            return self.end_read(command);
        }
        let (class, channel) = (self.class_of(command, Crossing::Page), self.channel_of(die));
        let waiting = Waiting { since: self.now, order, command, what: Crossing::Page };
        self.channels[channel as usize].offer(class, waiting);
        self.due_channels.push(channel);
    }

    /// Handles the arrival of the page of a read in the controller.
    fn end_read(&mut self, command: u32) {
        let entry = &self.commands[command];
        match entry.owner {
            Owner::Request(_) | Owner::Part(_) => {
                let (owner, times) = (entry.owner, times(entry, self.now));
                self.done.push(Done::Read { owner, times });
                self.commands.give_back(command);
            }
            Owner::None => self.commands.give_back(command),
            Owner::Copy if entry.decoding.is_zero() => self.end_copy(command),
            Owner::Copy => self.decoding.schedule(self.now + entry.decoding, command),
        }
    }

    /// Handles the end of a read for a copy. The data can then be programmed.
    fn end_copy(&mut self, command: u32) {
        let Command { die, number, .. } = self.commands[command];
        self.commands.give_back(command);
        let scope = self.scope_of(die);
        self.copies[scope].end(number);
        while let Some(waiting) = self.copies[scope].take_over() {
            self.make_ready(waiting);
        }
    }

    /// Makes a program, or the erases of a superblock, ready to start because the copies that they depended
    /// on have ended.
    fn make_ready(&mut self, first: u32) {
        let has_turn = self.erase_turns.are_kept() && self.commands[first].kind == Kind::Erase;
        let mut command = first;
        while command != NONE {
            let entry = &mut self.commands[command];
            entry.is_ready = true;
            let (die, superblock) = (entry.die, entry.superblock);
            let is_at_die = !(has_turn && entry.has_slot);
            command = entry.next;
            // An erase that waits for a grant is not yet in the queue of a die.
            if is_at_die {
                self.unpark(die, superblock);
            }
        }
        if has_turn {
            self.give_erase_turns();
        }
    }

    /// Handles the end of the operation that a die's array executes.
    fn end_array(&mut self, number: u32) {
        self.look_at(number);
        let die = &mut self.dies[number as usize];
        if die.phase == Phase::Suspending {
            die.phase = Phase::Suspended;
            return;
        }
        debug_assert_eq!(die.phase, Phase::Running, "the array of die {number}");
        let job = die.job;
        (die.phase, die.job) = (Phase::Idle, NONE);
        match self.commands[job].kind {
            Kind::Read => self.send_page(job),
            Kind::Program => self.end_program(number, job),
            Kind::Erase => {
                if self.commands[job].has_slot {
                    self.erase_turns.end();
                    self.give_erase_turns();
                }
                self.commands.give_back(job);
            }
        }
    }

    /// Handles the end of a program of one or more planes.
    fn end_program(&mut self, number: u32, first: u32) {
        let mut command = first;
        while command != NONE {
            let Command { program, order, has_slot, number: flushed, next, .. } = self.commands[command];
            self.dies[number as usize].end_program(program);
            if has_slot {
                self.slots.give_back(order);
            }
            if self.carries_bytes {
                let (superblock, operation) = self.geometry.of_number_on_die(program, number);
                self.done.push(Done::Programmed { superblock, operation });
            }
            if flushed != u64::MAX {
                self.programs.end(flushed);
            }
            self.commands.give_back(command);
            command = next;
        }
        while let Some(flush) = self.programs.take_over() {
            self.done.push(Done::Flushed(flush));
        }
        if self.program_turns.are_kept() {
            self.program_turns.end();
            // The next decisions include the dies that wait for a grant.
            self.look_at(number);
        }
    }
}

/// Returns the times of a read whose transfer ends at `now`.
#[inline]
fn times(command: &Command, now: Time) -> ReadTimes {
    let transfer = command.command + command.data;
    let waits = now - command.issued - transfer - command.array;
    let suspend = command.suspending.min(waits);
    ReadTimes { suspend, sense: command.array, transfer, correct: Time::ZERO }
}
