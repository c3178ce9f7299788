//! The report of the drive.

use super::config::Config;
use super::decoder::Decoder;
use super::timing::Counters;
use crate::wear_leveling::WearLeveller;
use nacre_kernel::{
    Activity, Bytes, Column, ComponentId, ComponentReport, HostCounts, Ledger, Resource, Spread, Time, Wear,
};
use nacre_media::charge::Charges;
use nacre_media::pcm::{Operation, Rows};

/// Maximum number of entries in the wear table. Each entry represents an equal number of rows of one
/// controller.
const BINS_MAX: u64 = 1024;

/// Input of a report.
pub(super) struct Figures<'a> {
    pub(super) id: ComponentId,
    pub(super) path: &'a str,
    pub(super) config: &'a Config,
    pub(super) interface: Vec<Resource>,
    pub(super) pipeline: Resource,
    pub(super) ring: Resource,
    pub(super) controllers: Vec<OfController<'a>>,
    pub(super) host: &'a HostCounts,
    pub(super) tag_waits: u64,
    pub(super) buffer_waits: u64,
    pub(super) worn_out_at: Option<Time>,
}

/// Input for one controller.
pub(super) struct OfController<'a> {
    pub(super) counters: &'a Counters,
    pub(super) rows: &'a Rows,
    pub(super) leveller: &'a dyn WearLeveller,
    pub(super) decoder: &'a Decoder,
}

/// Report of the drive over the time `elapsed`.
pub(super) fn of(onyx: &Figures<'_>, elapsed: Time) -> ComponentReport {
    let config = onyx.config;
    let wear = wear(onyx);
    let capacity = Bytes(config.controller_bytes() * u64::from(config.controllers));
    ComponentReport {
        id: onyx.id,
        kind: "onyx",
        path: onyx.path.to_string(),
        resources: resources(onyx),
        is_energy_modeled: config.chips.energies().is_known()
            && onyx.controllers.iter().all(|controller| controller.decoder.is_energy_known()),
        idle_energy: config.chips.cells.idle_power.map(|power| power.over(elapsed)),
        counters: counters(onyx),
        cost: config.price.map(|price| price.of(capacity)),
        area_mm2: None,
        lifetime_days: lifetime_days(onyx, &wear, elapsed),
        wear: Some(wear),
        columns: columns(&onyx.controllers),
        drive_share: None,
        faults: Vec::new(),
        children: Vec::new(),
    }
}

fn sum(onyx: &Figures<'_>, of: impl Fn(&Counters) -> u64) -> u64 {
    onyx.controllers.iter().map(|controller| of(controller.counters)).sum()
}

fn wear(onyx: &Figures<'_>) -> Wear {
    Wear {
        host: sum(onyx, |counters| counters.host_rows),
        leveled: sum(onyx, |counters| counters.moved_rows),
        endurance: Some(onyx.config.chips.cells.endurance),
        worn_out_at: onyx.worn_out_at,
        row_programs: Spread::of(onyx.controllers.iter().flat_map(|controller| controller.rows.counts())),
        ..Wear::default()
    }
}

/// Lifetime in days with even wear: the total endurance of all rows divided by the programs per day. `None`
/// if nothing was programmed.
fn lifetime_days(onyx: &Figures<'_>, wear: &Wear, elapsed: Time) -> Option<f64> {
    let rows: u64 = onyx.controllers.iter().map(|controller| controller.rows.count()).sum();
    let capacity = rows as f64 * onyx.config.chips.cells.endurance as f64;
    let programs = wear.programs();
    (programs > 0).then(|| capacity / programs as f64 * (elapsed.as_secs_f64() / 86_400.0))
}

fn resources(onyx: &Figures<'_>) -> Vec<Resource> {
    let config = onyx.config;
    let (mut lines, mut ranks) = (Ledger::default(), Charges::default());
    for controller in &onyx.controllers {
        lines.add(&controller.counters.lines);
        ranks.add(&controller.counters.ranks);
    }
    let ranks = ranks.ledger(&config.chips.energies());
    let own = [
        onyx.pipeline.clone(),
        onyx.ring.clone(),
        Resource { name: "lines", servers: config.controllers, ledger: lines },
        Resource { name: "ranks", servers: config.controllers * config.ranks, ledger: ranks },
    ];
    onyx.interface.iter().cloned().chain(own).chain(decoders(onyx)).collect()
}

/// Utilization of the decoders. `None` if data is stored without a code.
fn decoders(onyx: &Figures<'_>) -> Option<Resource> {
    let mut ledger = Ledger::default();
    onyx.controllers.iter().for_each(|controller| ledger.add(&controller.decoder.counts.ledger));
    let is_used = onyx.controllers.iter().any(|controller| controller.decoder.is_used());
    is_used.then_some(Resource { name: "decoders", servers: onyx.config.controllers, ledger })
}

/// Counters of polls and of bit errors, if the settings enable them.
fn optional_counters(onyx: &Figures<'_>) -> Vec<(&'static str, u64)> {
    let config = onyx.config;
    let mut counters = Vec::new();
    if config.poll_interval.is_some() {
        counters.push(("polls", sum(onyx, |counters| counters.polls)));
    }
    if config.bit_error_rate > 0.0 {
        let decodings = || onyx.controllers.iter().map(|controller| &controller.decoder.counts);
        counters.extend([
            ("bits_corrected", decodings().map(|counts| counts.corrected).sum()),
            ("codewords_uncorrectable", decodings().map(|counts| counts.uncorrectable).sum()),
            ("codewords_wrong", decodings().map(|counts| counts.undetected).sum()),
        ]);
    }
    counters
}

/// Number of bytes on the data lines, including the bytes of the spare chips.
fn line_bytes(onyx: &Figures<'_>) -> u64 {
    let chips = &onyx.config.chips;
    let counted = |kind: Operation| -> u64 {
        let of = |activity| sum(onyx, |counters| counters.ranks.counted(kind as usize, activity));
        Activity::ALL.into_iter().map(of).sum()
    };
    let of_chip =
        counted(Operation::Read) * chips.read_unit.0 + counted(Operation::Program) * chips.program_unit.0;
    of_chip * u64::from(chips.count())
}

fn counters(onyx: &Figures<'_>) -> Vec<(&'static str, u64)> {
    let worn: u64 = onyx
        .controllers
        .iter()
        .map(|controller| controller.rows.worn_out() - controller.counters.worn_before)
        .sum();
    let mut counters = onyx.host.counters();
    counters.extend([
        ("rows_written", sum(onyx, |counters| counters.host_rows)),
        ("rows_moved", sum(onyx, |counters| counters.moved_rows)),
        ("rows_worn_out", worn),
        (
            "rank_reads",
            sum(onyx, |counters| counters.ranks.counted(Operation::Read as usize, Activity::Read)),
        ),
        (
            "rank_programs",
            sum(onyx, |counters| counters.ranks.counted(Operation::Program as usize, Activity::Write)),
        ),
        ("line_bytes", line_bytes(onyx)),
        ("tag_waits", onyx.tag_waits),
        ("buffer_waits", onyx.buffer_waits),
    ]);
    counters.extend(optional_counters(onyx));
    counters
}

/// Columns with the mean and maximum number of programs per row since the drive was new, for groups of
/// adjacent physical rows, and with the intervals of wear leveling.
fn columns(controllers: &[OfController<'_>]) -> Vec<Column> {
    let bins = (BINS_MAX / controllers.len() as u64).max(1);
    let (mut owners, mut firsts, mut means, mut mosts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, controller) in controllers.iter().enumerate() {
        let count = controller.rows.count();
        let each = count.div_ceil(bins);
        for first in (0..count).step_by(each as usize) {
            let end = (first + each).min(count);
            let (programs, most) = controller.rows.programs_in(first, end);
            owners.push(number as f64);
            firsts.push(first as f64);
            means.push(programs as f64 / (end - first) as f64);
            mosts.push(f64::from(most));
        }
    }
    let intervals: Vec<_> =
        controllers.iter().filter_map(|controller| controller.leveller.interval()).collect();
    [
        ("rows.controller", owners),
        ("rows.first", firsts),
        ("rows.mean_programs", means),
        ("rows.most_programs", mosts),
        ("controllers.shortest_interval", intervals.iter().map(|each| each.shortest as f64).collect()),
        ("controllers.longest_interval", intervals.iter().map(|each| each.longest as f64).collect()),
    ]
    .into_iter()
    .filter(|(_, values)| !values.is_empty())
    .map(|(name, values)| Column { name, values })
    .collect()
}
