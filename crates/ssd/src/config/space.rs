//! Space for the data of a drive.

use crate::config::Config;
use nacre_kernel::Ratio;

/// Whether the flash has space for the data, the reserve, and the open superblocks.
pub(crate) fn has_room(config: &Config) -> bool {
    let kept = config.mapping().garbage_collection.reserve + config.superblocks_of_handles();
    let usable = config.superblocks();
    let units = config.units_per_superblock() as f64;
    usable >= kept + 2 && units_wanted(config) <= f64::from(usable - kept) * (units - 1.0)
}

/// Units of data and mapping table per region, and one unit to move them.
pub(crate) fn units_wanted(config: &Config) -> f64 {
    if config.regions() > 1 {
        let of_page = config.page.0 / config.unit.0;
        let units = (config.logical_units() as f64 * share_with_table(config)).ceil() as u64;
        let pages = units.div_ceil(of_page).div_ceil(config.regions());
        return (pages * of_page) as f64 + 1.0;
    }
    config.logical_units() as f64 * share_with_table(config) + 1.0
}

/// Units of data and mapping table, as a multiple of the data.
pub(crate) fn share_with_table(config: &Config) -> f64 {
    let table = config.mapping().mapping.cached();
    1.0 + table.map_or(0.0, |table| table.entries.entry.0 as f64 / config.unit.0 as f64)
}

/// A share as a percentage, rounded to hide binary fractions.
pub(crate) fn percent(share: Ratio) -> String {
    format!("{} %", (share.0 * 1e8).round() / 1e6)
}
