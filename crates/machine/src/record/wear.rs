//! Programs and erases of media, and their distribution over blocks.

use nacre_kernel::{ComponentReport, ledger};
use schemars::JsonSchema;
use serde::Serialize;

/// Pages programmed and blocks erased since measurement started, by cause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Wear {
    /// Pages programmed with host data.
    pub host: u64,
    /// Pages programmed by garbage collection.
    pub cleaned: u64,
    /// Pages programmed by wear leveling.
    pub leveled: u64,
    /// Pages programmed with tables of the device and with parity.
    pub metadata: u64,
    /// Pages programmed without data, to fill a multi-plane or stripe program.
    pub padding: u64,
    /// All pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Lifetime erases by block; null for a medium without erases.
    pub block_erases: Option<BlockErases>,
    /// Rated erases of a block, or rated programs of a row of a medium without erases; null if unknown.
    pub endurance: Option<u64>,
    /// Lifetime programs by row of a medium that is written in place; null without one.
    pub row_programs: Option<RowPrograms>,
    /// Valid pages at the end; null if the device does not count them.
    pub valid: Option<u64>,
    /// Pages programmed per page of host data; null before the first.
    pub write_amplification: Option<f64>,
    /// Pages programmed by garbage collection per page of host data; null before the first.
    pub cleaning_cost: Option<f64>,
}

/// Lifetime erases of blocks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockErases {
    /// Blocks.
    pub blocks: u64,
    /// Minimum over blocks.
    pub min: u32,
    /// Mean over blocks.
    pub mean: f64,
    /// Maximum over blocks.
    pub max: u32,
    /// Standard deviation over all blocks.
    pub stddev: f64,
}

/// Lifetime programs of rows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RowPrograms {
    /// Rows.
    pub rows: u64,
    /// Minimum over rows.
    pub min: u32,
    /// Mean over rows.
    pub mean: f64,
    /// Maximum over rows.
    pub max: u32,
    /// Standard deviation over all rows.
    pub stddev: f64,
}

/// The wear of one component.
pub(super) fn wear(wear: &ledger::Wear) -> Wear {
    Wear {
        host: wear.host,
        cleaned: wear.cleaned,
        leveled: wear.leveled,
        metadata: wear.metadata,
        padding: wear.padding,
        programs: wear.programs(),
        erases: wear.erases,
        block_erases: block_erases(&wear.block_erases),
        endurance: wear.endurance,
        row_programs: wear.row_programs.map(|spread| {
            let ledger::Spread { count: rows, min, mean, max, stddev } = spread;
            RowPrograms { rows, min, mean, max, stddev }
        }),
        valid: wear.valid,
        write_amplification: wear.write_amplification(),
        cleaning_cost: wear.cleaning_cost(),
    }
}

/// The wear of all components together; `None` if none has any.
pub(super) fn total(reports: &[ComponentReport]) -> Option<ledger::Wear> {
    reports.iter().filter_map(|report| report.wear.as_ref()).fold(None, |sum, wear| {
        let sum: ledger::Wear = sum.unwrap_or_default();
        Some(ledger::Wear {
            host: sum.host + wear.host,
            cleaned: sum.cleaned + wear.cleaned,
            leveled: sum.leveled + wear.leveled,
            metadata: sum.metadata + wear.metadata,
            padding: sum.padding + wear.padding,
            erases: sum.erases + wear.erases,
            ..sum
        })
    })
}

fn block_erases(erases: &[u32]) -> Option<BlockErases> {
    let (min, max) = (*erases.iter().min()?, *erases.iter().max()?);
    let blocks = erases.len() as f64;
    let mean = erases.iter().map(|&count| u64::from(count)).sum::<u64>() as f64 / blocks;
    let apart = erases.iter().map(|&count| f64::from(count) - mean);
    let squares: f64 = apart.map(|apart| apart * apart).sum();
    let stddev = (squares / blocks).sqrt();
    Some(BlockErases { blocks: erases.len() as u64, min, mean, max, stddev })
}
