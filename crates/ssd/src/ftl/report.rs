//! Counters and report columns of the translation layer.

use crate::counts::Counts;
use crate::flash::backend::Backend;
use crate::ftl::array::Array;
use crate::superblocks::ABSENT;
use nacre_kernel::{Activity, Column};
use nacre_media::flash::Operation;
use nacre_media::store::Store;

/// Returns the counters of a page-mapped drive.
pub(crate) fn paged_counters<S: Store>(
    array: &Array<S>,
    counts: &Counts,
    flash: &Backend,
) -> Vec<(&'static str, u64)> {
    let (now, before) = (&array.pool.programs, &counts.programs_before);
    let [reads, programs, erases, suspensions] = flash.flash_counters();
    let mut counters = counts.host.counters();
    counters.extend([
        ("units_host", now.host - before.host),
        ("units_cleaned", now.cleaned - before.cleaned),
        ("units_mapping", now.mapping - before.mapping),
        ("units_leveled", now.leveled - before.leveled),
        ("units_padding", now.padding - before.padding),
        ("units_coalesced", now.coalesced - before.coalesced),
        ("cleanings", now.cleanings - before.cleanings),
        ("wear_levelings", now.levelings - before.levelings),
        reads,
        ("copy_reads", flash.counts.copy_reads),
        ("mapping_reads", flash.die_charges.counted(Operation::Read as usize, Activity::Translate)),
        programs,
        erases,
        suspensions,
        ("buffer_hits", counts.buffer_hits),
        ("unwritten_reads", counts.unwritten_reads),
        ("units_trimmed", counts.trimmed),
        ("partial_writes", counts.partial_writes),
        ("mapping_lookups", counts.lookups),
        ("mapping_misses", counts.misses),
        ("refused_writes", counts.refused_writes),
    ]);
    counters.extend(counts.recovery_counters());
    counters.extend(array.handles.redirected().map(|units| ("units_redirected", units)));
    counters.extend(array.handles.has_statistics().then(|| statistics(array, counts)).into_iter().flatten());
    counters.extend(array.geometry.stripes.map(|_| ("units_parity", now.parity - before.parity)));
    counters.extend(flash.errors.iter().flat_map(|errors| errors.counters()));
    counters.extend(flash.errors.iter().flat_map(|errors| errors.rebuild_counters()));
    counters
}

/// Returns the counters of the FDP statistics log page: HBMW, MBMW, and MBE.
fn statistics<S: Store>(array: &Array<S>, counts: &Counts) -> [(&'static str, u64); 3] {
    let (now, before) = (&array.pool.programs, &counts.programs_before);
    let unit = u64::from(array.geometry.unit_bytes);
    let erases = array.pool.flash.erases() - counts.erases_before;
    [
        ("host_bytes_with_metadata_written", unit * (now.by_host() - before.by_host())),
        (
            "media_bytes_with_metadata_written",
            unit * (now.on_media() + now.parity - before.on_media() - before.parity),
        ),
        ("media_bytes_erased", erases * array.geometry.bytes_per_superblock()),
    ]
}

/// Returns the report columns of a page-mapped drive that has `valid` valid units.
pub(crate) fn paged_columns<S: Store>(array: &Array<S>, valid: u64) -> Vec<Column> {
    let units = f64::from(array.geometry.units_per_superblock);
    // An erased or retired superblock has no slot and no valid units.
    let live =
        |&place: &u32| if place == ABSENT { 0.0 } else { f64::from(array.places[place as usize].live) };
    let column = |name, value: f64| Column { name, values: vec![value] };
    let mut columns = vec![Column {
        name: "superblocks.valid_share",
        values: array.place_of.iter().map(|place| live(place) / units).collect(),
    }];
    columns.extend(array.pool.columns());
    columns.extend(array.handles.columns());
    columns.push(column("blocks_by_state.superblocks_slc", f64::from(array.slc.count())));
    columns.push(column("space.valid_units", valid as f64));
    columns
}
