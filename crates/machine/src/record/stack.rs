//! Results of a stack that is served without a workload.

use super::assemble::{component, energies};
use super::findings::flatten;
use super::tables::component_columns;
use super::wear::total;
use super::{Columns, Component};
use nacre_kernel::{ComponentReport, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// Results of the components of a stack. Results of a workload are omitted. The fields are those of
/// [`Record`](super::Record).
#[derive(Clone, Debug, Serialize)]
pub struct StackReport {
    /// Results of each component, parents before children.
    pub components: Vec<Component>,
    /// Pages programmed per page of host data, over all media.
    pub write_amplification: Option<f64>,
    /// Pages programmed by garbage collection per page of host data, over all media.
    pub cleaning_cost: Option<f64>,
    /// Number of blocks erased, over all media.
    pub erases: Option<u64>,
    /// Energy in joules by component path.
    pub energy_j: BTreeMap<String, f64>,
    /// Lifetime in days of the first component that wears out, at the write rate so far.
    pub lifetime_days: Option<f64>,
    /// Tables of the components, as columns.
    #[serde(skip)]
    pub columns: Columns,
}

/// Converts the report of the top device. The report covers the time `elapsed`.
pub fn stack_report(report: ComponentReport, elapsed: Time) -> StackReport {
    let mut reports = Vec::new();
    flatten(report, &mut reports);
    let components: Vec<Component> = reports.iter().map(|report| component(report, elapsed)).collect();
    let worn = total(&reports);
    let lifetimes = components.iter().filter_map(|component| component.lifetime_days);
    StackReport {
        write_amplification: worn.as_ref().and_then(|wear| wear.write_amplification()),
        cleaning_cost: worn.as_ref().and_then(|wear| wear.cleaning_cost()),
        erases: worn.as_ref().map(|wear| wear.erases),
        energy_j: energies(&components),
        lifetime_days: lifetimes.reduce(f64::min),
        columns: component_columns(&reports),
        components,
    }
}
