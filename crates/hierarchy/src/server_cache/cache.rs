//! The device behind `server_cache`: requests cut into blocks, and the time each part takes.

use super::FillMode;
use super::in_flight::InFlight;
use super::levels::{Levels, Moves};
use super::transit::Transit;
use super::write_back::{Settings, WriteBack};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Breakdown, Bytes, ComponentId, Device, Time};

/// A cache of blocks before a backing device.
#[derive(State)]
#[state(after = "ServerCache::place_restored")]
pub(super) struct ServerCache {
    #[state(skip = "from the configuration")]
    pub(super) id: ComponentId,
    #[state(skip = "from the configuration")]
    pub(super) path: String,
    pub(super) levels: Levels,
    pub(super) backing: Box<dyn Device>,
    /// Bytes of a block are `1 << shift`.
    #[state(skip = "from the configuration")]
    pub(super) shift: u32,
    #[state(skip = "from the configuration")]
    pub(super) lookup: Time,
    #[state(skip = "from the configuration")]
    pub(super) write_allocate: bool,
    #[state(skip = "from the configuration")]
    pub(super) fill: FillMode,
    /// What it knows beside if it writes back.
    pub(super) write_back: Option<Box<WriteBack>>,
    pub(super) in_flight: InFlight,
    /// Whether the backing and all levels carry bytes.
    #[state(skip = "from the configuration")]
    pub(super) carries_bytes: bool,
    pub(super) transit: Transit,
    /// Where bytes of whole blocks are while a request is served.
    #[state(skip = "nothing is read from it")]
    pub(super) buffer: Vec<u8>,
    /// Where the bytes of a block are that goes from level to level.
    #[state(skip = "nothing is read from it")]
    pub(super) moved: Vec<u8>,
    /// Blocks that the last loss of power took.
    pub(super) forgotten: u64,
    /// Where background work leaves its breakdown.
    #[state(skip = "nothing is read from it")]
    pub(super) scratch: Breakdown,
    /// What the request that is served makes the levels do.
    #[state(skip = "empty between requests")]
    pub(super) moves: Moves,
    pub(super) counts: Counts,
}

/// How a cache behaves; what is left of its configuration once the devices are built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour {
    pub(crate) block: Bytes,
    pub(crate) lookup: Time,
    pub(crate) write_allocate: bool,
    pub(crate) fill: FillMode,
    /// Its settings if it writes back, and whether its table outlives a loss of power.
    pub(crate) write_back: Option<(Settings, bool)>,
}

/// What happened, in blocks, except where it says requests.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(crate) struct Counts {
    pub(crate) read_misses: u64,
    pub(crate) read_merged: u64,
    pub(crate) write_misses: u64,
    pub(crate) write_merged: u64,
    pub(crate) write_parts: u64,
    pub(crate) trimmed: u64,
    /// Blocks from the backing that were offered to the levels.
    pub(crate) fills: u64,
    pub(crate) bypassed: u64,
    pub(crate) recovered: u64,
    /// Requests.
    pub(crate) backing_reads: u64,
    /// Requests.
    pub(crate) backing_writes: u64,
}

impl ServerCache {
    /// An empty cache.
    pub(super) fn new(
        id: ComponentId,
        path: String,
        behaviour: Behaviour,
        levels: Levels,
        backing: Box<dyn Device>,
    ) -> ServerCache {
        let Behaviour { block, lookup, write_allocate, fill, write_back } = behaviour;
        let carries = |device: &dyn Device| device.capabilities().carries_bytes;
        let carries_bytes = carries(&*backing) && levels.all.iter().all(|level| carries(&*level.device));
        ServerCache {
            id,
            path,
            levels,
            backing,
            shift: block.0.trailing_zeros(),
            lookup,
            write_allocate,
            fill,
            write_back: write_back.map(|(settings, outlives)| Box::new(WriteBack::new(settings, outlives))),
            in_flight: InFlight::new(),
            carries_bytes,
            transit: Transit::new(),
            buffer: Vec::new(),
            moved: Vec::new(),
            forgotten: 0,
            scratch: Breakdown::new(),
            moves: Moves::new(write_back.is_some()),
            counts: Counts::default(),
        }
    }

    fn place_restored(&mut self) -> Result<(), String> {
        // What has bytes has an end.
        let capacity = self.backing.capacity().map_or(0, |Bytes(bytes)| bytes);
        let addressed = capacity.div_ceil(1 << self.shift);
        self.levels.all.iter_mut().try_for_each(|level| level.place_restored(addressed))
    }
}
