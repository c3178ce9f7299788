//! Workloads fitted to trace files.

use super::input::{each_batch, open};
use super::wishes::{Wishes, option_error};
use crate::bugs::detached;
use crate::errors::{config_error, trace_error};
use nacre_machine::{Document, Files, Problems, check};
use nacre_shape::fit::{Fit, Fitted};
use nacre_shape::profile::BLOCKS_FOLLOWED;
use nacre_shape::{Description, Profile};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use serde_json::json;
use std::io;

/// Requests of a workload taken at a time.
const BATCH: usize = 16_384;
/// Something that serves a workload whatever it reaches.
const STACK: &str = "[stack]\npreset = \"network_store\"\n";

/// One pass over a trace; returns the table `[workload]` fitted to it, and how well it fits as JSON text.
#[pyfunction]
pub(crate) fn trace_fit(
    py: Python<'_>,
    paths: Vec<String>,
    options: &Bound<'_, PyMapping>,
    block_bytes: u64,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let wishes = Wishes::read(py, options)?;
    let mut input = open(py, &paths, &wishes.options)?;
    let mut fit = Fit::new(block_bytes);
    each_batch(py, &mut input, wishes.limit, progress, |batch| {
        fit.add(batch);
        Ok(true)
    })?;
    let tally = input.reader.tally();
    let (has_times, warnings) = (tally.time_unit.is_some(), tally.notes.clone());
    let mut interrupted = None;
    let fitted = detached(py, || {
        fit.fit(has_times, |text, limit| {
            let mut go_on =
                || Python::attach(|py| py.check_signals()).map_err(|error| interrupted = Some(error));
            describe(text, block_bytes, seed, has_times, limit, &mut go_on)
        })
    })?;
    if let Some(error) = interrupted {
        return Err(error);
    }
    let fitted = fitted.map_err(|problems| config_error(py, &problems))?;
    let Some(Fitted { text, trace, workload, closeness }) = fitted else {
        let problem = "there is no read or write in it".to_string();
        return Err(trace_error(py, option_error(&paths.join(", "), problem, "a shape needs some")));
    };
    let report = json!({
        "zipf_theta": trace.zipf_theta,
        "closeness": closeness,
        "trace": trace,
        "workload": workload,
        "warnings": warnings,
    });
    Ok((text, report.to_string()))
}

/// What a workload is like, run for at most `limit` requests. `go_on` is asked between batches and may end it.
fn describe(
    text: &str,
    block_bytes: u64,
    seed: u64,
    has_times: bool,
    limit: u64,
    go_on: &mut dyn FnMut() -> Result<(), ()>,
) -> Result<Description, Problems> {
    let text = format!("{text}\n{STACK}");
    let checked =
        check(&Document { text: &text, name: "the fitted workload", overrides: &[], seed: Some(seed) })?;
    let mut workload = nacre_machine::stack::build(&checked, &NoFiles)?.workload;
    let mut profile = Profile::new(block_bytes, BLOCKS_FOLLOWED);
    let (mut batch, mut left) = (Vec::with_capacity(BATCH), limit);
    loop {
        go_on().map_err(|()| Problems::default())?;
        batch.clear();
        let want = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        workload.fill(&mut batch, want).expect("a fitted workload lasts as long as its trace");
        if batch.is_empty() {
            return Ok(profile.describe(has_times));
        }
        left -= batch.len() as u64;
        profile.add(&batch);
    }
}

/// A fitted workload names no files.
struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _: &str) -> io::Result<Box<dyn io::BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}
