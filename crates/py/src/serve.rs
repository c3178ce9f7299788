//! Serving stacks of scenarios as block devices.

use crate::bugs::detached;
use crate::errors::{config_error, no_thread};
use crate::progress::Reporter;
use crate::run::{scenario_files, state_of_run};
use nacre_machine::{Document, Problem, Problems};
use nacre_memory::MemoryError;
use nacre_serve::listen::Address;
use nacre_serve::model::{Since, Timing};
use nacre_serve::offer::{Offer, ServeError};
use nacre_serve::server::{Server, Terms};
use nacre_serve::statistics::{Denied, Life};
use nacre_serve::tls::Certificates;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A stack that is served.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Served {
    scenario: String,
    /// Where the scenario is from, for messages.
    source: String,
    directory: PathBuf,
    overrides: Vec<(String, String)>,
    image: PathBuf,
    /// The saved state of a run that a new image begins with; None: the device is as new.
    start: Option<PathBuf>,
    /// What clients call it; None: as the scenario is called.
    export: Option<String>,
}

/// How stacks are served.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Manner {
    listen: String,
    /// Called with each line about the images that their user should know, before `ready`.
    tell: Py<PyAny>,
    /// None: answer at once.
    dilation: Option<f64>,
    /// Whether answers leave earlier by their way.
    compensated: bool,
    read_only: bool,
    /// The folder of certificates; None: nothing is encrypted.
    tls: Option<PathBuf>,
    /// The control socket; None: there is none.
    control: Option<PathBuf>,
    /// Where metrics are read; None: nowhere.
    metrics: Option<String>,
    /// The trace to record from the beginning.
    record: Option<PathBuf>,
    /// Whether it may replace a file.
    force: bool,
}

/// Serves stacks until `stop`, called about twenty times a second, returns true, or somebody asks for the end over
/// the control socket. `ready` is called with where the metrics are, and with the URI and the bytes of each device,
/// in their order. Returns what was seen, as JSON text.
#[pyfunction]
pub(crate) fn serve(
    py: Python<'_>,
    stacks: Vec<Served>,
    manner: Manner,
    ready: Py<PyAny>,
    stop: Py<PyAny>,
) -> PyResult<String> {
    nacre_pages::keep_little();
    let offers = stacks.into_iter().map(|stack| offer(py, stack, manner.read_only));
    let offers = offers.collect::<PyResult<Vec<_>>>()?;
    let refused = |wrong: ServeError| config_error(py, &problems(&wrong));
    let terms = terms(&manner).map_err(refused)?;
    let mut reporter = Reporter::new(Some(stop));
    let server = detached(py, || Server::open(offers, terms))?.map_err(refused)?;
    for notice in server.notices() {
        manner.tell.call1(py, (notice,))?;
    }
    let devices: Vec<_> = server.uris().into_iter().zip(server.sizes()).collect();
    let announced = (server.metrics(), devices);
    let mut refused = None;
    let mut announce = || {
        refused = Python::attach(|py| ready.call1(py, announced.clone())).err();
        refused.is_none()
    };
    let life = detached(py, || server.run(&mut announce, &mut || reporter.report(()).is_break()))?;
    refused.map_or(Ok(()), Err)?;
    reporter.outcome()?;
    match life.denied {
        Some(Denied { what, error }) => Err(no_thread(py, format!("{what}: {error}"), &error)),
        None => Ok(told(&life).to_string()),
    }
}

fn offer(py: Python<'_>, stack: Served, read_only: bool) -> PyResult<Offer> {
    let Served { scenario, source, directory, overrides, image, start, export } = stack;
    let document = Document { text: &scenario, name: &source, overrides: &overrides, seed: None };
    let checked = nacre_memory::check(&document).map_err(|problems| config_error(py, &problems))?;
    Ok(Offer {
        name: export.unwrap_or_else(|| checked.name.clone()),
        description: checked.scenario.summary.clone().unwrap_or_default(),
        checked,
        files: Box::new(scenario_files(py, directory)?),
        image,
        from: start.as_deref().map(|path| state_of_run(py, path)).transpose()?,
        read_only,
    })
}

fn terms(manner: &Manner) -> Result<Terms, ServeError> {
    let since = if manner.compensated { Since::Sending } else { Since::Arrival };
    let metrics = manner.metrics.as_deref().map(Address::parse).transpose();
    Ok(Terms {
        address: Address::parse(&manner.listen)?,
        timing: manner.dilation.map_or(Timing::None, |dilation| Timing::Emulated { dilation, since }),
        certificates: manner.tls.as_deref().map(Certificates::read).transpose()?,
        control: manner.control.clone(),
        metrics: metrics.map_err(ServeError::Metrics)?,
        record: manner.record.clone(),
        force: manner.force,
    })
}

fn problems(wrong: &ServeError) -> Problems {
    let place = match wrong {
        ServeError::Device(MemoryError::Scenario(problems)) => return problems.clone(),
        ServeError::Image(_) | ServeError::Device(_) | ServeError::Unfit { .. } => "image",
        ServeError::NothingModelled => "start",
        ServeError::Address(_) => "listen",
        ServeError::Control(_) => "control",
        ServeError::Metrics(_) => "metrics",
        ServeError::Record(_) => "record",
        ServeError::Certificates(_) => "tls",
        ServeError::SameName(_) => "export",
    };
    Problem::new(wrong.code(), place, None, wrong.to_string()).all_data(wrong.data()).into()
}

fn told(life: &Life) -> serde_json::Value {
    serde_json::json!({
        "clients": life.clients,
        "dropped": life.dropped,
        "last_drop": life.last_drop,
        "unsynced": life.unsynced,
        "exports": life.exports.iter().map(|export| export.json(false)).collect::<Vec<_>>(),
    })
}
