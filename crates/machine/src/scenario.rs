//! Scenarios, and the conversion from text to a checked configuration.

use crate::host::HostConfig;
use crate::models::Models;
use crate::presets::Presets;
use nacre_config::{
    Choice, Configuration, CountOr, ErrorCode, Node, Origin, Problem, Problems, Reader, Resolved, Slot, Value,
};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bytes, Ratio, Time};
use nacre_workload::WorkloadFamily;

/// Maximum number of devices, policies, and distributions in one stack, because component identifiers have
/// one byte.
pub const PARTS_MAX: usize = 250;

/// A scenario: a workload, the stack that serves it, and the settings of the run.
#[derive(Clone, Debug, Configuration)]
pub struct Scenario {
    /// Version of the scenario format.
    #[config(default = 1, min = 1, max = 1, source = "standard: this version of Nacre")]
    pub schema: u32,
    /// A name for tables and figures.
    pub name: Option<String>,
    /// Summary in one line.
    pub summary: Option<String>,
    /// The workload.
    pub workload: Slot<WorkloadFamily>,
    /// Device that serves the requests.
    pub stack: Slot<DeviceFamily>,
    /// How the host sends requests. By default, the host submits each request immediately and waits for its
    /// completion without limit.
    pub host: Option<HostConfig>,
    /// Settings of the run (optional).
    pub run: Option<RunConfig>,
}

/// Settings of a run.
#[derive(Clone, Debug, Configuration)]
pub struct RunConfig {
    /// Seed of all random streams. Equal scenarios and seeds give records that are equal byte for byte.
    #[config(default = 1, max = 9223372036854775807, source = "assumed: any number serves")]
    pub seed: u64,
    /// Fill the stack sequentially before simulated time starts, so that reads find data: `"capacity"`,
    /// `"footprint"`, or a table with more settings. The default is a new stack.
    pub fill: Option<Fill>,
    /// Writes before simulated time starts, after `fill`. They take no time, and only their wear is
    /// counted. A number selects that number of writes of the workload, which are generated in addition to
    /// the measured requests, or read from the start of the trace. A separate workload gives as many writes
    /// as it has requests, or all writes of a trace.
    #[config(default = 0, source = "assumed: a new device by default")]
    pub precondition: CountOr<WorkloadFamily>,
    /// Continue the writes of `precondition` until write amplification is steady and the amount of valid data
    /// no longer grows. Simulated time starts after these writes.
    pub until_steady: Option<UntilSteady>,
    /// Requests served before measurement starts, to warm up caches.
    #[config(default = 0, source = "assumed: by default, everything is measured")]
    pub warm_up: u64,
    /// After the run, continue the writes of the workload until the first block or row is worn out, and
    /// report the time of wear-out at the write rate of the run. This takes no simulated time.
    #[config(default = false, source = "assumed: off by default")]
    pub wear_out: bool,
    /// Stop after this number of requests, including warm-up.
    #[config(min = 1)]
    pub requests: Option<u64>,
    /// Stop as soon as the 95 % confidence intervals of the mean read and write latencies have half-widths of
    /// at most this share of the mean. If the workload ends first, the run also ends, and the record reports
    /// which intervals are still too wide.
    #[config(min = "0.01 %", max = "100 %")]
    pub until: Option<Ratio>,
    /// Stop before the first request that is issued at or after this simulated time.
    #[config(min = "1 ps")]
    pub duration: Option<Time>,
}

/// Fill of a drive: one sequential pass before simulated time starts.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_fill", short = "of")]
pub struct Fill {
    /// Address range to fill.
    #[config(
        default = "capacity",
        source = "standard: SNIA PTS, preconditioning writes the whole user capacity"
    )]
    pub of: FillOf,
    /// Share of the range to write, starting at its first byte.
    #[config(
        default = "100 %",
        max = "100 %",
        source = "standard: SNIA PTS, preconditioning writes the whole user capacity"
    )]
    pub share: Ratio,
    /// Size of one write, in bytes.
    #[config(
        default = "128 KiB",
        min = "512 B",
        max = "1 GiB",
        source = "standard: SNIA PTS, preconditioning writes blocks of 128 KiB sequentially"
    )]
    pub request: Bytes,
}

/// Addresses that are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum FillOf {
    /// The whole capacity of the stack.
    Capacity,
    /// All addresses that the workload may access: the footprint of a random workload, or the accesses of a
    /// trace.
    Footprint,
}

fn check_fill(fill: &Fill, reader: &mut Reader<'_>) {
    if fill.share.0 <= 0.0 {
        reader.conflict("share", "0 %", "nothing would be filled", "remove run.fill, or fill more");
    }
}

/// Criterion for a steady state of preconditioning.
///
/// Write amplification is measured in windows. The state is steady if the values of the last windows are
/// close to each other without a trend, and valid data no longer grows. Valid data may rise by at most 0.1
/// % above its previous maximum over these windows. The record has the values of every window and whether
/// the steady state was reached.
#[derive(Clone, Debug, Configuration)]
pub struct UntilSteady {
    /// Host data of one window, as a share of the stack's capacity.
    #[config(
        default = "100 %",
        min = "0.01 %",
        max = "10000 %",
        source = "assumed: every address is written about once"
    )]
    pub window: Ratio,
    /// Number of consecutive windows whose values must be close to each other.
    #[config(default = 5, min = 2, max = 1000, source = "standard: SNIA PTS, steady state over five rounds")]
    pub windows: u32,
    /// Maximum difference between the largest and the smallest value of the last `windows` windows, as a
    /// share of their mean. The line fitted to these values may rise or fall by half as much from end to
    /// end.
    #[config(
        default = "10 %",
        min = "0.01 %",
        max = "100 %",
        source = "assumed: half of the excursion and slope that the SNIA PTS allows"
    )]
    pub tolerance: Ratio,
    /// Maximum number of windows. The record reports whether it was reached.
    #[config(default = 100, min = 2, max = 1000000, source = "assumed: a value that lets every run start")]
    pub windows_max: u32,
}

impl RunConfig {
    /// Returns whether the settings require the stack to be filled or written before simulated time starts.
    pub(crate) fn prepares(&self) -> bool {
        self.fill.is_some() || self.takes_writes()
    }

    /// Returns whether the settings require a workload to write before simulated time starts.
    pub(crate) fn takes_writes(&self) -> bool {
        !matches!(self.precondition, CountOr::Count(0)) || self.until_steady.is_some()
    }

    /// Returns an upper bound for the share of the stack that is written outside simulated time: before the
    /// run, or after it to wear out the stack.
    pub(crate) fn share_written_before(&self) -> f64 {
        match &self.fill {
            _ if self.takes_writes() || self.wear_out => 1.0,
            Some(fill) => fill.share.0,
            None => 0.0,
        }
    }

    /// Returns the number of preconditioning writes that the measured workload supplies.
    pub(crate) fn first_writes(&self) -> u64 {
        match self.precondition {
            CountOr::Count(count) => count,
            CountOr::Model(_) => 0,
        }
    }
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        let models = Models::new();
        let empty = Node::table(Origin::Default("standard: [run] left out"));
        RunConfig::read(&empty, &mut Reader::new(&models))
            .expect("every field has a default or may be absent")
    }
}

/// A scenario in the form in which the user provides it.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The TOML text.
    pub text: &'a str,
    /// Name of the file in messages and origins.
    pub name: &'a str,
    /// Overrides from `--set PATH=VALUE` in order. Later ones have priority.
    pub overrides: &'a [(String, String)],
    /// Seed from `--seed N`, which equals an override of `run.seed`.
    pub seed: Option<u64>,
}

/// A scenario without errors.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The configuration, without errors.
    pub scenario: Scenario,
    /// Settings of the run, with defaults.
    pub run: RunConfig,
    /// Every value that will be used, with its origin, in the order of reading.
    pub resolved: Vec<Resolved>,
    /// Name for tables: the name of the scenario or, if it has none, of the file.
    pub name: String,
}

/// Reads and checks a scenario: applies overrides and presets, and then reads every setting. Returns all
/// errors together.
pub fn check(document: &Document<'_>) -> Result<Checked, Problems> {
    Parsed::of(document.text, document.name)?.check(document.overrides, document.seed)
}

/// A parsed scenario that can be checked with different overrides, e.g. for the points of a study.
#[derive(Clone, Debug)]
pub struct Parsed {
    node: Node,
    name: String,
    presets: Presets,
}

impl Parsed {
    /// Parses the TOML `text` of the file `name`. Returns an error if `text` is not valid TOML.
    pub fn of(text: &str, name: &str) -> Result<Parsed, Problems> {
        let node = Node::parse_toml(text, name)?;
        Ok(Parsed { node, name: name.into(), presets: Presets::default() })
    }

    /// Checks the scenario with these overrides, like [`check`].
    pub fn check(&mut self, overrides: &[(String, String)], seed: Option<u64>) -> Result<Checked, Problems> {
        let mut node = self.node.clone();
        let mut problems = overridden(&mut node, overrides, seed);
        self.presets.apply(&mut node, "", &mut problems);
        checked(&node, problems, &self.name)
    }
}

/// Applies the overrides to `node`, and returns their errors.
fn overridden(node: &mut Node, overrides: &[(String, String)], seed: Option<u64>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, value) in overrides {
        let origin = Origin::Override(format!("{path}={value}").into());
        problems.extend(node.set(path, Node::parse_value(value, &origin)).err());
    }
    if let Some(seed) = seed {
        let origin = Origin::Override(format!("run.seed={seed}").into());
        // A seed that is too large for a TOML integer remains text, which the configuration reader rejects.
        let value = i64::try_from(seed).map_or_else(|_| Value::Text(seed.to_string()), Value::Integer);
        problems.extend(node.set("run.seed", Node { value, origin }).err());
    }
    problems
}

/// Reads every setting of a document to which overrides were applied. `problems` contains the errors found
/// before.
fn checked(node: &Node, mut problems: Vec<Problem>, name: &str) -> Result<Checked, Problems> {
    let models = Models::new();
    let mut reader = Reader::new(&models);
    let scenario = Scenario::read(node, &mut reader);
    let read = reader.finish();
    problems.extend(read.as_ref().ok().and_then(|resolved| too_many_parts(resolved)));
    match read {
        Ok(mut resolved) if problems.is_empty() => {
            let scenario = scenario.expect("a document without problems was read");
            let run = scenario.run.clone().unwrap_or_default();
            if let Some(problem) = only_warm_up(&run, &resolved) {
                return Err(problem.into());
            }
            if scenario.run.is_none() {
                resolved.extend(default_run());
            }
            let name = scenario.name.clone().unwrap_or_else(|| name.to_string());
            Ok(Checked { scenario, run, resolved, name })
        }
        Ok(_) => Err(Problems(problems)),
        Err(more) => {
            problems.extend(more.0);
            Err(Problems(problems))
        }
    }
}

/// Returns an error if the stack has more than [`PARTS_MAX`] devices, policies, and distributions.
fn too_many_parts(resolved: &[Resolved]) -> Option<Problem> {
    let is_part = |value: &&Resolved| value.path.starts_with("stack.") && value.path.ends_with(".kind");
    let parts = resolved.iter().filter(is_part).count();
    let problem = format!("it has {parts} devices, policies and distributions");
    (parts > PARTS_MAX).then(|| {
        Problem::new(ErrorCode::OverLimit, "stack", None, problem)
            .data("limit", PARTS_MAX as u64)
            .remedy(format!("the limit is {PARTS_MAX}"))
    })
}

/// Returns an error if all requests of the run are warm-up requests.
fn only_warm_up(run: &RunConfig, resolved: &[Resolved]) -> Option<Problem> {
    let value = |path: &str| resolved.iter().find(|resolved| resolved.path == path).map(|found| &found.node);
    let of_workload = ["workload.requests", "workload.limit"].into_iter().filter_map(|path| {
        let Value::Integer(requests) = value(path)?.value else { return None };
        u64::try_from(requests).ok()
    });
    let requests = of_workload.chain(run.requests).min()?;
    (run.warm_up > 0 && run.warm_up >= requests).then(|| {
        let problem = format!("the run has {requests} requests, all of them warm-up");
        let origin = value("run.warm_up").map(|node| &node.origin);
        Problem::new(ErrorCode::ConflictingSettings, "run.warm_up", origin, problem)
            .given(run.warm_up)
            .remedy("reduce it, or run more requests")
    })
}

/// Returns the default values of an absent `[run]` table.
fn default_run() -> Vec<Resolved> {
    let models = Models::new();
    let mut reader = Reader::at(&models, "run");
    let empty = Node::table(Origin::Default("standard: [run] left out"));
    let _ = RunConfig::read(&empty, &mut reader);
    reader.finish().expect("defaults are legal")
}

#[cfg(test)]
mod tests {
    use super::{Document, Parsed, check};

    const CACHE: &str = r#"
        schema = 1
        [workload]
        kind = "uniform"
        requests = 10
        footprint = "1 MiB"
        [stack]
        kind = "server_cache"
        [[stack.level]]
        policy = "lru"
        device = { preset = "pcm_ssd", capacity = "1 MiB" }
        [stack.backing]
        preset = "network_store"
    "#;

    #[test]
    fn a_scenario_parsed_once_is_what_it_would_be_alone() {
        let set = |path: &str, value: &str| vec![(path.to_string(), value.to_string())];
        let device = "stack.level[0].device.preset";
        let all = [
            vec![],
            set(device, "emlc_ssd"),
            set(device, "none_of_that_name"),
            set("stack.level[0].device.read", "0.1 us"),
            set("workload.requests", "many"),
            set("run.seed", "7"),
            vec![],
        ];
        let mut parsed = Parsed::of(CACHE, "cache.toml").expect("it is TOML");
        for overrides in &all {
            let document = Document { text: CACHE, name: "cache.toml", overrides, seed: None };
            match (parsed.check(overrides, None), check(&document)) {
                (Ok(kept), Ok(alone)) => {
                    assert_eq!((kept.resolved, kept.name), (alone.resolved, alone.name));
                }
                (Err(kept), Err(alone)) => assert_eq!(kept.to_string(), alone.to_string()),
                (kept, alone) => panic!("{:?} kept, {:?} alone", kept.err(), alone.err()),
            }
        }
        let mistaken = all.iter().filter(|overrides| parsed.check(overrides, None).is_err()).count();
        assert_eq!(mistaken, 2, "a name that is none, and requests that are no number");
    }
}
