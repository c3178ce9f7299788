//! A share of a pool of drives: a drive with fewer blocks.

use super::{Config, Layer};
use nacre_kernel::{Bytes, Power};

impl Config {
    /// Configuration of the whole drive.
    pub(crate) fn whole(&self) -> Config {
        self.clone().with_capacity(None)
    }

    /// Configuration of the share with this capacity; of the whole drive without a capacity.
    pub(crate) fn with_capacity(mut self, capacity: Option<Bytes>) -> Config {
        if let Layer::Pages(mapping) = &mut self.layer {
            mapping.capacity = capacity;
        }
        self
    }

    /// Share of the whole drive, from 0 to 1; `None` without `capacity`.
    pub(crate) fn share(&self) -> Option<f64> {
        let whole = self.whole_units() * self.unit.0;
        let capacity = self.pages()?.capacity?;
        Some(capacity.0 as f64 / whole as f64)
    }

    /// Configuration with as many blocks as the capacity needs, and with its part of the other resources of a
    /// whole drive.
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
