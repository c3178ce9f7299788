//! Wear of superblocks, for reports.

use super::Superblocks;
use crate::config::Config;
use crate::counts::Counts;
use nacre_kernel::{Column, Wear};
use nacre_media::store::Store;

/// Minimum erase rate of a superblock. A superblock without erases is assumed to be erased eventually.
const RATE_MIN: f64 = 0.01;

impl<S: Store> Superblocks<S> {
    /// Returns counters for a measurement that starts now.
    pub(crate) fn new_counts(&self) -> Counts {
        Counts::behind(self.programs, self.flash.erases())
    }

    /// Returns the programs and erases since measurement started. `valid` is the number of valid units.
    pub(crate) fn wear(&self, counts: &Counts, config: &Config, valid: u64) -> Wear {
        let (now, before) = (&self.programs, &counts.programs_before);
        let of_superblock = u64::from(self.geometry.blocks_per_superblock());
        Wear {
            host: now.host - before.host,
            cleaned: now.cleaned - before.cleaned,
            leveled: now.leveled - before.leveled,
            metadata: now.mapping - before.mapping + now.parity - before.parity,
            padding: now.padding - before.padding,
            erases: (self.flash.erases() - counts.erases_before) * of_superblock,
            block_erases: self.blocks.erases().to_vec(),
            endurance: config.nand.endurance,
            worn_out_at: None,
            row_programs: None,
            valid: Some(valid),
        }
    }

    /// Returns the number of units, including parity, that can be programmed until a region has fewer than
    /// `needed` superblocks left. Superblocks are assumed to wear at their past rates, or at equal rates if
    /// `wear_spread` evens them out.
    pub(crate) fn life(&self, config: &Config, needed: u32) -> Option<f64> {
        let rows = u64::from(config.blocks) * u64::from(self.geometry.regions);
        let units_of_row = config.raw_bytes() / config.unit.0 / rows;
        let units = (units_of_row * u64::from(self.geometry.blocks_of_plane)) as f64;
        let is_leveled =
            config.pages().is_some_and(|mapping| mapping.garbage_collection.wear_spread.is_some());
        let erases = self.erases();
        let rates = if is_leveled { vec![1.0; erases.len()] } else { rates(&erases) };
        Some(self.blocks.life(&rates, needed, config.factory_bad.0)? * units)
    }

    /// Returns columns with the erase count of each superblock and the states of the blocks.
    pub(crate) fn columns(&self) -> [Column; 5] {
        let column = |name, value: f64| Column { name, values: vec![value] };
        [
            Column { name: "superblocks.erases", values: self.erases() },
            column("blocks_by_state.bad_from_start", f64::from(self.blocks.bad)),
            column("blocks_by_state.worn_out", f64::from(self.blocks.retired)),
            column("blocks_by_state.spare", self.blocks.spare_count() as f64),
            column("blocks_by_state.superblocks_usable", self.blocks.usable_counts().map(f64::from).sum()),
        ]
    }

    fn erases(&self) -> Vec<f64> {
        self.flash.blocks().iter().map(|block| f64::from(block.erases)).collect()
    }
}

/// Returns the relative erase rates of the superblocks, with mean 1. The variance that a Poisson process
/// would cause is removed. The remaining variance is assumed to persist.
fn rates(erases: &[f64]) -> Vec<f64> {
    let count = erases.len() as f64;
    let mean = erases.iter().sum::<f64>() / count;
    let variance = erases.iter().map(|erases| (erases - mean) * (erases - mean)).sum::<f64>() / count;
    if variance <= mean {
        return vec![1.0; erases.len()];
    }
    let lasting = ((variance - mean) / variance).sqrt();
    erases.iter().map(|erases| (1.0 + (erases / mean - 1.0) * lasting).max(RATE_MIN)).collect()
}
