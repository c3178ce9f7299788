//! Serving a scenario's stack as a block device.

use crate::bugs::detached;
use crate::errors::config_error;
use crate::progress::Reporter;
use crate::run::scenario_files;
use nacre_kernel::histogram::LatencyHistogram;
use nacre_machine::identity::identity;
use nacre_machine::{Document, Problem, Problems, check as check_document};
use nacre_serve::listen::Address;
use nacre_serve::model::{Latencies, Timing};
use nacre_serve::server::{Life, Offer, ServeError, Server};
use pyo3::prelude::*;
use std::path::PathBuf;

/// How a stack is served.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Terms {
    image: PathBuf,
    listen: String,
    /// None: answer at once.
    dilation: Option<f64>,
    read_only: bool,
    /// Called with each line about the image that its user should know, before `ready`.
    tell: Py<PyAny>,
}

/// Serves the stack of a scenario until `stop`, called about ten times a second, returns true. `ready` is
/// called once with the URI and the bytes of the device. Returns what was seen, as JSON text.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python gives them in the order of `run`")]
pub(crate) fn serve(
    py: Python<'_>,
    scenario: &str,
    name: &str,
    directory: PathBuf,
    overrides: Vec<(String, String)>,
    terms: Terms,
    ready: Py<PyAny>,
    stop: Py<PyAny>,
) -> PyResult<String> {
    let document = Document { text: scenario, name, overrides: &overrides, seed: None };
    let checked = check_document(&document).map_err(|problems| config_error(py, &problems))?;
    let files = scenario_files(py, directory)?;
    let built = detached(py, || nacre_machine::stack::build(&checked, &files))?;
    let device = built.map_err(|problems| config_error(py, &problems))?.device;
    let offer = Offer {
        name: checked.name.clone(),
        description: checked.scenario.summary.clone().unwrap_or_default(),
        device,
        identity: identity(&checked),
        seed: checked.run.seed,
        image: terms.image,
        read_only: terms.read_only,
    };
    let timing = terms.dilation.map_or(Timing::None, |dilation| Timing::Emulated { dilation });
    let mut reporter = Reporter::new(Some(stop));
    let opened = detached(py, || {
        let address = Address::parse(&terms.listen)?;
        Server::open(vec![offer], &address, timing, &mut |_| reporter.report(()))
    })?;
    let server = match opened {
        Ok(server) => server,
        Err(wrong) => {
            // Where a signal stopped it, that is what is raised.
            reporter.outcome()?;
            return Err(config_error(py, &problems(&wrong)));
        }
    };
    for notice in server.notices() {
        terms.tell.call1(py, (notice,))?;
    }
    ready.call1(py, (server.uris().remove(0), server.sizes()[0]))?;
    let life = detached(py, || server.run(&mut || reporter.report(()).is_break()))?;
    reporter.outcome()?;
    Ok(told(&life).to_string())
}

fn problems(wrong: &ServeError) -> Problems {
    let place = match wrong {
        ServeError::Image(_) => "image",
        ServeError::Address(_) => "listen",
        ServeError::NoSize => "stack",
    };
    Problem::new(place, None, wrong.to_string()).into()
}

fn told(life: &Life) -> serde_json::Value {
    let exports: Vec<_> = life.latencies.iter().map(latencies).collect();
    serde_json::json!({
        "clients": life.clients,
        "dropped": life.dropped,
        "last_drop": life.last_drop,
        "exports": exports,
    })
}

fn latencies(of: &Latencies) -> serde_json::Value {
    let pair = |histograms: &[LatencyHistogram; 2]| serde_json::json!({ "read": summary(&histograms[0]), "write": summary(&histograms[1]) });
    serde_json::json!({
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
