//! Our own bugs: an assertion that fails becomes a Python exception that says so.

use crate::errors::bug;
use nacre_machine::Beside;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

/// A second thread for a run.
pub(crate) struct SecondThread;

impl SecondThread {
    /// One, where this process may use a second processor.
    pub(crate) fn where_free() -> Option<SecondThread> {
        std::thread::available_parallelism().is_ok_and(|number| number.get() > 1).then_some(SecondThread)
    }
}

impl Beside for SecondThread {
    #[expect(clippy::disallowed_methods, reason = "this is the edge that brings it")]
    fn both(&self, work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) {
        let failed = std::thread::scope(|scope| {
            let other =
                scope.spawn(|| catch_unwind(AssertUnwindSafe(work)).map_err(|cause| (cause, PLACE.take())));
            here();
            other.join()
        });
        let (cause, place) = match failed {
            Ok(Ok(())) => return,
            Ok(Err(failed)) => failed,
            Err(cause) => (cause, String::new()),
        };
        PLACE.set(place);
        resume_unwind(cause)
    }
}

/// Runs `work` without the interpreter lock. A failed assertion in it is an error of the class `Error`.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
        bug(py, &format!("{text}{}", PLACE.take()))
    })
}
