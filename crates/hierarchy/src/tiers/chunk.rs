//! The pending exchanges, and the chunk in progress.

use super::Config;
use super::rejected_chunks::RejectedChunks;
use super::tier::Location;
use crate::placement::Exchange;
use nacre_kernel::event::Payload;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bandwidth, LossReport, Time};

/// Stage of a chunk exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(super) enum Stage {
    /// No chunk is in progress.
    Idle,
    /// Host writes to the chunk are in progress, and the exchange waits for them.
    Held,
    Reading,
    /// The chunk is in memory, and the exchange waits for host reads of its locations.
    InMemory,
    Writing,
    /// The chunk is in memory after a power loss and must be written again.
    Again,
}

/// The pending exchanges, and the exchange in progress.
#[derive(State)]
pub(super) struct Migration {
    #[state(skip = "from the configuration")]
    pub(super) chunk: u64,
    #[state(skip = "from the configuration")]
    pub(super) extent: u64,
    #[state(skip = "from the configuration")]
    pub(super) bandwidth: Bandwidth,
    /// Planned exchanges in reverse order: the last element is the next exchange.
    #[state(varies)]
    pub(super) queue: Vec<Exchange>,
    #[state(varies)]
    pub(super) active: Option<Active>,
    /// Exchanges that a tier aborted. They remain incomplete.
    #[state(varies)]
    pub(super) ended: Vec<Active>,
    /// Whether a tier has rejected a chunk. In this case, no further extent moves.
    pub(super) is_over: bool,
    /// Data losses that a tier reported by failing the flush after a chunk.
    pub(super) report: LossReport,
    /// Time at which the next chunk may be read.
    pub(super) next: Time,
    pub(super) stage: Stage,
    /// Number of operations that must end before the next stage.
    pub(super) left: u32,
    /// Start time of the chunk.
    pub(super) began: Time,
    pub(super) is_unreadable: bool,
    /// State of the chunk of the extent, and of the chunk of its partner.
    pub(super) moving: [Moving; 2],
    pub(super) rejected: RejectedChunks,
    pub(super) exchanges: u64,
    pub(super) dropped: u64,
    /// Number of exchanges that a tier aborted.
    pub(super) failed: u64,
    /// Number of bytes written by exchanges.
    pub(super) bytes: u64,
}

/// One of the two chunks of an exchange: its data, and whether the new location has stored or rejected this
/// data.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Moving {
    pub(super) bytes: Payload,
    pub(super) is_safe: bool,
    pub(super) is_refused: bool,
}

/// Two extents that are being exchanged.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct Active {
    pub(super) exchange: Exchange,
    /// Original locations of the extent and its partner.
    pub(super) locations: [Location; 2],
    /// Number of bytes, from the start of both extents, that have been exchanged.
    pub(super) upto: u64,
}

/// Source that serves the bytes of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    Device(Location),
    /// The memory of the exchange. The value is 0 for the chunk of the extent, and 1 for the chunk of its
    /// partner.
    Memory(usize),
    /// No source yet, because the bytes can be changed only after the exchange of the chunk.
    Later,
}

impl Active {
    /// Index of `extent` in the exchange: 0 for the extent, 1 for its partner. `None` for other extents.
    pub(super) fn side(&self, extent: u32) -> Option<usize> {
        [self.exchange.extent, self.exchange.partner].iter().position(|&of| of == extent)
    }
}

impl Migration {
    pub(super) fn new(config: &Config) -> Migration {
        Migration {
            chunk: config.chunk.0.min(config.extent.0),
            extent: config.extent.0,
            bandwidth: config.migration_bandwidth,
            queue: Vec::new(),
            active: None,
            ended: Vec::new(),
            is_over: false,
            report: LossReport::default(),
            next: Time::ZERO,
            stage: Stage::Idle,
            left: 0,
            began: Time::ZERO,
            is_unreadable: false,
            moving: Default::default(),
            rejected: RejectedChunks::default(),
            exchanges: 0,
            dropped: 0,
            failed: 0,
            bytes: 0,
        }
    }

    pub(super) fn restart_ledger(&mut self) {
        (self.exchanges, self.dropped, self.failed, self.bytes) = (0, 0, 0, 0);
    }

    /// Time at which the exchange of the next chunk is due; [`Time::MAX`] if none is due.
    #[inline]
    pub(super) fn due(&self) -> Time {
        let is_due = match self.stage {
            Stage::Idle => self.active.is_some() || !self.queue.is_empty(),
            Stage::Again => true,
            _ => false,
        };
        if is_due { self.next } else { Time::MAX }
    }

    /// Replaces the exchanges that have not started with `exchanges`. The first of them may start at `now`.
    pub(super) fn plan(&mut self, exchanges: Vec<Exchange>, now: Time) {
        self.dropped += self.queue.len() as u64;
        self.queue = exchanges;
        self.queue.reverse();
        // The exchange in progress ends first. Its extents, and incompletely exchanged extents, cannot move
        // again.
        let Migration { queue, active, ended, .. } = self;
        for Active { exchange, .. } in active.iter().chain(&*ended) {
            let busy = |e: u32| e == exchange.extent || e == exchange.partner;
            queue.retain(|planned| !busy(planned.extent) && !busy(planned.partner));
        }
        if self.is_over {
            self.drop_queue();
        }
        self.next = self.next.max(now);
    }

    pub(super) fn drop_queue(&mut self) {
        self.dropped += self.queue.len() as u64;
        self.queue.clear();
    }

    /// Number of bytes of the chunk in progress, or of the next chunk.
    pub(super) fn length(&self, active: &Active) -> u64 {
        self.chunk.min(self.extent - active.upto)
    }

    /// Whether the device serves all bytes of `extent` from its location, i.e. no exchange affects it.
    #[inline]
    pub(super) fn leaves_alone(&self, extent: u32) -> bool {
        let mut moved = self.active.iter().chain(&self.ended);
        self.rejected.is_empty() && moved.all(|active| active.side(extent).is_none())
    }

    /// Finds the source that serves byte `from` of `extent`, which is at `location`. Returns the end of the
    /// bytes that this source serves, at most `to`, and the source. `changes` is true for a write or trim.
    pub(super) fn locate(
        &self,
        (extent, location): (u32, Location),
        from: u64,
        to: u64,
        changes: bool,
    ) -> (u64, Where) {
        let found = self.active.iter().map(|active| (active, true));
        let mut found = found.chain(self.ended.iter().map(|active| (active, false)));
        let Some((active, is_active, side)) =
            found.find_map(|(active, is_active)| Some((active, is_active, active.side(extent)?)))
        else {
            return (to, Where::Device(location));
        };
        if from < active.upto {
            return (to.min(active.upto), Where::Device(active.locations[1 - side]));
        }
        let is_moving = is_active && self.stage != Stage::Idle;
        let end = active.upto + if is_moving { self.length(active) } else { 0 };
        let is_there = !changes && matches!(self.stage, Stage::Held | Stage::Reading);
        if from >= end || is_there {
            return (to, Where::Device(active.locations[side]));
        }
        (to.min(end), if changes { Where::Later } else { Where::Memory(side) })
    }
}
