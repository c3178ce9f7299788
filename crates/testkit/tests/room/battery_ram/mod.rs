//! RAM that a battery keeps, as the smallest device with bytes.
//!
//! # Models
//! One access at a time, of the same length whatever is asked. What is acknowledged is kept.
//!
//! # Leaves out
//! Everything else, such as the battery's end.
//!
//! # Sources
//! None: it is an example.
//!
//! # Checks
//! The contract of every device, and losses of power at random moments.

mod events;

pub(crate) use events::EVENTS;

use nacre_config::{Configuration, Descriptor, Room};
use nacre_device::DeviceFamily;
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Breakdown, Burst, Bytes, Capabilities, Completion, ComponentId, ComponentReport, Data, Device,
    Endured, HostCounts, Ledger, Op, Persistence, Random, Recovery, Request, Resource, Status, Time,
    Timeline, Transactions, Zone,
};
use nacre_media::persistence::{Landing, Linear};
use nacre_media::store::{Nothing, Store};

/// Bytes that a loss of power leaves old or new.
const WORD: u32 = 8;

/// RAM that a battery keeps.
#[derive(Clone, Debug, Configuration)]
pub(crate) struct Config {
    /// Bytes it holds.
    #[config(min = "4 KiB")]
    pub capacity: Bytes,
    /// How long any access takes.
    pub access: Time,
}

/// This room.
pub(crate) const ROOM: Room<DeviceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "battery_ram",
        "RAM that a battery keeps",
        &["none: it is an example"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let (id, path) = (builder.component(), slot.path().to_string());
        let config: Config = slot.config(builder.families());
        Ok(match builder.store(&path, Linear::<Nothing>::layout(Some(config.capacity))) {
            Some(store) => Box::new(BatteryRam::new(id, path, config, store)),
            None => Box::new(BatteryRam::new(id, path, config, Nothing)),
        })
    },
};

/// The device over its bytes.
#[derive(State)]
#[state(bound = "S: Store")]
struct BatteryRam<S> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    config: Config,
    bus: Timeline,
    bytes: Linear<S>,
    lost: Recovery,
    host: HostCounts,
    ledger: Ledger,
}

impl<S: Store> BatteryRam<S> {
    fn new(id: ComponentId, path: String, config: Config, store: S) -> BatteryRam<S> {
        let (bus, lost) = (Timeline::new(), Recovery::default());
        let (host, ledger) = (HostCounts::default(), Ledger::default());
        BatteryRam { id, path, config, bus, bytes: Linear::new(store, WORD), lost, host, ledger }
    }
}

impl<S: Store> Device for BatteryRam<S> {
    fn submit(
        &mut self,
        now: Time,
        request: &Request,
        data: Data<'_>,
        breakdown: &mut Breakdown,
    ) -> Completion {
        self.host.record(request);
        let activity = if request.op == Op::Write { Activity::Write } else { Activity::Read };
        let begin = self.bus.reserve(now, self.config.access);
        let done = begin + self.config.access;
        breakdown.add(self.id, Activity::Queue, begin - now);
        breakdown.add(self.id, activity, self.config.access);
        self.ledger.charge(activity, self.config.access);
        match request.op {
            Op::Write => self.bytes.write(request, &data, Landing { begin, end: done, acknowledged: done }),
            Op::Read => self.bytes.read(request, data),
            Op::Trim | Op::Flush => {}
        }
        Completion { done, status: Status::Done }
    }

    fn advance(&mut self, to: Time) {
        self.bus.forget_before(to);
        self.bytes.settle(to);
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(self.config.capacity)
    }

    fn zone(&self, _address: u64) -> Option<Zone> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: S::CARRIES_BYTES,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: WORD,
            transactions: false,
            preconditions: false,
            uses_addresses: false,
            wears_out_ahead: false,
        }
    }

    fn busy_until(&self) -> Time {
        self.bus.free_from()
    }

    fn restart_ledger(&mut self) {
        (self.host, self.ledger) = (HostCounts::default(), Ledger::default());
    }

    fn report(&self, _elapsed: Time) -> ComponentReport {
        ComponentReport {
            id: self.id,
            kind: "battery_ram",
            path: self.path.clone(),
            resources: vec![Resource { name: "bus", servers: 1, ledger: self.ledger.clone() }],
            is_energy_modelled: false,
            idle_energy: None,
            counters: self.host.counters(),
            cost: None,
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: None,
            faults: Vec::new(),
            children: Vec::new(),
        }
    }

    fn check_invariants(&self) {
        self.bus.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        let bytes_lost = self.bytes.power_fail(at, chance).bytes_lost;
        self.lost = Recovery { bytes_lost, ..Recovery::default() };
        self.bus = Timeline::new();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..std::mem::take(&mut self.lost) }
    }

    fn precondition(&mut self, _requests: &[Request]) {}

    fn wear_out(&mut self, _bursts: &[Burst]) -> Endured {
        unreachable!("its medium does not wear, and its capabilities say so")
    }

    fn transactions(&mut self) -> Option<&mut dyn Transactions> {
        None
    }

    fn prefetch(&self, _requests: &[Request]) {}
}
