//! Functions that run, build, and check scenarios.

use crate::arrays;
use crate::bugs::{SecondThread, detached};
use crate::cleaning::{Functions, WithFunctions};
use crate::errors::{config_error, error, memory_error, os_error};
use crate::progress::Reporter;
use crate::source::{Settings, Source};
use nacre_files::{PreparationFolder, StateFile};
use nacre_kernel::{ErrorCode, ErrorData, Op};
use nacre_machine::console::{ConsoleRequest, ask};
use nacre_machine::saved::Preparations;
use nacre_machine::{Checked, Columns, Files, Outcome, Parallel, RunOutput, SavedRun, Span, record};
use nacre_memory::{Access, PersistentDevice};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Runs a scenario. Returns the record as JSON text, and the columns of the record.
///
/// The run starts from the state in the file `start`, and saves its final state to the file `save_state`.
#[pyfunction]
#[pyo3(signature = (
    source, overrides, seed=None, progress=None, cleaners=None, start=None, save_state=None
))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn run(
    py: Python<'_>,
    source: Source,
    overrides: Settings,
    seed: Option<u64>,
    progress: Option<Py<PyAny>>,
    cleaners: Option<Functions>,
    start: Option<PathBuf>,
    save_state: Option<PathBuf>,
) -> PyResult<(String, RunColumns)> {
    let checked = source.checked(py, &overrides, seed)?;
    let files = WithFunctions::new(source.files(py)?, cleaners);
    let options = RunOptions {
        start: start.as_deref(),
        save_state: save_state.as_deref(),
        preparations: None,
        second_thread: SecondThread::where_allowed(files.scenario.share_read()),
    };
    let Outcome { record, columns } = run_checked(py, &checked, &files, progress, options)?;
    Ok((record.to_json(), RunColumns(columns)))
}

/// Options of a run: files of states, and a second thread.
#[derive(Default)]
pub(crate) struct RunOptions<'a> {
    /// File with the initial state.
    pub(crate) start: Option<&'a Path>,
    /// File for the final state.
    pub(crate) save_state: Option<&'a Path>,
    /// Folder that caches preconditioned states.
    pub(crate) preparations: Option<PathBuf>,
    /// Second thread for the run. `None` for points of a study, which already run in parallel.
    pub(crate) second_thread: Option<SecondThread>,
}

/// Runs a checked scenario. See [`run`].
pub(crate) fn run_checked(
    py: Python<'_>,
    checked: &Checked,
    files: &WithFunctions,
    progress: Option<Py<PyAny>>,
    options: RunOptions<'_>,
) -> PyResult<Outcome> {
    let RunOptions { start, save_state, preparations, second_thread } = options;
    let mut reporter = Reporter::new(progress);
    let started = start.map(|path| start_state(py, path, checked, files)).transpose()?;
    let from = started.as_deref().map(|bytes| saved_run(py, start, bytes)).transpose()?;
    let place = save_state.map(state_file).transpose()?;
    let preparations = preparations.map(PreparationFolder::new);
    let preparations = preparations.as_ref().map(|folder| folder as &dyn Preparations);
    let second_thread = second_thread.as_ref().map(|second| second as &dyn Parallel);
    let span = Span { from: from.as_ref(), saves: place.is_some(), preparations, second_thread };
    let ran = detached(py, || {
        nacre_machine::run_span(checked, files, &span, &mut |progress| {
            if files.has_failed() {
                return ControlFlow::Break(());
            }
            let expected = progress.expected.or_else(|| files.scenario.share_read().estimate(progress.done));
            reporter.report((progress.done, expected, progress.simulated.as_secs_f64()))
        })
    })?;
    files.outcome(py)?;
    reporter.outcome()?;
    let RunOutput { outcome, state } = ran.map_err(|problems| config_error(py, &problems))?;
    if let (Some(place), Some(state)) = (place, state) {
        let name = save_state.unwrap_or(Path::new("")).display().to_string();
        py.detach(|| place.finish(&state)).map_err(|error| os_error(&name, &error))?;
    }
    Ok(outcome)
}

/// Returns the saved state at `path`. If `path` is an image, returns the state of its device after all
/// outstanding requests have completed.
fn start_state(
    py: Python<'_>,
    path: &Path,
    checked: &Checked,
    files: &(dyn Files + Sync),
) -> PyResult<Vec<u8>> {
    if !py.detach(|| nacre_memory::is_image(path)) {
        return read_state(py, path);
    }
    let opened =
        detached(py, || PersistentDevice::open(checked, files, path, Access::READ_ONLY)?.saved_run(checked))?;
    opened.map_err(|error| memory_error(py, &error))
}

/// Returns the run state saved at `path`, for a device with data. Rejects images: an image cannot initialize
/// another device, because it also contains data.
pub(crate) fn state_of_run(py: Python<'_>, path: &Path) -> PyResult<Vec<u8>> {
    match py.detach(|| nacre_memory::is_image(path)) {
        true => Err(error(
            py,
            ErrorCode::InvalidContent,
            ErrorData::new(),
            format!("{}: {IS_IMAGE}", path.display()),
        )),
        false => read_state(py, path),
    }
}

const IS_IMAGE: &str = "it is an image, of a memory or a served device, and not the saved state of a run; open or serve \
    it as the image itself, of a copy to leave it as it is, or let `nacre run --from` continue from it and --save-state";

fn read_state(py: Python<'_>, path: &Path) -> PyResult<Vec<u8>> {
    py.detach(|| nacre_files::read_state(path)).map_err(|error| os_error(&path.display().to_string(), &error))
}

fn saved_run<'a>(py: Python<'_>, path: Option<&Path>, bytes: &'a [u8]) -> PyResult<SavedRun<'a>> {
    let name = path.map_or_else(String::new, |path| path.display().to_string());
    py.detach(|| SavedRun::read(bytes)).map_err(|unreadable| {
        error(py, unreadable.code(), unreadable.data(), format!("{name}: {unreadable}"))
    })
}

fn state_file(path: &Path) -> PyResult<StateFile> {
    StateFile::begin(path).map_err(|error| os_error(&path.display().to_string(), &error))
}

/// Checks a scenario. Returns the resolved values and their origins as JSON text.
#[pyfunction]
#[pyo3(signature = (source, overrides, cleaners=None))]
pub(crate) fn check(
    py: Python<'_>,
    source: Source,
    overrides: Settings,
    cleaners: Option<Functions>,
) -> PyResult<String> {
    let checked = source.checked(py, &overrides, None)?;
    let files = WithFunctions::new(source.files(py)?, cleaners);
    let capacity = build_checked(py, &checked, &files)?;
    let origins: Vec<_> = checked.resolved.iter().map(record::value_origin).collect();
    let document = serde_json::json!({
        "name": checked.name,
        "scenario": record::resolved_json(&checked.resolved),
        "origins": origins,
        "capacity": capacity,
    });
    Ok(document.to_string())
}

/// Builds the stack of a checked scenario, as a run does. Returns its capacity in bytes, or `None` if the
/// capacity is unlimited.
pub(crate) fn build_checked(
    py: Python<'_>,
    checked: &Checked,
    files: &WithFunctions,
) -> PyResult<Option<u64>> {
    let build = || nacre_machine::stack::build(checked, files).map(|built| built.device.capacity());
    let built = detached(py, || build().map(|capacity| capacity.map(|bytes| bytes.0)))?;
    files.outcome(py)?;
    built.map_err(|problems| config_error(py, &problems))
}

/// Submits `requests` serially to the stack of a scenario. Each request has an operation, the address of
/// its first byte, and a number of bytes. Returns the latency breakdowns of the requests as JSON text.
#[pyfunction]
pub(crate) fn step(
    py: Python<'_>,
    source: Source,
    overrides: Settings,
    requests: Vec<(String, u64, u32)>,
) -> PyResult<String> {
    let checked = source.checked(py, &overrides, None)?;
    let files = source.files(py)?;
    let known = [Op::Read, Op::Write, Op::Trim, Op::Flush];
    let mut asked = Vec::with_capacity(requests.len());
    for (word, address, bytes) in requests {
        let op = known.into_iter().find(|op| op.name() == word);
        let op = op.ok_or_else(|| {
            error(py, ErrorCode::UnknownName, ErrorData::new(), format!("unknown request {word:?}"))
        })?;
        asked.push(ConsoleRequest { op, address, bytes });
    }
    let answered = detached(py, || ask(&checked, &files, &asked))?;
    let answered = answered.map_err(|problems| config_error(py, &problems))?;
    Ok(serde_json::json!(answered).to_string())
}

/// Returns the resolved values of a scenario as JSON text, without building its stack.
#[pyfunction]
pub(crate) fn resolve(py: Python<'_>, source: Source, overrides: Settings) -> PyResult<String> {
    let checked = source.checked(py, &overrides, None)?;
    Ok(record::resolved_json(&checked.resolved).to_string())
}

/// Evaluates every mix of the tiers of a scenario, in which the share of each tier is a multiple of 1 /
/// `steps`. Returns the tiers as JSON text and one row per mix: the steps and extents of every tier, the mean
/// access time in seconds, and the price per GiB (NaN if unknown). Returns `None` if `progress` stopped the
/// evaluation.
#[pyfunction]
#[pyo3(signature = (source, overrides, steps, progress=None))]
pub(crate) fn mixes<'py>(
    py: Python<'py>,
    source: Source,
    overrides: Settings,
    steps: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<(String, Bound<'py, PyDict>)>> {
    let checked = source.checked(py, &overrides, None)?;
    let files = source.files(py)?;
    arrays::load(py)?;
    let mut reporter = Reporter::new(progress);
    let found = detached(py, || {
        nacre_machine::stack::mixes(&checked, &files, steps, &mut |progress| {
            let expected = progress.expected.or_else(|| files.share_read().estimate(progress.done));
            reporter.report((progress.done, expected))
        })
    })?;
    reporter.outcome()?;
    let Some(found) = found.map_err(|problems| config_error(py, &problems))? else {
        return Ok(None);
    };
    let tiers: Vec<_> = found
        .speeds
        .iter()
        .zip(&found.prices)
        .enumerate()
        .map(|(tier, (speed, price))| {
            let basis = record::price_basis(&checked, &format!("stack.tier[{tier}].device"));
            serde_json::json!({
                "read_s": speed.read_s,
                "write_s": speed.write_s,
                "price": price,
                "price_basis": basis.filter(|_| price.is_some()),
            })
        })
        .collect();
    let document = serde_json::json!({
        "name": checked.name,
        "tiers": tiers,
        "reads": found.accesses.reads,
        "writes": found.accesses.writes,
        "read_bytes": found.bytes[0],
        "write_bytes": found.bytes[1],
        "extents": found.extents,
    });
    let columns = PyDict::new(py);
    for tier in 0..found.speeds.len() {
        let extents: Vec<u64> = found.mixes.iter().map(|mix| mix.extents[tier]).collect();
        columns.set_item(format!("extents.{tier}"), PyArray1::from_vec(py, extents))?;
        let given: Vec<u32> = found.mixes.iter().map(|mix| mix.steps[tier]).collect();
        columns.set_item(format!("steps.{tier}"), PyArray1::from_vec(py, given))?;
    }
    let mean_s: Vec<f64> = found.mixes.iter().map(|mix| found.mean_s(mix)).collect();
    let price: Vec<f64> = found.mixes.iter().map(|mix| found.price(mix).unwrap_or(f64::NAN)).collect();
    columns.set_item("mean_s", PyArray1::from_vec(py, mean_s))?;
    columns.set_item("price", PyArray1::from_vec(py, price))?;
    Ok(Some((document.to_string(), columns)))
}

/// Columns of a record. The columns are converted to NumPy arrays only when they are used, because loading
/// NumPy takes as long as a short run.
#[pyclass(frozen, module = "nacre._core")]
pub(crate) struct RunColumns(pub(crate) Columns);

#[pymethods]
impl RunColumns {
    /// Returns a dictionary of the columns, keyed by their names.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns_dict(py, &self.0)
    }
}

pub(crate) fn columns_dict<'py>(py: Python<'py>, columns: &Columns) -> PyResult<Bound<'py, PyDict>> {
    arrays::load(py)?;
    let dict = PyDict::new(py);
    for (name, values) in &columns.floats {
        dict.set_item(name, PyArray1::from_slice(py, values))?;
    }
    for (name, values) in &columns.counts {
        dict.set_item(name, PyArray1::from_slice(py, values))?;
    }
    Ok(dict)
}
