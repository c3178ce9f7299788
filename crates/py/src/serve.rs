//! Serving stacks of scenarios as block devices.

use crate::bugs::detached;
use crate::errors::config_error;
use crate::progress::Reporter;
use crate::run::scenario_files;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_machine::{Document, Problem, Problems, check as check_document};
use nacre_serve::listen::Address;
use nacre_serve::model::{Latencies, Timing};
use nacre_serve::server::{Life, Offer, ServeError, Server, Terms};
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
    /// What clients call it; None: as the scenario is called.
    export: Option<String>,
}

/// How stacks are served.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Manner {
    listen: String,
    /// None: answer at once.
    dilation: Option<f64>,
    read_only: bool,
    /// The folder of certificates; None: nothing is encrypted.
    tls: Option<PathBuf>,
}

/// Serves stacks until `stop`, called about ten times a second, returns true. `ready` is called with the URI and
/// the bytes of each device, in their order. Returns what was seen, as JSON text.
#[pyfunction]
pub(crate) fn serve(
    py: Python<'_>,
    stacks: Vec<Served>,
    manner: Manner,
    ready: Py<PyAny>,
    stop: Py<PyAny>,
) -> PyResult<String> {
    let offers = stacks.into_iter().map(|stack| offer(py, stack, manner.read_only));
    let offers = offers.collect::<PyResult<Vec<_>>>()?;
    let refused = |wrong: ServeError| config_error(py, &problems(&wrong));
    let terms = terms(&manner).map_err(refused)?;
    let server = Server::open(offers, terms).map_err(refused)?;
    for (uri, bytes) in server.uris().into_iter().zip(server.sizes()) {
        ready.call1(py, (uri, bytes))?;
    }
    let mut reporter = Reporter::new(Some(stop));
    let life = detached(py, || server.run(&mut || reporter.report(()).is_break()))?;
    reporter.outcome()?;
    Ok(told(&life).to_string())
}

fn offer(py: Python<'_>, stack: Served, read_only: bool) -> PyResult<Offer> {
    let Served { scenario, source, directory, overrides, image, export } = stack;
    let document = Document { text: &scenario, name: &source, overrides: &overrides, seed: None };
    let checked = check_document(&document).map_err(|problems| config_error(py, &problems))?;
    let files = scenario_files(py, directory)?;
    let built = detached(py, || nacre_machine::stack::build(&checked, &files))?;
    let device = built.map_err(|problems| config_error(py, &problems))?.device;
    Ok(Offer {
        name: export.unwrap_or_else(|| checked.name.clone()),
        description: checked.scenario.summary.clone().unwrap_or_default(),
        device,
        image,
        read_only,
    })
}

fn terms(manner: &Manner) -> Result<Terms, ServeError> {
    Ok(Terms {
        address: Address::parse(&manner.listen)?,
        timing: manner.dilation.map_or(Timing::None, |dilation| Timing::Emulated { dilation }),
        certificates: manner.tls.as_deref().map(Certificates::read).transpose()?,
    })
}

fn problems(wrong: &ServeError) -> Problems {
    let place = match wrong {
        ServeError::Image(_) => "image",
        ServeError::Address(_) => "listen",
        ServeError::Certificates(_) => "tls",
        ServeError::SameName(_) => "export",
        ServeError::NoSize => "stack",
    };
    Problem::new(place, None, wrong.to_string()).into()
}

fn told(life: &Life) -> serde_json::Value {
    let exports: Vec<_> = life.exports.iter().map(|(name, of)| latencies(name, of)).collect();
    serde_json::json!({
        "clients": life.clients,
        "dropped": life.dropped,
        "last_drop": life.last_drop,
        "exports": exports,
    })
}

fn latencies(name: &str, of: &Latencies) -> serde_json::Value {
    let pair = |histograms: &[LatencyHistogram; 2]| serde_json::json!({ "read": summary(&histograms[0]), "write": summary(&histograms[1]) });
    serde_json::json!({
        "name": name,
        "answered": of.answered,
        "late": of.late,
        "modelled": pair(&of.modelled),
        "wall": pair(&of.wall),
    })
}

fn summary(of: &LatencyHistogram) -> serde_json::Value {
    let Some(mean_ps) = of.mean_ps() else { return serde_json::Value::Null };
    let quantile = |q: f64| of.quantile(q).map(|time| time.as_ps() as f64 / 1e3);
    serde_json::json!({
        "count": of.count(),
        "mean_ns": mean_ps / 1e3,
        "p50_ns": quantile(0.5),
        "p95_ns": quantile(0.95),
        "p99_ns": quantile(0.99),
        "p999_ns": quantile(0.999),
        "max_ns": quantile(1.0),
    })
}
