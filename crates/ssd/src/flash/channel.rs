//! A channel: commands, pages and data cross it, one after the other.

use crate::config::Arbitration;
use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// What crosses a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(crate) enum Crossing {
    /// The command of a read.
    #[default]
    Command,
    /// A page that was sensed.
    Page,
    /// Command and data of a program.
    Data,
}

/// Something that can cross.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Waiting {
    /// Since when it can.
    pub(crate) since: Time,
    /// The number of its command: of what is ready at the same time the older command goes first.
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

/// One channel, and what waits for it.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Channel {
    /// What crosses; its end is an event.
    #[state(varies)]
    pub(crate) crossing: Option<Waiting>,
    /// When that is across.
    pub(crate) until: Time,
    /// Commands of reads of the host.
    #[state(varies)]
    commands: VecDeque<Waiting>,
    /// Pages that the host reads.
    #[state(varies)]
    pages: VecDeque<Waiting>,
    /// Data to be programmed, and reads for copies.
    #[state(varies)]
    others: VecDeque<Waiting>,
}

/// Which of the three queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Commands of reads of the host.
    Command,
    /// Pages that the host reads.
    Page,
    /// All else.
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

    /// `waiting` can cross from now on.
    #[inline]
    pub(crate) fn offer(&mut self, class: Class, waiting: Waiting) {
        let queue = self.queue(class);
        // Time only moves forward: only what is ready at this same moment can stand behind it.
        let place = queue.iter().rev().take_while(|other| other.key() > waiting.key()).count();
        match place {
            0 => queue.push_back(waiting),
            _ => queue.insert(queue.len() - place, waiting),
        }
    }

    /// `command` does not want to cross any more.
    pub(crate) fn withdraw(&mut self, class: Class, command: u32) {
        self.queue(class).retain(|waiting| waiting.command != command);
    }

    /// What crosses next, by the rule `how`.
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

    /// Nothing crosses or waits any more.
    pub(crate) fn clear(&mut self) {
        *self = Channel::default();
    }

    /// Whether nothing crosses and nothing waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.crossing.is_none() && self.commands.is_empty() && self.pages.is_empty() && self.others.is_empty()
    }
}

/// The queue whose first entry has waited longer.
#[inline]
fn older<'a>(one: &'a mut VecDeque<Waiting>, other: &'a mut VecDeque<Waiting>) -> &'a mut VecDeque<Waiting> {
    match (one.front(), other.front()) {
        (Some(first), Some(second)) if second.key() < first.key() => other,
        (None, Some(_)) => other,
        _ => one,
    }
}
