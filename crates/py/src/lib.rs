//! The extension module `nacre._core`. It converts arguments and results, and contains no other logic.
//!
//! Documents are passed as text. A record is returned as JSON text, together with its columns as NumPy
//! arrays. Long operations release the interpreter lock and report progress through a callback about ten
//! times per second.

#![expect(clippy::needless_pass_by_value, reason = "Python's arguments arrive as owned values")]

use pyo3::prelude::*;

mod arrays;
mod bugs;
mod catalog;
mod cleaning;
mod crash;
mod errors;
mod image;
mod memory;
mod parsed;
mod policies;
mod progress;
mod run;
mod serve;
mod source;
mod split;
mod trace;
mod units;

/// Allocator that requests large pages for the tables of large runs.
#[global_allocator]
static MEMORY: nacre_pages::LargePages = nacre_pages::LargePages;

/// The module that Python imports as `nacre._core`.
#[pymodule]
mod _core {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::catalog::{catalog, formats, models, schema_of, shipped_scenarios};
    #[pymodule_export]
    use super::cleaning::CleaningView;
    #[pymodule_export]
    use super::crash::{crash, crash_faults, crash_random};
    #[pymodule_export]
    use super::image::{check_image, repair_image};
    #[pymodule_export]
    use super::memory::Memory;
    #[pymodule_export]
    use super::parsed::Parsed;
    #[pymodule_export]
    use super::run::{RunColumns, check, mixes, resolve, run, step};
    #[pymodule_export]
    use super::serve::serve;
    #[pymodule_export]
    use super::split::{run_part, split_parts, split_together};
    #[pymodule_export]
    use super::trace::{
        trace_columns, trace_convert, trace_fit, trace_from_columns, trace_info, trace_misses,
        trace_policies, trace_sample,
    };

    #[pymodule_export]
    use super::units::{number_and_unit, units};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::bugs::report_through_exceptions();
        module.add("MINIATURE_BLOCKS_MIN", nacre_shape::miniature::BLOCKS_MIN)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
