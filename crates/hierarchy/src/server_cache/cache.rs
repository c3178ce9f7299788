//! The device behind `server_cache`: requests cut into blocks, and the time each part takes.

use super::in_flight::InFlight;
use super::levels::{Levels, Moves};
use super::transit::Transit;
use super::{FillMode, report};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, Op, Random, Recovery, Request, Time, Transactions,
};

/// Blocks that are warmed at once, and the most of one request.
const WARM_GROUP: usize = 16;

/// A cache of blocks before a backing device.
#[derive(State)]
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
    lookup: Time,
    #[state(skip = "from the configuration")]
    pub(super) write_allocate: bool,
    #[state(skip = "from the configuration")]
    pub(super) fill: FillMode,
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
    forgotten: u64,
    /// Where background work leaves its breakdown.
    #[state(skip = "nothing is read from it")]
    pub(super) scratch: Breakdown,
    /// Moves that nobody caused yet: empty between requests.
    #[state(skip = "empty between requests")]
    pub(super) spare: Moves,
    pub(super) counts: Counts,
}

/// How a cache behaves; what is left of its configuration once the devices are built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behaviour {
    pub(super) block: Bytes,
    pub(super) lookup: Time,
    pub(super) write_allocate: bool,
    pub(super) fill: FillMode,
}

/// What happened, in blocks, except where it says requests.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Counts {
    pub(super) read_misses: u64,
    pub(super) read_merged: u64,
    pub(super) write_misses: u64,
    pub(super) write_merged: u64,
    pub(super) write_parts: u64,
    pub(super) trimmed: u64,
    /// Blocks from the backing that were offered to the levels.
    pub(super) fills: u64,
    pub(super) bypassed: u64,
    pub(super) recovered: u64,
    /// Requests.
    pub(super) backing_reads: u64,
    /// Requests.
    pub(super) backing_writes: u64,
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
        let Behaviour { block, lookup, write_allocate, fill } = behaviour;
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
            in_flight: InFlight::new(),
            carries_bytes,
            transit: Transit::new(),
            buffer: Vec::new(),
            moved: Vec::new(),
            forgotten: 0,
            scratch: Breakdown::new(),
            spare: Moves::new(false),
            counts: Counts::default(),
        }
    }
}

impl Device for ServerCache {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert_eq!(request.volume, 0, "volumes are placed apart before a request comes to a stack");
        breakdown.add(self.id, Activity::Software, self.lookup);
        let start = now + self.lookup;
        match request.op {
            Op::Read => self.read(start, request, data, breakdown),
            Op::Write => self.write(start, request, data, breakdown),
            Op::Trim => self.trim(start, request, breakdown),
            Op::Flush => self.backing.submit(start, request, Data::None, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        self.in_flight.advance(to);
        for level in &mut self.levels.all {
            level.device.advance(to);
        }
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity()
    }

    fn capabilities(&self) -> Capabilities {
        // Writes go through: what the backing promises holds.
        let carries_bytes = self.carries_bytes;
        Capabilities { carries_bytes, transactions: false, ..self.backing.capabilities() }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        for level in &mut self.levels.all {
            level.device.power_fail(at, chance);
        }
        self.backing.power_fail(at, chance);
        // Which block is where is known in DRAM only.
        self.forgotten += self.levels.forget();
        (self.in_flight, self.transit) = (InFlight::new(), Transit::new());
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let blocks_forgotten = std::mem::take(&mut self.forgotten);
        let own = Recovery { done: at, blocks_forgotten, ..Recovery::default() };
        let levels = self.levels.all.iter_mut().map(|level| level.device.recover(at));
        levels.fold(self.backing.recover(at).beside(own), Recovery::beside)
    }

    fn precondition(&mut self, requests: &[Request]) {
        self.backing.precondition(requests);
    }

    fn wear_out(&mut self, bursts: &[Burst]) -> Endured {
        self.backing.wear_out(bursts)
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn busy_until(&self) -> Time {
        let levels = self.levels.all.iter().map(|level| level.device.busy_until());
        levels.fold(self.backing.busy_until(), Time::max)
    }

    fn restart_ledger(&mut self) {
        self.counts = Counts::default();
        self.levels.restart_counts();
        self.backing.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.levels.check_invariants();
        self.in_flight.check_invariants();
        self.backing.check_invariants();
    }

    fn prefetch(&self, requests: &[Request]) {
        let (mut group, mut used) = ([0; WARM_GROUP], 0);
        for request in requests {
            let (first, count) = request.blocks(1 << self.shift);
            for block in first..first + count.min(WARM_GROUP as u64) {
                group[used] = block;
                used += 1;
                if used == WARM_GROUP {
                    self.levels.prefetch(&group);
                    used = 0;
                }
            }
        }
        self.levels.prefetch(&group[..used]);
    }
}
