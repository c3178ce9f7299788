//! Preparation for NumPy arrays.

use pyo3::prelude::*;

/// Loads NumPy. Otherwise the first array would, where an interrupted import (by Ctrl-C) panics.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    numpy::get_array_module(py).map(drop)
}
