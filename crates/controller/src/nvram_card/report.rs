//! What the card did, as its report.

use super::channel::{Book, COUNTED};
use super::model::NvramCard;
use nacre_kernel::ledger::LOST_PAGES;
use nacre_kernel::{Activity, Bytes, Column, ComponentReport, Energy, Ledger, Op, Resource, Time};
use nacre_media::dram::Kind;

/// The report over `elapsed`.
pub(super) fn of<S>(card: &NvramCard<S>, elapsed: Time) -> ComponentReport {
    let (config, part) = (&card.config, &card.config.part);
    let energies = [part.activate_energy, part.read_energy, part.write_energy, part.refresh_energy];
    ComponentReport {
        id: card.id,
        kind: "nvram_card",
        path: card.path.clone(),
        resources: resources(card),
        is_energy_modelled: config.idle_power.is_some() || energies.iter().any(Option::is_some),
        idle_energy: config.idle_power.map(|power| power.over(elapsed)),
        counters: counters(card),
        cost: config.price.map(|price| price.of(Bytes(card.capacity))),
        area_mm2: None,
        lifetime_days: None,
        wear: None,
        columns: columns(card),
        drive_share: None,
        children: Vec::new(),
    }
}

/// Commands of all channels, in the order of [`COUNTED`].
fn commands<S>(card: &NvramCard<S>) -> [u64; 5] {
    let mut all = [0; 5];
    for channel in &card.memory.channels {
        for (sum, count) in all.iter_mut().zip(channel.commands()) {
            *sum += count;
        }
    }
    all
}

fn resources<S>(card: &NvramCard<S>) -> Vec<Resource> {
    let mut lines = Ledger::default();
    let mut cancelled = [0; 2];
    for Book { lines: of_channel, cancelled: bursts, .. } in
        card.memory.channels.iter().map(|channel| &channel.book)
    {
        lines.add(of_channel);
        cancelled.iter_mut().zip(bursts).for_each(|(sum, count)| *sum += count);
    }
    let part = &card.config.part;
    for ((kind, _), count) in COUNTED.into_iter().zip(commands(card)) {
        // A row that a read or a write opens is charged to reading: it is not known for whom it was.
        let (each, activity) = match kind {
            Kind::Activate => (part.activate_energy, Activity::Read),
            Kind::Read => (part.read_energy, Activity::Read),
            Kind::Write => (part.write_energy, Activity::Write),
            Kind::Refresh => (part.refresh_energy, Activity::Read),
            Kind::Precharge => (None, Activity::Read),
        };
        let cancelled = match kind {
            Kind::Read => cancelled[0],
            Kind::Write => cancelled[1],
            _ => 0,
        };
        let count = count - cancelled;
        lines.charge_energy(activity, Energy(each.unwrap_or_default().0 * count as f64));
    }
    let mut resources = card.interface.resources();
    let processors = card.book.processors.clone();
    resources.push(Resource { name: "processors", servers: card.config.processors, ledger: processors });
    resources.push(Resource { name: "data_lines", servers: card.config.channels, ledger: lines });
    resources
}

fn counters<S>(card: &NvramCard<S>) -> Vec<(&'static str, u64)> {
    let sum = |of: fn(&Book) -> u64| card.memory.channels.iter().map(|channel| of(&channel.book)).sum();
    let mut counters = card.book.host.counters();
    counters.extend(COUNTED.map(|(_, name)| name).into_iter().zip(commands(card)));
    counters
        .extend([("row_hits", sum(|book| book.row_hits)), ("row_conflicts", sum(|book| book.row_conflicts))]);
    if card.backup.misreads() {
        counters.push((LOST_PAGES, card.lost_pages));
    }
    counters
}

/// What the capacitor, when it is charged, saves of a memory all of which has changed.
fn columns<S>(card: &NvramCard<S>) -> Vec<Column> {
    if !card.config.volatile {
        return Vec::new();
    }
    let plan = card.backup.plan();
    let saved = plan.stored.map_or(plan.pages, |stored| plan.saved_by(stored, plan.pages));
    let needed = plan.energy(plan.pages).0;
    [
        ("dump.pages", plan.pages as f64),
        ("dump.s", plan.time(plan.pages).as_secs_f64()),
        ("dump.needs_j", needed),
        ("dump.has_j", plan.stored.map_or(needed, |stored| stored.0)),
        ("dump.saves_share", saved as f64 / plan.pages as f64),
        ("dump.restores_s", plan.loading().as_secs_f64()),
        ("dump.ecc_share", plan.spare as f64 / (1_u64 << plan.page_shift) as f64),
        ("dump.unreadable_pages", plan.unreadable()),
    ]
    .map(|(name, value)| Column { name, values: vec![value] })
    .into()
}

/// Every byte that was read or written crossed the data lines.
pub(super) fn check_bursts<S>(card: &NvramCard<S>) {
    let [_, reads, writes, ..] = commands(card);
    let burst = card.config.burst_bytes();
    let host = &card.book.host;
    assert!(writes * burst >= host.bytes_written(), "{writes} bursts were written");
    assert!(reads >= host.requests(Op::Read), "{reads} bursts were read");
}
