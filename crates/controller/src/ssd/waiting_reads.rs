//! The reads of a die that wait for its channel, are sensed, or wait to cross it.

use nacre_kernel::Time;
use nacre_kernel::state::Value;
use std::collections::VecDeque;

/// What crosses a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Crossing {
    /// The command of a read.
    Command,
    /// What was read for the host.
    Page,
    /// What is programmed, with its command, or was read to be copied.
    Other,
}

/// A read of the host: what it takes.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Read {
    pub(super) command: Time,
    pub(super) sense: Time,
    pub(super) page: Time,
}

/// Something with its number in the order in which it was asked for, and since when it waits.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Waiting<T: Value> {
    pub(super) number: u64,
    pub(super) since: Time,
    pub(super) what: T,
}

/// A die's reads.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Reads {
    /// Those whose command has not crossed. The first may be sent no earlier than its `since`.
    pub(super) queue: VecDeque<Waiting<Read>>,
    /// The one that is sensed, or whose command crosses, until `since`.
    pub(super) sensing: Option<Waiting<Read>>,
    /// Pages that wait to cross, since they were sensed.
    pub(super) pages: VecDeque<Waiting<Read>>,
    /// From when on a register is free and nothing is sensed.
    pub(super) open_since: Time,
}

impl Reads {
    /// Since when the first read in the queue waits for the channel to send its command.
    pub(super) fn wants_command(&self, registers: usize) -> Option<Time> {
        let first = self.queue.front()?;
        self.is_open(registers).then(|| self.open_from(first.since))
    }

    /// Whether a register is free.
    pub(super) fn is_open(&self, registers: usize) -> bool {
        self.pages.len() + usize::from(self.sensing.is_some()) < registers
    }

    /// From when on a command may be sent that may not before `since`.
    pub(super) fn open_from(&self, since: Time) -> Time {
        let sensed = self.sensing.as_ref().map_or(Time::ZERO, |read| read.since);
        since.max(self.open_since).max(sensed)
    }

    /// Those whose command crossed, and whose page did not.
    pub(super) fn sent(&self) -> impl DoubleEndedIterator<Item = &Waiting<Read>> {
        self.pages.iter().chain(&self.sensing)
    }

    /// Whether it is by this crossing that a page counts as sensed.
    pub(super) fn is_sensed_for(&self, crossing: Crossing) -> bool {
        match crossing {
            Crossing::Command => self.sensing.is_some(),
            Crossing::Page => self.pages.is_empty(),
            Crossing::Other => false,
        }
    }

    /// Since when a page waits for the channel.
    pub(super) fn wants_page(&self) -> Option<Time> {
        self.pages.front().or(self.sensing.as_ref()).map(|page| page.since)
    }

    /// The command of the first read begins to cross at `start`: gives the read as it waited.
    pub(super) fn send_command(&mut self, start: Time) -> Option<Waiting<Read>> {
        let read = self.queue.pop_front()?;
        self.note_sensed();
        let sensed = start + read.what.command + read.what.sense;
        self.sensing = Some(Waiting { since: sensed, ..read });
        Some(read)
    }

    /// The same of its first page, which leaves a register when it has crossed.
    pub(super) fn send_page(&mut self, start: Time, registers: usize) -> Option<Waiting<Read>> {
        if self.pages.is_empty() {
            self.note_sensed();
        }
        let held = self.pages.len() + usize::from(self.sensing.is_some());
        let page = self.pages.pop_front()?;
        if held == registers {
            self.open_since = self.open_since.max(start + page.what.page);
        }
        Some(page)
    }

    /// Takes back the crossing of `read` that began last. Before it the die was open from then on, and it is only by it that a
    /// page counts as sensed, where that is so.
    pub(super) fn take_back(
        &mut self,
        crossing: Crossing,
        read: Waiting<Read>,
        (open_before, has_sensed): (Time, bool),
    ) {
        self.open_since = open_before;
        match (crossing, has_sensed) {
            (Crossing::Command, _) => {
                self.sensing = if has_sensed { self.pages.pop_back() } else { None };
                self.queue.push_front(read);
            }
            (_, true) => self.sensing = Some(read),
            (_, false) => self.pages.push_front(read),
        }
    }

    fn note_sensed(&mut self) {
        if let Some(read) = self.sensing.take() {
            self.open_since = self.open_since.max(read.since);
            self.pages.push_back(read);
        }
    }
}
