//! Conversion of Rust errors to Python exceptions, with the same text as on the command line.

use nacre_kernel::{Datum, ErrorCode, ErrorData, error_code};
use nacre_machine::Problems;
use nacre_memory::MemoryError;
use nacre_workload::trace::TraceError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Exception of the first Python function that failed during a run.
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

/// Creates the exception for errors in a document. The attribute `problems` of the exception lists all
/// errors.
pub(crate) fn config_error(py: Python<'_>, problems: &Problems) -> PyErr {
    let Some(first) = problems.0.first() else { return failed(py, problems.to_string()) };
    let kind = Kind { class: "ConfigError", code: first.code, data: first.data.clone() };
    raised(py, kind, problems.to_string(), |error| error.setattr("problems", problem_list(py, problems)?))
}

/// Creates the exception for a trace that cannot be read or written.
pub(crate) fn trace_error(py: Python<'_>, error: TraceError) -> PyErr {
    let kind = Kind { class: "TraceError", code: error.code(), data: error.data() };
    match error {
        // An error without an OS error number comes from a decompressor.
        TraceError::Io { source_name, place, error } if error.raw_os_error().is_none() => {
            let text = format!(
                "{source_name}, {place}: the compressed file is damaged or cut short ({error}); download \
                 it again"
            );
            raised(py, kind, text, |_| Ok(()))
        }
        TraceError::Io { source_name, error, .. } => os_error(&source_name, &error),
        error => raised(py, kind, error.to_string(), |_| Ok(())),
    }
}

/// Creates the exception for an error of a simulated memory.
pub(crate) fn memory_error(py: Python<'_>, error: &MemoryError) -> PyErr {
    let class = match error {
        MemoryError::Scenario(problems) => return config_error(py, problems),
        MemoryError::OutOfRange { .. } => "AddressError",
        MemoryError::TransactionTooLarge { .. } => "TransactionTooLarge",
        MemoryError::TransactionOpen | MemoryError::NoTransaction | MemoryError::NoTransactions { .. } => {
            "TransactionError"
        }
        _ => "Error",
    };
    raised(py, Kind { class, code: error.code(), data: error.data() }, error.to_string(), |_| Ok(()))
}

/// Creates the exception for another error that has a code.
pub(crate) fn error(py: Python<'_>, code: ErrorCode, data: ErrorData, text: String) -> PyErr {
    raised(py, Kind { class: "Error", code, data }, text, |_| Ok(()))
}

/// Creates the exception for an invalid result of a user's function.
pub(crate) fn function_failed(py: Python<'_>, text: String) -> PyErr {
    error(py, ErrorCode::FunctionFailed, ErrorData::new(), text)
}

/// Creates the exception for errors without a more specific code.
pub(crate) fn failed(py: Python<'_>, text: String) -> PyErr {
    error(py, ErrorCode::Failed, ErrorData::new(), text)
}

/// Creates the built-in exception for a file that cannot be opened, read, or written.
pub(crate) fn os_error(file: &str, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        // Python converts an OSError with a number to FileNotFoundError, PermissionError, etc.
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_string();
            PyOSError::new_err((number, text, file.to_string()))
        }
        None => PyOSError::new_err(format!("{file}: {error}")),
    }
}

/// Creates the exception for a thread that the system cannot create.
pub(crate) fn no_thread(py: Python<'_>, text: String, denied: &io::Error) -> PyErr {
    let kind =
        Kind { class: "SystemLimitError", code: ErrorCode::OutOfThreads, data: error_code::errno(denied) };
    raised(py, kind, text, |_| Ok(()))
}

/// Creates the exception for a failed assertion, which is a bug in Nacre.
pub(crate) fn bug(py: Python<'_>, text: &str) -> PyErr {
    let text = format!("a bug in Nacre {}: {text}", env!("CARGO_PKG_VERSION"));
    let kind = Kind { class: "InternalError", code: ErrorCode::Bug, data: ErrorData::new() };
    raised(py, kind, text, |_| Ok(()))
}

/// Class in `nacre.errors`, code, and machine-readable data of an exception.
struct Kind {
    class: &'static str,
    code: ErrorCode,
    data: ErrorData,
}

fn raised(
    py: Python<'_>,
    kind: Kind,
    text: String,
    dress: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let class = py.import("nacre.errors")?.getattr(kind.class)?;
        let error = class.call((text, kind.code.name()), Some(&dict(py, &kind.data)?))?;
        dress(&error)?;
        Ok(PyErr::from_value(error))
    };
    make().unwrap_or_else(|failure| failure)
}

/// Converts the data of an error to a Python dictionary.
fn dict<'py>(py: Python<'py>, data: &ErrorData) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, datum) in data {
        match datum {
            Datum::Integer(number) => dict.set_item(key, number)?,
            Datum::Text(text) => dict.set_item(key, text)?,
            Datum::Texts(texts) => dict.set_item(key, texts)?,
        }
    }
    Ok(dict)
}

fn problem_list<'py>(py: Python<'py>, problems: &Problems) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in &problems.0 {
        let entry = PyDict::new(py);
        entry.set_item("code", problem.code.name())?;
        entry.set_item("data", dict(py, &problem.data)?)?;
        entry.set_item("path", &problem.path)?;
        entry.set_item("where", &problem.place)?;
        entry.set_item("override", &problem.set_by)?;
        entry.set_item("given", &problem.given)?;
        entry.set_item("problem", &problem.problem)?;
        entry.set_item("hint", &problem.remedy)?;
        list.append(entry)?;
    }
    Ok(list)
}
