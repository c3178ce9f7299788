//! Components of the drive. Every wait of a request ends with an event.

use super::config::Config;
use super::part::Row;
use super::scoreboard::Scoreboard;
use crate::host_interface::{Cpus, HostPort};
use crate::wear_leveling::Move;
use nacre_kernel::event::{Agenda, Link, Payload, RequestId, Slab, Timers};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{ComponentId, HostCounts, Recovery, Request, Time};
use nacre_media::store::{InPlace, Store};
use std::collections::VecDeque;

/// A PCM solid-state drive, with the data in its rows.
#[derive(State)]
#[state(bound = "S: Store")]
pub(super) struct Drive<S> {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    #[state(same)]
    pub(super) capacity: u64,
    pub(super) port: Box<dyn HostPort>,
    pub(super) tags: SlotPool,
    pub(super) pipeline: Cpus<u32>,
    pub(super) ring: Link,
    /// Delay of the ring between the pipeline and each controller.
    #[state(skip = "from the configuration")]
    pub(super) ring_delays: Vec<Time>,
    /// Parts on the ring, with the time at which their last byte has crossed the ring.
    #[state(varies)]
    pub(super) crossing: VecDeque<(Time, u32)>,
    pub(super) controllers: Vec<Scoreboard>,
    /// Start time of each controller's next operation.
    pub(super) operations: Timers,
    /// Write slots of each controller.
    pub(super) buffers: Vec<SlotPool>,
    pub(super) agenda: Agenda<Event>,
    /// Requests that are complete, with the times at which the host is notified.
    #[state(varies)]
    pub(super) over: VecDeque<(Time, u32)>,
    pub(super) active: Slab<Active>,
    pub(super) parts: Slab<Row>,
    /// Parts of writes that are in controllers but not on the medium, oldest first. The list is empty if the
    /// device stores no data.
    #[state(varies)]
    pub(super) buffered: Vec<u32>,
    #[state(skip = "the owner of the bytes keeps them next to the state")]
    pub(super) rows: InPlace<S>,
    /// Rows that wear leveling is copying.
    #[state(varies)]
    pub(super) moves: Vec<RowMove>,
    /// Time from which the drive accepts requests.
    pub(super) ready: Time,
    /// Result of the last power loss.
    pub(super) interrupted: Recovery,
    /// Time at which a row first exceeded its endurance, or `None` if no row has exceeded its endurance.
    #[state(varies)]
    pub(super) worn_out_at: Option<Time>,
    pub(super) counts: Counts,
}

/// Slots, and the queue of users that wait for a slot.
#[derive(Clone, Debug, State)]
pub(super) struct SlotPool {
    pub(super) free: u32,
    #[state(varies)]
    waiting: VecDeque<u32>,
}

/// A row copy in progress.
#[derive(Clone, Copy, Debug, Value)]
pub(super) struct RowMove {
    pub(super) controller: u32,
    pub(super) moved: Move,
    /// End time, if known.
    pub(super) end: Time,
    /// The part whose write caused the copy. `u32::MAX` for a copy that is repeated after a power loss.
    pub(super) part: u32,
}

/// Counters since measurement started.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Counts {
    pub(super) host: HostCounts,
    /// Number of parts that waited because the write buffer of their controller was full.
    pub(super) buffer_waits: u64,
    /// Number of requests that waited because all tags were in use.
    pub(super) tag_waits: u64,
}

/// A request in progress.
#[derive(Clone, Debug, Default, Value)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) arrived: Time,
    pub(super) request: Request,
    pub(super) data: Payload,
    /// Whether the first part of a read was requested.
    pub(super) is_asked: bool,
    /// Parts of the request. For a read, parts that were not yet sent to their controllers.
    pub(super) parts: Vec<u32>,
    /// Number of parts without a reply, and number of parts that are not written.
    pub(super) left: u32,
    pub(super) unwritten: u32,
    pub(super) is_complete: bool,
    /// Whether a read has uncorrectable bit errors, and its number of undetected bit errors.
    pub(super) is_lost: bool,
    pub(super) wrong_bits: u32,
    pub(super) software: Time,
    pub(super) link: Time,
    pub(super) medium: Time,
    pub(super) device: Time,
}

/// Events other than events of the host port, the pipeline, the ring, and row operations.
#[derive(Clone, Copy, Debug, Value)]
pub(super) enum Event {
    /// The drive is ready for a request that arrived earlier.
    Ready(u32),
    /// A part has reached its controller.
    There(u32),
    /// The data of a read, or the acknowledgment of a write, has reached the pipeline.
    Back(u32),
    /// The part was read or written.
    Done(u32),
    /// Wear leveling has read a row, or has written it to its new position.
    MoveRead(u32),
    MoveWritten(u32),
    /// A write slot of a controller is free.
    Refilled(u32),
}

impl SlotPool {
    pub(super) fn new(count: u32) -> SlotPool {
        SlotPool { free: count, waiting: VecDeque::new() }
    }

    /// Takes a slot for user `number`, and returns true. If no slot is free, adds the user to the queue and
    /// returns false.
    pub(super) fn take(&mut self, number: u32) -> bool {
        if self.free > 0 {
            self.free -= 1;
            return true;
        }
        self.waiting.push_back(number);
        false
    }

    /// Frees a slot. Returns the next user, which gets the slot, if any.
    pub(super) fn give_back(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        self.free += u32::from(next.is_none());
        next
    }
}

impl<S: Store> Drive<S> {
    pub(super) fn new(
        id: ComponentId,
        path: String,
        config: Config,
        port: Box<dyn HostPort>,
        controllers: Vec<Scoreboard>,
        store: S,
    ) -> Drive<S> {
        Drive {
            id,
            path,
            capacity: config.controller_bytes() * u64::from(config.controllers),
            port,
            tags: SlotPool::new(config.tags),
            pipeline: Cpus::new(1),
            ring: Link::new(config.ring),
            crossing: VecDeque::new(),
            ring_delays: (0..config.controllers).map(|number| config.ring_delay(number)).collect(),
            buffers: controllers.iter().map(|_| SlotPool::new(config.writes_at_a_time())).collect(),
            operations: Timers::new(controllers.len()),
            controllers,
            agenda: Agenda::new(),
            over: VecDeque::new(),
            active: Slab::new(),
            parts: Slab::new(),
            buffered: Vec::new(),
            rows: InPlace::new(store),
            moves: Vec::new(),
            ready: Time::ZERO,
            interrupted: Recovery::default(),
            worn_out_at: None,
            counts: Counts::default(),
            config,
        }
    }

    /// Returns the part that starts at `address`. A part has at most `left` bytes and ends at the end of its
    /// row at the latest.
    #[inline]
    pub(super) fn row(&self, address: u64, left: u64) -> Row {
        let row_bytes = self.config.row.0;
        let (stripe, offset) = divided(address, row_bytes);
        let (row, controller) = divided(stripe, self.controllers.len() as u64);
        Row {
            address,
            controller: controller as u32,
            row,
            offset,
            bytes: left.min(row_bytes - offset),
            ..Row::default()
        }
    }
}

/// Quotient and remainder of `number` divided by `unit`. Units are nearly always powers of two, for which a
/// shift takes 10 % of the time of a division.
#[inline]
fn divided(number: u64, unit: u64) -> (u64, u64) {
    match unit.is_power_of_two() {
        true => (number >> unit.trailing_zeros(), number & (unit - 1)),
        false => (number / unit, number % unit),
    }
}
