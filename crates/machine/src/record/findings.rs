//! Results of a run, as integers wherever possible. They are the basis of a record. The results of a split
//! run are the sums over its parts.

use super::{Ending, Steadiness, WornOut};
use crate::host::Host;
use crate::meter::Meter;
use nacre_kernel::event::Device;
use nacre_kernel::ledger::{Column, Spread, Wear};
use nacre_kernel::statistics::TimeSeries;
use nacre_kernel::{ComponentReport, Energy, Ratio, Time};
use nacre_workload::{Asker, Notes, Units, Workload};

/// Results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    pub(crate) meter: Meter,
    /// Half-widths of the confidence intervals of the mean latencies of reads, writes, and flushes, in
    /// nanoseconds.
    pub(crate) half_widths: [Option<f64>; 3],
    /// Time at which the device came to rest.
    pub(crate) drained: Time,
    /// Time of the last arrival in an open loop, or `None` for other workloads.
    pub(crate) last_arrival: Option<Time>,
    /// Component reports, parents before children.
    pub(crate) reports: Vec<ComponentReport>,
    pub(crate) cost_unknown: Vec<String>,
    pub(crate) issued: u64,
    /// Tenants of the workload. The list is empty if the workload has no tenants.
    pub(crate) tenants: Vec<Asker>,
    pub(crate) units: Option<Units>,
    pub(crate) ending: Ending,
    pub(crate) notes: Notes,
    pub(crate) steadiness: Option<Steadiness>,
    pub(crate) worn_out: Option<WornOut>,
    /// Requested relative half-width of the confidence intervals.
    pub(crate) until: Option<Ratio>,
}

/// Number of requests and units of work of a measurement, and its end time.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Number of measured requests.
    pub(crate) issued: u64,
    /// Time at which the device came to rest.
    pub(crate) drained: Time,
    /// Completed units of work, or `None` if the workload does not count them.
    pub(crate) units: Option<Units>,
}

impl Findings {
    pub(crate) fn of(
        (device, host): (&dyn Device, Option<&Host>),
        workload: &dyn Workload,
        meter: &Meter,
        measured: Measured,
        ending: Ending,
    ) -> Findings {
        let Measured { issued, drained, units } = measured;
        // Charged times include background work after the last completion.
        let drained = meter.end.max(drained);
        let report = device.report(drained - meter.start);
        let cost_unknown = costs_unknown(&report);
        let mut reports: Vec<ComponentReport> = host.map(Host::report).into_iter().collect();
        flatten(report, &mut reports);
        Findings {
            half_widths: [&meter.reads, &meter.writes, &meter.flushes].map(|of| of.means.half_width_95()),
            meter: meter.clone(),
            drained,
            last_arrival: None,
            reports,
            cost_unknown,
            issued,
            tenants: workload.tenants(),
            units,
            ending,
            notes: workload.notes(),
            steadiness: None,
            worn_out: None,
            until: None,
        }
    }

    /// Restores the reports `measured` from the end of the run, so that later writes affect only the wear.
    pub(crate) fn forget_all_but_wear(&mut self, measured: ComponentReport) {
        let mut reports = Vec::new();
        flatten(measured, &mut reports);
        for (report, mut measured) in self.reports.iter_mut().zip(reports) {
            measured.wear = report.wear.take();
            *report = measured;
        }
    }

    /// Combines the parts of a run as parallel copies of the stack with a common clock. Panics if `parts`
    /// is empty.
    ///
    /// Counts, times, energies, costs, and histograms are added. The lifetime is that of the copy that wears
    /// out first. Results that are not meaningful for several copies are omitted: confidence intervals, the
    /// search for a steady state, and tables over time.
    pub(crate) fn together(parts: Vec<Findings>) -> Findings {
        let series = series(&parts);
        let mut parts = parts.into_iter();
        let mut all = parts.next().expect("a part at least");
        all.meter.series = series;
        let mut is_alone = true;
        for part in parts {
            all.add(part);
            is_alone = false;
        }
        if !is_alone {
            (all.half_widths, all.steadiness, all.worn_out) = ([None; 3], None, None);
            for report in &mut all.reports {
                report.columns.retain(is_by_block);
            }
        }
        all
    }

    fn add(&mut self, part: Findings) {
        self.meter.add(&part.meter);
        self.drained = self.drained.max(part.drained);
        self.last_arrival = self.last_arrival.max(part.last_arrival);
        assert_eq!(self.reports.len(), part.reports.len(), "parts have the same stack");
        for (sum, report) in self.reports.iter_mut().zip(part.reports) {
            add_report(sum, report);
        }
        self.issued += part.issued;
        self.units =
            self.units.zip(part.units).map(|(sum, units)| Units { done: sum.done + units.done, ..sum });
        if part.ending == Ending::Stopped {
            self.ending = Ending::Stopped;
        }
        self.notes.records += part.notes.records;
        // Every part reads the whole trace, including all of its bad records.
        self.notes.bad_records = self.notes.bad_records.max(part.notes.bad_records);
        self.notes.notes.retain(|note| part.notes.notes.contains(note));
    }
}

/// Appends `report` and the reports below it to `into`, parents before children.
pub(super) fn flatten(report: ComponentReport, into: &mut Vec<ComponentReport>) {
    let mut report = report;
    let children = std::mem::take(&mut report.children);
    into.push(report);
    children.into_iter().for_each(|child| flatten(child, into));
}

/// Returns the paths of the devices without a known cost. A device that only combines other devices and has
/// no resources does not need a cost.
fn costs_unknown(report: &ComponentReport) -> Vec<String> {
    let has_own = report.children.is_empty() || !report.resources.is_empty();
    let own = (has_own && report.cost.is_none()).then(|| report.path.clone());
    own.into_iter().chain(report.children.iter().flat_map(costs_unknown)).collect()
}

/// Returns the combined time series of all parts, starting at their first measured arrival.
fn series(parts: &[Findings]) -> TimeSeries {
    let start = parts.iter().map(|part| part.meter.start).min().unwrap_or(Time::ZERO);
    let mut series = TimeSeries::new();
    for part in parts {
        series.merge(&part.meter.series, part.meter.start - start);
    }
    series
}

fn is_by_block(column: &Column) -> bool {
    column.name.starts_with("blocks.")
}

fn add_report(sum: &mut ComponentReport, report: ComponentReport) {
    assert_eq!((&sum.path, sum.kind), (&report.path, report.kind), "parts have the same stack");
    assert_eq!(sum.resources.len(), report.resources.len(), "{}: its resources", sum.path);
    for (sum, resource) in sum.resources.iter_mut().zip(&report.resources) {
        assert_eq!(sum.name, resource.name, "parts have the same resources");
        sum.servers += resource.servers;
        sum.ledger.add(&resource.ledger);
    }
    sum.is_energy_modeled &= report.is_energy_modeled;
    sum.idle_energy = sum.idle_energy.zip(report.idle_energy).map(|(a, b)| Energy(a.0 + b.0));
    assert_eq!(sum.counters.len(), report.counters.len(), "{}: its counters", sum.path);
    for (sum, counter) in sum.counters.iter_mut().zip(&report.counters) {
        assert_eq!(sum.0, counter.0, "parts have the same counters");
        sum.1 += counter.1;
    }
    sum.cost = sum.cost.zip(report.cost).map(|(a, b)| a + b);
    sum.area_mm2 = sum.area_mm2.zip(report.area_mm2).map(|(a, b)| a + b);
    sum.lifetime_days = least(sum.lifetime_days, report.lifetime_days, f64::min);
    sum.wear = match (sum.wear.take(), report.wear) {
        (Some(sum), Some(wear)) => Some(worn(sum, wear)),
        (sum, wear) => sum.or(wear),
    };
    assert_eq!(sum.faults.len(), report.faults.len(), "{}: its faults", sum.path);
    for (sum, fault) in sum.faults.iter_mut().zip(&report.faults) {
        sum.counts.add(&fault.counts);
    }
    for column in &mut sum.columns {
        let more = report.columns.iter().find(|other| other.name == column.name);
        column.values.extend(more.into_iter().flat_map(|more| &more.values));
    }
}

fn worn(sum: Wear, wear: Wear) -> Wear {
    let mut block_erases = sum.block_erases;
    block_erases.extend(wear.block_erases);
    Wear {
        host: sum.host + wear.host,
        cleaned: sum.cleaned + wear.cleaned,
        leveled: sum.leveled + wear.leveled,
        metadata: sum.metadata + wear.metadata,
        padding: sum.padding + wear.padding,
        erases: sum.erases + wear.erases,
        block_erases,
        endurance: sum.endurance,
        worn_out_at: least(sum.worn_out_at, wear.worn_out_at, Time::min),
        row_programs: match (sum.row_programs, wear.row_programs) {
            (Some(a), Some(b)) => Some(pooled(a, b)),
            (a, b) => a.or(b),
        },
        valid: sum.valid.zip(wear.valid).map(|(a, b)| a + b),
    }
}

/// Returns the combined spread of two populations. It is exact except for the rounding of their means and
/// deviations.
fn pooled(a: Spread, b: Spread) -> Spread {
    let count = a.count + b.count;
    let (wa, wb) = (a.count as f64 / count as f64, b.count as f64 / count as f64);
    let apart = a.mean - b.mean;
    let variance = wa * a.stddev * a.stddev + wb * b.stddev * b.stddev + wa * wb * apart * apart;
    Spread {
        count,
        min: a.min.min(b.min),
        mean: wa * a.mean + wb * b.mean,
        max: a.max.max(b.max),
        stddev: variance.sqrt(),
    }
}

/// Returns the smaller of two values. If one is unknown, returns the other.
fn least<T>(a: Option<T>, b: Option<T>, min: fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(min(a, b)),
        (a, b) => a.or(b),
    }
}
