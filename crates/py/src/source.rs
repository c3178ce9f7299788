//! Scenarios that are passed from Python.

use crate::errors::config_error;
use nacre_files::ScenarioFiles;
use nacre_machine::{Checked, Document, check};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Settings: paths and values as TOML.
pub(crate) type Settings = Vec<(String, String)>;

/// Text and origin of a scenario, from `nacre.scenario.source.Source`.
#[derive(FromPyObject)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// Name of the scenario in messages.
    pub(crate) name: String,
    /// Folder of the files of the scenario.
    pub(crate) directory: PathBuf,
}

impl Source {
    /// Returns the document with these settings.
    pub(crate) fn document<'a>(
        &'a self,
        overrides: &'a [(String, String)],
        seed: Option<u64>,
    ) -> Document<'a> {
        Document { text: &self.text, name: &self.name, overrides, seed }
    }

    /// Returns the scenario with these settings. Raises `ConfigError` if it has errors.
    pub(crate) fn checked(
        &self,
        py: Python<'_>,
        overrides: &[(String, String)],
        seed: Option<u64>,
    ) -> PyResult<Checked> {
        check(&self.document(overrides, seed)).map_err(|problems| config_error(py, &problems))
    }

    /// Returns the files of the scenario.
    pub(crate) fn files(&self, py: Python<'_>) -> PyResult<ScenarioFiles> {
        files_in(py, self.directory.clone())
    }
}

/// Returns the files of a scenario in `directory`. Built-in traces are in the folder `traces` of the package.
pub(crate) fn files_in(py: Python<'_>, directory: PathBuf) -> PyResult<ScenarioFiles> {
    let package: PathBuf = py.import("nacre")?.getattr("__file__")?.extract()?;
    Ok(ScenarioFiles::new(directory, package.parent().map(|folder| folder.join("traces"))))
}
