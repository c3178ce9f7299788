//! What a configuration with zones has to keep.

use crate::config::percent;
use crate::config::{Allocation, Config};
use nacre_config::Reader;
use nacre_kernel::Bytes;

/// Erased superblocks that are kept where nothing else is said, and the fewest.
const RESERVE: u32 = 4;

/// Reports every setting that a drive with zones cannot have.
pub(crate) fn check(config: &Config, reader: &mut Reader<'_>) {
    let Some(zones) = &config.zones else { return };
    check_others(config, reader);
    if let Some(open) = zones.open.filter(|&open| open > zones.active) {
        let remedy = format!("the largest allowed is {}", zones.active);
        reader.conflict("zones.open", &open.to_string(), "an open zone is an active one", &remedy);
    }
    if config.allocation != Allocation::Superblock {
        // That is refused, and what is said of superblocks below holds for other ones.
        return;
    }
    let raw = config.raw_bytes() as f64;
    let usable = u64::from(config.blocks - config.spare_blocks.min(config.blocks));
    let (given, size) = (zones.superblocks.to_string(), u64::from(zones.superblocks));
    let bytes = config.zone_units().unwrap_or(1) * config.unit.0;
    if config.logical_units() == 0 {
        let problem = format!("a zone of {} is larger than what the host sees", Bytes(bytes));
        let seen = (f64::from(config.blocks) / (1.0 + config.over_provisioning.0)) as u64;
        let remedy = match seen.min(usable) {
            0 => "give more blocks".into(),
            most => format!("the largest allowed is {most}, or give more blocks"),
        };
        reader.conflict("zones.superblocks", &given, &problem, &remedy);
        return;
    }
    if bytes > u64::from(u32::MAX) {
        let problem = format!("a zone has {}, and a request that resets one less than 4 GiB", Bytes(bytes));
        reader.conflict(
            "zones.superblocks",
            &given,
            &problem,
            "use smaller zones, or less of channels and ways",
        );
        return;
    }
    let count = config.logical_units() * config.unit.0 / bytes;
    if u64::from(zones.active) > count {
        let problem = format!("the drive has {count} zones");
        let remedy = format!("give at most {count}, smaller zones, or more blocks");
        reader.conflict("zones.active", &zones.active.to_string(), &problem, &remedy);
    }
    if count * size > usable {
        let most = (usable / size + 1) * bytes;
        let least = (((raw / most as f64 - 1.0) * 1e3).floor() + 1.0) / 10.0;
        let problem = format!("{count} zones need {} superblocks, and there are {usable}", count * size);
        let remedy = format!("the smallest allowed is {} %, or give fewer spare_blocks", least.max(0.1));
        let given = percent(config.over_provisioning);
        reader.conflict("over_provisioning", &given, &problem, &remedy);
    }
}

/// Settings of a page mapping, its cleaning, and of a buffer that a loss of power empties.
fn check_others(config: &Config, reader: &mut Reader<'_>) {
    const MAPPING: &str = "a drive with zones maps no pages";
    const CLEANING: &str = "a drive with zones cleans nothing";
    const APART: &str = "zones keep data apart already";
    const ORDER: &str = "what is written in order is not changed in the buffer";
    let text = |value: Option<&dyn std::fmt::Display>| value.map(ToString::to_string);
    let cache = config.mapping_cache.as_ref().map(|cache| &cache.size);
    let single = config.slc_cache.as_ref().map(|cache| &cache.size);
    let cleaning = config.cleaning.kind();
    let (handles, kept) = (config.placement_handles, config.buffer_kept.0);
    let left_out = "leave it out, or leave zones out";
    let given = [
        ("mapping_cache", text(cache.map(|cache| cache as _)), MAPPING, left_out),
        ("slc_cache", text(single.map(|size| size as _)), CLEANING, left_out),
        ("idle_cleaning", text(config.idle_cleaning.as_ref().map(|erased| erased as _)), CLEANING, left_out),
        ("reserve", (config.reserve != RESERVE).then(|| config.reserve.to_string()), CLEANING, left_out),
        ("cleaning", (cleaning != "greedy").then(|| cleaning.to_string()), CLEANING, left_out),
        (
            "wear_spread",
            (config.wear_spread > 0).then(|| config.wear_spread.to_string()),
            CLEANING,
            "set it to 0",
        ),
        ("placement_handles", (handles > 1).then(|| handles.to_string()), APART, "set it to 1"),
        ("buffer_kept", (kept > 0.0).then(|| percent(config.buffer_kept)), ORDER, "set it to 0 %"),
    ];
    for (setting, given, problem, remedy) in given {
        if let Some(given) = given {
            reader.conflict(setting, &given, problem, remedy);
        }
    }
    if !config.power_protected {
        let problem = "a flush would have to program operations that are not full, which are programmed once";
        reader.conflict("power_protected", "false", problem, "set it to true, or leave zones out");
    }
}
