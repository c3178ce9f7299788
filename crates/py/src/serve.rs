//! Server of block devices, each simulated by the stack of a scenario.

use crate::bugs::detached;
use crate::errors::{config_error, no_thread};
use crate::progress::Reporter;
use crate::run::state_of_run;
use crate::source::{Settings, Source};
use nacre_machine::{Problem, Problems};
use nacre_memory::MemoryError;
use nacre_serve::listen::Address;
use nacre_serve::model::{Since, Timing};
use nacre_serve::offer::{Offer, ServeError};
use nacre_serve::server::{Server, Terms};
use nacre_serve::statistics::{Denied, ServerSummary};
use nacre_serve::tls::Certificates;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A device to serve, as passed from Python.
#[derive(FromPyObject)]
pub(crate) struct Served {
    source: Source,
    settings: Settings,
    image: PathBuf,
    /// File with the saved run state from which a new image starts, or `None` for a new device.
    start: Option<PathBuf>,
    /// Export name that clients use, or `None` for the name of the scenario.
    export: Option<String>,
}

/// Options of a server, from `nacre.devices.ServeOptions`.
#[derive(FromPyObject)]
pub(crate) struct Options {
    timing: String,
    dilate: f64,
    read_only: bool,
    /// Folder with the certificates, or `None` for no encryption.
    tls: Option<PathBuf>,
    /// Path of the control socket, or `None` for no control socket.
    control: Option<PathBuf>,
    /// Address at which metrics are served, or `None` for no metrics.
    metrics: Option<String>,
    /// Path of the trace to which requests are recorded from the start, or `None` for no recording.
    record: Option<PathBuf>,
    /// Whether the trace may replace an existing file.
    force: bool,
}

/// Serves devices at the address `listen` until `stop` returns true or a client of the control socket stops
/// the server. Calls `tell` with notes about the images, and then `ready` with the address of the metrics and
/// the URI and size of each device. Afterwards, calls `stop` about 20 times per second. Returns statistics as
/// JSON text.
#[pyfunction]
pub(crate) fn serve(
    py: Python<'_>,
    devices: Vec<Served>,
    listen: &str,
    options: Options,
    tell: Py<PyAny>,
    ready: Py<PyAny>,
    stop: Py<PyAny>,
) -> PyResult<String> {
    nacre_pages::keep_little();
    let offers = devices.into_iter().map(|device| offer(py, device, options.read_only));
    let offers = offers.collect::<PyResult<Vec<_>>>()?;
    let refused = |wrong: ServeError| config_error(py, &problems(&wrong));
    let terms = terms(listen, &options).map_err(refused)?;
    let mut reporter = Reporter::new(Some(stop));
    let server = detached(py, || Server::open(offers, terms))?.map_err(refused)?;
    for notice in server.notices() {
        tell.call1(py, (notice,))?;
    }
    let devices: Vec<_> = server.uris().into_iter().zip(server.sizes()).collect();
    let announced = (server.metrics(), devices);
    let mut refused = None;
    let mut announce = || {
        refused = Python::attach(|py| ready.call1(py, announced.clone())).err();
        refused.is_none()
    };
    let summary = detached(py, || server.run(&mut announce, &mut || reporter.report(()).is_break()))?;
    refused.map_or(Ok(()), Err)?;
    reporter.outcome()?;
    match summary.denied {
        Some(Denied { what, error }) => Err(no_thread(py, format!("{what}: {error}"), &error)),
        None => Ok(statistics(&summary).to_string()),
    }
}

fn offer(py: Python<'_>, device: Served, read_only: bool) -> PyResult<Offer> {
    let Served { source, settings, image, start, export } = device;
    let checked = nacre_memory::check(&source.document(&settings, None))
        .map_err(|problems| config_error(py, &problems))?;
    Ok(Offer {
        name: export.unwrap_or_else(|| checked.name.clone()),
        description: checked.scenario.summary.clone().unwrap_or_default(),
        checked,
        files: Box::new(source.files(py)?),
        image,
        from: start.as_deref().map(|path| state_of_run(py, path)).transpose()?,
        read_only,
    })
}

fn terms(listen: &str, options: &Options) -> Result<Terms, ServeError> {
    let dilation = options.dilate;
    let timing = match options.timing.as_str() {
        "none" => Timing::None,
        "compensated" => Timing::Emulated { dilation, since: Since::Sending },
        _ => Timing::Emulated { dilation, since: Since::Arrival },
    };
    let metrics = options.metrics.as_deref().map(Address::parse).transpose();
    Ok(Terms {
        address: Address::parse(listen)?,
        timing,
        certificates: options.tls.as_deref().map(Certificates::read).transpose()?,
        control: options.control.clone(),
        metrics: metrics.map_err(ServeError::Metrics)?,
        record: options.record.clone(),
        force: options.force,
    })
}

fn problems(wrong: &ServeError) -> Problems {
    let place = match wrong {
        ServeError::Device(MemoryError::Scenario(problems)) => return problems.clone(),
        ServeError::Image(_) | ServeError::Device(_) | ServeError::Unfit { .. } => "image",
        ServeError::NothingModeled => "start",
        ServeError::Address(_) => "listen",
        ServeError::Control(_) => "control",
        ServeError::Metrics(_) => "metrics",
        ServeError::Record(_) => "record",
        ServeError::Certificates(_) => "tls",
        ServeError::SameName(_) => "export",
    };
    Problem::new(wrong.code(), place, None, wrong.to_string()).all_data(wrong.data()).into()
}

fn statistics(summary: &ServerSummary) -> serde_json::Value {
    serde_json::json!({
        "clients": summary.clients,
        "dropped": summary.dropped,
        "last_drop": summary.last_drop,
        "unsynced": summary.unsynced,
        "exports": summary.exports.iter().map(|export| export.json(false)).collect::<Vec<_>>(),
    })
}
