//! The device: requests wait for the bus, and the end of each access is an event.

use super::{Config, WORD};
use nacre_kernel::event::{Completions, Device, Payload, RequestId, Servers};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentId, ComponentReport, HostCounts, Ledger, Op, Persistence, Random,
    Recovery, Request, Resource, Status, Time,
};
use nacre_media::persistence::Landed;
use nacre_media::store::Store;

/// The device, which is one server with a first-come, first-served queue.
#[derive(State)]
#[state(bound = "S: Store")]
pub(crate) struct BatteryRam<S> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    config: Config,
    bus: Servers<Access>,
    #[state(skip = "the owner of the bytes keeps them next to the state")]
    bytes: Landed<S>,
    host: HostCounts,
    ledger: Ledger,
}

/// A request that is on the bus or waits for it.
#[derive(Clone, Debug, Value)]
struct Access {
    id: RequestId,
    arrived: Time,
    request: Request,
    data: Payload,
}

impl Access {
    fn activity(&self) -> Activity {
        if self.request.op == Op::Write { Activity::Write } else { Activity::Read }
    }
}

impl<S: Store> BatteryRam<S> {
    pub(crate) fn new(id: ComponentId, path: String, config: Config, store: S) -> BatteryRam<S> {
        let (host, ledger) = (HostCounts::default(), Ledger::default());
        BatteryRam { id, path, config, bus: Servers::new(1), bytes: Landed::new(store, WORD), host, ledger }
    }
}

impl<S: Store> Device for BatteryRam<S> {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.host.record(request);
        let (ledger, time) = (&mut self.ledger, self.config.access);
        self.bus.arrive(now, Access { id, arrived: now, request: *request, data }, |access, _| {
            ledger.charge(access.activity(), time);
            time
        });
    }

    fn next_event(&self) -> Time {
        self.bus.next()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        let (ledger, time) = (&mut self.ledger, self.config.access);
        let ended = self.bus.end_before(until, |access, _| {
            ledger.charge(access.activity(), time);
            time
        });
        let Some((at, access)) = ended else { return };
        let spans = [(Activity::Queue, at - access.arrived - time), (access.activity(), time)];
        let completed = completions.push(access.id, at, Status::Done, self.id, spans);
        match access.request.op {
            Op::Write => self.bytes.write(access.request.address, &access.data),
            Op::Read => completed.data = self.bytes.read(&access.request),
            Op::Trim | Op::Flush => {}
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(self.config.capacity)
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

    fn restart_ledger(&mut self, _now: Time) {
        (self.host, self.ledger) = (HostCounts::default(), Ledger::default());
    }

    fn report(&self, _elapsed: Time) -> ComponentReport {
        ComponentReport {
            id: self.id,
            kind: "battery_ram",
            path: self.path.clone(),
            resources: vec![Resource { name: "bus", servers: 1, ledger: self.ledger.clone() }],
            is_energy_modeled: false,
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
        for (end, Access { request, data, .. }) in self.bus.serving() {
            self.ledger
                .give_back(if request.op == Op::Write { Activity::Write } else { Activity::Read }, end - at);
            self.bytes.tear(request.address, data, chance);
        }
        self.bus.clear();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }
}
