//! Progress reports from long operations to Python, at most one per interval of wall-clock time. An operation
//! stops on request or on Ctrl-C.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Minimum time between two reports.
const INTERVAL: Duration = Duration::from_millis(100);

/// Reports progress to a Python callable, which returns whether the operation should stop. Without a
/// callable, only Ctrl-C is checked.
pub(crate) struct Reporter {
    callback: Option<Py<PyAny>>,
    last: Instant,
    failure: Option<PyErr>,
}

impl Reporter {
    #[expect(clippy::disallowed_methods, reason = "progress is shown in wall time, at the edge")]
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Reporter {
        Reporter { callback, last: Instant::now(), failure: None }
    }

    /// Calls the callable with `arguments` if a report is due. Returns `Break` if the callable requests a
    /// stop or fails, or on Ctrl-C.
    #[expect(clippy::disallowed_methods, reason = "progress is shown in wall time, at the edge")]
    pub(crate) fn report<A>(&mut self, arguments: A) -> ControlFlow<()>
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        let now = Instant::now();
        if now.duration_since(self.last) < INTERVAL {
            return ControlFlow::Continue(());
        }
        self.last = now;
        let answer = Python::attach(|py| match &self.callback {
            Some(callback) => {
                let stop = callback.bind(py).call1(arguments)?.is_truthy()?;
                py.check_signals()?;
                Ok(stop)
            }
            None => py.check_signals().map(|()| false),
        });
        match answer {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    /// Returns the exception that a callback or a signal raised, if any.
    pub(crate) fn outcome(self) -> PyResult<()> {
        self.failure.map_or(Ok(()), Err)
    }
}
