//! What has to be there before a NumPy array is made.

use pyo3::prelude::*;

/// Loads NumPy, which the first array would do otherwise, where what ends an import (as Ctrl-C does) is a panic.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    numpy::get_array_module(py).map(drop)
}
