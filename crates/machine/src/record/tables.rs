//! Data that is too long for JSON: distributions, time series, and tables of components.

use crate::meter::Meter;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_kernel::{Column, ComponentReport};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// File names in a record directory that tables must not use.
const TAKEN: [&str; 3] = ["latency", "time", "record"];
/// Name of the table with one row per erase block, and name of its column with the erases.
const BLOCKS: &str = "blocks";
const ERASES: &str = "erases";

/// Distributions, time series, and tables of components, as columns.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Columns of numbers, by name. A component's columns are named `<path>.<table>.<column>`.
    pub floats: Vec<(String, Vec<f64>)>,
    /// Columns of counts, by name.
    pub counts: Vec<(String, Vec<u64>)>,
}

/// Columns of one component, all of equal length. Each row is e.g. an erase block or a time interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Table {
    /// Number of rows.
    pub rows: u64,
    /// Names of the columns.
    pub columns: Vec<&'static str>,
}

/// Returns the tables of one component, by name.
pub(super) fn tables(report: &ComponentReport) -> BTreeMap<&'static str, Table> {
    let mut tables = BTreeMap::new();
    if let Some(erases) = counted(report) {
        tables.insert(BLOCKS, Table { rows: erases.len() as u64, columns: vec![ERASES] });
    }
    for column in others(report) {
        let place = format!("{}: column {}", report.path, column.name);
        let (name, field) = column.name.split_once('.').unwrap_or_else(|| panic!("{place}: of no table"));
        assert!(!TAKEN.contains(&name), "{place}: the record has a file {name}");
        let rows = column.values.len() as u64;
        let table = tables.entry(name).or_insert_with(|| Table { rows, columns: Vec::new() });
        assert_eq!(rows, table.rows, "{place}: as long as the others of its table");
        assert!(!table.columns.contains(&field), "{place}: there twice");
        table.columns.push(field);
    }
    tables
}

/// Returns all columns of a run.
pub(super) fn columns(meter: &Meter, reports: &[ComponentReport]) -> Columns {
    let mut columns = of_requests(meter);
    let Columns { floats, counts } = component_columns(reports);
    columns.floats.extend(floats);
    columns.counts.extend(counts);
    columns
}

/// Returns the columns of the tables of all components.
pub(super) fn component_columns(reports: &[ComponentReport]) -> Columns {
    let mut columns = Columns::default();
    for report in reports {
        if let Some(erases) = counted(report) {
            let counts = erases.iter().map(|&count| count.into()).collect();
            columns.counts.push((format!("{}.{BLOCKS}.{ERASES}", report.path), counts));
        }
        for column in others(report) {
            columns.floats.push((format!("{}.{}", report.path, column.name), column.values.clone()));
        }
    }
    columns
}

/// Returns the number of erases of each block, or `None` without blocks.
fn counted(report: &ComponentReport) -> Option<&[u32]> {
    let wear = report.wear.as_ref()?;
    (!wear.block_erases.is_empty()).then_some(&wear.block_erases)
}

/// Returns the columns of a component without the erases of each block, because the wear of the component
/// contains these as integers.
fn others(report: &ComponentReport) -> impl Iterator<Item = &Column> {
    let erases = counted(report);
    report.columns.iter().filter(move |column| {
        let twice = erases.filter(|_| column.name.split_once('.') == Some((BLOCKS, ERASES)));
        let agree =
            |erases: &[u32]| erases.iter().map(|&count| f64::from(count)).eq(column.values.iter().copied());
        assert!(twice.is_none_or(agree), "{}: column {}: not as its wear says", report.path, column.name);
        twice.is_none()
    })
}

fn of_requests(meter: &Meter) -> Columns {
    let mut columns = Columns::default();
    for (op, of) in [("read", &meter.reads), ("write", &meter.writes), ("flush", &meter.flushes)] {
        let (uptos, counts) = bars(&of.latency);
        columns.floats.push((format!("latency.{op}.upto_ns"), uptos));
        columns.counts.push((format!("latency.{op}.count"), counts));
    }
    let bins = meter.series.bins();
    let width = meter.series.width().as_secs_f64();
    let mut float = |name: &str, values| columns.floats.push((name.into(), values));
    float("time.start_s", (0..bins.len()).map(|index| index as f64 * width).collect());
    float("time.width_s", vec![width]);
    // 0 / 0 is NaN, which means that no request completed in that interval.
    let mean = |ps: u128, done: u64| ps as f64 / 1e3 / done as f64;
    float(
        "time.mean_latency_ns",
        bins.iter().map(|bin| mean(bin.latency_ps, bin.reads + bin.writes)).collect(),
    );
    let mut count = |name: &str, values| columns.counts.push((name.into(), values));
    count("time.reads", bins.iter().map(|bin| bin.reads).collect());
    count("time.writes", bins.iter().map(|bin| bin.writes).collect());
    count("time.bytes", bins.iter().map(|bin| bin.bytes).collect());
    columns
}

fn bars(histogram: &LatencyHistogram) -> (Vec<f64>, Vec<u64>) {
    histogram.bars().map(|bar| (bar.upto.as_ns_f64(), bar.count)).unzip()
}
