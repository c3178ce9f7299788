//! Checks that a drive has enough space for its data, and computes the settings of a share of a pool of
//! drives. A share is modeled as a drive with fewer blocks.

use super::{Config, Layer};
use nacre_kernel::{Bytes, Power, Ratio};

impl Config {
    /// Returns the configuration of the whole drive.
    pub(crate) fn whole(&self) -> Config {
        self.clone().with_capacity(None)
    }

    /// Returns the configuration of a share with this capacity. With `None`, returns the configuration of
    /// the whole drive.
    pub(crate) fn with_capacity(mut self, capacity: Option<Bytes>) -> Config {
        if let Layer::Pages(mapping) = &mut self.layer {
            mapping.capacity = capacity;
        }
        self
    }

    /// Returns the capacity as a fraction of the capacity of the whole drive, from 0 to 1. Returns `None`
    /// if the setting `capacity` is not given.
    pub(crate) fn share(&self) -> Option<f64> {
        let whole = self.whole_units() * self.unit.0;
        let capacity = self.pages()?.capacity?;
        Some(capacity.0 as f64 / whole as f64)
    }

    /// Returns the configuration of the share: the blocks that its capacity requires, and a proportional
    /// part of the other resources of the whole drive.
    pub(crate) fn of_share(mut self) -> Config {
        let (Some(share), Some(capacity)) = (self.share(), self.mapping().capacity) else { return self };
        let row = self.raw_bytes() / u64::from(self.blocks);
        let superblock = self.units_per_superblock() * self.unit.0;
        let Config { drive, layer } = &mut self;
        let blocks = (capacity.0 as f64 * (1.0 + drive.over_provisioning.0) / row as f64).ceil();
        drive.blocks = (blocks as u32).min(drive.blocks);
        drive.spare_blocks = (f64::from(drive.spare_blocks) * share) as u32;
        drive.nand.idle_power = drive.nand.idle_power.map(|power| Power(power.0 * share));
        if let Layer::Pages(mapping) = layer {
            mapping.mapping.shrink_cache(share, drive.unit.0);
            if let Some(cache) = &mut mapping.slc_cache {
                cache.size = Bytes(((cache.size.0 as f64 * share) as u64).max(superblock));
            }
        }
        self
    }
}

/// Returns the problem and the remedy if the `capacity` of a valid drive is invalid. A share must be
/// smaller than the drive, and large enough for the reserve and the open superblocks in addition to its
/// data. Returns `None` if the share can be simulated, or if `capacity` is not given.
pub(crate) fn share_problem(config: &Config) -> Option<(String, String)> {
    let capacity = config.pages()?.capacity?;
    let whole = config.whole();
    let drive = Bytes(whole.logical_units() * whole.unit.0);
    let told = |problem: &str, remedy: &str| Some((problem.to_string(), remedy.to_string()));
    if !capacity.0.is_multiple_of(config.unit.0) {
        let below = Bytes(capacity.0 / config.unit.0 * config.unit.0);
        return told("it is not a whole number of units", &format!("the nearest below is {below}"));
    }
    if capacity > drive {
        return told(&format!("the whole drive holds {drive}"), "give at most that, or remove it");
    }
    if has_room(&config.clone().of_share()) {
        return None;
    }
    let row = whole.raw_bytes() / u64::from(whole.blocks);
    let of_blocks = |blocks: u32| {
        let bytes = (u64::from(blocks) * row) as f64 / (1.0 + whole.over_provisioning.0);
        Bytes(bytes as u64 / whole.unit.0 * whole.unit.0)
    };
    let fits = |bytes: &Bytes| has_room(&config.clone().with_capacity(Some(*bytes)).of_share());
    let least = (1..whole.blocks).map(of_blocks).find(fits).unwrap_or(drive);
    let problem = format!(
        "erased and open superblocks of {} leave no space for data in such a small share",
        Bytes(row)
    );
    told(&problem, &format!("give at least {least}, or a drive with fewer dies or pages"))
}

/// Returns whether the flash has space for the data, the reserve, and the open superblocks.
pub(crate) fn has_room(config: &Config) -> bool {
    let kept = config.mapping().garbage_collection.reserve + config.superblocks_of_handles();
    let usable = config.superblocks();
    let units = config.units_per_superblock() as f64;
    usable >= kept + 2 && units_wanted(config) <= f64::from(usable - kept) * (units - 1.0)
}

/// Returns the number of units of data and mapping table per region, plus one free unit for garbage
/// collection.
pub(crate) fn units_wanted(config: &Config) -> f64 {
    if config.regions() > 1 {
        let of_page = config.page.0 / config.unit.0;
        let units = (config.logical_units() as f64 * share_with_table(config)).ceil() as u64;
        let pages = units.div_ceil(of_page).div_ceil(config.regions());
        return (pages * of_page) as f64 + 1.0;
    }
    config.logical_units() as f64 * share_with_table(config) + 1.0
}

/// Returns the number of units of data and mapping table together, divided by the number of units of data.
pub(crate) fn share_with_table(config: &Config) -> f64 {
    let table = config.mapping().mapping.cached();
    1.0 + table.map_or(0.0, |table| table.entries.entry.0 as f64 / config.unit.0 as f64)
}

/// Formats a share as a percentage. Rounding removes digits that result from binary fractions.
pub(crate) fn percent(share: Ratio) -> String {
    format!("{} %", (share.0 * 1e8).round() / 1e6)
}
