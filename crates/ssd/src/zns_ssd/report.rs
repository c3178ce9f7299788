//! Counters and columns of zones.

use crate::counts::Counts;
use crate::flash::backend::Backend;
use crate::zns_ssd::table::Zones;
use nacre_kernel::{Column, ZoneRefusal};
use nacre_media::store::Store;

/// Names of the counters of rejected writes and commands, in the order of [`ZoneRefusal`].
const REFUSED: [&str; ZoneRefusal::COUNT] = [
    "refused_not_whole_units",
    "refused_not_zone_start",
    "refused_not_at_write_pointer",
    "refused_zone_full",
    "refused_zone_boundary",
    "refused_too_many_active",
    "refused_too_many_open",
    "refused_invalid_transition",
    "refused_worn_out",
];

impl<S: Store> Zones<S> {
    /// Returns the counters of the drive since measurement started.
    pub(super) fn counters_since(&self, counts: &Counts, flash: &Backend) -> Vec<(&'static str, u64)> {
        let (now, before, tally) = (&self.pool.programs, &counts.programs_before, &self.tally);
        let mut counters = counts.host.counters();
        counters.extend([
            ("units_host", now.host - before.host),
            ("units_padding", now.padding - before.padding),
            ("zone_appends", tally.appends),
            ("zone_opens", tally.opens),
            ("zone_closes", tally.closes),
            ("zone_resets", tally.resets),
            ("zone_finishes", tally.finishes),
            ("trims_of_parts", tally.trims_of_parts),
        ]);
        counters.extend(flash.flash_counters());
        counters.extend([
            ("buffer_hits", counts.buffer_hits),
            ("unwritten_reads", counts.unwritten_reads),
            ("units_trimmed", counts.trimmed),
            ("refused_writes", counts.refused_writes),
        ]);
        counters.extend(REFUSED.into_iter().zip(tally.refused));
        counters.extend(counts.recovery_counters());
        counters
    }

    /// Returns columns with the wear of the superblocks and the number of zones in each state.
    pub(super) fn all_columns(&self) -> Vec<Column> {
        let column = |name, value: f64| Column { name, values: vec![value] };
        let [empty, implicit, explicit, closed, full] = self.by_state().map(f64::from);
        let mut columns = Vec::from(self.pool.columns());
        columns.extend([
            column("zones.bytes", self.zone_bytes() as f64),
            column("zones.empty", empty),
            column("zones.open", implicit + explicit),
            column("zones.explicitly_open", explicit),
            column("zones.closed", closed),
            column("zones.full", full),
            column("space.live_units", self.live_units() as f64),
        ]);
        columns
    }
}
