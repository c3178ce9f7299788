//! Results of each tenant, and fairness among them.

use super::caution::is_saturated;
use super::served::{latency, throughput};
use super::{Findings, HostBytes, Latencies, Tenant};
use crate::meter::TenantMeter;
use nacre_workload::{Asker, Pacing};

/// Returns the results of the tenants `askers`.
pub(super) fn tenants(askers: &[Asker], meters: &[TenantMeter]) -> Vec<Tenant> {
    askers.iter().zip(meters).map(|(asker, meter)| tenant(&asker.name, meter)).collect()
}

fn tenant(name: &str, meter: &TenantMeter) -> Tenant {
    let TenantMeter { reads, writes, flushes, trims, errors, done, .. } = meter;
    let requests = reads.requests() + writes.requests() + flushes.requests() + trims;
    let served = HostBytes { read: reads.served_bytes(), written: writes.served_bytes() };
    let bytes = HostBytes { read: reads.bytes, written: writes.bytes };
    Tenant {
        name: name.into(),
        requests,
        errors: *errors,
        throughput: throughput(requests - errors, &served, None, *done),
        bytes,
        latency: Latencies {
            read: latency(reads, reads.means.half_width_95()),
            write: latency(writes, writes.means.half_width_95()),
            flush: latency(flushes, flushes.means.half_width_95()),
        },
    }
}

/// Returns Jain's fairness index of the rates that the stack limits: the square of their sum, divided by the
/// sum of their squares and by their number (Jain, Chiu, and Hawe 1984). The stack does not limit the rate of
/// an open-loop tenant that is served completely. Returns `None` for fewer than two such tenants, or without
/// requests.
pub(super) fn fairness(findings: &Findings, tenants: &[Tenant]) -> Option<f64> {
    let askers = findings.tenants.iter().zip(&findings.meter.tenants).zip(tenants);
    let decided = askers.filter(|((asker, meter), _)| asker.pacing != Pacing::Open || is_saturated(meter));
    let rates: Vec<f64> = decided.map(|(_, tenant)| tenant.throughput.iops).collect();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let sum: f64 = rates.iter().sum();
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (squares * rates.len() as f64))
}
