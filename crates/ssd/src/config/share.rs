//! A share of a pool of drives: a drive with fewer blocks.

use super::Config;
use nacre_kernel::{Bytes, Power};

impl Config {
    /// Its part of a whole drive, where it is given a capacity.
    pub(crate) fn share(&self) -> Option<f64> {
        let whole = self.whole_units() * self.unit.0;
        self.capacity.map(|capacity| capacity.0 as f64 / whole as f64)
    }

    /// The drive with as many blocks as its capacity takes, and its part of what a whole drive has beside them.
    pub(crate) fn of_share(mut self) -> Config {
        let (Some(share), Some(capacity)) = (self.share(), self.capacity) else { return self };
        let part = |bytes: u64, least: u64| Bytes(((bytes as f64 * share) as u64).max(least));
        let row = self.raw_bytes() / u64::from(self.blocks);
        let blocks = (capacity.0 as f64 * (1.0 + self.over_provisioning.0) / row as f64).ceil();
        self.blocks = (blocks as u32).min(self.blocks);
        self.spare_blocks = (f64::from(self.spare_blocks) * share) as u32;
        self.nand.idle_power = self.nand.idle_power.map(|power| Power(power.0 * share));
        if let Some(cache) = &mut self.mapping_cache {
            cache.size = part(cache.size.0, self.unit.0);
        }
        let superblock = self.units_per_superblock() * self.unit.0;
        if let Some(cache) = &mut self.slc_cache {
            cache.size = part(cache.size.0, superblock);
        }
        self
    }
}
