//! A channel, which transfers commands, pages, and data one at a time.

use crate::config::Arbitration;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// Type of transfer on a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Crossing {
    /// The command of a read.
    #[default]
    Command,
    /// A sensed page.
    Page,
    /// The command and the data of a program.
    Data,
}

/// A transfer that waits for the channel.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Waiting {
    /// Time at which the transfer became ready.
    pub(crate) since: Time,
    /// Number of the command. Among transfers that became ready at the same time, the lowest number is first.
    pub(crate) order: u64,
    pub(crate) command: u32,
    pub(crate) what: Crossing,
}

impl Waiting {
    #[inline]
    fn key(&self) -> (Time, u64) {
        (self.since, self.order)
    }
}

/// A channel and its waiting transfers.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Channel {
    /// Transfer in progress. An event occurs at its end.
    #[state(varies)]
    pub(crate) crossing: Option<Waiting>,
    /// End time of the transfer in progress, or of the last one.
    pub(crate) until: Time,
    /// Commands of host reads.
    #[state(varies)]
    commands: VecDeque<Waiting>,
    /// Pages of host reads.
    #[state(varies)]
    pages: VecDeque<Waiting>,
    /// Data to be programmed, and all transfers of copies.
    #[state(varies)]
    others: VecDeque<Waiting>,
}

/// Class of a transfer, which determines its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Commands of host reads.
    Command,
    /// Pages of host reads.
    Page,
    /// All other transfers.
    Other,
}

impl Channel {
    fn queue(&mut self, class: Class) -> &mut VecDeque<Waiting> {
        match class {
            Class::Command => &mut self.commands,
            Class::Page => &mut self.pages,
            Class::Other => &mut self.others,
        }
    }

    /// Queues a transfer that became ready at the current time.
    #[inline]
    pub(crate) fn offer(&mut self, class: Class, waiting: Waiting) {
        let queue = self.queue(class);
        // Time only advances, so this transfer can precede only transfers that became ready at the same time.
        let place = queue.iter().rev().take_while(|other| other.key() > waiting.key()).count();
        match place {
            0 => queue.push_back(waiting),
            _ => queue.insert(queue.len() - place, waiting),
        }
    }

    /// Removes the transfer of `command` from its queue.
    pub(crate) fn withdraw(&mut self, class: Class, command: u32) {
        self.queue(class).retain(|waiting| waiting.command != command);
    }

    /// Removes and returns the transfer that the arbitration policy `how` selects, or `None` if no transfer
    /// waits.
    #[inline]
    pub(crate) fn choose(&mut self, how: Arbitration) -> Option<Waiting> {
        let Channel { commands, pages, others, .. } = self;
        let queue = match how {
            Arbitration::CommandsFirst if !commands.is_empty() => commands,
            Arbitration::PagesFirst if !pages.is_empty() => pages,
            Arbitration::CommandsFirst => older(pages, others),
            Arbitration::PagesFirst => older(commands, others),
            Arbitration::ReadsFirst if !(commands.is_empty() && pages.is_empty()) => older(commands, pages),
            Arbitration::ReadsFirst => others,
            Arbitration::FirstCome => older(older(commands, pages), others),
        };
        queue.pop_front()
    }

    /// Removes all transfers.
    pub(crate) fn clear(&mut self) {
        *self = Channel::default();
    }

    /// Returns whether no transfer is in progress or waiting.
    pub(crate) fn is_idle(&self) -> bool {
        self.crossing.is_none() && self.commands.is_empty() && self.pages.is_empty() && self.others.is_empty()
    }
}

/// Returns the queue whose first transfer has waited longer.
#[inline]
fn older<'a>(one: &'a mut VecDeque<Waiting>, other: &'a mut VecDeque<Waiting>) -> &'a mut VecDeque<Waiting> {
    match (one.front(), other.front()) {
        (Some(first), Some(second)) if second.key() < first.key() => other,
        (None, Some(_)) => other,
        _ => one,
    }
}
