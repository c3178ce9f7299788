//! JSON output of power-loss tests.

use nacre_crash::{FaultResult, Finding, Report};
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Capabilities, Persistence};
use serde_json::{Value, json};

/// Returns `report` as one JSON document.
pub fn report_json(report: &Report) -> Value {
    let Capabilities { persistence, atomic_unit, transactions, .. } = report.capabilities;
    let persistence = match persistence {
        Persistence::OnFlushWithStoredEnergy => "on_flush_with_stored_energy",
        Persistence::OnFlush => "on_flush",
        Persistence::WithStoredEnergy => "with_stored_energy",
        Persistence::OnAcknowledgement => "on_acknowledgement",
    };
    let faults: Vec<Value> = report
        .guarantees()
        .into_iter()
        .map(|(fault, guarantee)| {
            let tried = report.faults.get(&fault).copied().unwrap_or_default();
            let FaultResult { points, injected, stale_blocks, lost_reported, lost_silently } = tried;
            json!({
                "fault": fault.name(),
                "guarantee": guarantee.name(),
                "points": points,
                "injected": injected,
                "stale_blocks": stale_blocks,
                "lost_reported": lost_reported,
                "lost_silently": lost_silently,
            })
        })
        .collect();
    json!({
        "points": report.points(),
        "device_runs": report.device_runs,
        "restarts": report.restarts,
        "requests": report.requests,
        "blocks_audited": report.blocks_audited,
        "guarantees": {
            "persistence": persistence,
            "atomic_unit": atomic_unit,
            "transactions": transactions,
        },
        "faults": faults,
        "branches": report.branches,
        "recovery": distribution(&report.recoveries),
        "finding": report.finding.as_ref().map(finding),
    })
}

fn finding(finding: &Finding) -> Value {
    let Finding { problem, fault, sequence, steps_generated, is_reproducible } = finding;
    json!({
        "problem": problem,
        "fault": fault.name(),
        "steps": sequence.to_string().lines().collect::<Vec<_>>(),
        "steps_generated": steps_generated,
        "reproducible": is_reproducible,
    })
}

/// Returns the quantiles of `times`, and histogram bars that are a quarter of an octave wide.
fn distribution(times: &LatencyHistogram) -> Value {
    let mut bars: Vec<(f64, u64)> = Vec::new();
    let mut within = None;
    for bar in times.bars() {
        let ps = bar.upto.as_ps();
        let shift = ps.checked_ilog2().unwrap_or(0).saturating_sub(2);
        let quarter = Some((shift, ps >> shift));
        match bars.last_mut() {
            Some(last) if quarter == within => *last = (bar.upto.as_secs_f64(), last.1 + bar.count),
            _ => bars.push((bar.upto.as_secs_f64(), bar.count)),
        }
        within = quarter;
    }
    let at = |q: f64| times.quantile(q).map(|time| time.as_secs_f64());
    json!({
        "count": times.count(),
        "mean_s": times.mean_ps().map(|ps| ps / 1e12),
        "p50_s": at(0.5),
        "p95_s": at(0.95),
        "p99_s": at(0.99),
        "max_s": at(1.0),
        "bars": bars,
    })
}
