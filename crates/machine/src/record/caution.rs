//! Detects limitations of the numbers in a record.

use super::state_left::{few_erases, few_writes, not_steady, unwritten};
use super::taken::{failed, more_than_share};
use super::{Caution, Record};
use crate::meter::TenantMeter;
use crate::record::Findings;
use nacre_kernel::Time;
use nacre_kernel::ledger::FAILED_MEMBERS;
use nacre_kernel::statistics::{BatchMeans, Confidence, TimeSeries};
use nacre_workload::Pacing;

/// Minimum number of requests from which a backlog is detected.
const REQUESTS_MIN: u64 = 32;
/// Minimum backlog threshold, as a share of the duration of the arrivals. A backlog above the threshold is
/// not due to chance.
const BACKLOG: f64 = 0.05;
/// Numerator of the backlog threshold for few requests: this value divided by the square root of the number
/// of requests. The queue of a barely stable system varies by this amount.
const BACKLOG_OF_FEW: f64 = 3.0;
/// Minimum ratio of the backlog to the latency of the first requests.
const GROWTH: f64 = 3.0;
/// Share of the requests that counts as the first requests of a run.
const FIRST: f64 = 0.1;
/// Maximum difference between the mean latencies of the two halves of a run, as a share of the mean.
const DRIFT: f64 = 0.1;
/// Maximum difference between the mean latencies of the two halves of a run, in standard errors.
const DRIFT_ERRORS: f64 = 4.0;
/// Threshold for the mean number of units per request, relative to the units that a `measured` device
/// serves in parallel. Above this threshold, the latencies of the device may be too long.
const IN_TURN: f64 = 1.1;

/// Returns all limitations of the numbers in `record`.
pub(super) fn cautions(findings: &Findings, record: &Record) -> Vec<Caution> {
    let mut cautions = saturated(findings);
    if cautions.is_empty() {
        let ops = [("reads", &findings.meter.reads.means), ("writes", &findings.meter.writes.means)];
        for (op, means) in ops {
            cautions.extend(drifting(op, means).or_else(|| dependent(op, means)));
        }
    }
    cautions.extend(unknown(findings));
    cautions.extend(findings.reports.iter().filter_map(longer_than_measured));
    cautions.extend(findings.reports.iter().filter_map(degraded));
    cautions.extend(not_steady(record));
    cautions.extend(few_writes(record).or_else(|| few_erases(record)));
    cautions.extend(unwritten(record));
    cautions.extend(failed(record));
    cautions.extend(more_than_share(findings, record));
    if record.cost_by_basis.len() > 1 {
        let bases: Vec<&str> = record.cost_by_basis.keys().map(String::as_str).collect();
        let text = format!(
            "components are priced in different currencies, so costs cannot be added: {}; convert them \
             (prices), or give all devices price and price_basis alike",
            bases.join(", ")
        );
        let priced = record.components.iter().filter(|component| component.cost.is_some());
        let paths = priced.map(|component| component.path.clone()).collect();
        cautions.push(Caution { kind: "prices_differ", text, paths });
    }
    let parts = [
        ("cost_incomplete", "the cost", &record.cost_unknown, !record.cost_by_basis.is_empty()),
        ("energy_incomplete", "the energy", &record.energy_unknown, !record.energy_j.is_empty()),
        ("lifetime_incomplete", "the lifetime", &record.lifetime_unknown, record.lifetime_days.is_some()),
    ];
    for (kind, what, paths, is_shown) in parts {
        if is_shown && !paths.is_empty() {
            let text = format!("{what} excludes {}, without known values", paths.join(", "));
            cautions.push(Caution { kind, text, paths: paths.clone() });
        }
    }
    cautions
}

/// Returns a caution if requests of an open loop, in total or of one tenant, arrived faster than the stack
/// served them.
fn saturated(findings: &Findings) -> Vec<Caution> {
    let meter = &findings.meter;
    let since_start = |time: Time| time.saturating_sub(meter.start);
    let all = findings.last_arrival.map(|last| {
        let open = OpenLoop {
            requests: meter.completed(),
            arrived: since_start(last),
            done: since_start(meter.end),
            series: &meter.series,
        };
        (String::new(), open)
    });
    let tenants = findings.tenants.iter().zip(&meter.tenants);
    let tenants = tenants
        .filter(|(asker, _)| asker.pacing == Pacing::Open)
        .map(|(asker, meter)| (format!("tenant {}: ", asker.name), OpenLoop::of(meter)));
    let caution = |(whose, open): (String, OpenLoop<'_>)| {
        let text = format!("{whose}{}", open.saturated()?);
        Some(Caution { kind: "saturated", text, paths: busiest(findings) })
    };
    all.into_iter().chain(tenants).filter_map(caution).collect()
}

/// Measurements of an open loop, whose arrivals do not depend on completions.
struct OpenLoop<'a> {
    requests: u64,
    /// Last arrival, relative to the start of measurement.
    arrived: Time,
    /// Last completion, relative to the start of measurement.
    done: Time,
    series: &'a TimeSeries,
}

/// Returns whether requests of an open-loop tenant arrived faster than they were served.
pub(super) fn is_saturated(meter: &TenantMeter) -> bool {
    OpenLoop::of(meter).saturated().is_some()
}

impl OpenLoop<'_> {
    fn of(meter: &TenantMeter) -> OpenLoop<'_> {
        let requests = meter.reads.requests() + meter.writes.requests();
        let TenantMeter { arrived, done, series, .. } = meter;
        OpenLoop { requests, arrived: *arrived, done: *done, series }
    }

    /// Returns a note if requests arrived faster than they were served.
    fn saturated(&self) -> Option<String> {
        let arriving = self.arrived.as_secs_f64();
        let backlog = self.done.saturating_sub(self.arrived).as_secs_f64();
        let least = BACKLOG.max(BACKLOG_OF_FEW / (self.requests as f64).sqrt());
        if self.requests < REQUESTS_MIN
            || backlog <= least * arriving
            || backlog <= GROWTH * self.first_mean_s()
        {
            return None;
        }
        Some(format!(
            "saturated: requests arrived faster than they were served; the last completed {} after its \
             arrival, {:.0} % of the {} of arrivals, and latencies grow with the length of the run",
            rounded(backlog),
            100.0 * backlog / arriving,
            rounded(arriving),
        ))
    }

    /// Returns the mean latency, in seconds, of the requests that completed first.
    fn first_mean_s(&self) -> f64 {
        let bins = self.series.bins();
        let count = |bin: &nacre_kernel::statistics::Bin| bin.reads + bin.writes;
        let wanted = bins.iter().map(count).sum::<u64>() as f64 * FIRST;
        let (mut done, mut latency_ps) = (0, 0);
        for bin in bins {
            (done, latency_ps) = (done + count(bin), latency_ps + bin.latency_ps);
            if done as f64 >= wanted {
                break;
            }
        }
        latency_ps as f64 / 1e12 / done.max(1) as f64
    }
}

/// Returns a list with the path of the component that has the highest utilization. The list is empty if
/// there are no components.
fn busiest(findings: &Findings) -> Vec<String> {
    let elapsed = findings.drained - findings.meter.start;
    let utilization = |report: &nacre_kernel::ComponentReport| {
        report.resources.iter().map(|used| used.utilization(elapsed)).fold(0.0, f64::max)
    };
    let busiest = findings.reports.iter().max_by(|a, b| utilization(a).total_cmp(&utilization(b)));
    busiest.map(|report| report.path.clone()).into_iter().collect()
}

fn squared(number: f64) -> f64 {
    number * number
}

/// Returns a caution if the mean latencies of the two halves of the run differ by more than chance
/// explains.
fn drifting(op: &str, means: &BatchMeans) -> Option<Caution> {
    let [first, second] = means.halves()?;
    let apart = second.mean - first.mean;
    let error = (squared(first.standard_error) + squared(second.standard_error)).sqrt();
    let mean = (first.mean + second.mean) / 2.0;
    if apart.abs() <= DRIFT * mean || apart.abs() <= DRIFT_ERRORS * error {
        return None;
    }
    let way = if apart > 0.0 { "rose" } else { "fell" };
    let text = format!(
        "not steady: the mean latency of {op} {way} from {} in the first half of the run to {} in the \
         second; increase run.warm_up or the number of requests",
        rounded(first.mean * 1e-9),
        rounded(second.mean * 1e-9)
    );
    Some(Caution { kind: "not_steady", text, paths: Vec::new() })
}

/// Returns a caution if the requests of a `measured` device consist of more units than the device serves in
/// parallel. Such requests take several times the latency that was measured for one unit.
fn longer_than_measured(report: &nacre_kernel::ComponentReport) -> Option<Caution> {
    let counter = |name| report.counters.iter().find(|counter| counter.0 == name).map(|counter| counter.1);
    let side_by_side = report.resources.iter().find(|resource| resource.name == "servers")?.servers;
    let longer: Vec<String> = [("reads", "units_read"), ("writes", "units_written")]
        .into_iter()
        .filter_map(|(requests, units)| {
            let mean = counter(units)? as f64 / counter(requests)?.max(1) as f64;
            (mean > IN_TURN * f64::from(side_by_side)).then(|| format!("{requests} of {mean:.1}"))
        })
        .collect();
    (!longer.is_empty()).then(|| {
        let text = format!(
            "{}: requests were larger than the unit of its measured latencies, {} units on average, and \
             took one latency per unit, {side_by_side} at a time; devices that stream take less: give unit \
             and latencies of this size, or a device that is modeled",
            report.path,
            longer.join(" and ")
        );
        Caution { kind: "longer_than_measured", text, paths: vec![report.path.clone()] }
    })
}

/// Returns a caution if an array has removed failed members.
fn degraded(report: &nacre_kernel::ComponentReport) -> Option<Caution> {
    let (_, failed) =
        *report.counters.iter().find(|(name, failed)| *name == FAILED_MEMBERS && *failed > 0)?;
    let text = match failed {
        1 => format!("{} is degraded: a member failed and was removed", report.path),
        _ => format!("{} is degraded: {failed} members failed and were removed", report.path),
    };
    Some(Caution { kind: "degraded", text, paths: vec![report.path.clone()] })
}

/// Returns a caution if latencies are correlated over such long parts of the run that the run is too short
/// for a confidence interval.
fn dependent(op: &str, means: &BatchMeans) -> Option<Caution> {
    let text = format!(
        "no confidence interval for the mean latency of {op}: the run is too short or not in steady state; \
         increase run.warm_up or the number of requests"
    );
    (means.confidence() == Confidence::Dependent).then(|| Caution {
        kind: "dependent",
        text,
        paths: Vec::new(),
    })
}

/// Returns a caution if the run ended before its confidence intervals were as narrow as requested.
fn unknown(findings: &Findings) -> Option<Caution> {
    let asked = findings.until?;
    let meter = &findings.meter;
    let ops = [("reads", &meter.reads), ("writes", &meter.writes)];
    let wide: Vec<String> = ops
        .into_iter()
        .filter(|(_, op)| !op.is_known(asked))
        .map(|(name, op)| match (op.means.half_width_95(), op.latency.mean_ps()) {
            (Some(half_width), Some(mean_ps)) => {
                format!("{name} within {:.2} %", 100.0 * half_width * 1e3 / mean_ps)
            }
            _ => format!("{name} unknown"),
        })
        .collect();
    (!wide.is_empty()).then(|| {
        let text = format!(
            "the mean latencies are not within the target of {} %: the run ended with {}; run more \
             requests",
            100.0 * asked.0,
            wide.join(" and ")
        );
        Caution { kind: "not_narrow", text, paths: Vec::new() }
    })
}

/// Rounds a time to three significant digits.
fn rounded(seconds: f64) -> Time {
    let ps = Time::from_secs_f64(seconds).as_ps();
    let unit = 10u64.pow(ps.max(1).ilog10().saturating_sub(2));
    Time::from_ps((ps + unit / 2) / unit * unit)
}
