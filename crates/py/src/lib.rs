//! The extension module `nacre._core`: converts and forwards, holds no logic.

use pyo3::prelude::*;

/// The module Python imports as `nacre._core`.
#[pymodule]
mod _core {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
