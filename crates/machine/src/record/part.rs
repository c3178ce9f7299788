//! Text format of the results of one part of a split run, for transfer to another process.

use super::findings::Findings;
use super::{Ending, Steadiness, WornOut};
use crate::meter::{Meter, OpMeter};
use nacre_kernel::histogram::{Bar, LatencyHistogram};
use nacre_kernel::ledger::{self, Column, Ledger, Resource, Spread};
use nacre_kernel::statistics::{Bin, TimeSeries};
use nacre_kernel::{Activity, ComponentId, ComponentReport, Energy, FaultCounts, FaultReport, Time};
use nacre_workload::{Notes, Units};
use serde::{Deserialize, Serialize};

/// Version of the format.
const SCHEMA: &str = "nacre-part-1";

/// A number stored by its bits, so that it is restored exactly, even if it is not finite.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Real(u64);

impl From<f64> for Real {
    fn from(value: f64) -> Real {
        Real(value.to_bits())
    }
}

impl From<Real> for f64 {
    fn from(real: Real) -> f64 {
        f64::from_bits(real.0)
    }
}

#[derive(Serialize, Deserialize)]
struct Part {
    schema: String,
    version: String,
    meter: MeterPart,
    half_widths: [Option<Real>; 3],
    drained_ps: u64,
    last_arrival_ps: Option<u64>,
    reports: Vec<ReportPart>,
    cost_unknown: Vec<String>,
    issued: u64,
    units: Option<(String, u64)>,
    complete: bool,
    notes: NotesPart,
    steadiness: Option<SteadinessPart>,
    worn_out: Option<(Real, Option<u64>, bool)>,
}

#[derive(Serialize, Deserialize)]
struct MeterPart {
    /// Results of reads, writes, and flushes.
    ops: [OpPart; 3],
    trims: u64,
    errors: u64,
    width_ps: u64,
    bins: Vec<(u64, u64, u64, u128)>,
    start_ps: u64,
    end_ps: u64,
}

#[derive(Serialize, Deserialize)]
struct OpPart {
    bars: Vec<(u64, u64)>,
    sum_ps: u128,
    /// Minimum and maximum latency, or `None` without requests.
    extremes_ps: Option<(u64, u64)>,
    spent_ps: Vec<Vec<u128>>,
    bytes: u64,
    failed: [u64; 2],
}

#[derive(Serialize, Deserialize)]
struct ReportPart {
    id: u8,
    kind: String,
    path: String,
    resources: Vec<ResourcePart>,
    is_energy_modeled: bool,
    idle_energy: Option<Real>,
    counters: Vec<(String, u64)>,
    cost: Option<Real>,
    area_mm2: Option<Real>,
    lifetime_days: Option<Real>,
    wear: Option<WearPart>,
    columns: Vec<(String, Vec<Real>)>,
    drive_share: Option<Real>,
    faults: Vec<FaultPart>,
}

#[derive(Serialize, Deserialize)]
struct FaultPart {
    path: String,
    kind: String,
    added_ps: u128,
    /// Numbers of matching requests, affected requests, and errors, and numbers of reported and of silently
    /// corrupted bytes.
    counts: [u64; 5],
}

#[derive(Serialize, Deserialize)]
struct ResourcePart {
    name: String,
    servers: u32,
    /// Busy time in picoseconds and energy in joules by activity, in the order of [`Activity::ALL`].
    charged: Vec<(u128, Real)>,
}

#[derive(Serialize, Deserialize)]
struct WearPart {
    /// Numbers of programs by cause: host, cleaning, wear leveling, metadata, and padding.
    programs: [u64; 5],
    erases: u64,
    block_erases: Vec<u32>,
    endurance: Option<u64>,
    worn_out_at_ps: Option<u64>,
    /// Count, minimum, mean, maximum, and standard deviation of the programs per row.
    row_programs: Option<(u64, u32, Real, u32, Real)>,
    valid: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct NotesPart {
    kind: String,
    records: u64,
    bad_records: u64,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct SteadinessPart {
    reached: bool,
    window_bytes: u64,
    writes: u64,
    write_amplification: Vec<Option<Real>>,
    valid_pages: Vec<Option<u64>>,
    growth: Option<Real>,
}

impl Findings {
    /// Returns the results as text for [`Findings::from_text`].
    pub(crate) fn to_text(&self) -> String {
        let worn_out = self.worn_out.as_ref();
        let steadiness = self.steadiness.as_ref();
        let part = Part {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            meter: meter_part(&self.meter),
            half_widths: self.half_widths.map(|width| width.map(Real::from)),
            drained_ps: self.drained.as_ps(),
            last_arrival_ps: self.last_arrival.map(Time::as_ps),
            reports: self.reports.iter().map(report_part).collect(),
            cost_unknown: self.cost_unknown.clone(),
            issued: self.issued,
            units: self.units.map(|units| (units.name.into(), units.done)),
            complete: self.ending == Ending::Complete,
            notes: NotesPart {
                kind: self.notes.kind.into(),
                records: self.notes.records,
                bad_records: self.notes.bad_records,
                notes: self.notes.notes.clone(),
            },
            steadiness: steadiness.map(|found| SteadinessPart {
                reached: found.reached,
                window_bytes: found.window_bytes,
                writes: found.writes,
                write_amplification: found
                    .write_amplification
                    .iter()
                    .map(|each| each.map(Real::from))
                    .collect(),
                valid_pages: found.valid_pages.clone(),
                growth: found.growth.map(Real::from),
            }),
            worn_out: worn_out.map(|worn| (worn.seconds.into(), worn.writes, worn.simulated)),
        };
        serde_json::to_string(&part).expect("findings are plain data")
    }

    /// Parses text from [`Findings::to_text`]. Returns an error if the text has another version or is
    /// truncated.
    ///
    /// Leaks the memory of the names in the text, a few dozen short words per part.
    pub(crate) fn from_text(text: &str) -> Result<Findings, String> {
        let part: Part = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if part.schema != SCHEMA || part.version != env!("CARGO_PKG_VERSION") {
            return Err(format!("it has another version: {} of Nacre {}", part.schema, part.version));
        }
        let NotesPart { kind, records, bad_records, notes } = part.notes;
        Ok(Findings {
            tenants: Vec::new(),
            meter: meter(part.meter),
            half_widths: part.half_widths.map(|width| width.map(f64::from)),
            until: None,
            drained: Time::from_ps(part.drained_ps),
            last_arrival: part.last_arrival_ps.map(Time::from_ps),
            reports: part.reports.into_iter().map(report).collect(),
            cost_unknown: part.cost_unknown,
            issued: part.issued,
            units: part.units.map(|(name, done)| Units { name: lasting(name), done }),
            ending: if part.complete { Ending::Complete } else { Ending::Stopped },
            notes: Notes { kind: lasting(kind), records, bad_records, notes },
            steadiness: part.steadiness.map(|found| Steadiness {
                reached: found.reached,
                window_bytes: found.window_bytes,
                writes: found.writes,
                write_amplification: found
                    .write_amplification
                    .into_iter()
                    .map(|each| each.map(f64::from))
                    .collect(),
                valid_pages: found.valid_pages,
                growth: found.growth.map(f64::from),
            }),
            worn_out: part.worn_out.map(|(seconds, writes, simulated)| WornOut {
                seconds: seconds.into(),
                writes,
                simulated,
            }),
        })
    }
}

/// Leaks `name`, because reports contain static names.
fn lasting(name: String) -> &'static str {
    name.leak()
}

fn meter_part(meter: &Meter) -> MeterPart {
    let bins = meter.series.bins().iter();
    MeterPart {
        ops: [op_part(&meter.reads), op_part(&meter.writes), op_part(&meter.flushes)],
        trims: meter.trims,
        errors: meter.errors,
        width_ps: meter.series.width().as_ps(),
        bins: bins.map(|bin| (bin.reads, bin.writes, bin.bytes, bin.latency_ps)).collect(),
        start_ps: meter.start.as_ps(),
        end_ps: meter.end.as_ps(),
    }
}

fn meter(part: MeterPart) -> Meter {
    let bin = |(reads, writes, bytes, latency_ps)| Bin { reads, writes, bytes, latency_ps };
    let [reads, writes, flushes] = part.ops.map(op_meter);
    Meter {
        reads,
        writes,
        trims: part.trims,
        flushes,
        errors: part.errors,
        tenants: Vec::new(),
        series: TimeSeries::restored(Time::from_ps(part.width_ps), part.bins.into_iter().map(bin).collect()),
        start: Time::from_ps(part.start_ps),
        end: Time::from_ps(part.end_ps),
    }
}

fn op_part(meter: &OpMeter) -> OpPart {
    let latency = &meter.latency;
    OpPart {
        bars: latency.bars().map(|bar| (bar.upto.as_ps(), bar.count)).collect(),
        sum_ps: latency.sum_ps(),
        extremes_ps: latency.min().zip(latency.max()).map(|(min, max)| (min.as_ps(), max.as_ps())),
        spent_ps: meter.spent().iter().map(|spent| spent.to_vec()).collect(),
        bytes: meter.bytes,
        failed: meter.failed,
    }
}

fn op_meter(part: OpPart) -> OpMeter {
    let latency = match part.extremes_ps {
        None => LatencyHistogram::new(),
        Some((min, max)) => {
            let bars = part.bars.into_iter().map(|(upto, count)| Bar { upto: Time::from_ps(upto), count });
            LatencyHistogram::restored(bars, part.sum_ps, Time::from_ps(min), Time::from_ps(max))
        }
    };
    let spent = part.spent_ps.iter().map(|spent| by_activity(spent)).collect();
    OpMeter::restored(latency, spent, part.bytes, part.failed)
}

fn by_activity(values: &[u128]) -> [u128; Activity::COUNT] {
    let mut by = [0; Activity::COUNT];
    by.copy_from_slice(values);
    by
}

fn report_part(report: &ComponentReport) -> ReportPart {
    let charged = |ledger: &Ledger| {
        let all = Activity::ALL.into_iter();
        all.map(|activity| (ledger.busy_ps(activity), ledger.energy(activity).0.into())).collect()
    };
    let resources = report.resources.iter().map(|resource| ResourcePart {
        name: resource.name.into(),
        servers: resource.servers,
        charged: charged(&resource.ledger),
    });
    let values = |column: &Column| column.values.iter().map(|&value| value.into()).collect();
    ReportPart {
        id: report.id.0,
        kind: report.kind.into(),
        path: report.path.clone(),
        resources: resources.collect(),
        is_energy_modeled: report.is_energy_modeled,
        idle_energy: report.idle_energy.map(|energy| energy.0.into()),
        counters: report.counters.iter().map(|&(name, count)| (name.into(), count)).collect(),
        cost: report.cost.map(Real::from),
        area_mm2: report.area_mm2.map(Real::from),
        lifetime_days: report.lifetime_days.map(Real::from),
        wear: report.wear.as_ref().map(wear_part),
        columns: report.columns.iter().map(|column| (column.name.into(), values(column))).collect(),
        drive_share: report.drive_share.map(Real::from),
        faults: report.faults.iter().map(fault_part).collect(),
    }
}

fn report(part: ReportPart) -> ComponentReport {
    let values = |values: Vec<Real>| values.into_iter().map(f64::from).collect();
    ComponentReport {
        id: ComponentId(part.id),
        kind: lasting(part.kind),
        path: part.path,
        resources: part.resources.into_iter().map(resource).collect(),
        is_energy_modeled: part.is_energy_modeled,
        idle_energy: part.idle_energy.map(|energy| Energy(energy.into())),
        counters: part.counters.into_iter().map(|(name, count)| (lasting(name), count)).collect(),
        cost: part.cost.map(f64::from),
        area_mm2: part.area_mm2.map(f64::from),
        lifetime_days: part.lifetime_days.map(f64::from),
        wear: part.wear.map(wear),
        columns: part
            .columns
            .into_iter()
            .map(|(name, each)| Column { name: lasting(name), values: values(each) })
            .collect(),
        drive_share: part.drive_share.map(f64::from),
        faults: part.faults.into_iter().map(fault).collect(),
        children: Vec::new(),
    }
}

fn fault_part(fault: &FaultReport) -> FaultPart {
    let FaultCounts { matching, touched, added_ps, errors, reported_bytes, silent_bytes } = fault.counts;
    FaultPart {
        path: fault.path.clone(),
        kind: fault.kind.into(),
        added_ps,
        counts: [matching, touched, errors, reported_bytes, silent_bytes],
    }
}

fn fault(part: FaultPart) -> FaultReport {
    let [matching, touched, errors, reported_bytes, silent_bytes] = part.counts;
    let added_ps = part.added_ps;
    let counts = FaultCounts { matching, touched, added_ps, errors, reported_bytes, silent_bytes };
    FaultReport { path: part.path, kind: lasting(part.kind), counts }
}

fn resource(part: ResourcePart) -> Resource {
    let mut ledger = Ledger::default();
    for (activity, (busy_ps, energy)) in Activity::ALL.into_iter().zip(part.charged) {
        ledger.charge_sum(activity, busy_ps, Energy(energy.into()));
    }
    Resource { name: lasting(part.name), servers: part.servers, ledger }
}

fn wear_part(wear: &ledger::Wear) -> WearPart {
    WearPart {
        programs: [wear.host, wear.cleaned, wear.leveled, wear.metadata, wear.padding],
        erases: wear.erases,
        block_erases: wear.block_erases.clone(),
        endurance: wear.endurance,
        worn_out_at_ps: wear.worn_out_at.map(Time::as_ps),
        row_programs: wear
            .row_programs
            .map(|spread| (spread.count, spread.min, spread.mean.into(), spread.max, spread.stddev.into())),
        valid: wear.valid,
    }
}

fn wear(part: WearPart) -> ledger::Wear {
    let [host, cleaned, leveled, metadata, padding] = part.programs;
    ledger::Wear {
        host,
        cleaned,
        leveled,
        metadata,
        padding,
        erases: part.erases,
        block_erases: part.block_erases,
        endurance: part.endurance,
        worn_out_at: part.worn_out_at_ps.map(Time::from_ps),
        row_programs: part.row_programs.map(|(count, min, mean, max, stddev)| Spread {
            count,
            min,
            mean: mean.into(),
            max,
            stddev: stddev.into(),
        }),
        valid: part.valid,
    }
}
