//! User options for reading and sampling.

use crate::errors::trace_error;
use nacre_workload::trace::{Action, Options, Sampler, TimeUnit, TraceError};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

/// User options for reading and sampling.
pub(super) struct TraceOptions {
    pub(super) reading: Options,
    pub(super) limit: u64,
    fraction: Option<f64>,
    pub(super) by: String,
    seed: u64,
    pub(super) strict: bool,
}

impl TraceOptions {
    pub(super) fn defaults() -> TraceOptions {
        let reading = Options::default();
        TraceOptions { reading, limit: u64::MAX, fraction: None, by: "block".into(), seed: 1, strict: false }
    }

    pub(super) fn read(py: Python<'_>, given: &Bound<'_, PyMapping>) -> PyResult<TraceOptions> {
        let mut parsed = TraceOptions::defaults();
        let unit: Option<String> = option(given, "time_unit")?;
        let action: Option<String> = option(given, "action")?;
        parsed.reading.format = option(given, "format")?;
        parsed.reading.page_bytes = option(given, "page")?;
        parsed.reading.time_unit =
            unit.map(|unit| TimeUnit::parse(&unit)).transpose().map_err(|error| trace_error(py, error))?;
        parsed.reading.action = action
            .map(|letter| Action::parse(&letter))
            .transpose()
            .map_err(|error| trace_error(py, error))?;
        parsed.strict = option(given, "strict")?.unwrap_or(false);
        parsed.reading.strict = parsed.strict;
        parsed.limit = option(given, "limit")?.unwrap_or(u64::MAX);
        parsed.fraction = option(given, "fraction")?;
        parsed.by = option(given, "by")?.unwrap_or(parsed.by);
        parsed.seed = option(given, "seed")?.unwrap_or(parsed.seed);
        Ok(parsed)
    }

    pub(super) fn sampler(&self) -> Result<Sampler, TraceError> {
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
                let problem = "unknown way to sample".to_string();
                Err(option_error(&format!("--by {other}"), problem, "use block, request or first"))
            }
        }
    }
}

/// Creates the error for an invalid option.
pub(super) fn option_error(option: &str, problem: String, remedy: &str) -> TraceError {
    TraceError::Option { option: option.into(), problem, remedy: remedy.into() }
}

fn option<'py, T>(given: &Bound<'py, PyMapping>, key: &str) -> PyResult<Option<T>>
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
