//! Miss-ratio curves of trace files.

use super::input::{each_batch, open};
use super::options::{TraceOptions, option_error};
use crate::arrays;
use crate::errors::trace_error;
use nacre_kernel::{Op, Request};
use nacre_shape::{Curve, Estimate, ExactCurve, Rate, SampledCurve};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use serde_json::json;

/// Maximum number of blocks that can be tracked exactly.
const BLOCKS_MAX: u64 = 1 << 30;

/// Computes the miss-ratio curve in one pass over a trace. Returns a description of the curve as JSON text,
/// and its columns: misses at a few hundred sizes with their half-widths, and every size at which the number
/// of hits changes.
#[pyfunction]
#[pyo3(signature = (paths, options, block_bytes, share, blocks, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "the keywords of one Python function")]
pub(crate) fn trace_misses<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    options: &Bound<'py, PyMapping>,
    block_bytes: u64,
    share: Option<f64>,
    blocks: Option<u32>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let parsed = TraceOptions::read(py, options)?;
    arrays::load(py)?;
    let mut input = open(py, &paths, &parsed.reading)?;
    let rate = share.map(Rate::Share).or(blocks.map(Rate::Blocks));
    let mut follower = match rate {
        Some(rate) => Follower::Sampled(SampledCurve::new(block_bytes, rate, seed)),
        None => Follower::Exact(ExactCurve::new(block_bytes)),
    };
    let complete = each_batch(py, &mut input, parsed.limit, progress, |batch| {
        follower.add(batch);
        if matches!(&follower, Follower::Exact(exact) if exact.blocks() > BLOCKS_MAX - (1 << 24)) {
            let problem = "it touches more than 2^30 different blocks".to_string();
            return Err(option_error("the trace", problem, "follow a sample of them: --sample 0.01"));
        }
        Ok(true)
    })?;
    let tally = input.reader.tally();
    let found = match follower {
        Follower::Exact(exact) => MissRatios { curve: exact.curve(), estimate: None },
        Follower::Sampled(sampled) => {
            let estimate = sampled.estimate();
            MissRatios { curve: estimate.curve.clone(), estimate: Some(estimate) }
        }
    };
    if found.curve.accesses().all() == 0.0 {
        let problem = "it has no reads or writes".to_string();
        return Err(trace_error(py, option_error(&paths.join(", "), problem, "a curve needs some")));
    }
    let about = json!({
        "format": tally.format,
        "complete": complete,
        "records": tally.records,
        "bad_records": tally.bad_records,
        "block_bytes": block_bytes,
        "reads": found.curve.accesses().reads,
        "writes": found.curve.accesses().writes,
        "largest_bytes": found.curve.largest() * block_bytes,
        "sample_rate": found.estimate.as_ref().map_or(1.0, |estimate| estimate.rate),
        "blocks_followed": found.estimate.as_ref().map(|estimate| estimate.blocks),
        "warnings": tally.notes,
    });
    Ok((about.to_string(), found.columns(py, block_bytes)?))
}

enum Follower {
    Exact(ExactCurve),
    Sampled(SampledCurve),
}

impl Follower {
    fn add(&mut self, batch: &[Request]) {
        match self {
            Follower::Exact(exact) => exact.add(batch),
            Follower::Sampled(sampled) => sampled.add(batch),
        }
    }
}

struct MissRatios {
    curve: Curve,
    estimate: Option<Estimate>,
}

impl MissRatios {
    fn columns<'py>(&self, py: Python<'py>, block_bytes: u64) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let sizes = self.curve.sizes();
        let bytes = sizes.iter().map(|size| size * block_bytes).collect();
        columns.set_item("bytes", PyArray1::<u64>::from_vec(py, bytes))?;
        for (name, op) in [("all", None), ("reads", Some(Op::Read)), ("writes", Some(Op::Write))] {
            let missed = |&size: &u64| self.curve.miss_ratio(size, op).unwrap_or(f64::NAN);
            columns.set_item(name, PyArray1::from_vec(py, sizes.iter().map(missed).collect::<Vec<f64>>()))?;
            let width = |&size: &u64| {
                let estimate = self.estimate.as_ref();
                estimate.map_or(Some(0.0), |estimate| estimate.half_width(size, op)).unwrap_or(f64::NAN)
            };
            let widths = sizes.iter().map(width).collect::<Vec<f64>>();
            columns.set_item(format!("{name}_within"), PyArray1::from_vec(py, widths))?;
        }
        let steps = self.curve.steps().iter().map(|(size, _)| (*size).max(1));
        let all: Vec<u64> = steps.collect();
        let hits: Vec<_> = all.iter().map(|&size| self.curve.hits(size)).collect();
        columns.set_item("step_blocks", PyArray1::from_vec(py, all))?;
        let reads = hits.iter().map(|hits| hits.reads).collect::<Vec<f64>>();
        columns.set_item("step_read_hits", PyArray1::from_vec(py, reads))?;
        let writes = hits.iter().map(|hits| hits.writes).collect::<Vec<f64>>();
        columns.set_item("step_write_hits", PyArray1::from_vec(py, writes))?;
        Ok(columns)
    }
}
