//! The settings of a fitted workload, and their TOML text.

use super::{Counted, Fit, GAP_UNIT, Key};
use crate::profile::Description;
use crate::profile::cells::Cells;
use nacre_kernel::Bytes;
use std::fmt::Write;

/// Maximum number of request classes of a workload. Each further class is merged into the most similar of
/// these classes.
const CLASSES_MAX: usize = 32;
/// Number of steps in a distribution of distances.
const DISTANCE_STEPS: usize = 32;
/// Number of steps in a distribution of gaps.
const GAP_STEPS: usize = 64;
/// Number of steps in a rhythm if the trace is shorter than a day.
const RHYTHM_STEPS: usize = 64;
const DAY_S: f64 = 86_400.0;
/// Number of strips by which the footprint is enlarged, because the pattern may leave this space unused.
/// The size of a strip is [`STRIP_BLOCKS`] blocks, or [`STRIP_REQUESTS`] times the size of the largest
/// request, whichever is larger.
const STRIPS: f64 = 16.0;
const STRIP_BLOCKS: u64 = 256;
const STRIP_REQUESTS: u64 = 8;

/// Settings of the workload to fit.
pub(super) struct Settings {
    block_bytes: u64,
    pub(super) requests: u64,
    footprint: u64,
    pub(super) follow: f64,
    pub(super) growth: Vec<f64>,
    growth_step: u64,
    classes: Vec<(Key, Counted)>,
    /// Candidate rhythms. The list is empty if the trace has no arrival times.
    pub(super) rhythms: Vec<Rhythm>,
    /// Index of the selected rhythm in `rhythms`.
    pub(super) rhythm: usize,
}

pub(super) struct Rhythm {
    rate: f64,
    span_s: f64,
    weights: Vec<f64>,
    gaps: Vec<f64>,
    /// Quantiles of the longest gaps, i.e. the gaps in the last step of `gaps`. If the list is empty, these
    /// gaps are uniformly distributed.
    tail: Vec<f64>,
}

impl Settings {
    /// Creates settings from the counts in `fit`. Returns `None` if there are no reads or writes.
    pub(super) fn of(fit: &Fit, trace: &Description) -> Option<Settings> {
        let classes = classes(fit);
        let requests: u64 = classes.iter().map(|(_, counted)| counted.requests).sum();
        let largest = classes.iter().map(|(key, _)| key.blocks).max()?;
        let strip = STRIP_BLOCKS.max(largest * STRIP_REQUESTS) as f64;
        let blocks = trace.blocks.count * 1.1 + STRIPS * strip;
        let mib = 1 << 20;
        Some(Settings {
            block_bytes: fit.block_bytes,
            requests,
            footprint: (blocks as u64 * fit.block_bytes).next_multiple_of(mib),
            follow: trace.runs.sequential_share.min(0.99),
            growth: fit.growth.odds(),
            // The requests with a tracked block represent all requests.
            growth_step: (fit.growth.width as f64 * requests as f64 / fit.counted.max(1) as f64 + 0.5) as u64,
            classes,
            rhythms: rhythms(fit, trace, requests),
            rhythm: 0,
        })
    }

    /// Returns the table `[workload]` as TOML.
    pub(super) fn text(&self) -> String {
        let mut text = String::from("[workload]\nkind = \"shaped\"\n");
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line(format!("requests = {}", self.requests));
        line(format!("footprint = \"{}\"", Bytes(self.footprint)));
        line(format!("block = \"{}\"", Bytes(self.block_bytes)));
        line(format!("follow = \"{} %\"", rounded(self.follow * 100.0)));
        if self.growth.iter().any(|&weight| weight > 0.0) {
            line(format!("growth = [{}]\ngrowth_step = {}", listed(&self.growth), self.growth_step.max(1)));
        }
        if let Some(rhythm) = self.rhythms.get(self.rhythm) {
            line(String::new());
            line("[workload.arrival]\nkind = \"rhythm\"".into());
            line(format!("rate = \"{} /s\"", rhythm.rate));
            line(format!("span = \"{} s\"", rhythm.span_s));
            line(format!("weights = [{}]", listed(&rhythm.weights)));
            line(format!("gaps = [{}]", listed(&rhythm.gaps)));
            if !rhythm.tail.is_empty() {
                line(format!("tail = [{}]", listed(&rhythm.tail)));
            }
        }
        for (key, counted) in &self.classes {
            line(String::new());
            line(self.class(*key, counted));
        }
        text
    }

    fn class(&self, key: Key, counted: &Counted) -> String {
        let again = counted.distances.count();
        let first = if counted.new + again > 0.0 { counted.new / (counted.new + again) } else { 1.0 };
        let distances = counted.distances.quantiles(DISTANCE_STEPS);
        let first = if distances.is_empty() { 1.0 } else { first };
        let mut text = String::from("[[workload.group]]\n");
        let share = counted.requests as f64 / self.requests as f64 * 100.0;
        let op = if key.is_write { "write" } else { "read" };
        let bytes = Bytes(u64::from(key.bytes));
        let _ = write!(text, "share = \"{share:.6} %\"\nop = \"{op}\"\nbytes = \"{bytes}\"\n");
        if let Some(offset) = offset(key, self.block_bytes) {
            let _ = writeln!(text, "offset = \"{}\"", Bytes(offset));
        }
        let _ = write!(text, "first = \"{} %\"", rounded(first * 100.0));
        if first < 1.0 {
            let in_blocks = distances.iter().map(|distance| (distance + 0.5) as u64 * self.block_bytes);
            let shown: Vec<String> = in_blocks.map(|bytes| format!("\"{}\"", Bytes(bytes))).collect();
            let _ = write!(text, "\ndistance = [{}]", shown.join(", "));
        }
        text
    }
}

/// Returns the offset in bytes from the start of a block at which requests of class `key` touch as many
/// blocks as in the trace. Such a request touches one block more than its size requires. Returns `None` if no
/// offset is needed.
fn offset(key: Key, block_bytes: u64) -> Option<u64> {
    let bytes = u64::from(key.bytes);
    let needed = bytes.div_ceil(block_bytes);
    let rest = bytes - (needed - 1) * block_bytes;
    // At this offset, the request reaches into one additional block. The offset is in whole sectors if
    // possible.
    (key.blocks > needed).then(|| (block_bytes - rest + 512).min(block_bytes - 1))
}

/// Returns the classes with the most accesses. Each other class is merged into the class with the most
/// similar number of blocks, of the same operation if possible.
#[expect(clippy::iter_over_hash_type, reason = "the classes are sorted before they are used")]
fn classes(fit: &Fit) -> Vec<(Key, Counted)> {
    let mut all = Vec::with_capacity(fit.classes.len());
    for (&key, counted) in &fit.classes {
        all.push((key, counted.clone()));
    }
    all.sort_by_key(|(key, counted)| (std::cmp::Reverse(counted.requests * key.blocks), *key));
    let rest = all.split_off(all.len().min(CLASSES_MAX));
    for (key, counted) in rest {
        let nearest = all
            .iter_mut()
            .min_by_key(|(kept, _)| (kept.is_write != key.is_write, kept.blocks.abs_diff(key.blocks), *kept));
        let (_, kept) = nearest.expect("there are more classes than are kept");
        kept.requests += counted.requests;
        kept.new += counted.new;
        kept.distances.join(&counted.distances);
    }
    all
}

/// Returns the candidate rhythms. The first two candidates use gaps relative to their moving average, so
/// that only the weights of the rhythm represent changes of the rate. The longest gaps are uniform in the
/// first candidate, and follow the quantiles of the trace in the second. The third candidate uses absolute
/// gaps, for rates that change faster than a moving average.
fn rhythms(fit: &Fit, trace: &Description, requests: u64) -> Vec<Rhythm> {
    let plain = (fit.plain_gaps.sum() / fit.plain_gaps.count().max(1.0)).max(1.0);
    let ways = [(&fit.gaps, GAP_UNIT, false), (&fit.gaps, GAP_UNIT, true), (&fit.plain_gaps, plain, true)];
    ways.into_iter().filter_map(|(gaps, unit, tail)| rhythm(gaps, unit, tail, trace, requests)).collect()
}

/// Returns the rhythm of a trace with `gaps` in multiples of `unit`. Returns `None` if the trace has no times
/// or all gaps are zero.
fn rhythm(gaps: &Cells, unit: f64, has_tail: bool, trace: &Description, requests: u64) -> Option<Rhythm> {
    let duration_s = trace.duration_s?;
    let timeline = trace.hours.as_ref().filter(|_| duration_s > DAY_S).or(trace.timeline.as_ref())?;
    let span_s = if duration_s > DAY_S { DAY_S } else { duration_s };
    let steps = if duration_s > DAY_S { 24 } else { RHYTHM_STEPS.min(timeline.start_s.len()) };
    let mut weights = vec![0.0; steps];
    let amounts = timeline.reads.iter().zip(&timeline.writes).map(|(reads, writes)| (reads + writes) as f64);
    for (start_s, amount) in timeline.start_s.iter().zip(amounts) {
        // A row may span several steps. Its amounts are then distributed uniformly over them.
        let end_s = (start_s + timeline.width_s).min(duration_s).max(start_s + timeline.width_s * 1e-6);
        let [from, to] = [*start_s, end_s].map(|at| at / span_s * steps as f64);
        let mut at = from;
        while at < to - 1e-9 {
            let next = (libm::floor(at + 1e-9) + 1.0).min(to);
            weights[(at + 1e-9) as usize % steps] += amount * (next - at) / (to - from);
            at = next;
        }
    }
    let mean = weights.iter().sum::<f64>() / steps as f64;
    let weights = weights.iter().map(|weight| weight / mean).collect();
    let in_units = |quantiles: Vec<f64>| quantiles.iter().map(|gap| gap / unit).collect::<Vec<f64>>();
    let last_step = || in_units(gaps.upper_quantiles(1.0 - 1.0 / GAP_STEPS as f64, GAP_STEPS));
    let tail = if has_tail { last_step() } else { Vec::new() };
    let gaps = in_units(gaps.quantiles(GAP_STEPS));
    let has_gaps = gaps.last().is_some_and(|&last| last > 0.0);
    has_gaps.then(|| Rhythm { rate: requests as f64 / duration_s, span_s, weights, gaps, tail })
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Formats `values` with six significant digits, separated by commas.
fn listed(values: &[f64]) -> String {
    let digits = |value: f64| {
        let scale = libm::pow(10.0, 5.0 - libm::floor(libm::log10(value.abs().max(1e-12))));
        (value * scale).round() / scale
    };
    let shown: Vec<String> = values.iter().map(|value| digits(*value).to_string()).collect();
    shown.join(", ")
}
