//! Assembly of a record from measurements and component reports.

use super::caution::cautions;
use super::findings::Findings;
use super::health::health;
use super::resolved::{resolved_json, value_origin};
use super::served::{latency, throughput};
use super::tables::{columns, tables};
use super::tenants::{fairness, tenants};
use super::totals::{cost, energy_unknown, lifetime_unknown, price_basis};
use super::wear::{total, wear};
use super::{
    Component, Ending, Fault, Handle, HostBytes, Latencies, Outcome, Record, Requests, Resource, Spent,
    TimeSpent, WorkloadNotes,
};
use crate::meter::{Meter, OpMeter};
use crate::scenario::Checked;
use nacre_kernel::{Activity, ComponentReport, FaultCounts, FaultReport, Time};
use std::collections::BTreeMap;

/// Assembles the record and columns of a run.
pub(crate) fn outcome(checked: &Checked, findings: &Findings) -> Outcome {
    let mut record = record(checked, findings);
    record.findings = cautions(findings, &record);
    Outcome { record, columns: columns(&findings.meter, &findings.reports) }
}

fn record(checked: &Checked, findings: &Findings) -> Record {
    let Findings { meter, half_widths, reports, issued, units, notes, .. } = findings;
    let (issued, units) = (*issued, *units);
    assert_eq!(issued, meter.completed(), "requests issued and requests completed");
    let (elapsed, drained) = (meter.end - meter.start, findings.drained - meter.start);
    let priced = |report: &ComponentReport| Component {
        cost_basis: price_basis(checked, &report.path).filter(|_| report.cost.is_some()).map(String::from),
        ..component(report, drained)
    };
    let components: Vec<Component> = reports.iter().map(priced).collect();
    let cost = cost(&components);
    let areas = components.iter().filter_map(|component| component.area_mm2);
    let area_mm2 = areas.reduce(|sum, area| sum + area);
    let worn = total(reports);
    let seconds = elapsed.as_secs_f64();
    let served = HostBytes { read: meter.reads.served_bytes(), written: meter.writes.served_bytes() };
    let bytes = HostBytes { read: meter.reads.bytes, written: meter.writes.bytes };
    let tenants = tenants(&findings.tenants, &meter.tenants);
    let lifetimes = components.iter().filter_map(|component| component.lifetime_days);
    Record {
        schema: "nacre-record-1",
        version: env!("CARGO_PKG_VERSION"),
        name: checked.name.clone(),
        seed: checked.run.seed,
        complete: findings.ending == Ending::Complete,
        scenario: resolved_json(&checked.resolved),
        origins: checked.resolved.iter().map(value_origin).collect(),
        steadiness: findings.steadiness.clone(),
        requests: requests(meter, issued),
        throughput: throughput(meter.completed() - meter.errors, &served, units, elapsed),
        bytes,
        host_cpu_ns: host_cpu_ns(reports, meter.completed()),
        simulated_s: seconds,
        drained_s: drained.as_secs_f64(),
        latency: Latencies {
            read: latency(&meter.reads, half_widths[0]),
            write: latency(&meter.writes, half_widths[1]),
            flush: latency(&meter.flushes, half_widths[2]),
        },
        fairness: fairness(findings, &tenants),
        tenants,
        time_spent: TimeSpent {
            read: spent(&meter.reads, reports),
            write: spent(&meter.writes, reports),
            flush: spent(&meter.flushes, reports),
        },
        write_amplification: worn.as_ref().and_then(|wear| wear.write_amplification()),
        cleaning_cost: worn.as_ref().and_then(|wear| wear.cleaning_cost()),
        erases: worn.as_ref().map(|wear| wear.erases),
        energy_j: energies(&components),
        energy_unknown: energy_unknown(checked, reports),
        area_mm2,
        cost: cost.sum,
        cost_basis: cost.basis,
        cost_by_basis: cost.by_basis,
        cost_unknown: findings.cost_unknown.clone(),
        lifetime_days: lifetimes.reduce(f64::min),
        lifetime_unknown: lifetime_unknown(reports),
        worn_out: findings.worn_out.clone(),
        split: None,
        components,
        workload: WorkloadNotes {
            kind: notes.kind,
            records: notes.records,
            bad_records: notes.bad_records,
            unit: units.map(|units| units.name),
            units: units.map(|units| units.done),
            notes: notes.notes.clone(),
        },
        findings: Vec::new(),
    }
}

/// Returns the host processor time per request, in nanoseconds. Host processors are the resource `cpus` of a
/// device.
fn host_cpu_ns(reports: &[ComponentReport], completed: u64) -> Option<f64> {
    let cpus = reports.iter().flat_map(|report| &report.resources).filter(|resource| resource.name == "cpus");
    let busy =
        cpus.map(|cpus| Activity::ALL.into_iter().map(|activity| cpus.ledger.busy_s(activity)).sum::<f64>());
    let busy = busy.reduce(|sum, each| sum + each)?;
    (completed > 0).then(|| busy * 1e9 / completed as f64)
}

fn requests(meter: &Meter, issued: u64) -> Requests {
    Requests {
        issued,
        completed: meter.completed(),
        reads: meter.reads.requests(),
        writes: meter.writes.requests(),
        trims: meter.trims,
        flushes: meter.flushes.requests(),
        errors: meter.errors,
    }
}

/// Returns the breakdown of the mean latency, in the order of the stack's components.
fn spent(meter: &OpMeter, reports: &[ComponentReport]) -> Vec<Spent> {
    let total = meter.latency.sum_ps() as f64;
    let count = meter.latency.count().max(1) as f64;
    let mut parts = Vec::new();
    for report in reports {
        for activity in Activity::ALL {
            let ps = meter.spent_ps(report.id.0 as usize, activity) as f64;
            if ps > 0.0 {
                parts.push(Spent {
                    component: report.path.clone(),
                    kind: report.kind,
                    activity: activity.name(),
                    mean_ns: ps / count / 1e3,
                    share: ps / total,
                });
            }
        }
    }
    parts
}

/// Converts a component report to a component of a record. `drained` is the time that the report covers.
pub fn component(report: &ComponentReport, drained: Time) -> Component {
    let resources: Vec<Resource> = report.resources.iter().map(|used| resource(used, drained)).collect();
    let busiest = resources
        .iter()
        .reduce(|busiest, other| if other.utilization > busiest.utilization { other } else { busiest });
    Component {
        path: report.path.clone(),
        kind: report.kind,
        servers: busiest.map_or(0, |resource| resource.servers),
        busy: nonzero(|activity| report.busy_s(activity)),
        utilization: busiest.map_or(0.0, |resource| resource.utilization),
        energy_j: report.is_energy_modeled.then(|| energy(report)),
        counters: report.counters.iter().map(|&(name, count)| (name.to_string(), count.into())).collect(),
        cost: report.cost,
        area_mm2: report.area_mm2,
        cost_basis: None,
        lifetime_days: report.lifetime_days,
        wear: report.wear.as_ref().map(wear),
        health: health(report),
        handles: handles(report),
        faults: report.faults.iter().map(fault).collect(),
        tables: tables(report),
        resources,
    }
}

/// Converts the report of a fault to its form in the record.
fn fault(report: &FaultReport) -> Fault {
    let FaultCounts { matching, touched, added_ps, errors, reported_bytes, silent_bytes } = report.counts;
    Fault {
        path: report.path.clone(),
        kind: report.kind,
        matching,
        touched,
        added_s: added_ps as f64 / 1e12,
        errors,
        reported_bytes,
        silent_bytes,
    }
}

/// Returns the writes through each reclaim unit handle. A table also contains them, but studies do not store
/// tables.
fn handles(report: &ComponentReport) -> Vec<Handle> {
    let column = |name: &str| {
        let found = report.columns.iter().find(|column| column.name == name);
        found.map_or(&[][..], |column| &column.values)
    };
    let counts = column("handles.units_host").iter().zip(column("handles.units_moved"));
    let changes = column("handles.implicitly_modified").iter().zip(column("handles.not_fully_written"));
    counts
        .zip(column("handles.write_amplification"))
        .zip(changes)
        .map(|(((&host, &moved), &amplification), (&modified, &not_full))| Handle {
            units_host: host as u64,
            units_moved: moved as u64,
            write_amplification: (!amplification.is_nan()).then_some(amplification),
            implicitly_modified: modified as u64,
            not_fully_written: not_full as u64,
        })
        .collect()
}

fn resource(used: &nacre_kernel::Resource, drained: Time) -> Resource {
    Resource {
        name: used.name,
        servers: used.servers,
        busy: nonzero(|activity| used.ledger.busy_s(activity)),
        utilization: used.utilization(drained),
    }
}

fn energy(report: &ComponentReport) -> BTreeMap<&'static str, f64> {
    let mut energy = nonzero(|activity| report.energy(activity).0);
    energy.extend(report.idle_energy.map(|idle| ("idle", idle.0)));
    energy
}

/// Returns the nonzero amounts by activity.
fn nonzero(amount: impl Fn(Activity) -> f64) -> BTreeMap<&'static str, f64> {
    let amounts = Activity::ALL.into_iter().map(|activity| (activity.name(), amount(activity)));
    amounts.filter(|&(_, amount)| amount > 0.0).collect()
}

pub(super) fn energies(components: &[Component]) -> BTreeMap<String, f64> {
    let known = components.iter().filter_map(|component| Some((component, component.energy_j.as_ref()?)));
    known.map(|(component, energy)| (component.path.clone(), energy.values().sum())).collect()
}
