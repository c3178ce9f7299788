//! A scenario that is parsed once and asked for with many settings, as the points of a study are.

use crate::cleaning::WithFunctions;
use crate::errors::config_error;
use crate::run::{RunColumns, RunOptions, build_checked, run_checked};
use crate::source::{Settings, Source, files_in};
use nacre_machine::{Checked, Outcome, record};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A scenario that is parsed, with what its settings named of the catalog. Threads take turns.
#[pyclass(frozen, module = "nacre._core")]
pub(crate) struct Parsed {
    scenario: Mutex<nacre_machine::Parsed>,
    /// Where its files lie.
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

    /// The values it resolves to with these settings, as JSON text, without building its stack.
    fn resolve(&self, py: Python<'_>, overrides: Settings) -> PyResult<String> {
        Ok(record::resolved_json(&self.checked(py, &overrides)?.resolved).to_string())
    }

    /// Builds its stack with these settings, as a run does.
    fn build(&self, py: Python<'_>, overrides: Settings) -> PyResult<()> {
        let checked = self.checked(py, &overrides)?;
        let files = WithFunctions::new(files_in(py, self.directory.clone())?, None);
        build_checked(py, &checked, &files).map(|_| ())
    }

    /// What decides in which state preconditioning leaves its stack with these settings; `None` if there is none.
    fn preparation(&self, py: Python<'_>, overrides: Settings) -> PyResult<Option<String>> {
        Ok(nacre_machine::saved::preparation(&self.checked(py, &overrides)?))
    }

    /// Runs it with these settings; returns the record as JSON text, with the `origins` of its values where they are
    /// wanted, and its columns. The folder `preparations` keeps what preconditioning leads to.
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
