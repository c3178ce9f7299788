//! The device behind `server_cache`: requests cut into blocks, and the time each part takes.

use super::in_flight::InFlight;
use super::levels::{Levels, NOWHERE};
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
    /// Where background work leaves its breakdown.
    #[state(skip = "nothing is read from it")]
    scratch: Breakdown,
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
            scratch: Breakdown::new(),
            counts: Counts::default(),
        }
    }

    /// Forgets a block whose data could not be had, and what was to be done with it.
    #[cold]
    pub(super) fn drop_block(&mut self, block: u64) {
        self.levels.remove(block);
        self.levels.moves.retain(|wanted| wanted.block != block);
    }

    /// Carries out the first `moves` moves, whose data is at hand at `ready`, beside the request. When
    /// the last is done.
    pub(super) fn settle(&mut self, moves: usize, ready: Time) -> Time {
        let mut last = ready;
        for at in 0..moves {
            let wanted = self.levels.moves[at];
            let mut now = ready;
            if wanted.from != NOWHERE {
                now = self.move_block(wanted.from, wanted.block, Op::Read, now);
            }
            last = last.max(self.move_block(wanted.to, wanted.block, Op::Write, now));
        }
        self.levels.moves.drain(..moves);
        last
    }

    fn move_block(&mut self, level: usize, block: u64, op: Op, now: Time) -> Time {
        self.scratch.clear();
        let level = &mut self.levels.all[level];
        let address = level.place(block) << self.shift;
        let request = Request { arrival: now, address, bytes: 1 << self.shift, volume: 0, op };
        level.device.submit(now, &request, Data::None, &mut self.scratch).done
    }
}

impl Device for ServerCache {
    #[inline]
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        _data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        assert_eq!(request.volume, 0, "volumes are placed apart before a request comes to a stack");
        breakdown.add(self.id, Activity::Software, self.lookup);
        let start = now + self.lookup;
        match request.op {
            Op::Read => self.read(start, request, breakdown),
            Op::Write => self.write(start, request, breakdown),
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
        Capabilities { carries_bytes: false, transactions: false, ..self.backing.capabilities() }
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        for level in &mut self.levels.all {
            level.device.power_fail(at, chance);
        }
        self.backing.power_fail(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        let levels = self.levels.all.iter_mut().map(|level| level.device.recover(at));
        levels.fold(self.backing.recover(at), Recovery::beside)
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

    fn is_durable(&self, at: Time, address: u64, bytes: u32) -> bool {
        // Writes go through: no level holds what the backing does not.
        self.backing.is_durable(at, address, bytes)
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
