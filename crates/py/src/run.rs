//! Running and checking scenarios.

use crate::bugs::detached;
use crate::cleaning::{Functions, WithFunctions};
use crate::errors::config_error;
use crate::progress::Reporter;
use nacre_files::ScenarioFiles;
use nacre_machine::{Checked, Columns, Document, Outcome, check as check_document, record};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Runs a scenario; returns the record as JSON text and its columns as NumPy arrays.
#[pyfunction]
#[pyo3(signature = (scenario, name, directory, overrides, seed=None, progress=None, cleaners=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn run<'py>(
    py: Python<'py>,
    scenario: &str,
    name: &str,
    directory: PathBuf,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    progress: Option<Py<PyAny>>,
    cleaners: Option<Functions>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let checked = checked(py, scenario, name, &overrides, seed)?;
    let files = scenario_files(py, directory)?;
    let files = WithFunctions::new(files, cleaners);
    let mut reporter = Reporter::new(progress);
    let outcome = detached(py, || {
        nacre_machine::run(&checked, &files, &mut |progress| {
            if files.has_failed() {
                return ControlFlow::Break(());
            }
            let expected = progress.expected.or_else(|| files.scenario.share_read().estimate(progress.done));
            reporter.report((progress.done, expected, progress.simulated.as_secs_f64()))
        })
    })?;
    files.outcome(py)?;
    reporter.outcome()?;
    let Outcome { record, columns } = outcome.map_err(|problems| config_error(py, &problems))?;
    Ok((record.to_json(), columns_dict(py, columns)?))
}

/// Checks a scenario; returns the resolved values and their origins as JSON text.
#[pyfunction]
#[pyo3(signature = (scenario, name, directory, overrides, cleaners=None))]
pub(crate) fn check(
    py: Python<'_>,
    scenario: &str,
    name: &str,
    directory: PathBuf,
    overrides: Vec<(String, String)>,
    cleaners: Option<Functions>,
) -> PyResult<String> {
    let checked = checked(py, scenario, name, &overrides, None)?;
    let files = WithFunctions::new(scenario_files(py, directory)?, cleaners);
    let built = detached(py, || nacre_machine::stack::build(&checked, &files).map(|_| ()))?;
    files.outcome(py)?;
    built.map_err(|problems| config_error(py, &problems))?;
    let origins: Vec<_> = checked.resolved.iter().map(record::value_origin).collect();
    let document = serde_json::json!({
        "name": checked.name,
        "scenario": record::resolved_json(&checked.resolved),
        "origins": origins,
    });
    Ok(document.to_string())
}

/// The resolved values of a scenario as JSON text, without building its stack.
#[pyfunction]
pub(crate) fn resolve(
    py: Python<'_>,
    scenario: &str,
    name: &str,
    overrides: Vec<(String, String)>,
) -> PyResult<String> {
    let checked = checked(py, scenario, name, &overrides, None)?;
    Ok(record::resolved_json(&checked.resolved).to_string())
}

/// Every mix of the tiers of a scenario in `steps` parts: what is known of the tiers as JSON text, and for each
/// mix the steps and extents of every tier, the mean seconds of an access and the price of a GiB (NaN: not known). `None`
/// if `progress` ended it.
#[pyfunction]
#[pyo3(signature = (scenario, name, directory, overrides, steps, progress=None))]
pub(crate) fn mixes<'py>(
    py: Python<'py>,
    scenario: &str,
    name: &str,
    directory: PathBuf,
    overrides: Vec<(String, String)>,
    steps: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<(String, Bound<'py, PyDict>)>> {
    let checked = checked(py, scenario, name, &overrides, None)?;
    let files = scenario_files(py, directory)?;
    let mut reporter = Reporter::new(progress);
    let found = detached(py, || {
        nacre_machine::stack::mixes(&checked, &files, steps, &mut |progress| {
            let expected = progress.expected.or_else(|| files.share_read().estimate(progress.done));
            reporter.report((progress.done, expected))
        })
    })?;
    reporter.outcome()?;
    let Some(found) = found.map_err(|problems| config_error(py, &problems))? else {
        return Ok(None);
    };
    let tiers: Vec<_> = found
        .speeds
        .iter()
        .zip(&found.prices)
        .enumerate()
        .map(|(tier, (speed, price))| {
            let basis = record::price_basis(&checked, &format!("stack.tier[{tier}].device"));
            serde_json::json!({
                "read_s": speed.read_s,
                "write_s": speed.write_s,
                "price": price,
                "price_basis": basis.filter(|_| price.is_some()),
            })
        })
        .collect();
    let document = serde_json::json!({
        "name": checked.name,
        "tiers": tiers,
        "reads": found.accesses.reads,
        "writes": found.accesses.writes,
        "read_bytes": found.bytes[0],
        "write_bytes": found.bytes[1],
        "extents": found.extents,
    });
    let columns = PyDict::new(py);
    for tier in 0..found.speeds.len() {
        let extents: Vec<u64> = found.mixes.iter().map(|mix| mix.extents[tier]).collect();
        columns.set_item(format!("extents.{tier}"), PyArray1::from_vec(py, extents))?;
        let given: Vec<u32> = found.mixes.iter().map(|mix| mix.steps[tier]).collect();
        columns.set_item(format!("steps.{tier}"), PyArray1::from_vec(py, given))?;
    }
    let mean_s: Vec<f64> = found.mixes.iter().map(|mix| found.mean_s(mix)).collect();
    let price: Vec<f64> = found.mixes.iter().map(|mix| found.price(mix).unwrap_or(f64::NAN)).collect();
    columns.set_item("mean_s", PyArray1::from_vec(py, mean_s))?;
    columns.set_item("price", PyArray1::from_vec(py, price))?;
    Ok(Some((document.to_string(), columns)))
}

pub(crate) fn checked(
    py: Python<'_>,
    scenario: &str,
    name: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
) -> PyResult<Checked> {
    check_document(&Document { text: scenario, name, overrides, seed })
        .map_err(|problems| config_error(py, &problems))
}

/// The files of a scenario in `directory`; shipped traces lie in the package's `traces` folder.
pub(crate) fn scenario_files(py: Python<'_>, directory: PathBuf) -> PyResult<ScenarioFiles> {
    let package: PathBuf = py.import("nacre")?.getattr("__file__")?.extract()?;
    Ok(ScenarioFiles::new(directory, package.parent().map(|folder| folder.join("traces"))))
}

pub(crate) fn columns_dict(py: Python<'_>, columns: Columns) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in columns.floats {
        dict.set_item(name, PyArray1::from_vec(py, values))?;
    }
    for (name, values) in columns.counts {
        dict.set_item(name, PyArray1::from_vec(py, values))?;
    }
    Ok(dict)
}
