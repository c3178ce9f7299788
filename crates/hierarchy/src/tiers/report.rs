//! The report of `tiers`.

use super::model::{Epoch, Tiers};
use super::tier::Tier;
use crate::placement::TIERS_MAX;

use nacre_kernel::{Column, ComponentReport, Energy, Time};

/// Names of the counters of each tier: reads and writes.
const TIER_COUNTERS: [[&str; 2]; TIERS_MAX] = [
    ["tier0_reads", "tier0_writes"],
    ["tier1_reads", "tier1_writes"],
    ["tier2_reads", "tier2_writes"],
    ["tier3_reads", "tier3_writes"],
];

/// Returns the report of `of` and of all devices below it.
pub(super) fn of(of: &Tiers, elapsed: Time) -> ComponentReport {
    ComponentReport {
        id: of.id,
        kind: "tiers",
        path: of.path.clone(),
        resources: Vec::new(),
        is_energy_modeled: false,
        idle_energy: None,
        counters: counters(of),
        cost: None,
        area_mm2: None,
        lifetime_days: None,
        wear: None,
        columns: columns(of),
        drive_share: None,
        faults: Vec::new(),
        children: of.tiers.iter().map(|tier| tier_report(tier, elapsed)).collect(),
    }
}

/// Returns the report of a tier. If the minimum size of the device exceeds the tier's share, only that share
/// of its cost, idle power, area, and lifetime is reported. A tier without extents has no device.
fn tier_report(tier: &Tier, elapsed: Time) -> ComponentReport {
    let mut report = tier.device.report(elapsed);
    report.cost = report.cost.map(|cost| cost * tier.share);
    report.idle_energy = report.idle_energy.map(|energy| Energy(energy.0 * tier.share));
    report.area_mm2 = report.area_mm2.map(|area| area * tier.share);
    report.lifetime_days = report.lifetime_days.map(|days| days * tier.share);
    report
}

fn counters(of: &Tiers) -> Vec<(&'static str, u64)> {
    let mut counters = vec![
        ("reads", of.tiers.iter().map(|tier| tier.reads).sum()),
        ("writes", of.tiers.iter().map(|tier| tier.writes).sum()),
    ];
    for (names, tier) in TIER_COUNTERS.iter().zip(&of.tiers) {
        counters.extend(names.iter().copied().zip([tier.reads, tier.writes]));
    }
    counters.extend([
        ("epochs", of.epochs_ended),
        ("exchanges", of.migration.exchanges),
        ("dropped", of.migration.dropped),
        ("migrated_bytes", of.migration.bytes),
        ("failed_exchanges", of.migration.failed),
        ("rejected_bytes", of.migration.rejected.bytes()),
    ]);
    counters
}

/// Returns columns with the number of extents of each tier, and with one row for each epoch that has
/// accesses.
fn columns(of: &Tiers) -> Vec<Column> {
    let extents = of.tiers.iter().map(|tier| f64::from(tier.extents)).collect();
    let mut columns = vec![Column { name: "tiers.extents", values: extents }];
    if of.epochs.is_empty() {
        return columns;
    }
    let column =
        |name, value: fn(&Epoch) -> f64| Column { name, values: of.epochs.iter().map(value).collect() };
    columns.extend([
        column("epochs.end_s", |epoch| epoch.end.as_secs_f64()),
        column("epochs.accesses", |epoch| epoch.accesses as f64),
        column("epochs.fastest_share", |epoch| epoch.fastest as f64 / epoch.accesses as f64),
        column("epochs.migrated_bytes", |epoch| epoch.migrated_bytes as f64),
    ]);
    columns
}
