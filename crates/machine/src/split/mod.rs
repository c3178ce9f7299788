//! Split of a trace across workers: the scenario of each part, and the combined record.
//!
//! Every part is a separate run on a copy of the stack. With a split by volume, each copy is the whole stack.
//! With a split by a hash of the extent, each copy has a share of every `capacity`. Copies share no state, so
//! no part waits for another one, and results can be added.

use crate::progress::{Progress, Watch};
use crate::record::{Caution, Findings, Outcome, Split, SplitCopy, outcome};
use crate::run::{Span, findings};
use crate::scenario::Checked;
use crate::stack::{Files, shares};
use nacre_config::{ErrorCode, Problem, Problems, Value};
use nacre_kernel::units::Quantity;
use nacre_kernel::{Bytes, Time};
use nacre_workload::replay::{By, First, Share, Shares};
use std::ops::ControlFlow;

/// Granularity in bytes of the shares of a capacity.
const GRAIN: u64 = 4096;
/// Maximum number of parts.
const PARTS_MAX: usize = 1 << 16;

/// Method and number of parts of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// Criterion of the split: volumes, or a hash of the extent.
    pub by: By,
    /// Number of parts, or `None` for one part per volume.
    pub parts: Option<u32>,
}

impl Splitting {
    /// Parses `volume`, `volume:4`, or `hash:4`. The error lists the options.
    pub fn parse(text: &str) -> Result<Splitting, Problem> {
        let wrong = |problem: &str| {
            let remedy = "use volume, volume:4 or hash:4, with the number of parts";
            Err(Problem::new(ErrorCode::InvalidValue, "--split", None, problem)
                .data("expected", remedy)
                .given(format!("{text:?}"))
                .remedy(remedy))
        };
        let (by, number) = text.split_once(':').map_or((text, None), |(by, number)| (by, Some(number)));
        let by = match by {
            "volume" => By::Volume,
            "hash" => By::Hash,
            _ => return wrong("unknown way to split a trace"),
        };
        match number.map(str::parse) {
            Some(Err(_)) => wrong("the number of parts is invalid"),
            Some(Ok(0)) => wrong("it makes no parts"),
            None if by == By::Hash => wrong("it needs the number of parts"),
            Some(Ok(parts)) => Ok(Splitting { by, parts: Some(parts) }),
            None => Ok(Splitting { by, parts: None }),
        }
    }
}

/// One part of a split run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Additional settings of the part, as for `--set`.
    pub settings: Vec<(String, String)>,
    /// Number of requests of the trace in this part.
    pub requests: u64,
}

/// Computes the parts of `checked` in one pass over its trace, or `None` if `watch` stopped it.
///
/// Returns an error if the workload is not a trace, the trace has no volumes, a setting does not apply to
/// parts, or a part has no requests to measure.
pub fn parts(
    checked: &Checked,
    way: Splitting,
    files: &dyn Files,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec<Part>>, Problems> {
    check(checked, way)?;
    let run = &checked.run;
    let first = First { requests: run.warm_up, writes: run.first_writes() };
    let mut watch_reading =
        |done| watch(Progress { preconditioning: true, done, expected: None, simulated: Time::ZERO });
    let Some(found) = shares(checked, files, (way.by, way.parts), first, &mut watch_reading)? else {
        return Ok(None);
    };
    check_shares(checked, way, &found)?;
    let number = found.parts.len() as u64;
    let shared = shared(checked, way.by, number)?;
    let part = |(place, share): (usize, &Share)| {
        let mut settings = shared.clone();
        let mut set = |path: &str, value: String| settings.push((path.into(), value));
        let by = if way.by == By::Volume { "volume" } else { "hash" };
        set("workload.part.by", format!("\"{by}\""));
        set("workload.part.parts", number.to_string());
        set("workload.part.number", place.to_string());
        // Each part has a separate seed, which does not depend on the worker that runs it.
        set("run.seed", ((run.seed + place as u64) & (u64::MAX >> 1)).to_string());
        if number > 1 {
            set("run.warm_up", share.first.to_string());
            if run.first_writes() > 0 {
                set("run.precondition", share.first_writes.to_string());
            }
        }
        Part { settings, requests: share.requests }
    };
    Ok(Some(found.parts.iter().enumerate().map(part).collect()))
}

/// Runs one part with the settings in `checked`. Returns its results as text for [`together`].
pub fn run_part(
    checked: &Checked,
    files: &dyn Files,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<String, Problems> {
    Ok(findings(checked, files, &Span::default(), watch)?.0.to_text())
}

/// Combines all parts of `checked`, in the order of their numbers, into one record.
///
/// Returns an error if the text of a part is invalid or has another version.
pub fn together(checked: &Checked, way: Splitting, parts: &[&str]) -> Result<Outcome, Problems> {
    let mut read = Vec::with_capacity(parts.len());
    for (place, text) in parts.iter().enumerate() {
        let problem = |error| {
            Problem::new(
                ErrorCode::InvalidContent,
                "--split",
                None,
                format!("part {place} cannot be read: {error}"),
            )
        };
        read.push(Findings::from_text(text).map_err(problem)?);
    }
    let shared = shared(checked, way.by, parts.len() as u64)?;
    let split = Split {
        by: if way.by == By::Volume { "volume" } else { "hash" },
        shared: shared.into_iter().map(|(path, _)| path).collect(),
        copies: read.iter().map(of_part).collect(),
    };
    let mut outcome = outcome(checked, &Findings::together(read));
    let has_queue = checked.scenario.host.as_ref().is_some_and(|host| host.queue_depth.is_some());
    outcome.record.findings.extend(other_system(&split, has_queue));
    outcome.record.split = Some(split);
    Ok(outcome)
}

/// Returns the caution that separate copies differ from a single stack.
fn other_system(split: &Split, has_queue: bool) -> Option<Caution> {
    let copies = split.copies.len();
    let each = match split.by {
        "hash" => format!("a part of the addresses and 1/{copies} of every capacity"),
        _ => "the requests of some volumes".into(),
    };
    let each = each + if has_queue { ", and its own host with the whole `queue_depth`" } else { "" };
    let text = format!(
        "split: these are {copies} copies of the stack, each with {each}; hit ratios, latencies, and throughput of one \
         stack under the whole trace differ, the more the more parts; run it without a split, or with fewer parts, to \
         see by how much"
    );
    (copies > 1).then(|| Caution { kind: "split", text, paths: Vec::new() })
}

fn of_part(findings: &Findings) -> SplitCopy {
    let meter = &findings.meter;
    let mut latency = meter.reads.latency.clone();
    latency.merge(&meter.writes.latency);
    SplitCopy {
        requests: findings.issued,
        drained_s: (findings.drained - meter.start).as_secs_f64(),
        mean_ns: latency.mean_ps().map(|ps| ps / 1e3),
    }
}

fn check(checked: &Checked, way: Splitting) -> Result<(), Problems> {
    let mut problems = Vec::new();
    let mut wrong = |path: &str, problem: &str, remedy: &str| {
        let resolved = checked.resolved.iter().find(|resolved| resolved.path == path);
        let origin = resolved.map(|resolved| &resolved.node.origin);
        problems.push(Problem::new(ErrorCode::ConflictingSettings, path, origin, problem).remedy(remedy));
    };
    if way.parts.is_some_and(|parts| parts as usize > PARTS_MAX) {
        wrong("--split", &format!("more than {PARTS_MAX} parts"), "use a smaller number, e.g. hash:4");
    }
    if checked.run.requests.is_some() {
        let remedy = "remove it; workload.limit limits the whole trace";
        wrong("run.requests", "parts do not share a request count", remedy);
    }
    if checked.run.until.is_some() {
        wrong("run.until", "parts do not share confidence intervals", "remove it");
    }
    if checked.run.wear_out {
        wrong("run.wear_out", "the first worn-out block is unknown for a split trace", "remove it");
    }
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}

fn check_shares(checked: &Checked, way: Splitting, found: &Shares) -> Result<(), Problems> {
    let number = found.parts.len();
    let wrong = |problem: String, remedy: &str| {
        Err(Problem::new(ErrorCode::ConflictingSettings, "--split", None, problem).remedy(remedy).into())
    };
    if way.by == By::Volume && way.parts != Some(1) && found.volumes < 2 {
        let problem =
            if found.volumes == 0 { "the trace names no volumes" } else { "the trace has one volume only" };
        return wrong(problem.into(), "split it by a hash of its addresses, e.g. hash:4");
    }
    if way.by == By::Volume && number > found.volumes.max(1) as usize {
        let problem = format!("{number} parts, but the trace has {} volumes", found.volumes);
        return wrong(problem, "use a smaller number, or none for one part per volume");
    }
    if number > PARTS_MAX {
        return wrong(
            format!("the trace has {number} volumes, more than {PARTS_MAX} parts"),
            "add a number, e.g. volume:64",
        );
    }
    let empty = found.parts.iter().position(|share| share.requests == 0);
    if let Some(part) = empty.filter(|_| number > 1) {
        return wrong(format!("part {part} of {number} would have no requests"), "use fewer parts");
    }
    let warmed = found.parts.iter().position(|share| share.requests <= share.first && share.first > 0);
    if let Some(part) = warmed.filter(|_| number > 1) {
        let warm_up = checked.run.warm_up;
        let problem = format!(
            "all {} requests of part {part} of {number} are in the first {warm_up}, which are warm-up",
            found.parts[part].requests
        );
        return wrong(problem, "lower run.warm_up, or use fewer parts");
    }
    Ok(())
}

/// Returns the capacities in the stack, each divided by the number of parts. The list is empty for a split by
/// volume.
fn shared(checked: &Checked, by: By, parts: u64) -> Result<Vec<(String, String)>, Problems> {
    if by == By::Volume || parts == 1 {
        return Ok(Vec::new());
    }
    let mut shared = Vec::new();
    for resolved in &checked.resolved {
        let path = &resolved.path;
        if !path.starts_with("stack.") || !path.ends_with(".capacity") {
            continue;
        }
        let Value::Text(text) = &resolved.node.value else { continue };
        let Ok(whole) = Bytes::parse(text) else { continue };
        let share = whole.0 / parts / GRAIN * GRAIN;
        if share == 0 {
            let problem = format!("it cannot be shared by {parts} parts");
            let problem =
                Problem::new(ErrorCode::ConflictingSettings, path, Some(&resolved.node.origin), problem);
            return Err(problem.given(text).remedy("use fewer parts").into());
        }
        shared.push((path.clone(), format!("\"{share} B\"")));
    }
    Ok(shared)
}

#[cfg(test)]
mod tests;
