//! Work that a power loss interrupts, and the correction of its charges.
//!
//! Time and operations are charged when an operation starts. After a power loss, an interrupted operation is
//! charged only for the time until the power loss. Operations that had not started were never charged.

use super::Backend;
use crate::flash::channel::{Channel, Crossing};
use crate::flash::command::{Command, Kind, NONE};
use crate::flash::die::{Die, Phase};
use nacre_kernel::{Activity, Time};
use nacre_media::flash::Operation;
use std::collections::BTreeSet;

/// Numbers of operations that are in progress when power fails.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unfinished {
    pub(crate) programs: u64,
    pub(crate) erases: u64,
    /// Maximum number of programs on one die.
    pub(crate) most_programs: u64,
    pub(crate) most_erases: u64,
}

/// Work that the capacitors complete after a power loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Number of full or partial operations in the buffer.
    pub(crate) operations: u64,
    /// Number of stripes that end with one of these operations.
    pub(crate) parities: u64,
    /// Maximum number of these operations on one die.
    pub(crate) rounds: u64,
}

impl Backend {
    /// Counts the operations in progress.
    pub(crate) fn unfinished(&self) -> Unfinished {
        let mut of_dies = vec![[0_u64; 2]; self.dies.len()];
        for (_, command) in self.commands.iter() {
            match command.kind {
                Kind::Program => of_dies[command.die as usize][0] += 1,
                Kind::Erase => of_dies[command.die as usize][1] += 1,
                Kind::Read => {}
            }
        }
        let mut all = Unfinished::default();
        for [programs, erases] in of_dies {
            all.programs += programs;
            all.erases += erases;
            all.most_programs = all.most_programs.max(programs);
            all.most_erases = all.most_erases.max(erases);
        }
        all
    }

    /// Returns the programs in progress, as pairs of a command and a die.
    fn begun_programs(&self) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for (number, die) in (0..).zip(&self.dies) {
            // Erases are also chained across dies, and other erases of the chain may have ended.
            let mut command = die.job;
            if command == NONE || die.phase == Phase::Taken || self.commands[command].kind != Kind::Program {
                continue;
            }
            while command != NONE {
                all.push((command, number));
                command = self.commands[command].next;
            }
        }
        all
    }

    /// Returns the superblock and operation of each program in progress.
    pub(crate) fn interrupted(&self) -> impl Iterator<Item = (u32, u32)> {
        let operation = |(command, die)| self.geometry.of_number_on_die(self.commands[command].program, die);
        self.begun_programs().into_iter().map(operation)
    }

    /// Returns the superblock and operation of each program that is in progress or waits.
    pub(crate) fn unfinished_programs(&self) -> Vec<(u32, u32)> {
        let programs = self.commands.iter().filter(|(_, command)| command.kind == Kind::Program);
        programs.map(|(_, command)| self.geometry.of_number_on_die(command.program, command.die)).collect()
    }

    /// Handles a power loss at `at` while the buffer contains the operations in `held`, which were not
    /// issued. `finishing` is the duration of one program if capacitors complete all programs, and `None` if
    /// the drive is not protected.
    pub(crate) fn power_fail(&mut self, at: Time, held: &Held, finishing: Option<Time>) {
        self.cut_channels(at, finishing.is_some());
        self.cut_arrays(at, finishing.is_some());
        self.cut_waiting_programs(finishing);
        let pages_of_operation = u64::from(self.geometry.operation_units / self.geometry.units_per_page);
        for (activity, operations) in [(Activity::Drain, held.operations), (Activity::Correct, held.parities)]
        {
            let pages = operations * pages_of_operation;
            if let Some(each) = finishing {
                self.die_charges.charge(activity, each * operations);
                self.counts.programs += operations;
                self.channel_charges.count(Operation::Transfer as usize, Activity::Transfer, pages);
            } else {
                self.counts.unprogrammed[activity as usize] += pages;
            }
        }
        self.clear();
    }

    /// Interrupts the transfers on all channels.
    fn cut_channels(&mut self, at: Time, is_protected: bool) {
        for number in 0..self.channels.len() {
            let state = &self.channels[number];
            let Some(crossing) = state.crossing else { continue };
            if is_protected && crossing.what == Crossing::Data {
                continue;
            }
            let left = state.until.saturating_sub(at);
            self.channel_charges.give_back(Activity::Transfer, left);
        }
    }

    /// Interrupts the operations of all arrays.
    fn cut_arrays(&mut self, at: Time, is_protected: bool) {
        let mut given_back: Vec<(Activity, Time)> = Vec::new();
        for die in &self.dies {
            if die.job == NONE {
                continue;
            }
            let job = &self.commands[die.job];
            let (resuming, left) = match die.phase {
                Phase::Running => (die.resumed.saturating_sub(at), die.until.saturating_sub(at)),
                Phase::Suspending | Phase::Suspended => (die.resumed, die.until),
                Phase::Taken if job.kind == Kind::Read => (Time::ZERO, job.array),
                Phase::Taken | Phase::Idle => (Time::ZERO, Time::ZERO),
            };
            given_back.push((Activity::Suspend, resuming));
            if die.phase == Phase::Suspending {
                given_back.push((Activity::Suspend, die.suspended.saturating_sub(at)));
            }
            if !(is_protected && job.kind == Kind::Program) {
                given_back.push((job.activity, left - resuming));
            }
        }
        // Host reads with priority are charged when their command is transferred.
        for (number, command) in self.commands.iter() {
            let die = &self.dies[command.die as usize];
            let is_sensing = command.kind == Kind::Read
                && die.job != number
                && die.sensing & command.lanes != 0
                && !die.reads.contains(&number)
                && !die.line.iter().any(|waiting| waiting.command == number);
            if is_sensing {
                let end = command.began + command.command + command.array;
                given_back.push((command.activity, end.saturating_sub(at).min(command.array)));
            }
        }
        for (activity, time) in given_back {
            self.die_charges.give_back(activity, time);
        }
    }

    /// Cancels programs that had not started, or completes them with capacitor power.
    fn cut_waiting_programs(&mut self, finishing: Option<Time>) {
        let begun: BTreeSet<u32> = self.begun_programs().into_iter().map(|(command, _)| command).collect();
        let waits =
            |number: u32, command: &Command| command.kind == Kind::Program && !begun.contains(&number);
        let left: Vec<(Activity, u64, Time)> = (self.commands.iter())
            .filter(|&(number, command)| waits(number, command))
            .map(|(_, command)| (command.activity, u64::from(command.pages), command.array))
            .collect();
        for (activity, pages, array) in left {
            if finishing.is_some() {
                self.die_charges.charge(activity, array);
                self.counts.programs += 1;
                self.channel_charges.count(Operation::Transfer as usize, Activity::Transfer, pages);
            } else {
                self.counts.unprogrammed[activity as usize] += pages;
            }
        }
    }

    /// Clears all work in progress.
    fn clear(&mut self) {
        let (programs, lanes) = (self.geometry.operations_per_die(), self.timing.lanes);
        self.commands.clear();
        self.dies.iter_mut().for_each(|die| *die = Die::new(programs, lanes));
        self.channels.iter_mut().for_each(Channel::clear);
        self.timers.clear_all();
        self.decoding.clear();
        self.due_dies.clear();
        self.due_channels.clear();
        self.copies.iter_mut().for_each(|copies| copies.clear());
        self.programs.clear();
        self.slots.clear();
        self.erase_turns.clear();
        self.program_turns.clear();
        self.done.clear();
    }

    /// Charges the erases that recovery repeats: `all` is their number, summed over the dies.
    pub(crate) fn erase_again(&mut self, all: u64) {
        self.die_charges.charge(Activity::Erase, self.timing.erase * all);
        let blocks = self.geometry.blocks_per_die();
        self.die_charges.count(Operation::Erase as usize, Activity::Erase, all * u64::from(blocks));
    }
}
