//! Rust errors as Python exceptions, with the same text as the command line.

use nacre_machine::Problems;
use nacre_memory::MemoryError;
use nacre_workload::trace::TraceError;
use pyo3::exceptions::{PyException, PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

static ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static CONFIG_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TRACE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TRANSACTION_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TRANSACTION_TOO_LARGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// What the first function that failed raised.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    pub(crate) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn remember(&self, failure: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }
}

/// Adds the exceptions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", error_type(py)?)?;
    module.add("ConfigError", config_error_type(py)?)?;
    module.add("TraceError", trace_error_type(py)?)?;
    module.add("TransactionError", transaction_error_type(py)?)?;
    module.add("TransactionTooLarge", transaction_too_large_type(py)?)
}

/// The exception for the mistakes of a document; its `problems` lists them all.
pub(crate) fn config_error(py: Python<'_>, problems: &Problems) -> PyErr {
    raised(config_error_type(py), problems.to_string(), |error| {
        error.setattr("problems", problem_list(py, problems)?)
    })
}

/// The exception for a trace that cannot be read or written.
pub(crate) fn trace_error(py: Python<'_>, error: TraceError) -> PyErr {
    match error {
        // Without a number it is not the system that complains but a decompressor.
        TraceError::Io { source_name, place, error } if error.raw_os_error().is_none() => {
            let text = format!(
                "{source_name}, {place}: the compressed file is damaged or cut short ({error}); get it anew"
            );
            raised(trace_error_type(py), text, |_| Ok(()))
        }
        TraceError::Io { source_name, error, .. } => os_error(&source_name, &error),
        error => raised(trace_error_type(py), error.to_string(), |_| Ok(())),
    }
}

/// The exception for what a memory could not do.
pub(crate) fn memory_error(py: Python<'_>, error: &MemoryError) -> PyErr {
    let class = match error {
        MemoryError::Scenario(problems) => return config_error(py, problems),
        MemoryError::OutOfRange { .. } => return PyIndexError::new_err(error.to_string()),
        MemoryError::TransactionTooLarge { .. } => transaction_too_large_type(py),
        MemoryError::TransactionOpen | MemoryError::NoTransaction | MemoryError::NoTransactions { .. } => {
            transaction_error_type(py)
        }
        _ => error_type(py),
    };
    raised(class, error.to_string(), |_| Ok(()))
}

/// The exception for any other mistake.
pub(crate) fn error(py: Python<'_>, text: String) -> PyErr {
    raised(error_type(py), text, |_| Ok(()))
}

/// The built-in exception for a file that cannot be opened, read or written.
pub(crate) fn os_error(file: &str, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        // OSError with a number becomes FileNotFoundError, PermissionError, ... by itself.
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_string();
            PyOSError::new_err((number, text, file.to_string()))
        }
        None => PyOSError::new_err(format!("{file}: {error}")),
    }
}

/// The exception for a failed assertion: our own bug.
pub(crate) fn bug(py: Python<'_>, text: &str) -> PyErr {
    let text = format!("a bug in Nacre {}: {text}", env!("CARGO_PKG_VERSION"));
    error(py, text)
}

fn raised(
    class: PyResult<&Bound<'_, PyType>>,
    text: String,
    dress: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
) -> PyErr {
    let made = class.and_then(|class| {
        let error = class.call1((text,))?;
        dress(&error)?;
        Ok(PyErr::from_value(error))
    });
    made.unwrap_or_else(|failure| failure)
}

fn problem_list<'py>(py: Python<'py>, problems: &Problems) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in &problems.0 {
        let entry = PyDict::new(py);
        entry.set_item("path", &problem.path)?;
        entry.set_item("where", &problem.place)?;
        entry.set_item("given", &problem.given)?;
        entry.set_item("problem", &problem.problem)?;
        entry.set_item("hint", &problem.remedy)?;
        list.append(entry)?;
    }
    Ok(list)
}

fn error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    class(py, &ERROR, "Error", "Whatever Nacre reports.", |py| {
        (py.get_type::<PyException>(),).into_pyobject(py)
    })
}

fn config_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A scenario with mistakes; `problems` lists every one.";
    class(py, &CONFIG_ERROR, "ConfigError", doc, value_error_bases)
}

fn trace_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A trace that cannot be read as what it was said to be, or not be written.";
    class(py, &TRACE_ERROR, "TraceError", doc, value_error_bases)
}

fn transaction_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A transaction where there can be none, or none where there has to be one.";
    class(py, &TRANSACTION_ERROR, "TransactionError", doc, |py| (error_type(py)?.clone(),).into_pyobject(py))
}

fn transaction_too_large_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A write that an open transaction has no room for; it changed nothing.";
    class(py, &TRANSACTION_TOO_LARGE, "TransactionTooLarge", doc, |py| {
        (transaction_error_type(py)?.clone(),).into_pyobject(py)
    })
}

fn value_error_bases(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    (error_type(py)?.clone(), py.get_type::<PyValueError>()).into_pyobject(py)
}

/// A class made the way Python makes one, because it may have two bases.
fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
    doc: &str,
    bases: impl FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
) -> PyResult<&'py Bound<'py, PyType>> {
    let class = cell.get_or_try_init(py, || -> PyResult<Py<PyType>> {
        let body = PyDict::new(py);
        body.set_item("__module__", "nacre._core")?;
        body.set_item("__doc__", doc)?;
        let class = py.get_type::<PyType>().call1((name, bases(py)?, body))?;
        Ok(class.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py))
}
