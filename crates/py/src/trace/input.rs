//! A trace that is read batch by batch while the interpreter lock is released.

use super::BATCH;
use crate::bugs::detached;
use crate::errors::{os_error, trace_error};
use crate::progress::Reporter;
use nacre_files::ShareRead;
use nacre_kernel::Request;
use nacre_workload::trace::{self, Options, Source, TraceError, TraceReader};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;

/// A trace that is being read.
pub(super) struct Input {
    pub(super) reader: Box<dyn TraceReader>,
    share: ShareRead,
}

/// Opens `paths` as one trace.
pub(super) fn open(py: Python<'_>, paths: &[String], options: &Options) -> PyResult<Input> {
    let share = ShareRead::default();
    let opened = detached(py, || {
        let open =
            |path: &String| nacre_files::open(Path::new(path), &share).map_err(|error| (path.clone(), error));
        let streams: Vec<_> = paths.iter().map(open).collect::<Result<_, _>>()?;
        let sources = paths.iter().zip(streams).map(|(path, stream)| Source::new(path, stream)).collect();
        Ok(trace::open(sources, options))
    })?;
    let reader = opened.map_err(|(path, error): (String, std::io::Error)| os_error(&path, &error))?;
    Ok(Input { reader: reader.map_err(|error| trace_error(py, error))?, share })
}

/// Reads the first `limit` requests, and passes each batch to `act`, which returns whether it needs more
/// requests. Returns `false` if the progress callback stopped reading.
pub(super) fn each_batch(
    py: Python<'_>,
    input: &mut Input,
    limit: u64,
    progress: Option<Py<PyAny>>,
    act: impl FnMut(&[Request]) -> Result<bool, TraceError> + Send,
) -> PyResult<bool> {
    let mut reporter = Reporter::new(progress);
    let complete = each_reported(py, input, limit, &mut |done, total| reporter.report((done, total)), act)?;
    reporter.outcome()?;
    Ok(complete)
}

/// Like [`each_batch`], but calls `report` after every batch with the number of requests read so far and the
/// estimated total.
pub(super) fn each_reported(
    py: Python<'_>,
    input: &mut Input,
    limit: u64,
    report: &mut (dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + Send),
    mut act: impl FnMut(&[Request]) -> Result<bool, TraceError> + Send,
) -> PyResult<bool> {
    let complete = detached(py, || -> Result<bool, TraceError> {
        let mut batch = Vec::with_capacity(BATCH);
        let mut done = 0u64;
        loop {
            batch.clear();
            let want = usize::try_from(limit - done).map_or(BATCH, |left| left.min(BATCH));
            if want == 0 || input.reader.read(&mut batch, want)? == 0 {
                return Ok(true);
            }
            done += batch.len() as u64;
            if !act(&batch)? {
                return Ok(true);
            }
            let total = (limit != u64::MAX).then_some(limit).or_else(|| input.share.estimate(done));
            if report(done, total) == ControlFlow::Break(()) {
                return Ok(false);
            }
        }
    })?;
    complete.map_err(|error| trace_error(py, error))
}
