//! The device behind `server_cache`: requests cut into blocks, and the time each part takes.

use super::in_flight::InFlight;
use super::levels::{Levels, Moves};
use super::transit::Transit;
use super::write_back::{Settings, WriteBack};
use super::{FillMode, report};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, Op, Persistence, Random, Recovery, Request, Time, Transactions,
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
    /// Its settings if it writes back, and whether its table outlives a loss of power.
    pub(super) write_back: Option<(Settings, bool)>,
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
            spare: Moves::new(write_back.is_some()),
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
        let mut start = now + self.lookup;
        if let Some(work) = &self.write_back {
            let ready = work.ready.max(start);
            breakdown.add(self.id, Activity::Queue, ready - start);
            start = ready;
            self.clean_until(start);
        }
        match request.op {
            Op::Read => self.read(start, request, data, breakdown),
            Op::Write => self.write(start, request, data, breakdown),
            Op::Trim => self.trim(start, request, breakdown),
            Op::Flush => self.flush(start, request, breakdown),
        }
    }

    fn advance(&mut self, to: Time) {
        self.in_flight.advance(to);
        // Cleaning goes on with the next request, from when it should.
        let cleans_from = self.write_back.as_ref().and_then(|work| work.cleans_from());
        let to = cleans_from.map_or(to, |start| start.min(to));
        for level in &mut self.levels.all {
            level.device.advance(to);
        }
        self.backing.advance(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.backing.capacity()
    }

    fn capabilities(&self) -> Capabilities {
        let carries_bytes = self.carries_bytes;
        let backing = Capabilities { carries_bytes, transactions: false, ..self.backing.capabilities() };
        // Writes go through: what the backing promises holds.
        let Some(work) = &self.write_back else { return backing };
        let atomic_unit = backing.atomic_unit.min(1 << self.shift);
        if work.table.is_none() {
            // Flushed blocks are in the backing, which is flushed after them.
            return Capabilities { persistence: Persistence::OnFlush, atomic_unit, ..backing };
        }
        let levels = self.levels.all.iter().map(|level| level.device.capabilities());
        levels.fold(Capabilities { atomic_unit, ..backing }, |all, level| Capabilities {
            persistence: all.persistence.min(level.persistence),
            atomic_unit: all.atomic_unit.min(level.atomic_unit),
            ..all
        })
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.clean_until(at);
        for level in &mut self.levels.all {
            level.device.power_fail(at, chance);
        }
        self.backing.power_fail(at, chance);
        // Which block is where is known in DRAM only, but for a table that outlives it.
        self.forgotten += self.levels.forget();
        (self.in_flight, self.transit) = (InFlight::new(), Transit::new());
        self.lose_dirty(at);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let blocks_forgotten = std::mem::take(&mut self.forgotten);
        let own = Recovery { done: at, blocks_forgotten, ..Recovery::default() };
        let levels = self.levels.all.iter_mut().map(|level| level.device.recover(at));
        let devices = levels.fold(self.backing.recover(at).beside(own), Recovery::beside);
        self.recover_dirty(devices)
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
        self.write_back.iter_mut().for_each(|work| work.restart_counts());
        self.backing.restart_ledger();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        report::of(self, elapsed)
    }

    fn check_invariants(&self) {
        self.levels.check_invariants();
        self.in_flight.check_invariants();
        if let Some(work) = &self.write_back {
            work.check_invariants();
            let is_held = |block| self.levels.hold(block);
            assert!(work.dirty.blocks().all(is_held), "a dirty block is in no level");
        }
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
