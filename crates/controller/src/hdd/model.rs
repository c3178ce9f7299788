//! The model behind `hdd`: one arm, a queue in order of arrival, a buffer.

use super::buffer::{ReadAhead, WriteCache};
use super::queue::Queue;
use super::{Config, Scheduling};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, Energy, HostCounts, Ledger, Link, Op, Operations, Persistence, Random, Recovery, Request,
    Resource, Status, Time, Timeline, Transactions, UnderWay, Zone,
};
use nacre_media::disk::{Access, Arm, Disk, Target};
use nacre_media::persistence::{Landing, Linear};
use nacre_media::store::Store;

/// A hard disk drive.
#[derive(State)]
#[state(bound = "S: Store", after = "Hdd::place_restored")]
pub(super) struct Hdd<S> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    pub(super) config: Config,
    pub(super) disk: Disk,
    pub(super) arm: Timeline,
    pub(super) queue: Queue,
    pub(super) interface: Link,
    #[state(varies)]
    pub(super) read_ahead: Option<ReadAhead>,
    pub(super) write_cache: WriteCache,
    /// When the last write so far is on the platter.
    pub(super) written_at: Time,
    /// The arm's time is charged up to here.
    pub(super) charged_to: Time,
    pub(super) bytes: Linear<S>,
    pub(super) lost: Recovery,
    pub(super) book: Book,
    pub(super) under_way: UnderWay,
}

/// Bytes that a loss of power leaves old or new.
const SECTOR: u32 = 512;

/// What was done since measuring began, beside the mechanics.
#[derive(Default, Value)]
pub(super) struct Book {
    /// When the first request came.
    since: Option<Time>,
    host: HostCounts,
    read_ahead_hits: u64,
    cached_writes: u64,
    /// Times that the platters came up to speed, and how long they had stood.
    pub(super) spin_ups: u64,
    standing: Time,
    /// Of the time of spin-ups, what a loss of power cut off.
    pub(super) spin_ups_cut: Time,
}

impl<S: Store> Hdd<S> {
    /// A drive at rest.
    pub(super) fn new(id: ComponentId, path: String, config: Config, store: S) -> Hdd<S> {
        Hdd {
            id,
            path,
            disk: Disk::of(&config.mechanics),
            arm: Timeline::new(),
            queue: Queue::new(match config.scheduling {
                Scheduling::FirstCome => 0,
                Scheduling::ShortestSeek | Scheduling::ShortestAccess => config.queue as usize,
            }),
            interface: Link::new(config.interface_rate),
            read_ahead: None,
            write_cache: WriteCache::new(config.write_cache.0),
            written_at: Time::ZERO,
            charged_to: Time::ZERO,
            bytes: Linear::new(store, SECTOR),
            lost: Recovery::default(),
            book: Book::default(),
            under_way: UnderWay::default(),
            config,
        }
    }

    fn place_restored(&mut self) -> Result<(), String> {
        self.queue.place_restored(|address| self.disk.arm_at(address));
        Ok(())
    }

    /// Reserves the arm for an access as early as possible from `earliest` on; returns start and parts.
    fn access(&mut self, earliest: Time, address: u64, bytes: u64, is_write: bool) -> (Time, Access) {
        let disk = &self.disk;
        let target = disk.target(address, bytes, is_write);
        let plan = |end: Time, arm: &Arm| disk.plan_from(arm, end, &target);
        let (start, access) = match self.queue.nearest(earliest, plan) {
            Some(access) => (self.arm.reserve(earliest, access.total()), access),
            None => self.access_in_turn(earliest, &target),
        };
        let end = start + access.total();
        self.charged_to = self.charged_to.max(end);
        self.disk.perform(access, address + bytes);
        self.queue.put(end, address + bytes, target.behind);
        self.note(start, &access);
        (start, access)
    }

    /// The same for an access from where the arm was left last.
    fn access_in_turn(&mut self, earliest: Time, target: &Target) -> (Time, Access) {
        // How long an access takes depends on when it begins, and whether it fits into a gap on how long
        // it takes. Each round moves the start on to the next gap; behind the last one everything fits.
        let mut start = self.arm.earliest_start(earliest, Time::from_ps(1));
        start = self.spin_up(start);
        let arm = self.disk.arm();
        loop {
            let access = self.disk.plan_from(&arm, start, target);
            let possible = self.arm.earliest_start(start, access.total());
            if possible == start {
                self.arm.reserve(start, access.total());
                return (start, access);
            }
            start = possible;
        }
    }

    /// Brings the platters up to speed for an access at `start`, if they stand then; when they turn.
    fn spin_up(&mut self, start: Time) -> Time {
        let Some(standby) = &self.config.standby else { return start };
        let stood_from = self.arm.free_from() + standby.after;
        if start <= stood_from {
            return start;
        }
        let time = standby.spin_up;
        self.arm.reserve(start, time);
        if S::CARRIES_BYTES {
            self.under_way.add(Activity::SpinUp, start, start + time, Operations::default());
        }
        let since = stood_from.max(self.book.since.unwrap_or_default());
        self.book.standing += start.saturating_sub(since);
        self.book.spin_ups += 1;
        start + time
    }

    /// What flows whether or not it works.
    fn idle_energy(&self, elapsed: Time) -> Option<Energy> {
        self.config.idle_energy(elapsed, self.book.standing.min(elapsed))
    }

    /// The arm's ledger, with what the platters took to come up to speed.
    fn arm_ledger(&self) -> Ledger {
        let mut ledger = self.disk.ledger().clone();
        let ups = self.book.spin_ups;
        if let Some(standby) = &self.config.standby {
            let busy = u128::from(standby.spin_up.as_ps()) * u128::from(ups);
            let busy = busy.saturating_sub(u128::from(self.book.spin_ups_cut.as_ps()));
            let each = standby.spin_up_energy.unwrap_or_default();
            ledger.charge_sum(Activity::SpinUp, busy, Energy(each.0 * ups as f64));
        }
        ledger
    }

    /// Serves a request from the platter; returns when the first of its bytes passes the head, and when it is done.
    fn mechanical(
        &mut self,
        now: Time,
        address: u64,
        bytes: u64,
        is_write: bool,
        breakdown: &mut Breakdown,
    ) -> (Time, Time) {
        let ups = self.book.spin_ups;
        let (start, access) = self.access(now, address, bytes, is_write);
        let spin_up = self.config.standby.as_ref().map_or(Time::ZERO, |standby| standby.spin_up);
        let spun = spin_up * (self.book.spin_ups - ups);
        breakdown.add(self.id, Activity::SpinUp, spun);
        breakdown.add(self.id, Activity::Queue, start - now - spun);
        breakdown.add(self.id, Activity::Seek, access.seek);
        breakdown.add(self.id, Activity::Rotate, access.rotate);
        breakdown.add(self.id, Activity::Transfer, access.transfer);
        let done = start + access.total();
        (done - access.transfer, done)
    }

    fn read(&mut self, now: Time, address: u64, bytes: u64, breakdown: &mut Breakdown) -> Time {
        let end = address + bytes;
        let layout = self.disk.layout();
        if let Some(ready) = self.read_ahead.and_then(|ahead| ahead.ready(layout, address, end)) {
            return self.read_buffered(now, address, end, ready, breakdown);
        }
        let (_, done) = self.mechanical(now, address, bytes, false, breakdown);
        let depth = self.config.read_ahead.0;
        self.read_ahead = (depth > 0).then(|| ReadAhead::new(self.disk.layout(), end, done, depth));
        done
    }

    /// Serves a read whose bytes are in the buffer at `ready`; the last ones cross the interface then.
    fn read_buffered(
        &mut self,
        now: Time,
        address: u64,
        end: u64,
        ready: Time,
        breakdown: &mut Breakdown,
    ) -> Time {
        let link = self.interface.time_for(end - address);
        let available = ready.saturating_sub(link).max(now);
        let done = self.interface.cross(available, link);
        breakdown.add(self.id, Activity::Transfer, available - now);
        breakdown.add(self.id, Activity::Queue, done - link - available);
        breakdown.add(self.id, Activity::Link, link);
        let layout = self.disk.layout();
        let transfer = layout.turns_at(end) - layout.turns_at(address);
        if let Some(ahead) = &mut self.read_ahead {
            ahead.take(layout, now, end);
        }
        // The arm is not free before the platter has given these bytes.
        let arm_free = self.arm.free_from().max(now);
        self.arm.reserve(arm_free, ready.saturating_sub(arm_free));
        self.charge_read_ahead(ready.max(now), transfer, end);
        self.book.read_ahead_hits += 1;
        done
    }

    /// Charges a transfer that the drive made by itself at some time up to `until`: what of it fits in
    /// between then and the arm's last access. The rest was before measuring began.
    fn charge_read_ahead(&mut self, until: Time, transfer: Time, end: u64) {
        let from = self.charged_to.max(self.book.since.unwrap_or_default());
        let transfer = transfer.min(until.saturating_sub(from));
        self.charged_to = from + transfer;
        let access = Access { seek: Time::ZERO, rotate: Time::ZERO, transfer };
        self.disk.perform(access, end);
        self.note(from, &access);
    }

    /// When a write is acknowledged, and when it is on the platter.
    fn write(&mut self, now: Time, address: u64, bytes: u64, breakdown: &mut Breakdown) -> Landing {
        self.read_ahead = None;
        if self.config.write_cache.0 == 0 || !self.write_cache.takes(bytes) {
            let (begin, end) = self.mechanical(now, address, bytes, true, breakdown);
            self.written_at = self.written_at.max(end);
            return Landing { begin, end, acknowledged: end };
        }
        let room = self.write_cache.make_room(now, bytes);
        let link = self.interface.time_for(bytes);
        let acknowledged = self.interface.cross(room, link);
        breakdown.add(self.id, Activity::Queue, acknowledged - link - now);
        breakdown.add(self.id, Activity::Link, link);
        let (start, access) = self.access(acknowledged, address, bytes, true);
        let written = start + access.total();
        self.write_cache.keep(written, address, bytes);
        self.written_at = self.written_at.max(written);
        self.book.cached_writes += 1;
        Landing { begin: written - access.transfer, end: written, acknowledged }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.book.host.counters();
        counters.extend([
            ("read_ahead_hits", self.book.read_ahead_hits),
            ("cached_writes", self.book.cached_writes),
            ("spin_ups", self.book.spin_ups),
        ]);
        counters
    }
}

impl<S: Store> Device for Hdd<S> {
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        let (op, bytes) = (request.op, u64::from(request.bytes));
        self.book.host.record(request);
        self.book.since.get_or_insert(now);
        let done = match op {
            Op::Read => {
                self.bytes.read(request, data);
                self.read(now, request.address, bytes, breakdown)
            }
            Op::Write => {
                let landing = self.write(now, request.address, bytes, breakdown);
                self.bytes.write(request, &data, landing);
                landing.acknowledged
            }
            Op::Trim => {
                self.bytes.trim(request);
                now
            }
            Op::Flush => {
                let written = self.written_at.max(now);
                breakdown.add(self.id, Activity::Queue, written - now);
                written
            }
        };
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.bytes.settle(to);
        self.under_way.settle(to);
        self.arm.forget_before(to);
        self.interface.forget_before(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(self.config.mechanics.capacity)
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: match self.config.write_cache.0 {
                0 => Persistence::OnAcknowledgement,
                _ => Persistence::OnFlush,
            },
            atomic_unit: SECTOR,
            transactions: false,
            preconditions: false,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn busy_until(&self) -> Time {
        self.arm.free_from().max(self.interface.free_from())
    }

    fn restart_ledger(&mut self) {
        self.disk.restart_ledger();
        self.interface.restart_ledger();
        self.book = Book::default();
        self.under_way.clear();
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        let arm = Resource { name: "arm", servers: 1, ledger: self.arm_ledger() };
        ComponentReport {
            id: self.id,
            kind: "hdd",
            path: self.path.clone(),
            resources: vec![arm, self.interface.resource("interface")],
            is_energy_modelled: self.config.mechanics.idle_power.is_some(),
            idle_energy: self.idle_energy(elapsed),
            counters: self.counters(),
            cost: self.config.price.map(|price| price.of(self.config.mechanics.capacity)),
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: self.config.share(),
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.arm.check_invariants();
        self.interface.check_invariants();
        self.write_cache.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.lose_power(at, chance);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..std::mem::take(&mut self.lost) }
    }

    fn precondition(&mut self, _requests: &[Request]) {}

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("it cannot be written on without time, and says so")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}
}
