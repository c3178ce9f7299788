//! Parser for fio's JSON output. It returns the pieces of a distribution.

use crate::latency::Direction;
use crate::latency::inverse::Piece;
use nacre_kernel::Time;
use serde_json::{Deserializer, Map, Value};

/// Error in a file, with a remedy.
#[derive(Debug, PartialEq)]
pub(super) struct FormatError {
    pub(super) problem: String,
    pub(super) remedy: String,
}

fn format_error(problem: impl Into<String>, remedy: impl Into<String>) -> FormatError {
    FormatError { problem: problem.into(), remedy: remedy.into() }
}

/// Returns the latency distribution of one job and direction.
///
/// Lines before and after the document are skipped, because fio prints notes there when its output is
/// redirected.
///
/// Returns an error if more than `depth` requests may have been outstanding.
pub(super) fn pieces(
    text: &str,
    job: Option<&str>,
    direction: Direction,
    depth: u32,
) -> Result<Vec<Piece>, FormatError> {
    let document = document(text)?;
    let job = find_job(&document, job)?;
    check_depth(&document, job, depth)?;
    let clat = &job[direction.name()]["clat_ns"];
    if let Some(bins) = clat["bins"].as_object().filter(|bins| !bins.is_empty()) {
        return from_bins(bins);
    }
    match clat["percentile"].as_object().filter(|percentiles| !percentiles.is_empty()) {
        Some(percentiles) => from_percentiles(clat, percentiles),
        None => Err(format_error(
            format!("it holds no completion latencies of {}s", direction.name()),
            "run fio 3.0 or newer with --output-format=json+, and check `direction` and `job`",
        )),
    }
}

/// The JSON document in a text with other lines before and after it.
fn document(text: &str) -> Result<Value, FormatError> {
    let wrong = |error: serde_json::Error| {
        format_error(
            format!("it is not fio's JSON: {error}"),
            "run fio with --output-format=json+ --output=FILE",
        )
    };
    let mut values = Deserializer::from_str(from_brace(text)).into_iter::<Value>();
    let first = values.next().unwrap_or_else(|| serde_json::from_str("")).map_err(wrong)?;
    let behind = &from_brace(text)[values.byte_offset()..];
    if !from_brace(behind).is_empty() {
        return Err(format_error(
            "it holds several JSON documents, of several runs or from status-interval",
            "give a file with the output of one run",
        ));
    }
    Ok(first)
}

/// The text starting at the first line that begins with a brace.
fn from_brace(text: &str) -> &str {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('{') {
            return &text[start..];
        }
        start += line.len();
    }
    ""
}

/// Percentage of time below which a queue depth is ignored, because it occurs only at the start and end of a
/// job.
const RARELY: f64 = 1.0;

/// Returns an error if more than `depth` requests were outstanding, because the measured latencies then
/// include queueing.
fn check_depth(document: &Value, job: &Value, depth: u32) -> Result<(), FormatError> {
    let jobs = option(document, job, "numjobs").unwrap_or(1);
    let levels = job["iodepth_level"].as_object();
    let deepest = levels.map(|levels| {
        let often = levels.iter().filter(|(_, share)| share.as_f64().is_some_and(|share| share > RARELY));
        often.filter_map(|(level, _)| level.trim_start_matches(">=").parse::<u64>().ok()).max().unwrap_or(1)
    });
    let outstanding = match (option(document, job, "iodepth"), deepest) {
        // A synchronous engine has one request outstanding, regardless of its setting. Other levels end below
        // twice their name, and the last one, ">=64", is unbounded.
        (Some(_), Some(1)) => 1,
        (Some(asked), Some(level)) if level < 64 => asked.min(2 * level - 1),
        (Some(asked), _) => asked,
        (None, deepest) => deepest.unwrap_or(1),
    };
    let outstanding = outstanding.saturating_mul(jobs);
    if outstanding <= u64::from(depth) {
        return Ok(());
    }
    Err(format_error(
        format!("{outstanding} requests were outstanding, so the latencies include queueing"),
        format!(
            "measure with iodepth=1 and numjobs=1; or set depth = {outstanding}, for a device whose \
             parallelism is at \
             least that"
        ),
    ))
}

/// Value of option `name`, from the options of the job or from the global options. `None` if neither contains
/// the option as a number.
fn option(document: &Value, job: &Value, name: &str) -> Option<u64> {
    let given = [&job["job options"][name], &document["global options"][name]];
    given.into_iter().find_map(|value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()))
}

fn find_job<'d>(document: &'d Value, wanted: Option<&str>) -> Result<&'d Value, FormatError> {
    let jobs = document["jobs"].as_array().filter(|jobs| !jobs.is_empty());
    let jobs =
        jobs.ok_or_else(|| format_error("it holds no `jobs`", "give the JSON file of a finished fio run"))?;
    let name = |job: &Value| job["jobname"].as_str().unwrap_or_default().to_string();
    let names = || jobs.iter().map(name).collect::<Vec<_>>().join(", ");
    match wanted {
        Some(wanted) => jobs.iter().find(|job| name(job) == wanted).ok_or_else(|| {
            format_error(format!("it holds no job \"{wanted}\""), format!("known: {}", names()))
        }),
        None if jobs.len() == 1 => Ok(&jobs[0]),
        None => Err(format_error("it holds several jobs", format!("name one with `job`: {}", names()))),
    }
}

/// Pieces of a distribution from the bins `{ "<latency in ns>": <count>, ... }`.
fn from_bins(bins: &Map<String, Value>) -> Result<Vec<Piece>, FormatError> {
    let mut pieces = Vec::with_capacity(bins.len());
    for (latency, count) in bins {
        let (Ok(ns), Some(count)) = (latency.parse::<u64>(), count.as_u64()) else {
            let problem = format!("bin \"{latency}\": {count}: expected nanoseconds and a count");
            return Err(format_error(problem, "give the file as fio wrote it"));
        };
        let latency = time_of_ns(ns as f64)?;
        pieces.push(Piece { share: count as f64, from: latency, to: latency });
    }
    pieces.sort_by_key(|piece| piece.from);
    require_some(pieces)
}

/// Pieces of a distribution from the percentiles `{ "99.000000": <latency in ns>, ... }`, and from `min` and
/// `max`.
fn from_percentiles(clat: &Value, percentiles: &Map<String, Value>) -> Result<Vec<Piece>, FormatError> {
    let mut points = vec![(0.0, clat["min"].as_f64()), (100.0, clat["max"].as_f64())];
    for (percent, latency) in percentiles {
        let percent = percent.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
        let problem =
            || format_error("a percentile is not a number from 0 to 100", "give the file as fio wrote it");
        points.push((percent.ok_or_else(problem)?, latency.as_f64()));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pieces = Vec::with_capacity(points.len());
    let (mut below, mut from) = (0.0, None);
    for (percent, ns) in points {
        let missing =
            || format_error("`clat_ns` lacks a number", "`min`, `max` and each percentile need one");
        let to = time_of_ns(ns.ok_or_else(missing)?)?;
        if let Some(from) = from {
            // A percentile is the middle of a bin and may exceed the exact maximum.
            pieces.push(Piece { share: percent - below, from, to: to.max(from) });
        }
        (below, from) = (percent, Some(from.map_or(to, |from| to.max(from))));
    }
    require_some(pieces)
}

fn time_of_ns(ns: f64) -> Result<Time, FormatError> {
    let fits = (0.0..1e16).contains(&ns);
    fits.then(|| Time::from_secs_f64(ns / 1e9))
        .ok_or_else(|| format_error(format!("{ns} ns is not a latency"), "give the file as fio wrote it"))
}

fn require_some(pieces: Vec<Piece>) -> Result<Vec<Piece>, FormatError> {
    if pieces.iter().any(|piece| piece.share > 0.0) {
        return Ok(pieces);
    }
    Err(format_error("its histogram is empty", "check `direction` and `job`"))
}
