//! What a drive buffers and caches: neither too small for its work nor larger than what there is.

use crate::config::{Cached, Config};
use nacre_config::Reader;
use nacre_kernel::Bytes;

/// A cached page of the mapping table needs a place, and a mapping must fit into a page of them.
pub(crate) fn check_cache(config: &Config, reader: &mut Reader<'_>) {
    let Some(cache) = &config.mapping_cache else { return };
    if cache.cached == Cached::Pages && cache.size.0 < config.unit.0 {
        let remedy = format!("give at least one unit, {}, or cached = \"entries\"", config.unit);
        reader.conflict(
            "mapping_cache.size",
            &cache.size.to_string(),
            "it holds no page of the mapping table",
            &remedy,
        );
    }
}

/// The buffer holds what is being filled and what is being programmed, and is smaller than the drive.
pub(crate) fn check_buffer(config: &Config, reader: &mut Reader<'_>) {
    let least = (1 + config.operations_filled()) * config.operation_bytes();
    let given = config.buffer.to_string();
    if config.buffer.0 < least {
        let each = match (config.placement_handles, config.operations_filled()) {
            _ if config.zones.is_some() => " for each active zone",
            (_, 1) => "",
            (1, _) => " for each plane",
            (_, filled) if filled > u64::from(config.placement_handles) => {
                " for each plane and placement handle"
            }
            _ => " for each placement handle",
        };
        let problem = format!("it does not hold one program under way and one being filled{each}");
        reader.conflict("buffer", &given, &problem, &format!("give at least {}", Bytes(least)));
    } else if config.buffer.0 > config.raw_bytes() {
        let remedy = format!("give at most {}", Bytes(config.raw_bytes()));
        reader.conflict("buffer", &given, "it is larger than the flash", &remedy);
    }
}

/// Cells with one bit are some of the flash.
pub(crate) fn check_slc_size(config: &Config, reader: &mut Reader<'_>) {
    let Some(cache) = &config.slc_cache else { return };
    let with_one_bit = |bytes| bytes / u64::from(config.pages) * u64::from(config.pages / cache.bits);
    let most = with_one_bit(config.raw_bytes());
    let least = with_one_bit(config.units_per_superblock() * config.unit.0);
    if cache.size.0 < least {
        let what = if config.is_by_plane() { "block" } else { "superblock" };
        let problem = format!("a {what} holds {} with one bit each, and is filled as a whole", Bytes(least));
        let remedy = format!("give at least {}, or leave slc_cache out", Bytes(least));
        reader.conflict("slc_cache.size", &cache.size.to_string(), &problem, &remedy);
    } else if cache.size.0 > most && most > 0 {
        let problem = format!("all cells hold {} with one bit each", Bytes(most));
        let remedy = format!("give at most {}", Bytes(most));
        reader.conflict("slc_cache.size", &cache.size.to_string(), &problem, &remedy);
    }
}

/// A cache holds no more than the mapping table has, in whole units.
pub(crate) fn check_cache_size(config: &Config, reader: &mut Reader<'_>) {
    let Some(cache) = config.mapping_cache.as_ref().filter(|_| config.zones.is_none()) else { return };
    let most = config.mapping_units() * config.unit.0;
    if cache.size.0 > most {
        let problem = format!("the whole mapping table has {}", Bytes(most));
        let remedy =
            format!("give at most {}, or leave it out: all of the table is in DRAM then", Bytes(most));
        reader.conflict("mapping_cache.size", &cache.size.to_string(), &problem, &remedy);
    }
}
