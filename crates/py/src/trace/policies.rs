//! Miss ratios of several policies and cache sizes from one pass over a trace, on all cores.

use super::input::{each_batch, open};
use super::options::{TraceOptions, option_error};
use crate::cleaning::Functions;
use crate::errors::{Failure, config_error, no_thread, trace_error};
use crate::policies;
use nacre_machine::Problems;
use nacre_machine::policies::{Replacement, cache};
use nacre_shape::miniature::{Amounts, Cache, Followed, Follower, Simulation};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use serde_json::{Value, json};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Number of accesses that are passed to the threads at a time.
const HANDED: usize = 1 << 16;
/// Maximum number of groups of accesses that are queued for a thread.
const WAITING: usize = 4;

struct Policy(Box<dyn Replacement>);

impl Cache for Policy {
    fn replay(&mut self, blocks: &[u64], hits: &mut [bool]) {
        self.0.replay_each(blocks, hits);
    }
}

/// Simulates each policy at each size in one pass over a trace. Returns the misses, with sizes in blocks, as
/// JSON text.
#[pyfunction]
#[pyo3(signature = (paths, options, policies, functions, sizes, block_bytes, share, seed, progress))]
#[expect(clippy::disallowed_methods, reason = "simulations of one stream on all processors")]
#[expect(clippy::too_many_arguments, reason = "the keywords of one Python function")]
pub(crate) fn trace_policies(
    py: Python<'_>,
    paths: Vec<String>,
    options: &Bound<'_, PyMapping>,
    policies: Vec<String>,
    functions: Functions,
    sizes: Vec<u64>,
    block_bytes: u64,
    share: f64,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let parsed = TraceOptions::read(py, options)?;
    let mut input = open(py, &paths, &parsed.reading)?;
    let failure = Failure::default();
    let brought = Brought { functions, failure: failure.clone() };
    let simulations =
        simulations(&policies, &brought, &sizes, share).map_err(|problems| config_error(py, &problems))?;
    let mut follower = Follower::new(block_bytes, share, seed);
    // This flag states whether the caller has stopped waiting for the result.
    let stopped = AtomicBool::new(false);
    let stopped = &stopped;
    let (complete, simulations) =
        thread::scope(|scope| -> PyResult<_> {
            let mut workers = Vec::new();
            let mut ways: Vec<SyncSender<Arc<Followed>>> = Vec::new();
            for own in dealt(simulations) {
                let (way, coming) = sync_channel::<Arc<Followed>>(WAITING);
                ways.push(way);
                let simulate = move || add_all(own, &coming, stopped);
                let begun = thread::Builder::new().spawn_scoped(scope, simulate);
                workers.push(begun.map_err(|denied| {
                    no_thread(py, format!("no thread for the caches: {denied}"), &denied)
                })?);
            }
            let mut followed = Followed::default();
            let hand = |followed: &mut Followed| {
                let shared = Arc::new(std::mem::take(followed));
                // A thread that ended early has panicked. Joining the thread reports the panic.
                ways.iter().for_each(|way| drop(way.send(Arc::clone(&shared))));
            };
            let complete = each_batch(py, &mut input, parsed.limit, progress, |batch| {
                follower.follow(batch, &mut followed);
                if followed.len() >= HANDED {
                    hand(&mut followed);
                }
                Ok(!failure.is_there())
            });
            if complete.is_ok() {
                // A slow thread may be waiting for the interpreter lock.
                py.detach(|| hand(&mut followed));
            } else {
                stopped.store(true, Ordering::Relaxed);
            }
            drop(ways);
            let all = py.detach(|| joined(workers));
            Ok((complete?, all))
        })?;
    if let Some(raised) = py.detach(|| failure.take()) {
        return Err(raised);
    }
    let tally = input.reader.tally();
    let all = follower.all();
    if all.accesses == [0.0; 2] {
        let problem = "it has no reads or writes".to_string();
        return Err(trace_error(py, option_error(&paths.join(", "), problem, "a curve needs some")));
    }
    let document = json!({
        "format": tally.format,
        "complete": complete,
        "records": tally.records,
        "bad_records": tally.bad_records,
        "block_bytes": block_bytes,
        "reads": all.accesses[0],
        "writes": all.accesses[1],
        "read_bytes": all.bytes[0],
        "written_bytes": all.bytes[1],
        "sample_rate": share,
        "warnings": tally.notes,
        "rows": rows(&policies, &sizes, &simulations, all),
    });
    Ok(document.to_string())
}

/// Waits until all workers have ended, and returns their simulations. If a worker panicked, this function
/// panics, too.
fn joined(workers: Vec<thread::ScopedJoinHandle<'_, Vec<(usize, Simulation)>>>) -> Vec<(usize, Simulation)> {
    let ended = workers.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>();
    let own = ended.into_iter().map(|own| own.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    own.flatten().collect()
}

/// Adds the accesses received from `coming` to the simulations `own` until the channel closes. Returns the
/// simulations.
fn add_all(
    mut own: Vec<(usize, Simulation)>,
    coming: &Receiver<Arc<Followed>>,
    stopped: &AtomicBool,
) -> Vec<(usize, Simulation)> {
    for followed in coming {
        own.iter_mut()
            .take_while(|_| !stopped.load(Ordering::Relaxed))
            .for_each(|(_, simulation)| simulation.add(&followed));
    }
    own
}

/// Policies written in Python, each with its name.
struct Brought {
    functions: Functions,
    failure: Failure,
}

impl Brought {
    /// Returns a cache of `blocks` blocks with the Python policy `name`, or `None` if there is no such
    /// policy.
    fn cache(&self, name: &str, blocks: u64) -> Option<Box<dyn Replacement>> {
        let (_, class) = self.functions.iter().find(|(known, _)| known == name)?;
        let class = Python::attach(|py| class.clone_ref(py));
        let make = policies::replacement(name.to_string(), class, self.failure.clone());
        Some(make(usize::try_from(blocks).unwrap_or(usize::MAX)))
    }
}

/// Creates a simulation for every policy at every size. Each simulation has a number, by which results are
/// sorted.
fn simulations(
    policies: &[String],
    brought: &Brought,
    sizes: &[u64],
    share: f64,
) -> Result<Vec<(usize, Simulation)>, Problems> {
    let pairs = policies.iter().flat_map(|policy| sizes.iter().map(move |&blocks| (policy, blocks)));
    let made = pairs.enumerate().map(|(number, (policy, blocks))| {
        let make = |blocks| {
            let built = brought.cache(policy, blocks).map_or_else(|| cache(policy, blocks), Ok);
            built.map(|built| Box::new(Policy(built)) as Box<dyn Cache>)
        };
        Ok((number, Simulation::new(blocks, share, make)?))
    });
    made.collect()
}

/// Distributes the simulations over the cores in turn. Each core gets different sizes and policies, because
/// run times depend on both.
fn dealt(simulations: Vec<(usize, Simulation)>) -> Vec<Vec<(usize, Simulation)>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(simulations.len());
    let mut shares: Vec<Vec<_>> = (0..cores).map(|_| Vec::new()).collect();
    for (place, simulation) in simulations.into_iter().enumerate() {
        shares[place % cores].push(simulation);
    }
    shares
}

fn rows(policies: &[String], sizes: &[u64], simulations: &[(usize, Simulation)], all: Amounts) -> Vec<Value> {
    let mut ordered: Vec<&(usize, Simulation)> = simulations.iter().collect();
    ordered.sort_by_key(|(number, _)| *number);
    let row = |(number, simulation): &(usize, Simulation)| {
        let ratios = |of: fn(Amounts) -> [f64; 2]| {
            let sum = simulation.ratio(all, |amounts| of(amounts).iter().sum());
            let [reads, writes] = [0, 1].map(|op| simulation.ratio(all, |amounts| of(amounts)[op]));
            json!({
                "all": sum.ratio, "reads": reads.ratio, "writes": writes.ratio,
                "all_within": sum.half_width, "reads_within": reads.half_width,
                "writes_within": writes.half_width,
            })
        };
        json!({
            "policy": policies[number / sizes.len()],
            "blocks": sizes[number % sizes.len()],
            "block": ratios(|amounts| amounts.accesses),
            "byte": ratios(|amounts| amounts.bytes),
        })
    };
    ordered.into_iter().map(row).collect()
}
