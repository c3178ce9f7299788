//! Scheduling decisions: the next operation of each die, and the next transfer on each channel.
//!
//! With `read_priority`, host reads precede all other operations of their die, and suspend the operation in
//! progress if suspension is possible. A read command can start when the array and a page register are free.
//! Without `read_priority`, reads wait in the queue of the die, which is first in, first out.

use super::Backend;
use crate::flash::channel::{Class, Crossing, Waiting};
use crate::flash::command::{Command, Kind, NONE, Owner};
use crate::flash::die::{Lined, Phase};
use nacre_kernel::{Activity, Time};
use nacre_media::flash::Operation;

impl Backend {
    /// Makes all decisions that are due at the current time.
    pub(crate) fn decide(&mut self) {
        loop {
            while let Some(die) = self.due_dies.pop() {
                self.dies[die as usize].is_due = false;
                self.decide_die(die);
            }
            while let Some(die) = self.program_turns.next(|_| true) {
                self.take_program_turn(die);
            }
            let Some(channel) = self.due_channels.pop() else {
                if self.due_dies.is_empty() {
                    return;
                }
                continue;
            };
            if self.channels[channel as usize].crossing.is_none()
                && let Some(waiting) = self.channels[channel as usize].choose(self.arbitration)
            {
                self.cross(channel, waiting);
            }
        }
    }

    /// Decides the next operation of die `number`.
    fn decide_die(&mut self, number: u32) {
        if !self.dies[number as usize].reads.is_empty() {
            self.decide_reads(number);
        }
        let die = &self.dies[number as usize];
        if die.line.is_empty() && die.loaded == NONE && die.phase != Phase::Suspended {
            return;
        }
        match die.phase {
            Phase::Suspended if die.has_no_reads() => self.resume(number),
            Phase::Idle if die.has_no_reads() => self.begin_next(number),
            // Without cache registers, the data of a program occupies the die.
            Phase::Taken if die.loaded != NONE => self.begin_program(number),
            _ => {}
        }
        if self.timing.is_cached {
            self.offer_data(number);
        }
    }

    /// Decides how die `number` serves its waiting host reads.
    fn decide_reads(&mut self, number: u32) {
        let die = &self.dies[number as usize];
        match die.phase {
            Phase::Idle | Phase::Suspended => {
                // The command that the queue has offered to the channel also needs the array.
                let wanted = die.wanted;
                if wanted != NONE && (self.commands[wanted].kind == Kind::Read || !self.timing.is_cached) {
                    self.dies[number as usize].wanted = NONE;
                    let is_program = self.commands[wanted].kind == Kind::Program;
                    let what = if is_program { Crossing::Data } else { Crossing::Command };
                    let class = self.class_of(wanted, what);
                    let channel = self.channel_of(number) as usize;
                    self.channels[channel].withdraw(class, wanted);
                }
                self.offer_reads(number);
            }
            Phase::Running => {
                let job = &self.commands[die.job];
                if self.timing.suspend.is_some()
                    && job.kind != Kind::Read
                    && die.suspensions < self.timing.suspensions
                {
                    self.suspend(number);
                }
            }
            Phase::Taken | Phase::Suspending => {}
        }
    }

    /// Offers the commands of reads to the channel if their lanes are free.
    fn offer_reads(&mut self, number: u32) {
        let channel = self.channel_of(number);
        let die = &mut self.dies[number as usize];
        let mut taken = die.sensing | die.offered;
        if self.timing.lanes == 1 && taken != 0 {
            return;
        }
        for &command in &die.reads {
            let Some(entry) = Some(&self.commands[command]).filter(|entry| entry.lanes & taken == 0) else {
                taken |= self.commands[command].lanes;
                continue;
            };
            taken |= entry.lanes;
            if die.is_full(entry.lanes, self.timing.registers) {
                if self.timing.lanes == 1 { break } else { continue }
            }
            die.offered |= entry.lanes;
            let waiting = Waiting { since: self.now, order: entry.order, command, what: Crossing::Command };
            self.channels[channel as usize].offer(Class::Command, waiting);
            self.due_channels.push(channel);
            if self.timing.lanes == 1 {
                break;
            }
        }
    }

    /// Returns the first command in the queue of `die`.
    #[inline]
    fn first_of_line(&self, die: u32) -> Option<Lined> {
        self.dies[die as usize].line.front().copied()
    }

    /// Starts the next command in the queue of die `number`. The array is idle, and no read with priority
    /// waits.
    fn begin_next(&mut self, number: u32) {
        let die = &self.dies[number as usize];
        if die.loaded != NONE {
            return self.begin_program(number);
        }
        if die.loading != NONE || die.wanted != NONE {
            return;
        }
        let Some(Lined { command, kind, .. }) = self.first_of_line(number) else { return };
        match kind {
            Kind::Erase => self.begin_erase(number, command),
            Kind::Read => {
                let lanes = self.commands[command].lanes;
                if !self.dies[number as usize].is_full(lanes, self.timing.registers) {
                    self.want(number, command, Crossing::Command);
                }
            }
            // With cache registers, the data is offered even while the array is busy.
            Kind::Program if self.timing.is_cached => {}
            Kind::Program => {
                if self.dies[number as usize].held.iter().all(|&held| held == 0) {
                    self.want(number, command, Crossing::Data);
                }
            }
        }
    }

    /// Offers the data of the next program of die `number`, which can be transferred while the array is busy.
    fn offer_data(&mut self, number: u32) {
        let die = &self.dies[number as usize];
        if die.wanted != NONE || die.loading != NONE || die.loaded != NONE {
            return;
        }
        if let Some(Lined { command, kind: Kind::Program, .. }) = self.first_of_line(number) {
            self.want(number, command, Crossing::Data);
        }
    }

    /// Queues a transfer for a command in the queue of a die.
    fn want(&mut self, die: u32, command: u32, what: Crossing) {
        self.dies[die as usize].wanted = command;
        let (class, channel) = (self.class_of(command, what), self.channel_of(die));
        let waiting = Waiting { since: self.now, order: self.commands[command].order, command, what };
        self.channels[channel as usize].offer(class, waiting);
        self.due_channels.push(channel);
    }

    /// Returns the channel queue for this type of transfer of a command.
    #[inline]
    pub(super) fn class_of(&self, command: u32, what: Crossing) -> Class {
        let entry = &self.commands[command];
        match what {
            _ if entry.owner == Owner::Copy => Class::Other,
            Crossing::Command => Class::Command,
            Crossing::Page => Class::Page,
            Crossing::Data => Class::Other,
        }
    }

    /// Starts the transfer of `waiting` on `channel`.
    fn cross(&mut self, channel: u32, waiting: Waiting) {
        let entry = &mut self.commands[waiting.command];
        let (mut time, mut pages) = (Time::ZERO, 0);
        match waiting.what {
            Crossing::Command => {
                entry.began = self.now;
                time = entry.command;
                self.take_command(waiting.command);
            }
            Crossing::Page => (time, pages) = (entry.data, entry.pages),
            Crossing::Data => {
                let mut part = self.take_data(waiting.command);
                while part != NONE {
                    let entry = &self.commands[part];
                    time += entry.command + entry.data;
                    pages += if entry.data.is_zero() { 0 } else { entry.pages };
                    part = entry.next;
                }
                if !self.timing.is_cached {
                    let activity = self.commands[waiting.command].activity;
                    self.die_charges.charge(activity, time);
                }
            }
        }
        self.charge_crossing(time, pages);
        let until = self.now + time;
        let state = &mut self.channels[channel as usize];
        (state.crossing, state.until) = (Some(waiting), until);
        self.timers.set(channel as usize, until);
    }

    /// Transfers the command of a read to the die.
    fn take_command(&mut self, command: u32) {
        let entry = self.commands[command];
        self.charge_read(&entry);
        let is_limited = self.timing.registers.is_some();
        let die = &mut self.dies[entry.die as usize];
        if is_limited {
            die.hold(entry.lanes, 1);
        }
        if die.wanted == command {
            die.wanted = NONE;
            die.leave_line(command);
            die.queued = die.queued - entry.array;
            (die.phase, die.job) = (Phase::Taken, command);
        } else {
            remove(&mut die.reads, command);
            die.offered &= !entry.lanes;
            die.sensing |= entry.lanes;
        }
    }

    /// Charges the time and the operations of a read when the read starts.
    fn charge_read(&mut self, read: &Command) {
        self.die_charges.charge(read.activity, read.array);
        let (activity, pages) = match read.owner {
            // Planes sense simultaneously, and each plane consumes energy.
            Owner::Copy if read.activity != Activity::Translate => {
                self.counts.copy_reads += 1;
                (Activity::Clean, read.pages)
            }
            _ => (read.activity, 1),
        };
        self.die_charges.count(Operation::Read as usize, activity, u64::from(pages));
    }

    /// Transfers the data of a program to its die, together with programs of other planes that can join it.
    /// Returns the first command of the chain.
    fn take_data(&mut self, command: u32) -> u32 {
        let number = self.commands[command].die;
        self.commands[command].began = self.now;
        let die = &mut self.dies[number as usize];
        die.wanted = NONE;
        die.leave_line(command);
        if self.timing.joins_planes {
            self.join_planes(number, command);
        }
        let die = &mut self.dies[number as usize];
        die.loading = command;
        if !self.timing.is_cached {
            (die.phase, die.job) = (Phase::Taken, command);
        }
        command
    }

    /// Appends programs for the same page number in other planes to the chain of `first`. Only programs
    /// without unfinished prerequisites are appended.
    fn join_planes(&mut self, number: u32, first: u32) {
        let (page, plane) = self.geometry.page_and_plane(self.commands[first].program);
        let (mut planes, mut last) = (1_u64 << plane, first);
        let mut passed: Vec<u32> = Vec::new();
        let line = self.dies[number as usize].line.clone();
        for Lined { command, .. } in line {
            let entry = &self.commands[command];
            let superblock = entry.superblock;
            if entry.kind == Kind::Program && !passed.contains(&superblock) {
                let (other, plane) = self.geometry.page_and_plane(entry.program);
                if other == page && planes >> plane & 1 == 0 {
                    planes |= 1 << plane;
                    self.commands[last].next = command;
                    last = command;
                    // The combined program takes as long as the slower of the two.
                    let (one, other) = (self.commands[first].array, self.commands[command].array);
                    self.commands[first].array = one.max(other);
                    let die = &mut self.dies[number as usize];
                    die.queued = die.queued - one.min(other);
                    die.leave_line(command);
                    continue;
                }
            }
            passed.push(superblock);
        }
    }

    /// Starts the program whose data is in die `number`, or queues the die if the number of concurrent
    /// programs is limited.
    fn begin_program(&mut self, number: u32) {
        if self.program_turns.are_kept() {
            let order = self.commands[self.dies[number as usize].loaded].order;
            return self.program_turns.ask(order, number);
        }
        self.start_program(number);
    }

    /// Starts the granted program of die `number`, if the die is still ready.
    fn take_program_turn(&mut self, number: u32) {
        let die = &self.dies[number as usize];
        let is_free = match die.phase {
            Phase::Idle => die.has_no_reads(),
            phase => phase == Phase::Taken,
        };
        if die.loaded != NONE && is_free {
            self.program_turns.begin();
            self.start_program(number);
        }
    }

    fn start_program(&mut self, number: u32) {
        let command = self.dies[number as usize].loaded;
        let Some(entry) = Some(self.commands[command]) else { return };
        let die = &mut self.dies[number as usize];
        die.loaded = NONE;
        die.queued = die.queued - entry.array;
        let mut part = command;
        while part != NONE {
            self.counts.programs += 1;
            part = self.commands[part].next;
        }
        self.run_array(number, command);
        if self.timing.is_cached {
            self.look_at(number);
        }
    }

    fn begin_erase(&mut self, number: u32, command: u32) {
        let (array, blocks) = (self.commands[command].array, self.commands[command].pages);
        self.commands[command].began = self.now;
        let die = &mut self.dies[number as usize];
        die.leave_line(command);
        die.queued = die.queued - array;
        self.die_charges.count(Operation::Erase as usize, Activity::Erase, u64::from(blocks));
        self.run_array(number, command);
        if self.timing.is_cached {
            self.look_at(number);
        }
    }

    /// Starts `command` on the array of a die.
    pub(super) fn run_array(&mut self, number: u32, command: u32) {
        let entry = &self.commands[command];
        if entry.kind != Kind::Read {
            self.die_charges.charge(entry.activity, entry.array);
        }
        let die = &mut self.dies[number as usize];
        (die.phase, die.job, die.suspensions) = (Phase::Running, command, 0);
        let until = self.now + entry.array;
        (die.until, die.resumed) = (until, self.now);
        let timer = self.array_timer(number);
        self.timers.set(timer, until);
    }

    /// Suspends the operation of a die for a read.
    fn suspend(&mut self, number: u32) {
        let suspend = self.timing.suspend.unwrap_or_default();
        let die = &mut self.dies[number as usize];
        die.phase = Phase::Suspending;
        die.until = die.until - self.now;
        die.resumed = die.resumed.saturating_sub(self.now);
        die.suspended = self.now + suspend;
        die.suspensions += 1;
        if let Some(&first) = die.reads.front() {
            self.commands[first].suspending = suspend;
        }
        let timer = self.array_timer(number);
        self.timers.set(timer, self.now + suspend);
        self.counts.suspensions += 1;
        self.die_charges.charge(Activity::Suspend, suspend);
    }

    /// Resumes the suspended operation after the reads.
    fn resume(&mut self, number: u32) {
        let is_cached = self.timing.is_cached;
        let die = &mut self.dies[number as usize];
        if !is_cached && die.held.iter().any(|&held| held > 0) {
            return;
        }
        die.phase = Phase::Running;
        let resume = self.timing.resume;
        let until = self.now + resume + die.until;
        die.resumed = self.now + resume + die.resumed;
        die.until = until;
        let timer = self.array_timer(number);
        self.timers.set(timer, until);
        self.die_charges.charge(Activity::Suspend, resume);
    }
}

/// Removes `command` from `queue`, where it is usually the first entry.
#[inline]
fn remove(queue: &mut std::collections::VecDeque<u32>, command: u32) {
    if queue.front() == Some(&command) {
        queue.pop_front();
        return;
    }
    let place = queue.iter().position(|&other| other == command).expect("it waits there");
    queue.remove(place);
}
