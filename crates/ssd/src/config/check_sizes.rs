//! Checks of sizes that apply to every flash drive: mapping units, write buffer, and caches.

use crate::config::{Config, MappingTable};
use nacre_config::Reader;
use nacre_kernel::Bytes;

/// Maximum number of physical units. A unit number has at most 34 bits, and one value is reserved for
/// unmapped units.
pub(crate) const UNITS_MAX: u64 = (1 << 34) - 1;
/// Minimum number of units of a superblock, so that the valid bits of each superblock start at a word
/// boundary.
const SUPERBLOCK_MIN: u64 = 64;

/// Reports sizes that are invalid with every translation layer. Returns whether a page holds a whole number
/// of units.
pub(crate) fn check_drive(config: &Config, reader: &mut Reader<'_>) -> bool {
    if !config.unit.0.is_power_of_two() {
        let (below, above) = (config.unit.0.next_power_of_two() / 2, config.unit.0.next_power_of_two());
        let remedy = format!("the nearest allowed are {} and {}", Bytes(below), Bytes(above));
        reader.conflict("unit", &config.unit.to_string(), "bytes of a unit are a power of two", &remedy);
        return false;
    }
    if !config.page.0.is_multiple_of(config.unit.0) {
        let remedy = format!("use a divisor of {}, or pages of a multiple of {}", config.page, config.unit);
        reader.conflict("unit", &config.unit.to_string(), "a page is not a whole number of units", &remedy);
        return false;
    }
    if let Some(transfer) = config.transfer.filter(|transfer| !config.unit.0.is_multiple_of(transfer.0)) {
        let remedy = format!("use a divisor of {}, or remove it", config.unit);
        let problem = "a unit is not a whole number of transfers";
        reader.conflict("transfer", &transfer.to_string(), problem, &remedy);
    }
    true
}

/// Reports a drive that has more units than there are unit numbers, and superblocks with too few units.
/// Returns whether both checks pass. Later comparisons of sizes then cannot overflow.
pub(crate) fn check_numbers(config: &Config, reader: &mut Reader<'_>) -> bool {
    let units = config.units_per_superblock();
    let given = config.pages.to_string();
    if units < SUPERBLOCK_MIN {
        let (what, remedy) = match config.is_by_plane() {
            true => ("block", "give more pages, or a smaller unit"),
            false => ("superblock", "give more pages, planes or dies, or a smaller unit"),
        };
        let problem = format!("a {what} has {units} units, and {SUPERBLOCK_MIN} are the fewest");
        reader.conflict("pages", &given, &problem, remedy);
        return false;
    }
    let superblocks =
        u128::from(config.blocks.div_ceil(config.blocks_of_plane())) * u128::from(config.regions());
    let numbers = u128::from(units.next_power_of_two()) * superblocks;
    if numbers > u128::from(UNITS_MAX) {
        let problem = format!("the flash has {numbers} units, and {UNITS_MAX} are the most");
        reader.conflict("unit", &config.unit.to_string(), &problem, "use a larger unit, or less flash");
        return false;
    }
    true
}

/// Checks that a cache of mapping table pages has space for at least one page.
pub(crate) fn check_cache(config: &Config, reader: &mut Reader<'_>) {
    let MappingTable::CachedPages(table) = &config.mapping().mapping else { return };
    if table.size.0 < config.unit.0 {
        let remedy = format!("give at least one unit, {}, or kind = \"cached_entries\"", config.unit);
        let problem = "it is smaller than a page of the mapping table";
        reader.conflict("mapping.size", &table.size.to_string(), problem, &remedy);
    }
}

/// Checks that the buffer has space for the open operations and a program in progress, and that the buffer
/// is smaller than the drive.
pub(crate) fn check_buffer(config: &Config, reader: &mut Reader<'_>) {
    let least = (1 + config.operations_filled()) * config.operation_bytes();
    let given = config.buffer.to_string();
    if config.buffer.0 < least {
        let handles = config.pages().map(|mapping| u64::from(mapping.handles()));
        let part = if config.is_by_plane() { "plane" } else { "reclaim group" };
        let each = match (handles, config.operations_filled()) {
            (None, _) => " for each active zone".into(),
            (_, 1) => String::new(),
            (Some(1), _) => format!(" for each {part}"),
            (Some(handles), filled) if filled > handles => format!(" for each {part} and placement handle"),
            _ => " for each placement handle".into(),
        };
        let problem = format!("it must hold one program in progress and one open operation{each}");
        reader.conflict("buffer", &given, &problem, &format!("give at least {}", Bytes(least)));
    } else if config.buffer.0 > config.raw_bytes() {
        let remedy = format!("give at most {}", Bytes(config.raw_bytes()));
        reader.conflict("buffer", &given, "it is larger than the flash", &remedy);
    }
}

/// Checks that the value `size` of `setting` divides `dies`. The smallest allowed value is `least`. Returns
/// whether the check passes.
pub(crate) fn check_divisor(
    setting: &str,
    (size, least): (u64, u64),
    dies: u64,
    problem: &str,
    reader: &mut Reader<'_>,
) -> bool {
    let fits = |size: &u64| dies.is_multiple_of(*size);
    if !fits(&size) {
        let below = (least..=size.min(dies)).rev().find(fits);
        let nearest = (size..=dies).find(fits).into_iter().chain(below);
        let nearest: Vec<String> = nearest.map(|size| size.to_string()).collect();
        let remedy = format!("the nearest allowed: {}", nearest.join(", "));
        reader.conflict(setting, &size.to_string(), problem, &remedy);
    }
    fits(&size)
}

/// Checks that a block has at least one page in SLC mode, and that the SLC cache is smaller than the flash.
pub(crate) fn check_slc_cache(config: &Config, reader: &mut Reader<'_>) {
    let Some(cache) = &config.mapping().slc_cache else { return };
    if config.pages < cache.bits {
        let remedy = format!("give at least {} pages", cache.bits);
        return reader.conflict("pages", &config.pages.to_string(), "no page is left in SLC mode", &remedy);
    }
    let with_one_bit = |bytes| bytes / u64::from(config.pages) * u64::from(config.pages / cache.bits);
    let most = with_one_bit(config.raw_bytes());
    let least = with_one_bit(config.units_per_superblock() * config.unit.0);
    if cache.size.0 < least {
        let what = if config.is_by_plane() { "block" } else { "superblock" };
        let problem = format!("a {what} in SLC mode holds {} and is filled as a whole", Bytes(least));
        let remedy = format!("give at least {}, or remove slc_cache", Bytes(least));
        reader.conflict("slc_cache.size", &cache.size.to_string(), &problem, &remedy);
    } else if cache.size.0 > most {
        let problem = format!("all cells in SLC mode hold {}", Bytes(most));
        let remedy = format!("give at most {}", Bytes(most));
        reader.conflict("slc_cache.size", &cache.size.to_string(), &problem, &remedy);
    }
}
