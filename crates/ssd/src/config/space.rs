//! Space that the data of a drive takes.

use crate::config::Config;
use nacre_kernel::Ratio;

/// Whether there is room for the data beside what is kept erased and being filled.
pub(crate) fn has_room(config: &Config) -> bool {
    let kept = config.mapping().reserve + config.superblocks_of_handles();
    let usable = config.blocks.saturating_sub(config.spare_blocks);
    let units = config.units_per_superblock() as f64;
    usable >= kept + 2 && units_wanted(config) <= f64::from(usable - kept) * (units - 1.0)
}

/// Units of the data and the mapping table in a region, and one to move them.
pub(crate) fn units_wanted(config: &Config) -> f64 {
    if config.is_by_plane() {
        let of_page = config.page.0 / config.unit.0;
        let units = (config.logical_units() as f64 * share_with_table(config)).ceil() as u64;
        let pages = units.div_ceil(of_page).div_ceil(config.regions());
        return (pages * of_page) as f64 + 1.0;
    }
    config.logical_units() as f64 * share_with_table(config) + 1.0
}

/// The mapping table's units and the data's, by the data's.
pub(crate) fn share_with_table(config: &Config) -> f64 {
    match &config.mapping().mapping_cache {
        Some(_) => 1.0 + config.mapping_entry.0 as f64 / config.unit.0 as f64,
        None => 1.0,
    }
}

/// A share as text, without the last digits of binary fractions.
pub(crate) fn percent(share: Ratio) -> String {
    format!("{} %", (share.0 * 1e8).round() / 1e6)
}
