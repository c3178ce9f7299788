//! Operations on trace files: summary, conversion, sampling, and columns.

mod fit;
mod input;
mod misses;
mod options;
mod output;
mod policies;

pub(crate) use fit::trace_fit;
pub(crate) use misses::trace_misses;
pub(crate) use policies::trace_policies;

use crate::arrays;
use crate::errors::trace_error;
use input::{each_batch, open};
use nacre_kernel::{Op, Request, Time};
use nacre_shape::{Description, Profile};
use nacre_workload::trace::{Summary, Tally, TimeUnit};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use options::{TraceOptions, option_error};
use output::Output;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use serde_json::json;

/// Number of requests processed at a time.
const BATCH: usize = 16_384;
/// Maximum number of request sizes in a summary, which lists the most frequent sizes.
const SIZES_SHOWN: usize = 20;

/// Summarizes a trace in one pass. Returns the summary as JSON text.
#[pyfunction]
pub(crate) fn trace_info(
    py: Python<'_>,
    paths: Vec<String>,
    options: &Bound<'_, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let parsed = TraceOptions::read(py, options)?;
    let mut input = open(py, &paths, &parsed.reading)?;
    let (mut summary, mut profile) = (Summary::new(), Profile::default());
    let complete = each_batch(py, &mut input, parsed.limit, progress, |batch| {
        summary.add(batch);
        profile.add(batch);
        Ok(true)
    })?;
    let tally = input.reader.tally();
    let profile = profile.describe(tally.time_unit.is_some());
    Ok(summary_json(&summary, &profile, tally, complete).to_string())
}

/// Converts a trace. Returns statistics as JSON text.
#[pyfunction]
pub(crate) fn trace_convert(
    py: Python<'_>,
    paths: Vec<String>,
    output: &str,
    to: &str,
    options: &Bound<'_, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let parsed = TraceOptions::read(py, options)?;
    let mut input = open(py, &paths, &parsed.reading)?;
    let mut output = Output::begin(py, output, to, &parsed, &paths)?;
    let complete =
        each_batch(py, &mut input, parsed.limit, progress, |batch| output.write(batch).map(|()| true))?;
    output.end(py, &*input.reader, complete)
}

/// Writes a sample of a trace. Returns statistics as JSON text.
#[pyfunction]
pub(crate) fn trace_sample(
    py: Python<'_>,
    paths: Vec<String>,
    output: &str,
    to: &str,
    options: &Bound<'_, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let parsed = TraceOptions::read(py, options)?;
    let mut sampler = parsed.sampler().map_err(|error| trace_error(py, error))?;
    let limit = if parsed.by == "first" { u64::MAX } else { parsed.limit };
    let mut input = open(py, &paths, &parsed.reading)?;
    let mut output = Output::begin(py, output, to, &parsed, &paths)?;
    let mut chosen = Vec::new();
    let complete = each_batch(py, &mut input, limit, progress, |batch| {
        chosen.clear();
        let more = sampler.choose(batch, &mut chosen);
        output.write(&chosen)?;
        Ok(more)
    })?;
    output.end(py, &*input.reader, complete)
}

/// Reads a trace. Returns its columns as NumPy arrays.
#[pyfunction]
pub(crate) fn trace_columns<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    options: &Bound<'py, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let parsed = TraceOptions::read(py, options)?;
    arrays::load(py)?;
    let mut input = open(py, &paths, &parsed.reading)?;
    let (mut arrivals, mut addresses) = (Vec::new(), Vec::new());
    let (mut bytes, mut volumes, mut ops) = (Vec::new(), Vec::new(), Vec::new());
    each_batch(py, &mut input, parsed.limit, progress, |batch| {
        arrivals.extend(batch.iter().map(|request| request.arrival.as_ps()));
        addresses.extend(batch.iter().map(|request| request.address));
        bytes.extend(batch.iter().map(|request| request.bytes));
        volumes.extend(batch.iter().map(|request| request.volume));
        ops.extend(batch.iter().map(|request| request.op as u8));
        Ok(true)
    })?;
    let columns = PyDict::new(py);
    columns.set_item("arrival_ps", PyArray1::from_vec(py, arrivals))?;
    columns.set_item("address", PyArray1::from_vec(py, addresses))?;
    columns.set_item("bytes", PyArray1::from_vec(py, bytes))?;
    columns.set_item("volume", PyArray1::from_vec(py, volumes))?;
    columns.set_item("op", PyArray1::from_vec(py, ops))?;
    Ok(columns)
}

/// Writes a trace from the columns that [`trace_columns`] returns. Returns statistics as JSON text.
#[pyfunction]
pub(crate) fn trace_from_columns(
    py: Python<'_>,
    columns: &Bound<'_, PyMapping>,
    output: &str,
    to: &str,
) -> PyResult<String> {
    let arrivals = column::<u64>(columns, "arrival_ps")?;
    let addresses = column::<u64>(columns, "address")?;
    let bytes = column::<u32>(columns, "bytes")?;
    let volumes = column::<u32>(columns, "volume")?;
    let ops = column::<u8>(columns, "op")?;
    let count = arrivals.len()?;
    let lengths = [addresses.len()?, bytes.len()?, volumes.len()?, ops.len()?];
    if lengths.iter().any(|&length| length != count) {
        let problem = format!("the columns have {count} and {lengths:?} rows; they must be of one length");
        return Err(trace_error(py, option_error("columns", problem, "give all five the same rows")));
    }
    let (arrivals, addresses) = (arrivals.as_slice()?, addresses.as_slice()?);
    let (bytes, volumes, ops) = (bytes.as_slice()?, volumes.as_slice()?, ops.as_slice()?);
    let parsed = TraceOptions::defaults();
    let mut output = Output::begin(py, output, to, &parsed, &["columns".into()])?;
    let mut batch = Vec::with_capacity(BATCH);
    for row in 0..count {
        let op = [Op::Read, Op::Write, Op::Trim, Op::Flush].into_iter().find(|&op| op as u8 == ops[row]);
        let op = op.ok_or_else(|| {
            let problem = format!("row {row} has op {}", ops[row]);
            trace_error(py, option_error("columns", problem, "use 0 read, 1 write, 2 trim, 3 flush"))
        })?;
        batch.push(Request {
            arrival: Time::from_ps(arrivals[row]),
            address: addresses[row],
            bytes: bytes[row],
            volume: volumes[row],
            op,
        });
        if batch.len() == BATCH || row + 1 == count {
            output.write(&batch).map_err(|error| trace_error(py, error))?;
            batch.clear();
        }
    }
    output.finish(py, true, Vec::new())
}

fn column<'py, T: numpy::Element>(
    columns: &Bound<'py, PyMapping>,
    name: &str,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    let array = columns.get_item(name)?.cast_into::<PyArray1<T>>()?;
    Ok(array.readonly())
}

fn summary_json(
    summary: &Summary,
    profile: &Description,
    tally: &Tally,
    complete: bool,
) -> serde_json::Value {
    let first_bad: Vec<_> = tally
        .first_bad
        .iter()
        .map(|bad| json!({ "file": bad.source_name, "place": bad.place.to_string(), "reason": bad.reason }))
        .collect();
    let sizes: Vec<_> = summary
        .sizes(SIZES_SHOWN)
        .into_iter()
        .map(|(bytes, count)| json!({ "bytes": bytes, "count": count }))
        .collect();
    json!({
        "format": tally.format,
        "time_unit": tally.time_unit.map(TimeUnit::name),
        "complete": complete,
        "records": summary.records(),
        "bad_records": tally.bad_records,
        "first_bad": first_bad,
        "skipped": tally.skipped,
        "out_of_order": tally.out_of_order,
        "reads": summary.reads,
        "writes": summary.writes,
        "trims": summary.trims,
        "flushes": summary.flushes,
        "read_share": summary.read_share(),
        "bytes_read": summary.bytes_read,
        "bytes_written": summary.bytes_written,
        "blocks_4k_accessed": summary.blocks_accessed,
        "footprint_4k_blocks": summary.footprint_blocks(),
        "footprint_bytes": summary.footprint_bytes(),
        "duration_s": summary.last_arrival.as_secs_f64(),
        "volumes": summary.volumes(),
        "volume_names": tally.volumes,
        "sequential_share": summary.sequential_share(),
        "sizes": sizes,
        "warnings": summary.warnings(tally),
        "profile": profile,
    })
}
