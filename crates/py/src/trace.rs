//! Trace files: what they hold, other formats, samples, columns.

use crate::bugs::detached;
use crate::errors::{os_error, trace_error};
use crate::progress::Reporter;
use nacre_files::{ShareRead, SharedFile};
use nacre_kernel::{Op, Request, Time};
use nacre_workload::trace::{
    self, Action, Options, Sampler, Source, Summary, Tally, TimeUnit, TraceError, TraceReader, TraceWriter,
    WriteOptions,
};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyMapping};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;

/// Requests handled at a time.
const BATCH: usize = 16_384;
/// Sizes listed in a summary, most frequent first.
const SIZES_SHOWN: usize = 20;

/// What the caller may say about reading and choosing.
struct Wishes {
    options: Options,
    limit: u64,
    fraction: Option<f64>,
    by: String,
    seed: u64,
    strict: bool,
}

/// One pass over a trace; returns a summary as JSON text.
#[pyfunction]
pub(crate) fn trace_info(
    py: Python<'_>,
    paths: Vec<String>,
    options: &Bound<'_, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let wishes = Wishes::read(py, options)?;
    let mut input = open(py, &paths, &wishes.options)?;
    let mut summary = Summary::new();
    let complete = each_batch(py, &mut input, wishes.limit, progress, |batch| {
        summary.add(batch);
        Ok(true)
    })?;
    let tally = input.reader.tally();
    Ok(summary_json(&summary, tally, complete).to_string())
}

/// Writes a trace in another format; returns what was written as JSON text.
#[pyfunction]
pub(crate) fn trace_convert(
    py: Python<'_>,
    paths: Vec<String>,
    output: &str,
    to: &str,
    options: &Bound<'_, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let wishes = Wishes::read(py, options)?;
    let mut input = open(py, &paths, &wishes.options)?;
    let mut output = Output::begin(py, output, to, &wishes, &paths)?;
    let complete = each_batch(py, &mut input, wishes.limit, progress, |batch| {
        output.writer.write(batch).map(|()| true)
    })?;
    output.end(py, &*input.reader, complete)
}

/// Writes part of a trace; returns what was written as JSON text.
#[pyfunction]
pub(crate) fn trace_sample(
    py: Python<'_>,
    paths: Vec<String>,
    output: &str,
    to: &str,
    options: &Bound<'_, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let wishes = Wishes::read(py, options)?;
    let mut sampler = wishes.sampler().map_err(|error| trace_error(py, error))?;
    let limit = if wishes.by == "first" { u64::MAX } else { wishes.limit };
    let mut input = open(py, &paths, &wishes.options)?;
    let mut output = Output::begin(py, output, to, &wishes, &paths)?;
    let mut chosen = Vec::new();
    let complete = each_batch(py, &mut input, limit, progress, |batch| {
        chosen.clear();
        let more = sampler.choose(batch, &mut chosen);
        output.writer.write(&chosen)?;
        Ok(more)
    })?;
    output.end(py, &*input.reader, complete)
}

/// Reads a trace into NumPy columns.
#[pyfunction]
pub(crate) fn trace_columns<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    options: &Bound<'py, PyMapping>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let wishes = Wishes::read(py, options)?;
    let mut input = open(py, &paths, &wishes.options)?;
    let (mut arrivals, mut addresses) = (Vec::new(), Vec::new());
    let (mut bytes, mut volumes, mut ops) = (Vec::new(), Vec::new(), Vec::new());
    each_batch(py, &mut input, wishes.limit, progress, |batch| {
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

/// Writes a trace from columns as [`trace_columns`] gives them; returns what was written as JSON text.
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
    let wishes = Wishes::none();
    let mut output = Output::begin(py, output, to, &wishes, &["columns".into()])?;
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
            output.writer.write(&batch).map_err(|error| trace_error(py, error))?;
            batch.clear();
        }
    }
    output.finish(py, true, Vec::new())
}

impl Wishes {
    fn none() -> Wishes {
        let options = Options::default();
        Wishes { options, limit: u64::MAX, fraction: None, by: "block".into(), seed: 1, strict: false }
    }

    fn read(py: Python<'_>, given: &Bound<'_, PyMapping>) -> PyResult<Wishes> {
        let mut wishes = Wishes::none();
        let unit: Option<String> = wish(given, "time_unit")?;
        let action: Option<String> = wish(given, "action")?;
        wishes.options.format = wish(given, "format")?;
        wishes.options.time_unit =
            unit.map(|unit| TimeUnit::parse(&unit)).transpose().map_err(|error| trace_error(py, error))?;
        wishes.options.action = action
            .map(|letter| Action::parse(&letter))
            .transpose()
            .map_err(|error| trace_error(py, error))?;
        wishes.strict = wish(given, "strict")?.unwrap_or(false);
        wishes.options.strict = wishes.strict;
        wishes.limit = wish(given, "limit")?.unwrap_or(u64::MAX);
        wishes.fraction = wish(given, "fraction")?;
        wishes.by = wish(given, "by")?.unwrap_or(wishes.by);
        wishes.seed = wish(given, "seed")?.unwrap_or(wishes.seed);
        Ok(wishes)
    }

    fn sampler(&self) -> Result<Sampler, TraceError> {
        let fraction = || {
            let missing =
                || option_error("--fraction", "it is missing".into(), "give a share above 0, at most 1");
            self.fraction.ok_or_else(missing)
        };
        match self.by.as_str() {
            "block" => Sampler::blocks(fraction()?, self.seed, 4096),
            "request" => Sampler::requests(fraction()?, self.seed),
            "first" if self.limit == u64::MAX => {
                Err(option_error("--by first", "it needs a number of requests".into(), "give --limit N"))
            }
            "first" => Ok(Sampler::first(self.limit)),
            other => {
                let problem = "there is no such way to sample".to_string();
                Err(option_error(&format!("--by {other}"), problem, "use block, request or first"))
            }
        }
    }
}

/// A trace being written.
struct Output {
    writer: Box<dyn TraceWriter>,
    file: SharedFile,
    path: String,
}

impl Output {
    fn begin(py: Python<'_>, path: &str, to: &str, wishes: &Wishes, inputs: &[String]) -> PyResult<Output> {
        let provenance = inputs.iter().map(|input| {
            Path::new(input).file_name().map_or(input.clone(), |name| name.to_string_lossy().into_owned())
        });
        let provenance = provenance.collect::<Vec<_>>().join(", ");
        let file = SharedFile::begin(Path::new(path)).map_err(|error| os_error(path, &error))?;
        let options = WriteOptions { strict: wishes.strict, provenance };
        let writer =
            trace::create(to, Box::new(file.clone()), &options).map_err(|error| trace_error(py, error))?;
        Ok(Output { writer, file, path: path.into() })
    }

    fn end(mut self, py: Python<'_>, reader: &dyn TraceReader, complete: bool) -> PyResult<String> {
        let tally = reader.tally();
        self.writer.name_volumes(&tally.volumes);
        let mut notes = tally.notes.clone();
        if tally.bad_records > 0 {
            notes.push(format!("{} bad records were left out", tally.bad_records));
        }
        self.finish(py, complete, notes)
    }

    fn finish(mut self, py: Python<'_>, complete: bool, mut notes: Vec<String>) -> PyResult<String> {
        let written = self.writer.finish().map_err(|error| trace_error(py, error))?;
        notes.extend(written.notes());
        if complete {
            self.file.finish().map_err(|error| os_error(&self.path, &error))?;
        } else {
            notes.push("stopped before the end: nothing was written".into());
        }
        let report = json!({
            "records": written.records, "bytes": written.bytes, "complete": complete, "notes": notes,
        });
        Ok(report.to_string())
    }
}

fn option_error(option: &str, problem: String, remedy: &str) -> TraceError {
    TraceError::Option { option: option.into(), problem, remedy: remedy.into() }
}

fn wish<'py, T>(given: &Bound<'py, PyMapping>, key: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    match given.get_item(key) {
        Ok(value) if value.is_none() => Ok(None),
        Ok(value) => value.extract().map(Some).map_err(Into::into),
        Err(error) if error.is_instance_of::<PyKeyError>(given.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn column<'py, T: numpy::Element>(
    columns: &Bound<'py, PyMapping>,
    name: &str,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    let array = columns.get_item(name)?.cast_into::<PyArray1<T>>()?;
    Ok(array.readonly())
}

/// A trace being read.
struct Input {
    reader: Box<dyn TraceReader>,
    share: ShareRead,
}

fn open(py: Python<'_>, paths: &[String], options: &Options) -> PyResult<Input> {
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

/// Hands every batch of at most `limit` requests to `act`, which says whether it wants more. Returns
/// false if the caller's progress function stopped it.
fn each_batch(
    py: Python<'_>,
    input: &mut Input,
    limit: u64,
    progress: Option<Py<PyAny>>,
    mut act: impl FnMut(&[Request]) -> Result<bool, TraceError> + Send,
) -> PyResult<bool> {
    let mut reporter = Reporter::new(progress);
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
            if reporter.report((done, total)) == ControlFlow::Break(()) {
                return Ok(false);
            }
        }
    })?;
    reporter.outcome()?;
    complete.map_err(|error| trace_error(py, error))
}

fn summary_json(summary: &Summary, tally: &Tally, complete: bool) -> serde_json::Value {
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
    })
}
