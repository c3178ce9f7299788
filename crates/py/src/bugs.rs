//! Our own bugs: an assertion that fails becomes a Python exception that says so.

use crate::errors::bug;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Where the last assertion of this thread failed.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Failed assertions are told through exceptions, so nothing is printed where they happen.
pub(crate) fn tell_through_exceptions() {
    std::panic::set_hook(Box::new(|failed| {
        let place = failed.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        PLACE.set(place.unwrap_or_default());
    }));
}

/// Runs `work` without the interpreter lock. A failed assertion in it is an error of the class `Error`.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
        bug(py, &format!("{text}{}", PLACE.take()))
    })
}
