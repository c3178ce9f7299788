//! Cautions about failed requests, and about shares of drives that do more work than their cost covers.

use super::{Caution, Component, Findings, Record};

/// Returns a caution if requests failed. Failed requests are excluded from rates and latencies.
pub(super) fn failed(record: &Record) -> Option<Caution> {
    let (errors, all) = (record.requests.errors, record.requests.completed);
    if errors == 0 {
        return None;
    }
    let refused = |component: &&Component| count(component, "refused_writes") > 0;
    let refusing: Vec<&Component> = record.components.iter().filter(refused).collect();
    let mut text = format!("{errors} of {all} requests failed; rates and latencies exclude them");
    for component in &refusing {
        let writes = count(component, "refused_writes");
        text.push_str(&format!("; {} rejected {writes} writes", component.path));
        if component.tables.contains_key("end_of_life") {
            text.push_str(" (table end_of_life: since when)");
        }
    }
    let paths = refusing.iter().map(|component| component.path.clone()).collect();
    Some(Caution { kind: "failed_requests", text, paths })
}

fn count(component: &Component, name: &str) -> u64 {
    component.counters.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

/// Returns a caution if a share of a drive uses a larger share of the drive's time than of its capacity.
/// The cost covers only the share of the capacity.
pub(super) fn more_than_share(findings: &Findings, record: &Record) -> Option<Caution> {
    let shares = findings.reports.iter().zip(&record.components).filter_map(|(report, component)| {
        let share = report.drive_share?;
        (share < 1.0 && component.utilization > share).then_some((component, share))
    });
    let shares: Vec<(&Component, f64)> = shares.collect();
    let of = |(component, share): &(&Component, f64)| {
        format!(
            "{} pays for {} of a drive but uses {} of its performance",
            component.path,
            percent(*share),
            percent(component.utilization)
        )
    };
    let each: Vec<String> = shares.iter().map(of).collect();
    let text =
        format!("{}: if all shares of the pool were this busy, it would need more drives", each.join(", "));
    let paths = shares.iter().map(|(component, _)| component.path.clone()).collect();
    (!shares.is_empty()).then_some(Caution { kind: "more_than_share", text, paths })
}

/// Formats a share in percent, with two significant digits.
fn percent(share: f64) -> String {
    let digits = [10.0, 1.0, 0.1, 0.01, 0.001].iter().filter(|&&from| 100.0 * share < from).count();
    format!("{:.digits$} %", 100.0 * share)
}
