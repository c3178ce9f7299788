//! What the drive did, as its report.

use super::super::report::{Parts, block_columns, component, end_of_life, life, wear};
use super::model::Zoned;
use super::refusal::Refusal;
use nacre_kernel::{Column, ComponentReport, Time};
use nacre_media::store::Store;

/// The report over `elapsed`.
pub(super) fn of<S: Store>(zoned: &Zoned<S>, elapsed: Time) -> ComponentReport {
    let table = &zoned.table;
    let mut wear =
        wear(&zoned.book, &table.programs, &table.flash, &table.blocks, &table.geometry, &zoned.config);
    wear.valid = Some(table.live_units());
    let parts = Parts {
        id: zoned.id,
        path: &zoned.path,
        config: &zoned.config,
        geometry: &table.geometry,
        schedule: &zoned.schedule,
        interface: &zoned.interface,
        parity: 0,
        life: life(&zoned.config, &table.blocks, &table.geometry, table.superblocks_needed()),
        end_of_life: zoned.end_of_life.map(|(at, _)| at),
        share: None,
    };
    component(&parts, wear, counters(zoned), columns(zoned), elapsed)
}

fn counters<S: Store>(zoned: &Zoned<S>) -> Vec<(&'static str, u64)> {
    let (now, before) = (&zoned.table.programs, &zoned.book.programs_before);
    let mut counters = zoned.book.host.counters();
    counters.extend([
        ("units_host", now.host - before.host),
        ("units_padding", now.padding - before.padding),
        ("zone_resets", zoned.tally.resets),
        ("zone_finishes", zoned.tally.finishes),
        ("trims_of_parts", zoned.tally.trims_of_parts),
    ]);
    counters.extend(zoned.schedule.flash_counters());
    counters.extend([
        ("buffer_hits", zoned.book.buffer_hits),
        ("unwritten_reads", zoned.book.unwritten_reads),
        ("units_trimmed", zoned.book.trimmed),
        ("refused_writes", zoned.book.refused_writes),
    ]);
    counters.extend(Refusal::COUNTERS.into_iter().zip(zoned.tally.refused));
    counters.extend(zoned.book.recovery_counters());
    counters
}

fn columns<S: Store>(zoned: &Zoned<S>) -> Vec<Column> {
    let table = &zoned.table;
    let column = |name, value: f64| Column { name, values: vec![value] };
    let [empty, open, closed, full] = table.by_phase().map(f64::from);
    let mut columns = Vec::from(block_columns(&table.flash, &table.blocks));
    columns.extend([
        column("zones.bytes", table.zone_bytes() as f64),
        column("zones.empty", empty),
        column("zones.open", open),
        column("zones.closed", closed),
        column("zones.full", full),
        column("space.live_units", table.live_units() as f64),
    ]);
    columns.extend(end_of_life(zoned.end_of_life));
    columns
}
