//! A piece of a request: data that the host sends or requests together.

use super::scheduler::Moved;
use crate::host_interface::{Lap, Spent};
use nacre_kernel::state::Value;
use nacre_kernel::{Activity, Stage, Time};

/// A piece of a read or write.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Piece {
    pub(super) request: u32,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
    /// Time at which the card started to process the piece.
    pub(super) brought: Time,
    /// Latency breakdown up to the time at which the card started to process the piece.
    pub(super) spent: Spent,
    /// Channels that the piece uses, as a bit mask.
    pub(super) channels: u64,
    /// Number of remaining accesses.
    pub(super) accesses: u32,
    /// Start of the first data transfer, if it has started.
    pub(super) begun: Option<Time>,
    /// End of the last data transfer.
    pub(super) done: Time,
    /// Time at which the rows are closed, if the accesses close them.
    pub(super) closed: Time,
    /// Time at which the memory has completed the piece, if known.
    pub(super) served: Time,
    /// Duration of the piece's last access without contention.
    alone: Time,
    /// Stages of the last access.
    last: Stages,
    /// Whether the memory has the data.
    pub(super) has_data: bool,
    /// Whether the data is durable.
    pub(super) has_landed: bool,
    /// Whether the host has the reply.
    pub(super) is_answered: bool,
}

/// End of each stage of an access, and the duration of each stage without contention.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Stages {
    seen: Time,
    refreshed: Time,
    precharged: Time,
    opened: Time,
    begun: Time,
    precharge: Time,
    activation: Time,
    latency: Time,
    moving: Time,
}

impl Piece {
    pub(super) fn new(request: u32, address: u64, bytes: u64, is_write: bool) -> Piece {
        Piece { request, address, bytes, is_write, ..Piece::default() }
    }

    /// Records the end of one access of the piece. Returns whether this was the last access.
    pub(super) fn add(&mut self, moved: &Moved) -> bool {
        self.begun = Some(self.begun.map_or(moved.begun, |begun| begun.min(moved.begun)));
        self.closed = self.closed.max(moved.closed).max(moved.done);
        if moved.done >= self.done {
            self.done = moved.done;
            let Moved { seen, refreshed, precharged, opened, begun, .. } = *moved;
            let Moved { precharge, activation, latency, moving, .. } = *moved;
            self.last =
                Stages { seen, refreshed, precharged, opened, begun, precharge, activation, latency, moving };
            self.alone = precharge + activation + latency + moving;
        }
        self.accesses -= 1;
        self.accesses == 0
    }

    /// Time that the piece needs in the memory, without waits.
    pub(super) fn medium(&self) -> Time {
        (self.alone + (self.served - self.done)).min(self.served - self.brought)
    }

    /// Stages of the piece in the memory.
    pub(super) fn laps(&self) -> [Lap; 7] {
        let last = self.last;
        let activity = if self.is_write { Activity::Write } else { Activity::Read };
        let lap = |stage, end, alone| Lap { stage, activity, end, alone };
        [
            lap(Stage::Scheduler, last.seen, Time::ZERO),
            lap(Stage::Refresh, last.refreshed, Time::ZERO),
            lap(Stage::Precharge, last.precharged, last.precharge),
            lap(Stage::Activate, last.opened, last.activation),
            lap(Stage::Column, last.begun, last.latency),
            lap(Stage::DataBus, self.done, last.moving),
            lap(Stage::RowClose, self.served, self.served - self.done),
        ]
    }
}
