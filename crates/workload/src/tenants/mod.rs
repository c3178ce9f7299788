//! Tenants: several hosts on one stack, each with a separate address range, workload, and arrival process.
//!
//! # Model
//! Every tenant has a range of the address space, like an NVMe namespace or a logical volume, and a workload
//! with a separate arrival process. For example, one tenant has a queue depth of 8, and another sends
//! requests at a fixed rate. All requests are sent to one stack in time order. Requests with the same time
//! are sent in the order of their tenants in the scenario. The record contains the requests, rates, and
//! latencies of each tenant. Every request includes the number of its tenant, so that a drive with flexible
//! data placement (`fdp`) can separate the data of the tenants. During preconditioning, the tenants take
//! turns, with `weight` writes of each tenant per round.
//!
//! *Slots*: `places` limits the number of outstanding requests of all tenants, like a controller that fetches
//! commands from the submission queues of its hosts. All other requests wait in the queues of their tenants.
//! This wait is part of the latency, and the breakdown in the record shows it as queueing at the top of the
//! stack. Outstanding requests are not preempted.
//!
//! *Priority*: a free slot goes to a waiting request with the highest `priority`. As in NVMe, the classes are
//! urgent, high, medium, and low. Among tenants of one class, the slot goes to the least recently served
//! tenant.
//!
//! *Weights*: with `weights`, only the urgent class has strict priority. The other classes take turns
//! (weighted round robin with an urgent class, as in NVMe). In its turn, a class gets a number of slots equal
//! to its weight. Then the next class with waiting requests gets its turn.
//!
//! # Not modeled
//! - Priority of outstanding requests: after a request has a slot, its priority has no effect.
//! - Units of work (e.g. transactions) of a tenant.
//! - Tenant numbers in the requests that a cache sends to its backing device (fetches and write-backs).
//! - Nested tenants.
//!
//! # Sources
//! tavakkol-2018 (flows of MQSim); nvme-1.1 (namespaces, priority classes, weighted round robin); cobham-1954
//! (waiting times under priority).
//!
//! # Checks
//! - A single tenant issues the same requests at the same times as its workload without tenants. In closed
//!   loops, the number of outstanding requests is constant. The issue times never decrease, and every request
//!   is within the address range of its tenant.
//! - The mean wait of each class equals the closed form for queues with non-preemptive priorities. With
//!   several slots, priorities do not change the total wait of all requests.
//! - With weights, requests get slots in the same order as in an independently computed list. If all classes
//!   always have waiting requests, each class gets the fraction of the slots that its weight defines.

mod tenant;

use crate::interactive::{Interactive, Issued, Unheard};
use crate::{Asker, Notes, Pacing, Workload, WorkloadBuilder, WorkloadError, WorkloadFamily};
use nacre_config::priority::{Priority, Weights};
use nacre_config::{Configuration, Descriptor, ErrorCode, Model, Problem, Problems, Reader, Slot, both};
use nacre_kernel::event::{Arbiter, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Bytes, Ranges, Request, Status, Time};
use std::mem;
use tenant::Tenant;

/// Several hosts on one stack.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Tenants that share the stack, at most 256. Add new tenants at the end, so that the addresses and
    /// random streams of the existing tenants do not change.
    pub tenant: Vec<TenantConfig>,
    /// Maximum number of outstanding requests of all tenants. Unlimited by default. The
    /// `queue_depth` of the device should be at least as large.
    #[config(min = 1, max = 1048576)]
    pub places: Option<u32>,
    /// Weights of the priority classes below urgent. If requests wait because `places` requests are
    /// outstanding, these classes take turns by weighted round robin. By default, priority is strict.
    pub weights: Option<Weights>,
}

/// One tenant.
#[derive(Clone, Debug, Configuration)]
pub struct TenantConfig {
    /// Name of the tenant in the record.
    pub name: String,
    /// Size of the address range of the tenant. By default, the range ends at the last address that
    /// the workload uses. For a trace, this setting is required.
    #[config(min = "512 B", max = "1024 PiB")]
    pub capacity: Option<Bytes>,
    /// Number of writes per round during preconditioning.
    #[config(default = 1, max = 65536, source = "assumed: equal for all tenants")]
    pub weight: u32,
    /// Priority class of requests that wait for `places`.
    #[config(default = "medium", source = "assumed: all tenants have one class by default")]
    pub priority: Priority,
    /// Workload of the tenant, including its arrival process.
    pub workload: Slot<WorkloadFamily>,
}

/// Maximum number of tenants. A drive stores the tenant's number in a byte.
const TENANTS_MAX: usize = 256;
/// Alignment of the address ranges of tenants in bytes.
const ALIGNMENT: u64 = 1 << 20;

fn check(config: &Config, reader: &mut Reader<'_>) {
    if config.tenant.len() > TENANTS_MAX {
        let given = config.tenant.len().to_string();
        reader.conflict("tenant", &given, "there are too many tenants", "at most 256 are allowed");
    }
    if config.tenant.iter().all(|tenant| tenant.weight == 0) {
        let problem = "no tenant has writes for preconditioning";
        reader.conflict("tenant[0].weight", "0", problem, "give one of them a weight of at least 1");
    }
    if let Some(place) = config.tenant.iter().position(|tenant| tenant.priority != Priority::Medium)
        && config.places.is_none()
    {
        let given = format!("{:?}", config.tenant[place].priority).to_lowercase();
        let remedy = "set places, e.g. to the queue depth of the drive, or remove it";
        let problem = "without places, no request waits, so priority has no effect";
        reader.conflict(&format!("tenant[{place}].priority"), &given, problem, remedy);
    }
    if let (Some(Weights { high, medium, low }), None) = (config.weights, config.places) {
        let given = format!("high {high}, medium {medium}, low {low}");
        let remedy = "set places, e.g. to the queue depth of the drive, or remove weights";
        let problem = "without places, no request waits, so weights have no effect";
        reader.conflict("weights", &given, problem, remedy);
    }
    for (place, tenant) in config.tenant.iter().enumerate() {
        if config.tenant[..place].iter().any(|other| other.name == tenant.name) {
            let (path, given) = (format!("tenant[{place}].name"), format!("{:?}", tenant.name));
            reader.conflict(&path, &given, "another tenant has this name", "use different names");
        }
    }
}

/// Descriptor and constructor of the component.
pub const MODEL: Model<WorkloadFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "tenants",
        "several hosts on one stack, each with its own addresses, workload, and arrivals",
        &["tavakkol-2018", "nvme-1.1", "cobham-1954"],
        3,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let (mut tenants, mut reach) = (Ok(Vec::new()), 0u64);
        for (place, config) in config.tenant.iter().enumerate() {
            let path = format!("{}.tenant[{place}]", slot.path());
            let built = build(config, &path, builder).map(|(workload, capacity)| {
                let tenant = Tenant::new(config, &path, workload, [reach, capacity]);
                reach = reach.saturating_add(capacity).next_multiple_of(ALIGNMENT);
                tenant
            });
            tenants = both(tenants, built).map(|(mut tenants, tenant)| {
                tenants.push(tenant);
                tenants
            });
        }
        let weights = config.weights.as_ref().map(Weights::each);
        let arbiter = config.places.map(|places| Arbiter::new(places, weights));
        let tenants = tenants?;
        Ok(Box::new(Tenants {
            tenants,
            arbiter,
            outstanding: Slab::new(),
            now: Time::ZERO,
            unheard: Unheard::default(),
            turn: 0,
            turn_left: 0,
        }))
    },
};

/// Builds the workload of a tenant. Also returns the size of its address range in bytes.
fn build(
    config: &TenantConfig,
    path: &str,
    builder: &mut dyn WorkloadBuilder,
) -> Result<(Box<dyn Workload>, u64), Problems> {
    let workload = builder.workload(&config.workload)?;
    if !workload.tenants().is_empty() {
        let problem = Problem::new(
            ErrorCode::NotSupported,
            config.workload.path(),
            None,
            "a tenant cannot have \
                                                                                 tenants",
        );
        return Err(problem.remedy("add its tenants to the outer list").into());
    }
    let path = format!("{path}.capacity");
    let capacity = match (config.capacity, workload.reach()) {
        (Some(capacity), Some(reach)) if reach > capacity.0 => {
            let problem = format!("the tenant's workload reaches to byte {reach}");
            let problem = Problem::new(ErrorCode::ConflictingSettings, &path, None, problem)
                .given(capacity.to_string());
            return Err(problem.remedy(format!("give at least {}", Bytes(reach))).into());
        }
        (Some(capacity), _) => capacity.0,
        (None, Some(reach)) => reach,
        (None, None) => {
            let problem = "the size of the tenant's workload is unknown before the run";
            return Err(Problem::new(ErrorCode::MissingSetting, &path, None, problem)
                .remedy("set it, e.g. \"10 GiB\"")
                .into());
        }
    };
    Ok((workload, capacity))
}

#[derive(State)]
struct Tenants {
    tenants: Vec<Tenant>,
    /// Selects the next tenant if requests wait for `places`.
    arbiter: Option<Arbiter>,
    /// Outstanding requests. The tag of a request is its key.
    outstanding: Slab<Outstanding>,
    /// Time of the last call.
    now: Time,
    unheard: Unheard,
    /// Tenant that issues the current preconditioning writes.
    turn: usize,
    /// Number of writes that the tenant `turn` has left in the current round of preconditioning.
    turn_left: u32,
}

/// An outstanding request: the number of its tenant, and the tag that the tenant assigned to the request.
#[derive(Clone, Copy, Debug, Default, Value)]
struct Outstanding {
    tenant: u32,
    tag: u32,
}

impl Tenants {
    fn has_place(&self) -> bool {
        self.arbiter.as_ref().is_none_or(Arbiter::has_slot)
    }

    /// Selects the tenant that issues the next request at the current time. `None` if no tenant can issue
    /// one.
    fn choose(&mut self) -> Option<usize> {
        let (now, tenants) = (self.now, &self.tenants);
        let mut waiting = (0..tenants.len()).filter(|&tenant| tenants[tenant].due() <= now);
        match &mut self.arbiter {
            None => waiting.next(),
            Some(arbiter) if arbiter.has_slot() => {
                arbiter.choose(waiting.map(|tenant| (tenant, tenants[tenant].priority as usize)))
            }
            Some(_) => None,
        }
    }
}

impl Interactive for Tenants {
    fn next_event(&self) -> Time {
        let has_place = self.has_place();
        let next = |tenant: &Tenant| match has_place {
            true => tenant.next_event().min(tenant.due()),
            // A request waits until a slot is free.
            false => tenant.next_event(),
        };
        self.tenants.iter().map(next).min().map_or(Time::MAX, |next| next.max(self.now))
    }

    fn step(&mut self, now: Time, issued: &mut Vec<Issued>) -> Result<(), WorkloadError> {
        self.now = now;
        self.tenants.iter_mut().try_for_each(|tenant| tenant.advance(now))?;
        while let Some(tenant) = self.choose() {
            let Issued { request, tag, waited } = self.tenants[tenant].issue(now)?;
            let tenant = tenant as u32;
            let (number, outstanding) = self.outstanding.take();
            *outstanding = Outstanding { tenant, tag };
            issued.push(Issued { request: Request { volume: tenant, ..request }, tag: number, waited });
        }
        Ok(())
    }

    fn complete(&mut self, now: Time, tag: u32, status: Status) {
        self.now = now;
        let Outstanding { tenant, tag: inner } = self.outstanding[tag];
        self.outstanding.give_back(tag);
        self.tenants[tenant as usize].complete(now, inner, status);
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.free();
        }
    }
}

impl Workload for Tenants {
    fn fill(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let mut unheard = mem::take(&mut self.unheard);
        let filled = unheard.fill(self, batch, limit);
        self.unheard = unheard;
        filled
    }

    fn fill_writes(&mut self, batch: &mut Vec<Request>, limit: usize) -> Result<(), WorkloadError> {
        let full = batch.len() + limit;
        // Number of consecutive tenants without a write.
        let mut idle = 0;
        while batch.len() < full && idle < self.tenants.len() {
            if self.turn_left == 0 {
                self.turn = (self.turn + 1) % self.tenants.len();
                self.turn_left = self.tenants[self.turn].weight;
            }
            let count = (full - batch.len()).min(self.turn_left as usize);
            let from = batch.len();
            self.tenants[self.turn].fill_writes(batch, count)?;
            for request in &mut batch[from..] {
                request.volume = self.turn as u32;
            }
            let given = (batch.len() - from) as u32;
            self.turn_left = if given == 0 { 0 } else { self.turn_left - given };
            idle = if given == 0 { idle + 1 } else { 0 };
        }
        Ok(())
    }

    fn tenants(&self) -> Vec<Asker> {
        let asker = |tenant: &Tenant| Asker { name: tenant.name.clone(), pacing: tenant.workload.pacing() };
        self.tenants.iter().map(asker).collect()
    }

    fn pacing(&self) -> Pacing {
        Pacing::CompletionDriven
    }

    fn interactive(&mut self) -> Option<&mut dyn Interactive> {
        Some(self)
    }

    fn expected(&self) -> Option<u64> {
        self.tenants
            .iter()
            .try_fold(0u64, |sum, tenant| Some(sum.saturating_add(tenant.workload.expected()?)))
    }

    fn reach(&self) -> Option<u64> {
        self.tenants.iter().map(Tenant::end).max()
    }

    fn footprint(&self) -> Option<Ranges> {
        let mut bytes = Ranges::default();
        for tenant in &self.tenants {
            let own = tenant.workload.footprint()?;
            own.iter().for_each(|range| bytes.insert(tenant.placed(range)));
        }
        Some(bytes)
    }

    fn units_per_request(&self, unit: u64) -> Option<u64> {
        // A tenant may start within a unit.
        let of = |tenant: &Tenant| Some(tenant.workload.units_per_request(unit)? + 1);
        self.tenants.iter().try_fold(1, |most, tenant| Some(of(tenant)?.max(most)))
    }

    fn notes(&self) -> Notes {
        let mut all = Notes { kind: "tenants", records: 0, bad_records: 0, notes: Vec::new() };
        for tenant in &self.tenants {
            let notes = tenant.workload.notes();
            all.records += tenant.given;
            all.bad_records += notes.bad_records;
            all.notes.extend(notes.notes.into_iter().map(|note| format!("{}: {note}", tenant.name)));
        }
        all
    }
}

#[cfg(test)]
mod tests;
