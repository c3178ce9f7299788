//! Reporting of bugs in Nacre: a failed assertion raises a Python exception.

use crate::errors::bug;
use nacre_files::ShareRead;
use nacre_machine::Parallel;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

thread_local! {
    /// Location of the last failed assertion in this thread.
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Suppresses panic messages and records the locations of panics, because failed assertions are reported as
/// exceptions.
pub(crate) fn report_through_exceptions() {
    std::panic::set_hook(Box::new(|failed| {
        let place = failed.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        LOCATION.set(place.unwrap_or_default());
    }));
}

/// Runs part of a simulation on a second thread.
pub(crate) struct SecondThread {
    /// Progress of reading the files of the run.
    read: ShareRead,
}

impl SecondThread {
    /// Permits a second thread for a run, or returns `None` if the process may use only one processor. `read`
    /// tracks the files that the run reads.
    pub(crate) fn where_allowed(read: &ShareRead) -> Option<SecondThread> {
        let has_two = std::thread::available_parallelism().is_ok_and(|number| number.get() > 1);
        has_two.then(|| SecondThread { read: read.clone() })
    }
}

impl Parallel for SecondThread {
    fn both(&self, work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) -> bool {
        // The end of a run must not wait for a pipe.
        if self.read.may_wait() {
            return false;
        }
        let (cause, place) = match both(work, here) {
            None => return false,
            Some(Ok(())) => return true,
            Some(Err(failed)) => failed,
        };
        LOCATION.set(place);
        resume_unwind(cause)
    }
}

/// Message and location of a failed assertion.
type Failed = (Box<dyn Any + Send>, String);

/// Calls `work` on another thread and `here` on this thread. Returns `None` if the system cannot create a
/// thread.
#[expect(clippy::disallowed_methods, reason = "this is the edge that brings it")]
fn both(work: Box<dyn FnOnce() + Send + '_>, here: &mut dyn FnMut()) -> Option<Result<(), Failed>> {
    std::thread::scope(|scope| {
        let work = || catch_unwind(AssertUnwindSafe(work)).map_err(|cause| (cause, LOCATION.take()));
        let other = std::thread::Builder::new().spawn_scoped(scope, work).ok()?;
        here();
        Some(other.join().unwrap_or_else(|cause| Err((cause, String::new()))))
    })
}

/// Releases the interpreter lock and calls `work`. A failed assertion in `work` is returned as the
/// exception `InternalError`.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
        bug(py, &format!("{text}{}", LOCATION.take()))
    })
}
