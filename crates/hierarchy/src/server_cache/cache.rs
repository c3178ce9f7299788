//! The device of `server_cache`. A request is divided into parts of one or more blocks. Each part waits for
//! operations on devices.

use super::config::{Behavior, FillMode};
use super::fetch::Fetch;
use super::hedges::Hedging;
use super::levels::{Levels, Moves};
use super::ops::Operations;
use super::write_back::WriteBack;
use crate::map::Map;
use crate::visit::{FailingFlushes, Visit};
use nacre_kernel::event::{Completions, Device, Payload, RequestId, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bytes, ComponentId, Request, Time};
use std::collections::VecDeque;

/// A block cache in front of a backing device.
#[derive(State)]
#[state(after = "ServerCache::complete_restored")]
pub(super) struct ServerCache {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    pub(super) levels: Levels,
    /// The devices of the levels, followed by the backing.
    pub(super) devices: Vec<Box<dyn Device>>,
    /// Time of the next event of each device.
    #[state(skip = "asked of the devices")]
    pub(super) next: Vec<Time>,
    /// Block size as a shift: a block has `1 << shift` bytes.
    #[state(skip = "from the configuration")]
    pub(super) shift: u32,
    #[state(skip = "from the configuration")]
    pub(super) lookup: Time,
    #[state(skip = "from the configuration")]
    pub(super) write_allocate: bool,
    #[state(skip = "from the configuration")]
    pub(super) fill: FillMode,
    /// Whether the backing and all levels store data.
    #[state(skip = "from the configuration")]
    pub(super) carries_bytes: bool,
    /// State of a write-back cache; `None` for a write-through cache.
    pub(super) write_back: Option<Box<WriteBack>>,
    /// State of hedged reads; `None` if reads are not hedged.
    pub(super) hedging: Option<Box<Hedging>>,
    /// Requests during look-up, each with the end time of its look-up.
    #[state(varies)]
    pub(super) arrivals: VecDeque<Arrival>,
    /// Completed requests, with their completion times.
    #[state(varies)]
    pub(super) due: VecDeque<(Time, u32)>,
    pub(super) visits: Slab<Visit>,
    pub(super) failing_flushes: FailingFlushes,
    pub(super) operations: Operations,
    pub(super) fetches: Slab<Fetch>,
    /// Blocks being fetched, each with the number of its fetch.
    pub(super) in_flight: Map,
    /// Number of blocks that the last power loss removed from the cache. The recovery reports this number.
    pub(super) forgotten: u64,
    /// Time at which all devices are ready after a recovery.
    pub(super) ready: Time,
    /// Time until which the block table is read from the first level after a power loss.
    pub(super) table_read_until: Time,
    /// Buffer for the moves between levels that a request causes.
    #[state(skip = "empty between requests")]
    pub(super) moves: Moves,
    /// Buffer for the completions of a device.
    #[state(skip = "empty between events")]
    pub(super) completed: Completions,
    pub(super) counts: Counts,
}

/// A request during look-up.
#[derive(Clone, Debug, Value)]
pub(super) struct Arrival {
    pub(super) begins: Time,
    /// Time that the request waits in addition to the time of the look-up.
    pub(super) queued: Time,
    pub(super) id: RequestId,
    pub(super) request: Request,
    pub(super) data: Payload,
}

/// Counters, in blocks unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Counts {
    pub(super) read_misses: u64,
    pub(super) read_merged: u64,
    pub(super) write_misses: u64,
    pub(super) write_merged: u64,
    pub(super) write_parts: u64,
    pub(super) trimmed: u64,
    /// Number of blocks from the backing that were offered to the levels.
    pub(super) fills: u64,
    pub(super) bypassed: u64,
    pub(super) recovered: u64,
    /// Number of read requests to the backing.
    pub(super) backing_reads: u64,
    /// Number of write requests to the backing.
    pub(super) backing_writes: u64,
}

impl ServerCache {
    /// Creates an empty cache of `levels`. `devices` contains the device of each level, followed by the
    /// backing.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        behavior: Behavior,
        levels: Levels,
        devices: Vec<Box<dyn Device>>,
    ) -> ServerCache {
        let Behavior { block, lookup, write_allocate, fill, write_back, hedge_after } = behavior;
        assert_eq!(devices.len(), levels.all.len() + 1, "a device for each level, and the backing");
        let carries_bytes = devices.iter().all(|device| device.capabilities().carries_bytes);
        let persistence = devices[levels.all.len()].capabilities().persistence;
        let make =
            |(settings, outlives)| Box::new(WriteBack::new(settings, outlives, persistence.needs_flush()));
        ServerCache {
            id,
            path,
            next: devices.iter().map(|device| device.next_event()).collect(),
            operations: Operations::new(levels.all.len()),
            levels,
            devices,
            shift: block.0.trailing_zeros(),
            lookup,
            write_allocate,
            fill,
            carries_bytes,
            write_back: write_back.map(make),
            hedging: hedge_after.map(|after| Box::new(Hedging::new(after))),
            arrivals: VecDeque::new(),
            due: VecDeque::new(),
            visits: Slab::new(),
            failing_flushes: FailingFlushes::default(),
            fetches: Slab::new(),
            in_flight: Map::new(),
            forgotten: 0,
            ready: Time::ZERO,
            table_read_until: Time::ZERO,
            moves: Moves::new(write_back.is_some()),
            completed: Completions::new(),
            counts: Counts::default(),
        }
    }

    fn complete_restored(&mut self) -> Result<(), String> {
        // A device that stores data has a capacity.
        let capacity = self.devices[self.backing()].capacity().map_or(0, |Bytes(bytes)| bytes);
        let addressed = capacity.div_ceil(1 << self.shift);
        self.next = self.devices.iter().map(|device| device.next_event()).collect();
        self.levels.all.iter_mut().try_for_each(|level| level.place_restored(addressed))
    }

    /// Index of the backing among the devices.
    #[inline]
    pub(super) fn backing(&self) -> usize {
        self.devices.len() - 1
    }

    /// Size of the backing in bytes.
    pub(super) fn backing_end(&self) -> u64 {
        self.devices[self.backing()].capacity().map_or(u64::MAX, |capacity| capacity.0)
    }

    /// Whether `part` covers a whole block.
    #[inline]
    pub(super) fn is_whole(&self, part: &Request) -> bool {
        u64::from(part.bytes) == 1 << self.shift
    }

    /// Returns the state of write-back. Panics if the cache is write-through.
    pub(super) fn work(&mut self) -> &mut WriteBack {
        self.write_back.as_mut().expect("the cache writes back")
    }
}
