//! Workloads that are fitted to trace files.

use super::input::{each_reported, open};
use super::options::{TraceOptions, option_error};
use crate::bugs::detached;
use crate::errors::{config_error, trace_error};
use crate::progress::Reporter;
use nacre_machine::{Document, Files, Problems, check};
use nacre_shape::fit::{Fit, Fitted, generated_max};
use nacre_shape::profile::BLOCKS_FOLLOWED;
use nacre_shape::{Description, Profile};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use serde_json::json;
use std::io;

/// Number of requests that are generated at a time.
const BATCH: usize = 16_384;
/// A stack that accepts any workload.
const STACK: &str = "[stack]\npreset = \"network_store\"\n";

/// Fits a workload in one pass over a trace. Returns the fitted table `[workload]`, and its distance from the
/// trace as JSON text.
#[pyfunction]
pub(crate) fn trace_fit(
    py: Python<'_>,
    paths: Vec<String>,
    options: &Bound<'_, PyMapping>,
    block_bytes: u64,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let parsed = TraceOptions::read(py, options)?;
    let mut input = open(py, &paths, &parsed.reading)?;
    let mut fit = Fit::new(block_bytes);
    let mut reporter = Reporter::new(progress);
    let complete = each_reported(
        py,
        &mut input,
        parsed.limit,
        &mut |done, total| {
            let all = total.map(|total| total + generated_max(total));
            reporter.report((done, all))
        },
        |batch| {
            fit.add(batch);
            Ok(true)
        },
    )?;
    let tally = input.reader.tally();
    let (has_times, warnings, read) = (tally.time_unit.is_some(), tally.notes.clone(), tally.records);
    // For the progress, requests that trials generate count like requests that are read.
    let (mut done, all) = (read, read + generated_max(read));
    let fitted = if complete {
        detached(py, || {
            fit.fit(has_times, |text, limit| {
                let mut watch = |generated: u64| {
                    done += generated;
                    reporter.report((done, Some(all.max(done)))).is_continue()
                };
                describe(text, block_bytes, seed, has_times, limit, &mut watch)
            })
        })?
    } else {
        Ok(None)
    };
    let is_stopped = !complete || fitted.as_ref().is_err_and(|problems| problems.0.is_empty());
    reporter.outcome()?;
    if is_stopped {
        return Err(PyKeyboardInterrupt::new_err("the fit was stopped"));
    }
    let fitted = fitted.map_err(|problems| config_error(py, &problems))?;
    let Some(Fitted { text, trace, workload, closeness }) = fitted else {
        let problem = "it has no reads or writes".to_string();
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

/// Generates at most `limit` requests of a workload, and returns their description. Before each batch, calls
/// `watch` with the size of the previous batch. If `watch` stops the operation, the returned error lists no
/// problems.
fn describe(
    text: &str,
    block_bytes: u64,
    seed: u64,
    has_times: bool,
    limit: u64,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<Description, Problems> {
    let text = format!("{text}\n{STACK}");
    let checked =
        check(&Document { text: &text, name: "the fitted workload", overrides: &[], seed: Some(seed) })?;
    let mut workload = nacre_machine::stack::build(&checked, &NoFiles)?.workload;
    let mut profile = Profile::new(block_bytes, BLOCKS_FOLLOWED);
    let (mut batch, mut left) = (Vec::with_capacity(BATCH), limit);
    loop {
        if !watch(batch.len() as u64) {
            return Err(Problems::default());
        }
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

/// Files of a fitted workload, which uses no files.
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
