//! What has to be there before a NumPy array is made.

use pyo3::prelude::*;

/// Imports NumPy, which the first array would do otherwise, where an import that fails (as under Ctrl-C) is a panic.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    py.import("numpy").map(drop)
}
