//! What zones did, as counters and columns.

use crate::book::Book;
use crate::flash::backend::Backend;
use crate::zns_ssd::refusal::Refusal;
use crate::zns_ssd::table::ZoneTable;
use nacre_kernel::Column;
use nacre_kernel::state::Value;
use nacre_media::store::Store;

/// What was done with zones since measuring began.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct Tally {
    /// Of zones that held something.
    pub(super) resets: u64,
    pub(super) finishes: u64,
    /// Trims of parts of zones, which do nothing.
    pub(super) trims_of_parts: u64,
    pub(super) refused: [u64; Refusal::COUNT],
}

/// What was done since measuring began.
pub(super) fn counters<S: Store>(
    table: &ZoneTable<S>,
    tally: &Tally,
    book: &Book,
    flash: &Backend,
) -> Vec<(&'static str, u64)> {
    let (now, before) = (&table.programs, &book.programs_before);
    let mut counters = book.host.counters();
    counters.extend([
        ("units_host", now.host - before.host),
        ("units_padding", now.padding - before.padding),
        ("zone_resets", tally.resets),
        ("zone_finishes", tally.finishes),
        ("trims_of_parts", tally.trims_of_parts),
    ]);
    counters.extend(flash.flash_counters());
    counters.extend([
        ("buffer_hits", book.buffer_hits),
        ("unwritten_reads", book.unwritten_reads),
        ("units_trimmed", book.trimmed),
        ("refused_writes", book.refused_writes),
    ]);
    counters.extend(Refusal::COUNTERS.into_iter().zip(tally.refused));
    counters.extend(book.recovery_counters());
    counters
}

/// The zones by what they are.
pub(super) fn columns<S: Store>(table: &ZoneTable<S>) -> Vec<Column> {
    let column = |name, value: f64| Column { name, values: vec![value] };
    let [empty, open, closed, full] = table.by_phase().map(f64::from);
    vec![
        column("zones.bytes", table.zone_bytes() as f64),
        column("zones.empty", empty),
        column("zones.open", open),
        column("zones.closed", closed),
        column("zones.full", full),
        column("space.live_units", table.live_units() as f64),
    ]
}
