//! Memory of the tables of a drive. Tables grow as units are written.

use crate::config::{Config, MappingTable};
use crate::layout::geometry::Geometry;
use crate::layout::numbers::{CHUNK, is_wide};
use crate::mapping_table::{LIST_MAX, PART_BYTES_MAX, PART_UNITS, RUN};
use nacre_device::{TableMemory, UnitsInRun};

/// Returns the memory of all tables of a drive with page mapping. `of_spare_areas` is the number of bytes
/// per physical unit in the tables for stored data. `units` is the number of units that the host writes in
/// the run, if known.
pub(crate) fn tables(
    config: &Config,
    geometry: &Geometry,
    of_spare_areas: u64,
    units: Option<UnitsInRun>,
) -> TableMemory {
    let of_handles = u64::from(config.mapping().handles() > 1);
    let physical = geometry.numbers() as u64;
    let list = geometry.table_units() + physical;
    let wide = if is_wide(physical + 1) { list / 4 } else { 0 };
    let of_blocks = 16 * u64::from(config.blocks) * u64::from(geometry.lanes());
    let fixed = physical / 8 + of_blocks;
    let at_once = at_once(config, geometry);
    // See `partial_units.rs`: an entry of a map takes at most 40 bytes.
    let of_partial = if config.transfer.is_some_and(|transfer| transfer < config.unit) { 40 } else { 0 };
    let of_all = 4 * list + wide + fixed + (of_handles + of_spare_areas) * physical;
    let in_all = (of_all + of_partial * geometry.table_units()).max(at_once);
    // If as many units as the drive has may be written, the whole drive counts.
    let is_less = |units: &UnitsInRun| units.requested < physical && units.filled < physical;
    let units = units.filter(is_less).filter(|_| of_spare_areas == 0);
    let in_run = units.and_then(|units| in_run(config, geometry, units));
    let requested = units.map_or(0, |units| of_partial * units.requested);
    let fixed = at_once + fixed + requested;
    let in_run = in_run.map_or(in_all, |bytes| in_all.min(bytes.saturating_add(fixed)));
    TableMemory { at_once, in_all, in_run }
}

/// Returns the memory in bytes that the tables of a new drive take: 64 bytes per superblock and, if blocks
/// differ, eight bytes per block.
pub(crate) fn at_once(config: &Config, geometry: &Geometry) -> u64 {
    let blocks_differ =
        config.nand.endurance.is_some() || config.factory_bad.0 > 0.0 || config.spare_blocks > 0;
    let of_blocks =
        if blocks_differ { 8 * u64::from(config.blocks) * u64::from(geometry.lanes()) } else { 0 };
    64 * u64::from(geometry.superblocks) + of_blocks
}

/// Returns an upper bound of the memory in bytes of the tables that grow with the number of written units,
/// if the run writes `units`. Returns `None` if there is no such bound, e.g. because the drive may move data
/// before all of its space is used.
fn in_run(config: &Config, geometry: &Geometry, units: UnitsInRun) -> Option<u64> {
    let mapping = config.mapping();
    let UnitsInRun { filled, requested } = units;
    let of_cache = match mapping.mapping {
        MappingTable::InDram(_) => 0,
        // Each written unit changes one table page, which is programmed once per change at most.
        MappingTable::CachedPages(_) => 1,
        MappingTable::CachedEntries(_) => return None,
    };
    let refreshes = mapping.errors.as_ref().is_some_and(|errors| errors.refresh_reads.is_some());
    if refreshes || mapping.garbage_collection.policy.kind() == "external" {
        return None;
    }
    let (filled, logical) = (filled * (1 + of_cache), requested * (1 + of_cache));
    let of_table = table(geometry, filled, logical);
    // A flush may pad the operation of every unit.
    let programs = filled + logical * u64::from(geometry.operation_units);
    let of_pages = owners(config, geometry, programs)?;
    Some(of_table + of_pages + 16 * u64::from(geometry.mapping_units))
}

/// Returns an upper bound of the memory in bytes of the mapping table with `filled` consecutive units and
/// `others` other units.
fn table(geometry: &Geometry, filled: u64, others: u64) -> u64 {
    let units = geometry.table_units();
    if units <= LIST_MAX as u64 {
        return 4 * units;
    }
    // A part with fewer units than a run is a hash table.
    let parts = units.div_ceil(PART_UNITS as u64);
    let of_fill = filled / PART_UNITS as u64 + 2;
    let of_others = others * (PART_BYTES_MAX / u64::from(RUN));
    of_others + of_fill * PART_BYTES_MAX + 128 * parts
}

/// Returns an upper bound of the memory in bytes of the lists with an entry for each physical unit, if the
/// host programs `programs` units.
///
/// In each region, garbage collection starts when all superblocks are used except those that the drive
/// keeps erased or open. From this time, the whole region counts as used. Returns `None` if garbage
/// collection starts immediately.
fn owners(config: &Config, geometry: &Geometry, programs: u64) -> Option<u64> {
    let mapping = config.mapping();
    let frontiers = mapping.handles() + mapping.isolated_parts() + 1;
    let collection = &mapping.garbage_collection;
    let kept = collection.reserve.max(1) + collection.idle_reserve.unwrap_or(0) + 1 + frontiers;
    let data = geometry.units_of_region(geometry.table_units()) / u64::from(geometry.units_per_superblock);
    let used_first = data.checked_sub(u64::from(kept)).filter(|&used| used > 0)?;
    let (all, units) = (u64::from(geometry.superblocks_of_region), u64::from(geometry.units_per_superblock));
    // A superblock in SLC mode holds the fewest units.
    let fewest = units / u64::from(config.pages) * u64::from(config.single_pages());
    let full = (programs / fewest).min(geometry.superblocks.into());
    let open = u64::from(geometry.regions).min(programs) * u64::from(mapping.handles());
    let superblocks =
        full.saturating_mul(all).div_ceil(used_first).min(geometry.superblocks.into()) + 1 + open;
    let numbers = ((full + 1) * units).saturating_mul(all) / used_first;
    // The numbers of a superblock begin at a multiple of a power of two. Lists that are not divided into chunks
    // use pages of system memory, which are smaller.
    let chunk = CHUNK as u64;
    let inside = if 1 << geometry.shift > chunk { numbers / chunk } else { 0 };
    let chunks = (superblocks + inside).min((geometry.numbers() as u64).div_ceil(chunk));
    let of_handles = u64::from(mapping.handles() > 1);
    let in_progress = u64::from(geometry.dies) * geometry.operations_per_die() as u64 / 8;
    Some(chunks * chunk * (17 + 8 * of_handles) / 4 + in_progress)
}
