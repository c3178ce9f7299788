//! Shared test code that builds workloads from a document, reads all requests, and computes statistics.

mod host;

pub(crate) use host::{Host, serve};

use crate::trace::{self, Source, TraceReader};
use crate::{
    ARRIVALS, Arrival, ArrivalFamily, PATTERNS, Pattern, PatternFamily, WORKLOADS, Workload, WorkloadBuilder,
    WorkloadError, WorkloadFamily,
};
use nacre_config::{
    Configuration, Descriptor, ErrorCode, Families, Family, Node, Problem, Problems, Reader, Slot, model_of,
};
use nacre_kernel::state;
use nacre_kernel::{Random, Request, Streams, Time};
use std::io::Cursor;

/// Names and contents of files for trace workloads.
pub(crate) type Files = &'static [(&'static str, &'static [u8])];

/// A scenario that contains only a workload.
#[derive(Clone, Debug, Configuration)]
struct Scenario {
    /// The workload.
    workload: Slot<WorkloadFamily>,
}

/// A builder with a seed, and with files in memory.
struct Builder {
    streams: Streams,
    files: Files,
}

struct Known;

impl Families for Known {
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor> {
        descriptors(family).into_iter().find(|descriptor| descriptor.kind == kind)
    }

    fn kinds(&self, family: &str) -> Vec<&'static str> {
        descriptors(family).into_iter().map(|descriptor| descriptor.kind).collect()
    }
}

fn descriptors(family: &str) -> Vec<&'static Descriptor> {
    match family {
        WorkloadFamily::NAME => WORKLOADS.iter().map(|model| &model.descriptor).collect(),
        PatternFamily::NAME => PATTERNS.iter().map(|model| &model.descriptor).collect(),
        ArrivalFamily::NAME => ARRIVALS.iter().map(|model| &model.descriptor).collect(),
        _ => panic!("no family {family}"),
    }
}

impl WorkloadBuilder for Builder {
    fn families(&self) -> &dyn Families {
        &Known
    }

    fn random(&self, name: &str) -> Random {
        self.streams.stream(name)
    }

    fn arrival(&mut self, slot: &Slot<ArrivalFamily>) -> Result<Box<dyn Arrival>, Problems> {
        (model_of(ARRIVALS, slot).build)(slot, self)
    }

    fn workload(&mut self, slot: &Slot<WorkloadFamily>) -> Result<Box<dyn Workload>, Problems> {
        (model_of(WORKLOADS, slot).build)(slot, self)
    }

    fn pattern(&mut self, slot: &Slot<PatternFamily>) -> Result<Box<dyn Pattern>, Problems> {
        (model_of(PATTERNS, slot).build)(slot, self)
    }

    fn open_trace(
        &mut self,
        path: &str,
        files: &[String],
        options: &trace::Options,
    ) -> Result<Box<dyn TraceReader>, Problems> {
        let mut sources = Vec::new();
        for name in files {
            let found = self.files.iter().find(|(known, _)| known == name);
            let &(_, bytes) = found.ok_or_else(|| {
                Problem::new(ErrorCode::FileNotFound, path, None, format!("there is no file {name}"))
            })?;
            sources.push(Source::new(name, Box::new(Cursor::new(bytes))));
        }
        trace::open(sources, options).map_err(|error| {
            Problem::new(error.code(), path, None, error.to_string()).all_data(error.data()).into()
        })
    }
}

/// Creates a workload with the given `seed` and `settings`. The settings are the lines of the table
/// `[workload]`.
pub(crate) fn workload(settings: &str, seed: u64) -> Result<Box<dyn Workload>, Problems> {
    workload_over(&[], settings, seed)
}

/// Like [`workload`], with `files` for traces.
pub(crate) fn workload_over(files: Files, settings: &str, seed: u64) -> Result<Box<dyn Workload>, Problems> {
    let node = Node::parse_toml(&format!("[workload]\n{settings}"), "test.toml")?;
    let mut reader = Reader::new(&Known);
    let scenario = Scenario::read(&node, &mut reader);
    reader.finish()?;
    let scenario = scenario.expect("no problems");
    let slot = &scenario.workload;
    (model_of(WORKLOADS, slot).build)(slot, &mut Builder { streams: Streams::new(seed), files })
}

/// Reads all requests of a workload, `limit` at a time.
pub(crate) fn drain(workload: &mut dyn Workload, limit: usize) -> Result<Vec<Request>, WorkloadError> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        batch.clear();
        workload.fill(&mut batch, limit)?;
        if batch.is_empty() {
            return Ok(all);
        }
        assert!(batch.len() <= limit, "more than asked for");
        all.extend_from_slice(&batch);
    }
}

/// Returns all requests of a workload with `settings` and seed 1.
pub(crate) fn requests(settings: &str) -> Vec<Request> {
    let mut workload = workload(settings, 1).unwrap_or_else(|problems| panic!("{problems}"));
    drain(&mut *workload, 1000).expect("no error while running")
}

/// Returns the errors in `settings`.
pub(crate) fn problems(settings: &str) -> Vec<String> {
    match workload(settings, 1) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.0.iter().map(ToString::to_string).collect(),
    }
}

/// Checks that the requests of `settings` do not depend on the batch size. Equal seeds must give equal
/// requests, and another seed must give different requests. Arrivals must never decrease. A workload restored
/// at any position must generate the remaining requests.
pub(crate) fn check_repeatable(settings: &str) {
    let run = |seed: u64, limit: usize| {
        let mut workload = workload(settings, seed).unwrap_or_else(|problems| panic!("{problems}"));
        drain(&mut *workload, limit).expect("no error while running")
    };
    let first = run(1, 1000);
    assert_eq!(first, run(1, 1000), "the same seed gives the same requests");
    assert_eq!(first, run(1, 7), "batches of 7 change nothing");
    assert_eq!(first, run(1, usize::MAX), "one batch changes nothing");
    assert_ne!(first, run(2, 1000), "another seed gives other requests");
    assert!(first.is_sorted_by_key(|request| request.arrival), "arrivals never decrease");
    check_restored(&[], settings, &first);
}

/// Checks that a workload that is saved after any number of the requests in `all` and then restored
/// generates the remaining requests. Also checks that a truncated state is rejected.
pub(crate) fn check_restored(files: Files, settings: &str, all: &[Request]) {
    let new = || workload_over(files, settings, 1).unwrap_or_else(|problems| panic!("{problems}"));
    let mut random = Streams::new(5).stream("restored");
    for _ in 0..3 {
        let given = random.below(all.len() as u64) as usize;
        let (mut saved, mut batch) = (new(), Vec::new());
        while batch.len() < given {
            let limit = (given - batch.len()).min(999);
            saved.fill(&mut batch, limit).expect("no error while running");
        }
        let bytes = state::saved(&*saved).expect("a workload has its state here");
        let mut restored = new();
        state::restored(&mut *restored, &bytes).expect("its own state");
        assert_eq!(state::saved(&*restored).as_ref(), Ok(&bytes), "what is restored is what was saved");
        let rest = drain(&mut *restored, 1000).expect("no error while running");
        assert!(rest == all[given..], "restored behind {given} requests of {settings}");
        let cut = &bytes[..random.below(bytes.len() as u64) as usize];
        assert!(state::restored(&mut *new(), cut).is_err(), "{} of {} bytes", cut.len(), bytes.len());
    }
}

/// Checks with Pearson's chi-square test that `counts` fit the `expected` counts. The statistic must be
/// within 5 standard deviations of its mean in both directions, because counts that are too even are wrong,
/// too.
pub(crate) fn check_chi_square(counts: &[u64], expected: &[f64]) {
    assert_eq!(counts.len(), expected.len());
    assert!(expected.iter().all(|&expected| expected >= 5.0), "too few draws for a chi-square test");
    let terms =
        counts.iter().zip(expected).map(|(&count, expected)| squared(count as f64 - expected) / expected);
    let (statistic, freedom) = (terms.sum::<f64>(), counts.len() as f64 - 1.0);
    let deviations = (statistic - freedom) / (2.0 * freedom).sqrt();
    assert!(deviations.abs() < 5.0, "chi-square {statistic} for {freedom} degrees of freedom");
}

fn squared(number: f64) -> f64 {
    number * number
}

/// Checks that `hits` out of `draws` samples fit the probability `share` within 5 standard deviations.
pub(crate) fn check_share(hits: usize, draws: usize, share: f64) {
    let deviation = (draws as f64 * share * (1.0 - share)).sqrt();
    let off = (hits as f64 - draws as f64 * share).abs();
    assert!(off < 5.0 * deviation, "{hits} of {draws} are not a share of {share}");
}

/// Mean and squared coefficient of variation of the gaps between arrivals. The first gap starts at time zero.
pub(crate) fn gap_moments(requests: &[Request]) -> (f64, f64) {
    let gaps = gaps(requests);
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| squared(gap - mean)).sum::<f64>() / gaps.len() as f64;
    (mean, variance / (mean * mean))
}

/// Gaps between arrivals in seconds. The first gap starts at time zero.
pub(crate) fn gaps(requests: &[Request]) -> Vec<f64> {
    let mut last = Time::ZERO;
    let gap = |request: &Request| {
        let gap = request.arrival - last;
        last = request.arrival;
        gap.as_secs_f64()
    };
    requests.iter().map(gap).collect()
}

/// Ratio of variance to mean of the number of arrivals per `window`, which is 1 for a Poisson process.
pub(crate) fn index_of_dispersion(requests: &[Request], window: Time) -> f64 {
    let last = requests.last().expect("requests").arrival;
    let windows = (last.as_ps() / window.as_ps()) as usize;
    let mut counts = vec![0u64; windows];
    for request in requests {
        if let Some(count) = counts.get_mut((request.arrival.as_ps() / window.as_ps()) as usize) {
            *count += 1;
        }
    }
    let mean = counts.iter().sum::<u64>() as f64 / windows as f64;
    let variance = counts.iter().map(|&count| squared(count as f64 - mean)).sum::<f64>() / windows as f64;
    variance / mean
}
