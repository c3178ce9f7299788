//! What each tenant measured, and how alike they were served.

use super::served::{latency, throughput};
use super::{HostBytes, Latencies, Tenant};
use crate::meter::TenantMeter;
use nacre_workload::Asker;

/// What `askers` measured.
pub(super) fn tenants(askers: &[Asker], meters: &[TenantMeter]) -> Vec<Tenant> {
    askers.iter().zip(meters).map(|(asker, meter)| tenant(&asker.name, meter)).collect()
}

fn tenant(name: &str, meter: &TenantMeter) -> Tenant {
    let TenantMeter { reads, writes, others, errors, done, .. } = meter;
    let requests = reads.latency.count() + writes.latency.count() + others;
    let bytes = HostBytes { read: reads.bytes, written: writes.bytes };
    Tenant {
        name: name.into(),
        requests,
        errors: *errors,
        throughput: throughput(requests, &bytes, None, *done),
        bytes,
        latency: Latencies {
            read: latency(reads, reads.means.half_width_95()),
            write: latency(writes, writes.means.half_width_95()),
        },
    }
}

/// Jain's index of the tenants' rates: the square of their sum over the sum of their squares and their number
/// (Jain, Chiu and Hawe 1984). None of one tenant, and where none had a request.
pub(super) fn fairness(tenants: &[Tenant]) -> Option<f64> {
    let rates = || tenants.iter().map(|tenant| tenant.throughput.iops);
    let squares: f64 = rates().map(|rate| rate * rate).sum();
    let sum: f64 = rates().sum();
    (tenants.len() > 1 && squares > 0.0).then(|| sum * sum / (squares * tenants.len() as f64))
}
