//! Reference model of reads on the dies of a flash channel.

use super::arrivals::{Arrivals, Waiting};
use super::{Load, Visit};
use nacre_kernel::Time;
use std::collections::VecDeque;

/// Policy that selects the transfer when the channel is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// Selects the command or page that has been ready longest.
    FirstCome,
    /// Selects pages before commands. Among pages or commands, selects the one that has been ready longest.
    PagesFirst,
    /// Selects commands before pages. Among commands or pages, selects the one that has been ready longest.
    CommandsFirst,
}

/// A channel with its dies.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Number of dies.
    pub dies: usize,
    /// Number of page registers per die. A read occupies a register from the start of its command to the end
    /// of the transfer of its page.
    pub registers: usize,
    /// Arbitration policy of the channel.
    pub arbitration: Arbitration,
    /// Transfer time of a command on the channel.
    pub command: Time,
    /// Sensing time from the end of a command until the page is in its register (tR).
    pub sense: Time,
    /// Transfer time of a page on the channel.
    pub transfer: Time,
    /// Time from the end of the transfer to the completion of the read.
    pub completion: Time,
}

/// A command or page that waits for the channel or is being transferred on it.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    is_command: bool,
    /// Time at which the command or page became ready.
    ready: Time,
    read: Waiting,
    die: usize,
}

/// State of one die.
#[derive(Clone, Debug, Default)]
struct Die {
    /// Queue of the reads whose commands have not been sent yet.
    queue: VecDeque<Waiting>,
    /// Read that occupies the memory array, from the start of its command until its page is sensed. `None`
    /// while the array is free.
    sensing: Option<Waiting>,
    /// Time at which the page will be sensed. `None` while the command is being transferred.
    sensed_at: Option<Time>,
    /// Number of page registers in use.
    held: usize,
    /// Time at which the memory array became free, if it is free.
    array_free: Time,
    /// Time at which a register became free, if one is free.
    register_free: Time,
}

/// Simulates reads. Read number i is on die `dies[i]`. Each die serves its reads in arrival order. A command
/// is ready when its read is the oldest of its die, the die is not sensing, and the die has a free register.
/// A page is ready when it is sensed. Transfers are not preempted.
#[must_use]
pub fn serve(channel: &Channel, dies: &[usize], load: Load<'_>) -> Vec<Visit> {
    assert!(channel.registers >= 1, "a die has a register");
    let mut arrivals = Arrivals::new(dies.len(), load);
    let mut visits = vec![Visit::default(); dies.len()];
    let mut state = vec![Die::default(); channel.dies];
    let mut pages: Vec<Crossing> = Vec::new();
    let mut on_channel: Option<(Crossing, Time)> = None;
    let mut now = Time::ZERO;
    loop {
        // Events at this time are processed in this order: everything that ends, everything that arrives, and
        // the decision.
        if let Some((crossing, end)) = on_channel
            && end <= now
        {
            on_channel = None;
            let Crossing { is_command, read, die, .. } = crossing;
            if is_command {
                state[die].sensed_at = Some(now + channel.sense);
            } else {
                state[die].give_register_back(now, channel.registers);
                let done = now + channel.completion;
                visits[read.request] = Visit { arrived: read.arrived, done };
                arrivals.completed(done);
            }
        }
        pages.extend(state.iter_mut().enumerate().filter_map(|(number, die)| die.sensed(number, now)));
        while let Some(read) = arrivals.take(now) {
            state[dies[read.request]].queue.push_back(read);
        }
        if on_channel.is_none() {
            let commands = state.iter().enumerate().filter_map(|(number, die)| die.command(number, channel));
            if let Some(next) = channel.choose(commands.chain(pages.iter().copied())) {
                if next.is_command {
                    state[next.die].take_command();
                } else {
                    pages.retain(|page| page.read.request != next.read.request);
                }
                let time = if next.is_command { channel.command } else { channel.transfer };
                on_channel = Some((next, now + time));
            }
        }
        let ends = on_channel.map(|(_, end)| end);
        let senses = state.iter().filter_map(|die| die.sensed_at);
        let Some(event) = senses.chain(ends).chain(arrivals.next()).min() else { return visits };
        now = event;
    }
}

impl Channel {
    fn choose(&self, ready: impl Iterator<Item = Crossing>) -> Option<Crossing> {
        let is_later_class = |crossing: &Crossing| match self.arbitration {
            Arbitration::FirstCome => false,
            Arbitration::PagesFirst => crossing.is_command,
            Arbitration::CommandsFirst => !crossing.is_command,
        };
        ready.min_by_key(|crossing| (is_later_class(crossing), crossing.ready, crossing.read.request))
    }
}

impl Die {
    /// Returns the command of this die that is ready for the channel, if any.
    fn command(&self, number: usize, channel: &Channel) -> Option<Crossing> {
        let &read = self.queue.front()?;
        let can_take = self.sensing.is_none() && self.held < channel.registers;
        let ready = read.arrived.max(self.array_free).max(self.register_free);
        can_take.then_some(Crossing { is_command: true, ready, read, die: number })
    }

    /// Starts the transfer of the command of the oldest read on this die.
    fn take_command(&mut self) {
        self.sensing = self.queue.pop_front();
        self.held += 1;
    }

    /// Returns the page of this die that was sensed by `now`, if any.
    fn sensed(&mut self, number: usize, now: Time) -> Option<Crossing> {
        let ready = self.sensed_at.filter(|&at| at <= now)?;
        self.sensed_at = None;
        self.array_free = ready;
        let read = self.sensing.take().expect("a read was sensed");
        Some(Crossing { is_command: false, ready, read, die: number })
    }

    /// Frees the register of a page whose transfer ended at `now`.
    fn give_register_back(&mut self, now: Time, registers: usize) {
        if self.held == registers {
            self.register_free = now;
        }
        self.held -= 1;
    }
}

#[cfg(test)]
mod tests;
