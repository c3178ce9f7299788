//! Scenarios that are passed from Python.

use crate::errors::config_error;
use nacre_files::ScenarioFiles;
use nacre_machine::{Checked, Document, check};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Overrides of settings. Each override has the path of the setting and a value in TOML syntax.
pub(crate) type Settings = Vec<(String, String)>;

/// Text, name, and folder of a scenario, from `nacre.scenario.source.Source`.
#[derive(FromPyObject)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// Name of the scenario in messages.
    pub(crate) name: String,
    /// Folder to which file names in the scenario are relative.
    pub(crate) directory: PathBuf,
}

impl Source {
    /// Returns the scenario document with `overrides` and `seed`.
    pub(crate) fn document<'a>(
        &'a self,
        overrides: &'a [(String, String)],
        seed: Option<u64>,
    ) -> Document<'a> {
        Document { text: &self.text, name: &self.name, overrides, seed }
    }

    /// Checks the scenario with `overrides` and `seed`, and returns the checked scenario. Raises
    /// `ConfigError` if the scenario has errors.
    pub(crate) fn checked(
        &self,
        py: Python<'_>,
        overrides: &[(String, String)],
        seed: Option<u64>,
    ) -> PyResult<Checked> {
        check(&self.document(overrides, seed)).map_err(|problems| config_error(py, &problems))
    }

    /// Returns access to the files of the scenario.
    pub(crate) fn files(&self, py: Python<'_>) -> PyResult<ScenarioFiles> {
        files_in(py, self.directory.clone())
    }
}

/// Returns access to the files of a scenario in `directory`. The folder `traces` of the package contains the
/// built-in traces.
pub(crate) fn files_in(py: Python<'_>, directory: PathBuf) -> PyResult<ScenarioFiles> {
    let package: PathBuf = py.import("nacre")?.getattr("__file__")?.extract()?;
    Ok(ScenarioFiles::new(directory, package.parent().map(|folder| folder.join("traces"))))
}
