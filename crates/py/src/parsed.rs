//! A scenario that is parsed once and then used with different settings, e.g. for the points of a study.

use crate::cleaning::WithFunctions;
use crate::errors::config_error;
use crate::run::{RunColumns, RunOptions, build_checked, run_checked};
use crate::source::{Settings, Source, files_in};
use nacre_machine::{Checked, Outcome, record};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A parsed scenario with the catalog entries that its settings use. A mutex serializes access from several
/// threads.
#[pyclass(frozen, module = "nacre._core")]
pub(crate) struct Parsed {
    scenario: Mutex<nacre_machine::Parsed>,
    /// Folder to which file names in the scenario are relative.
    directory: PathBuf,
}

#[pymethods]
impl Parsed {
    /// Parses the text of the scenario.
    #[new]
    fn new(py: Python<'_>, source: Source) -> PyResult<Parsed> {
        let Source { text, name, directory } = source;
        let scenario =
            nacre_machine::Parsed::of(&text, &name).map_err(|problems| config_error(py, &problems))?;
        Ok(Parsed { scenario: Mutex::new(scenario), directory })
    }

    /// Returns the resolved values of the scenario with `overrides` as JSON text. Does not build the stack.
    fn resolve(&self, py: Python<'_>, overrides: Settings) -> PyResult<String> {
        Ok(record::resolved_json(&self.checked(py, &overrides)?.resolved).to_string())
    }

    /// Builds the stack with `overrides`, as a run does, to check that it can be built.
    fn build(&self, py: Python<'_>, overrides: Settings) -> PyResult<()> {
        let checked = self.checked(py, &overrides)?;
        let files = WithFunctions::new(files_in(py, self.directory.clone())?, None);
        build_checked(py, &checked, &files).map(|_| ())
    }

    /// Returns the cache key of the preconditioned state with `overrides`. Returns `None` if the scenario has
    /// no preconditioning.
    fn preparation(&self, py: Python<'_>, overrides: Settings) -> PyResult<Option<String>> {
        Ok(nacre_machine::saved::preparation(&self.checked(py, &overrides)?))
    }

    /// Runs the scenario with `overrides`. Returns the record as JSON text, and the columns of the record.
    /// The record contains the origins of its values if `origins` is true. The folder `preparations` caches
    /// preconditioned states.
    #[pyo3(signature = (overrides, preparations=None, origins=true))]
    fn run(
        &self,
        py: Python<'_>,
        overrides: Settings,
        preparations: Option<PathBuf>,
        origins: bool,
    ) -> PyResult<(String, RunColumns)> {
        let checked = self.checked(py, &overrides)?;
        let files = WithFunctions::new(files_in(py, self.directory.clone())?, None);
        let Outcome { mut record, columns } =
            run_checked(py, &checked, &files, None, RunOptions { preparations, ..RunOptions::default() })?;
        if !origins {
            record.origins.clear();
        }
        Ok((record.to_json(), RunColumns(columns)))
    }
}

impl Parsed {
    fn checked(&self, py: Python<'_>, overrides: &[(String, String)]) -> PyResult<Checked> {
        let mut parsed = self.scenario.lock().unwrap_or_else(PoisonError::into_inner);
        parsed.check(overrides, None).map_err(|problems| config_error(py, &problems))
    }
}
