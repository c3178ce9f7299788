//! Loading of NumPy before arrays are created.

use pyo3::prelude::*;

/// Loads NumPy. Otherwise, creating the first array would load NumPy, and a Ctrl-C during this import would
/// cause a panic.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    numpy::get_array_module(py).map(drop)
}
