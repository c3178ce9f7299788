//! Implements `Device` for a device with faults.

use super::fault::Part;
use super::layer::Layer;
use nacre_kernel::event::{
    Canceled, Completions, Device, Endurance, Payload, Preconditioning, RequestId, ZoneCommands, Zones,
};
use nacre_kernel::state::State;
use nacre_kernel::{
    Bytes, Capabilities, ComponentId, ComponentReport, HostCounts, Random, Recovery, Request, Time,
    ZoneCommand,
};

/// A device behind a layer of faults.
#[derive(State)]
pub(super) struct Faulty {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    device: Box<dyn Device>,
    layer: Layer,
    host: HostCounts,
}

impl Faulty {
    pub(super) fn new(id: ComponentId, path: String, device: Box<dyn Device>, faults: Vec<Part>) -> Faulty {
        let layer = Layer::new(id, faults, device.capacity().map(|capacity| capacity.0));
        Faulty { id, path, device, layer, host: HostCounts::default() }
    }
}

impl Device for Faulty {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, data: Payload) {
        self.host.record(request);
        self.layer.submit(&mut self.device, now, (id, request), data);
    }

    fn cancel(&mut self, now: Time, id: RequestId) -> Canceled {
        let (canceled, below) = self.layer.withdraw(id);
        let Some(number) = below else { return canceled };
        let canceled = self.device.cancel(now, RequestId(number));
        if canceled == Canceled::Yes {
            self.layer.active.give_back(number);
        }
        canceled
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.layer.next_event(&self.device)
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        self.layer.run(&mut self.device, until, completions);
    }

    fn capacity(&self) -> Option<Bytes> {
        self.device.capacity()
    }

    fn capabilities(&self) -> Capabilities {
        let of = self.device.capabilities();
        let uses_addresses = of.uses_addresses || self.layer.faults().iter().any(Part::uses_addresses);
        Capabilities { transactions: false, uses_addresses, ..of }
    }

    fn restart_ledger(&mut self, now: Time) {
        self.host = HostCounts::default();
        self.layer.restart_ledger();
        self.device.restart_ledger(now);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        ComponentReport {
            id: self.id,
            kind: "faulty",
            path: self.path.clone(),
            resources: Vec::new(),
            is_energy_modeled: false,
            idle_energy: None,
            counters: self.host.counters(),
            cost: None,
            area_mm2: None,
            lifetime_days: None,
            wear: None,
            columns: Vec::new(),
            drive_share: None,
            faults: self.layer.faults().iter().map(Part::report).collect(),
            children: vec![self.device.report(elapsed)],
        }
    }

    fn check_invariants(&self) {
        self.layer.check_invariants();
        self.device.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.device.power_fail(at, chance);
        self.layer.power_fail();
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.device.recover(at)
    }

    fn prefetch(&self, requests: &[Request]) {
        self.device.prefetch(requests);
    }

    fn detail(&mut self, is_detailed: bool) {
        self.device.detail(is_detailed);
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.device.zones()
    }

    fn zone_commands(&mut self) -> Option<&mut dyn ZoneCommands> {
        match self.device.zone_commands() {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        self.device.preconditioning()
    }

    fn endurance(&mut self) -> Option<&mut dyn Endurance> {
        self.device.endurance()
    }
}

impl ZoneCommands for Faulty {
    fn command(&mut self, now: Time, id: RequestId, command: ZoneCommand, request: &Request, data: Payload) {
        if command == ZoneCommand::Append {
            self.host.record(request);
        }
        self.layer.command(&mut self.device, now, (id, command, request), data);
    }
}
