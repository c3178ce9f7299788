//! Preparation for NumPy arrays.

use pyo3::prelude::*;

/// Loads NumPy. Otherwise, the first array would load it, and an interrupted import (by Ctrl-C) would then
/// panic.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    numpy::get_array_module(py).map(drop)
}
