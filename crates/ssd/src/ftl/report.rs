//! Counters and report columns of the translation layer.

use crate::book::{Book, Programs};
use crate::config::Config;
use crate::flash::backend::Backend;
use crate::ftl::array::Array;
use crate::ftl::parts::blocks::Blocks;
use crate::ftl::parts::frontier::ABSENT;
use crate::layout::geometry::Geometry;
use nacre_kernel::{Activity, Column, Wear};
use nacre_media::flash::{Flash, Operation};
use nacre_media::store::Store;

/// Programs and erases since measurement started.
pub(crate) fn wear<S: Store>(
    book: &Book,
    now: &Programs,
    flash: &Flash<S>,
    blocks: &Blocks,
    geometry: &Geometry,
    config: &Config,
) -> Wear {
    let before = &book.programs_before;
    Wear {
        host: now.host - before.host,
        cleaned: now.cleaned - before.cleaned,
        leveled: now.leveled - before.leveled,
        metadata: now.mapping - before.mapping,
        padding: now.padding - before.padding,
        erases: (flash.erases() - book.erases_before) * u64::from(geometry.blocks_per_superblock()),
        block_erases: blocks.erases().to_vec(),
        endurance: config.nand.endurance,
        worn_out_at: None,
        row_programs: None,
        valid: None,
    }
}

/// Number of units, including parity, that can be programmed until a region has fewer than `needed`
/// superblocks left. Superblocks are assumed to wear at their past rates, or at equal rates if `wear_spread`
/// evens them out.
pub(crate) fn life<S: Store>(
    config: &Config,
    (flash, blocks): (&Flash<S>, &Blocks),
    geometry: &Geometry,
    needed: u32,
) -> Option<f64> {
    let rows = u64::from(config.blocks) * u64::from(geometry.regions);
    let units_of_row = config.raw_bytes() / config.unit.0 / rows;
    let units = (units_of_row * u64::from(geometry.blocks_of_plane)) as f64;
    let erases: Vec<f64> = flash.blocks().iter().map(|block| f64::from(block.erases)).collect();
    let rates = if config.pages().is_some_and(|mapping| mapping.garbage_collection.wear_spread.is_some()) {
        vec![1.0; erases.len()]
    } else {
        rates(&erases)
    };
    Some(blocks.life(&rates, needed, config.factory_bad.0)? * units)
}

/// Minimum erase rate of a superblock. A superblock without erases is assumed to be erased eventually.
const RATE_MIN: f64 = 0.01;

/// Relative erase rates of superblocks, with mean 1. The variance of a Poisson process is removed. The
/// remaining variance is assumed to persist.
fn rates(erases: &[f64]) -> Vec<f64> {
    let count = erases.len() as f64;
    let mean = erases.iter().sum::<f64>() / count;
    let variance = erases.iter().map(|erases| (erases - mean) * (erases - mean)).sum::<f64>() / count;
    if variance <= mean {
        return vec![1.0; erases.len()];
    }
    let lasting = ((variance - mean) / variance).sqrt();
    erases.iter().map(|erases| (1.0 + (erases / mean - 1.0) * lasting).max(RATE_MIN)).collect()
}

/// Columns with the erase count of each superblock and the states of the blocks.
pub(crate) fn block_columns<S: Store>(flash: &Flash<S>, blocks: &Blocks) -> [Column; 5] {
    let column = |name, value: f64| Column { name, values: vec![value] };
    let erases = flash.blocks().iter().map(|block| f64::from(block.erases)).collect();
    [
        Column { name: "superblocks.erases", values: erases },
        column("blocks_by_state.bad_from_start", f64::from(blocks.bad)),
        column("blocks_by_state.worn_out", f64::from(blocks.retired)),
        column("blocks_by_state.spare", blocks.spare_count() as f64),
        column("blocks_by_state.superblocks_usable", blocks.usable_counts().map(f64::from).sum()),
    ]
}

/// Counters of a page-mapped drive.
pub(crate) fn paged_counters<S: Store>(
    array: &Array<S>,
    book: &Book,
    flash: &Backend,
) -> Vec<(&'static str, u64)> {
    let (now, before) = (&array.programs, &book.programs_before);
    let [reads, programs, erases, suspensions] = flash.flash_counters();
    let mut counters = book.host.counters();
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
        ("buffer_hits", book.buffer_hits),
        ("unwritten_reads", book.unwritten_reads),
        ("units_trimmed", book.trimmed),
        ("partial_writes", book.partial_writes),
        ("mapping_lookups", book.lookups),
        ("mapping_misses", book.misses),
        ("refused_writes", book.refused_writes),
    ]);
    counters.extend(book.recovery_counters());
    counters.extend(array.handles.redirected().map(|units| ("units_redirected", units)));
    counters.extend(array.handles.has_statistics().then(|| statistics(array, book)).into_iter().flatten());
    counters.extend(array.parity.0.iter().map(|parity| ("units_parity", parity.measured())));
    counters.extend(flash.errors.0.iter().flat_map(|errors| errors.counters()));
    counters.extend(flash.errors.0.iter().flat_map(|errors| errors.rebuild_counters()));
    counters
}

/// Counters of the FDP statistics log page: HBMW, MBMW, and MBE.
fn statistics<S: Store>(array: &Array<S>, book: &Book) -> [(&'static str, u64); 3] {
    let (now, before) = (&array.programs, &book.programs_before);
    let unit = u64::from(array.geometry.unit_bytes);
    let parity = array.parity.0.as_ref().map_or(0, |parity| parity.measured());
    let erases = array.flash.erases() - book.erases_before;
    [
        ("host_bytes_with_metadata_written", unit * (now.by_host() - before.by_host())),
        ("media_bytes_with_metadata_written", unit * (now.on_media() - before.on_media() + parity)),
        ("media_bytes_erased", erases * array.geometry.bytes_per_superblock()),
    ]
}

/// Columns of a page-mapped drive with `valid` valid units.
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
    columns.extend(block_columns(&array.flash, &array.blocks));
    columns.extend(array.handles.columns());
    columns.push(column("blocks_by_state.superblocks_slc", f64::from(array.slc.count())));
    columns.push(column("space.valid_units", valid as f64));
    columns
}
