//! Simulation of a scenario whose trace is split across workers. This module computes the parts, runs a part,
//! and combines the results.

use crate::bugs::detached;
use crate::errors::config_error;
use crate::progress::Reporter;
use crate::run::columns_dict;
use crate::source::{Settings, Source};
use nacre_machine::split::{self, Splitting};
use nacre_machine::{Outcome, Problems};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Computes the parts of a scenario whose trace is split according to `way`, e.g. `"volume"` or `"hash:4"`.
/// Returns, for each part, the additional settings and the number of requests. Returns `None` if `progress`
/// stopped reading the trace.
#[pyfunction]
#[pyo3(signature = (source, overrides, way, progress=None))]
pub(crate) fn split_parts(
    py: Python<'_>,
    source: Source,
    overrides: Settings,
    way: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<Vec<(Settings, u64)>>> {
    let way = parsed(py, way)?;
    let checked = source.checked(py, &overrides, None)?;
    let files = source.files(py)?;
    let mut reporter = Reporter::new(progress);
    let found = detached(py, || {
        split::parts(&checked, way, &files, &mut |progress| {
            reporter.report((progress.done, files.share_read().estimate(progress.done)))
        })
    })?;
    reporter.outcome()?;
    let parts = found.map_err(|problems| config_error(py, &problems))?;
    Ok(parts.map(|parts| parts.into_iter().map(|part| (part.settings, part.requests)).collect()))
}

/// Runs one part of a split scenario. Returns its result as text for [`split_together`].
#[pyfunction]
pub(crate) fn run_part(py: Python<'_>, source: Source, overrides: Settings) -> PyResult<String> {
    let checked = source.checked(py, &overrides, None)?;
    let files = source.files(py)?;
    let mut reporter = Reporter::new(None);
    let text = detached(py, || split::run_part(&checked, &files, &mut |_| reporter.report(())))?;
    reporter.outcome()?;
    text.map_err(|problems| config_error(py, &problems))
}

/// Combines the results of all parts. Returns the record as JSON text, and its columns as NumPy arrays.
#[pyfunction]
pub(crate) fn split_together<'py>(
    py: Python<'py>,
    source: Source,
    overrides: Settings,
    way: &str,
    parts: Vec<String>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let way = parsed(py, way)?;
    let checked = source.checked(py, &overrides, None)?;
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let outcome: Result<Outcome, Problems> = detached(py, || split::together(&checked, way, &texts))?;
    let Outcome { record, columns } = outcome.map_err(|problems| config_error(py, &problems))?;
    Ok((record.to_json(), columns_dict(py, &columns)?))
}

fn parsed(py: Python<'_>, way: &str) -> PyResult<Splitting> {
    Splitting::parse(way).map_err(|problem| config_error(py, &problem.into()))
}
