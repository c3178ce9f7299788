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
    /// Pages programmed with device tables and parity.
    pub metadata: u64,
    /// Pages programmed as padding, i.e. without data, to complete a multi-plane or stripe program.
    pub padding: u64,
    /// Total number of pages programmed.
    pub programs: u64,
    /// Number of blocks erased.
    pub erases: u64,
    /// Lifetime erases per block, or null for a medium without erases.
    pub block_erases: Option<BlockErases>,
    /// Rated erases of a block, or rated programs of a row for a medium without erases, or null if unknown.
    pub endurance: Option<u64>,
    /// Lifetime programs per row of a medium that is written in place, or null for other media.
    pub row_programs: Option<RowPrograms>,
    /// Valid pages at the end of the run, or null if the device does not count them.
    pub valid: Option<u64>,
    /// Pages programmed per page of host data, or null before the first host page.
    pub write_amplification: Option<f64>,
    /// Pages programmed by garbage collection per page of host data, or null before the first host page.
    pub cleaning_cost: Option<f64>,
}

/// Statistics of the lifetime erases of blocks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockErases {
    /// Number of blocks.
    pub blocks: u64,
    /// Minimum erases of a block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Maximum erases of a block.
    pub max: u32,
    /// Standard deviation over all blocks.
    pub stddev: f64,
}

/// Statistics of the lifetime programs of rows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RowPrograms {
    /// Number of rows.
    pub rows: u64,
    /// Minimum programs of a row.
    pub min: u32,
    /// Mean programs of a row.
    pub mean: f64,
    /// Maximum programs of a row.
    pub max: u32,
    /// Standard deviation over all rows.
    pub stddev: f64,
}

/// Converts the wear of one component to its form in the record.
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

/// Returns the total wear of all components, or `None` if no component wears.
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
