//! Power-loss tests of a stack, which is the stack of a scenario or a random stack.

use crate::bugs::detached;
use crate::errors::{config_error, error};
use crate::progress::Reporter;
use crate::source::{Settings, Source};
use nacre_crash::{Fault, Options};
use nacre_kernel::ErrorCode;
use nacre_machine::crash::{NoFiles, crash as crash_stack, random_stack, report_json};
use pyo3::prelude::*;

/// Cuts the power of a scenario's stack repeatedly. Returns the results as JSON text.
#[pyfunction]
#[pyo3(signature = (source, overrides, points, seed, faults, progress=None))]
pub(crate) fn crash(
    py: Python<'_>,
    source: Source,
    overrides: Settings,
    points: u64,
    seed: u64,
    faults: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let checked = source.checked(py, &overrides, None)?;
    let files = source.files(py)?;
    let named = |name: &String| {
        let known = Fault::INJECTED.into_iter().find(|fault| fault.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Fault::INJECTED.iter().map(|fault| fault.name()).collect();
            let data = vec![("known", names.as_slice().into())];
            error(py, ErrorCode::UnknownName, data, format!("unknown media fault {name:?}"))
        })
    };
    let faults = faults.iter().map(named).collect::<PyResult<Vec<Fault>>>()?;
    let options = Options { faults, ..Options::new(points, seed) };
    let mut reporter = Reporter::new(progress);
    let report = detached(py, || {
        crash_stack(&checked, &files, &options, &mut |done: u64| {
            reporter.report((done.min(points), Some(points)))
        })
    })?;
    reporter.outcome()?;
    let report = report.map_err(|problems| config_error(py, &problems))?;
    Ok(report_json(&report).to_string())
}

/// Like [`crash`], for the random stack that `seed` determines. Also returns the scenario of the stack.
#[pyfunction]
#[pyo3(signature = (seed, points, progress=None))]
pub(crate) fn crash_random(
    py: Python<'_>,
    seed: u64,
    points: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let mut reporter = Reporter::new(progress);
    let (text, report) = detached(py, || {
        let random = random_stack(seed, points);
        let watch = &mut |done: u64| reporter.report((done.min(points), Some(points)));
        (random.text, crash_stack(&random.checked, &NoFiles, &random.options, watch))
    })?;
    reporter.outcome()?;
    let report = report.map_err(|problems| config_error(py, &problems))?;
    Ok((text, report_json(&report).to_string()))
}

/// Returns the names of the faults that can be injected into a medium.
#[pyfunction]
pub(crate) fn crash_faults() -> Vec<&'static str> {
    Fault::INJECTED.into_iter().map(Fault::name).collect()
}
