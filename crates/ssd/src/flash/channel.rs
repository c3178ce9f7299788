//! A channel: commands, pages, and data cross it one after the other.

use crate::config::Arbitration;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// Kind of transfer on a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Crossing {
    /// The command of a read.
    #[default]
    Command,
    /// A sensed page.
    Page,
    /// Command and data of a program.
    Data,
}

/// A transfer that is ready.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Waiting {
    /// Time when it became ready.
    pub(crate) since: Time,
    /// Number of its command: of transfers that became ready at the same time, the one of the older command
    /// goes first.
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

/// A channel and its queues.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Channel {
    /// Transfer in progress; its end is an event.
    #[state(varies)]
    pub(crate) crossing: Option<Waiting>,
    /// End of that transfer.
    pub(crate) until: Time,
    /// Commands of host reads.
    #[state(varies)]
    commands: VecDeque<Waiting>,
    /// Pages of host reads.
    #[state(varies)]
    pages: VecDeque<Waiting>,
    /// Data to be programmed, and reads for copies.
    #[state(varies)]
    others: VecDeque<Waiting>,
}

/// Queue of a channel.
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

    /// Adds a transfer that is ready now.
    #[inline]
    pub(crate) fn offer(&mut self, class: Class, waiting: Waiting) {
        let queue = self.queue(class);
        // Time only advances, so only transfers that became ready at the same time can come after it.
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

    /// Removes and returns the next transfer, selected by the rule `how`.
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

    /// Clears all transfers.
    pub(crate) fn clear(&mut self) {
        *self = Channel::default();
    }

    /// Whether no transfer is in progress or waiting.
    pub(crate) fn is_idle(&self) -> bool {
        self.crossing.is_none() && self.commands.is_empty() && self.pages.is_empty() && self.others.is_empty()
    }
}

/// The queue whose first transfer has waited longer.
#[inline]
fn older<'a>(one: &'a mut VecDeque<Waiting>, other: &'a mut VecDeque<Waiting>) -> &'a mut VecDeque<Waiting> {
    match (one.front(), other.front()) {
        (Some(first), Some(second)) if second.key() < first.key() => other,
        (None, Some(_)) => other,
        _ => one,
    }
}
