//! Settings of zones, and checks of zoned drives.

use crate::config::check_sizes::{check_buffer, check_divisor, check_drive, check_numbers};
use crate::config::{Config, ZnsSsdConfig, percent};
use nacre_config::{Configuration, Reader};
use nacre_kernel::Bytes;

/// Zones that the host writes sequentially. A reset empties the whole zone.
#[derive(Clone, Debug, Configuration)]
pub struct ZonesConfig {
    /// Number of superblocks per zone. A superblock has one block of every plane of the zone's dies.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: the erase unit")]
    pub zone_superblocks: u32,
    /// Number of dies per zone, a divisor of the number of dies. Consecutive zones are on different groups of
    /// dies. The default is all dies.
    #[config(min = 1, max = 1048576)]
    pub zone_dies: Option<u32>,
    /// Maximum number of active (partly written) zones. If the maximum is reached, a write to an empty
    /// zone is rejected.
    #[config(default = 14, min = 1, max = 65536, source = "bjorling-2021: the drive they measured")]
    pub active_zones: u32,
    /// Maximum number of open zones among the active zones. A write to another zone closes the least recently
    /// written zone that was not opened by command. The default is all active zones.
    #[config(min = 1, max = 65536)]
    pub open_zones: Option<u32>,
}

/// Reports every error that involves several settings.
pub(crate) fn check(given: &ZnsSsdConfig, reader: &mut Reader<'_>) {
    let (config, zones) = (Config::from(given), &given.zones);
    if let Some(open) = zones.open_zones.filter(|&open| open > zones.active_zones) {
        let remedy = format!("the largest allowed is {}", zones.active_zones);
        reader.conflict("open_zones", &open.to_string(), "an open zone is an active one", &remedy);
    }
    let dies = config.dies_in_all();
    let problem = format!("the {dies} dies are not a whole number for each zone");
    if check_divisor("zone_dies", (u64::from(zones.zone_dies.unwrap_or(1)), 1), dies, &problem, reader)
        && check_drive(&config, reader)
        && check_numbers(&config, reader)
    {
        check_buffer(&config, reader);
        check_sizes(&config, given, reader);
    }
}

/// Checks that the zones fit on the drive, and that the number of zones is at least the maximum number of
/// active zones.
fn check_sizes(config: &Config, ZnsSsdConfig { zones, .. }: &ZnsSsdConfig, reader: &mut Reader<'_>) {
    let (raw, regions) = (config.raw_bytes() as f64, config.regions());
    let usable = u64::from(config.blocks - config.spare_blocks.min(config.blocks));
    let (given, size) = (zones.zone_superblocks.to_string(), u64::from(zones.zone_superblocks));
    let bytes = config.zone_units().unwrap_or(1) * config.unit.0;
    let mut refuse = |setting: &str, given: &str, problem: &str, remedy: &str| {
        reader.conflict(setting, given, problem, remedy);
    };
    if config.logical_units() == 0 || size > usable {
        let problem = match config.logical_units() {
            0 => format!("a zone of {} is larger than the capacity", Bytes(bytes)),
            _ => format!("the dies of a zone have {usable} superblocks"),
        };
        let superblocks = f64::from(config.blocks) * regions as f64;
        let seen = (superblocks / (1.0 + config.over_provisioning.0)) as u64;
        let remedy = match seen.min(usable) {
            0 => "give more blocks".into(),
            most => format!("the largest allowed is {most}, or give more blocks"),
        };
        return refuse("zone_superblocks", &given, &problem, &remedy);
    }
    if bytes > u64::from(u32::MAX) {
        let problem = format!("a zone has {}, and a request that resets one less than 4 GiB", Bytes(bytes));
        let remedy = "use smaller zones, or less of channels and ways";
        return refuse("zone_superblocks", &given, &problem, remedy);
    }
    let count = config.logical_units() * config.unit.0 / bytes;
    if u64::from(zones.active_zones) > count {
        let problem = format!("the drive has {count} zones");
        let remedy = format!("give at most {count}, smaller zones, or more blocks");
        refuse("active_zones", &zones.active_zones.to_string(), &problem, &remedy);
    }
    let needed = count.div_ceil(regions) * size;
    if needed > usable {
        let most = (usable / size * regions + 1) * bytes;
        let least = (((raw / most as f64 - 1.0) * 1e3).floor() + 1.0) / 10.0;
        let of_dies = if regions == 1 { "" } else { " on the dies of one" };
        let problem = format!("{count} zones need {needed} superblocks{of_dies}, and there are {usable}");
        let remedy = format!("the smallest allowed is {} %, or give fewer spare_blocks", least.max(0.1));
        refuse("over_provisioning", &percent(config.over_provisioning), &problem, &remedy);
    }
}
