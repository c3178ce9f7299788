use super::{Part, Splitting, parts, run_part, together};
use crate::record::Findings;
use crate::{Checked, Document, Files, Outcome, check, run};
use nacre_workload::replay::By;
use std::io::{self, BufRead, Cursor};
use std::ops::ControlFlow;

struct Traces(Vec<(&'static str, String)>);

impl Files for Traces {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let found = self.0.iter().find(|(name, _)| *name == file);
        let (_, text) = found.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(text.clone().into_bytes())))
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

const COMPACT: (&str, &str) = ("workload.placement", "compact");
/// Settings that replace the cache with an SSD that wears.
const SSD: &[(&str, &str)] = &[
    ("stack", "{ preset = \"tlc_nvme\", channels = 1, ways = 1, pages = 16 }"),
    ("run.precondition", "100"),
    COMPACT,
];
const VOLUMES: [u64; 3] = [7, 8, 9];

/// Returns traces of three volumes whose first requests arrive at the same time. Reads, writes, and trims
/// have sizes of 4 KiB to 128 KiB. There are also flushes.
fn traces() -> Traces {
    let head = "timestamp_us,op,offset,length,volume\n";
    let mut texts = vec![head.to_string(); 4];
    let mut state = 1_u64;
    for number in 0..3000_u64 {
        for volume in VOLUMES {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = state >> 33;
            let op = ["read", "write", "read", "read", "write", "trim", "flush"][draw as usize % 7];
            let (offset, length) = (draw / 7 % 4096 * 4096, (draw / 7 % 32 + 1) * 4096);
            let (offset, length) = if op == "flush" { (0, 0) } else { (offset, length) };
            let line = format!(
                "{},{op},{offset},{length},{volume}\n",
                number * 40 + (volume - 7) * u64::from(number > 0)
            );
            texts[0].push_str(&line);
            texts[(volume - 6) as usize].push_str(&line);
        }
    }
    let names = ["all.csv", "7.csv", "8.csv", "9.csv"];
    Traces(names.into_iter().zip(texts).collect())
}

/// A cache over a disk. Service times are random, and energy and prices are set.
const SCENARIO: &str = r#"
[workload]
kind = "trace"
file = "all.csv"
[stack]
kind = "server_cache"
backing = { kind = "measured", read = "100 us", write = "130 us", capacity = "64 TiB", price = "1 /GiB", price_basis = "kim-2014 ratio" }
[[stack.level]]
device = { preset = "pcm_ssd", capacity = "8 MiB" }
"#;

fn checked(overrides: &[(String, String)]) -> Checked {
    let found = check(&Document { text: SCENARIO, name: "test.toml", overrides, seed: None });
    found.unwrap_or_else(|problems| panic!("{problems}"))
}

fn set(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect()
}

fn plain(overrides: &[(&str, &str)]) -> Outcome {
    let found = run(&checked(&set(overrides)), &traces(), &mut |_| ControlFlow::Continue(()));
    found.unwrap_or_else(|problems| panic!("{problems}"))
}

fn planned(overrides: &[(&str, &str)], by: By, number: Option<u32>) -> Result<Vec<Part>, String> {
    let way = Splitting { by, parts: number };
    let found = parts(&checked(&set(overrides)), way, &traces(), &mut |_| ControlFlow::Continue(()));
    found.map(|parts| parts.expect("it was not stopped")).map_err(|problems| problems.to_string())
}

fn texts(overrides: &[(&str, &str)], by: By, number: Option<u32>) -> Vec<String> {
    let plan = planned(overrides, by, number).unwrap_or_else(|problems| panic!("{problems}"));
    let text = |part: &Part| {
        let settings = [set(overrides), part.settings.clone()].concat();
        run_part(&checked(&settings), &traces(), &mut |_| ControlFlow::Continue(())).expect("it runs")
    };
    plan.iter().map(text).collect()
}

fn split(overrides: &[(&str, &str)], by: By, number: Option<u32>) -> Outcome {
    let texts = texts(overrides, by, number);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    together(&checked(&set(overrides)), Splitting { by, parts: number }, &texts).expect("they are parts")
}

#[test]
fn one_part_is_the_plain_run_bit_for_bit() {
    for overrides in [&[][..], &[("run.warm_up", "500"), ("workload.limit", "4000")], SSD] {
        let expected = plain(overrides);
        for by in [By::Volume, By::Hash] {
            let mut found = split(overrides, by, Some(1));
            assert_eq!(found.record.split.take().expect("it was split").copies.len(), 1);
            assert_eq!(found.record.to_json(), expected.record.to_json());
            assert_eq!(format!("{:?}", found.columns), format!("{:?}", expected.columns));
        }
    }
}

#[test]
fn volumes_that_share_nothing_add_up_to_what_each_of_them_does() {
    let whole = split(&[], By::Volume, None).record;
    let singles = ["7.csv", "8.csv", "9.csv"].map(|file| plain(&[("workload.file", file)]).record);
    let sum = |count: fn(&crate::Record) -> u64| singles.iter().map(count).sum::<u64>();
    assert_eq!(whole.requests.issued, sum(|record| record.requests.issued));
    assert_eq!(whole.requests.completed, 9000);
    assert_eq!(whole.requests.reads, sum(|record| record.requests.reads));
    assert_eq!(whole.requests.trims, sum(|record| record.requests.trims));
    assert_eq!(whole.requests.flushes, sum(|record| record.requests.flushes));
    assert_eq!(whole.bytes.read, sum(|record| record.bytes.read));
    assert_eq!(whole.bytes.written, sum(|record| record.bytes.written));
    assert_eq!(whole.workload.records, 9000);
    for (place, component) in whole.components.iter().enumerate() {
        let of = |record: &crate::Record| record.components[place].clone();
        for (name, count) in &component.counters {
            let each = singles.iter().map(|record| of(record).counters[name].as_u64().expect("a count"));
            assert_eq!(count.as_u64(), Some(each.sum()), "{}: {name}", component.path);
        }
        for (activity, seconds) in &component.busy {
            let sum: f64 =
                singles.iter().map(|record| of(record).busy.get(activity).copied().unwrap_or(0.0)).sum();
            assert!((seconds - sum).abs() < 1e-9, "{}: {activity}", component.path);
        }
        assert_eq!(component.servers, 3 * of(&singles[0]).servers);
        let cost: Option<f64> = singles.iter().map(|record| of(record).cost).sum();
        assert_eq!(component.cost, cost);
        let energy = |each: &super::super::record::Component| {
            each.energy_j.as_ref().map(|by| by.values().sum::<f64>())
        };
        let sum: Option<f64> = singles.iter().map(|record| energy(&of(record))).sum();
        assert!(energy(component).zip(sum).is_none_or(|(all, sum)| (all - sum).abs() <= 1e-12 * sum));
    }
    let latency = |record: &crate::Record| record.latency.read.clone().expect("there were reads");
    let mean: f64 = singles.iter().map(|record| latency(record).mean_ns * latency(record).count as f64).sum();
    assert!((latency(&whole).mean_ns / (mean / latency(&whole).count as f64) - 1.0).abs() < 1e-12);
    let (least, most) = (f64::min as fn(f64, f64) -> f64, f64::max as fn(f64, f64) -> f64);
    let over = |pick: fn(f64, f64) -> f64, of: fn(&crate::record::Latency) -> f64| {
        singles.iter().map(|record| of(&latency(record))).reduce(pick)
    };
    assert_eq!(Some(latency(&whole).min_ns), over(least, |latency| latency.min_ns));
    assert_eq!(Some(latency(&whole).max_ns), over(most, |latency| latency.max_ns));
    assert_eq!(Some(whole.drained_s), singles.iter().map(|record| record.drained_s).reduce(f64::max));
}

/// Tests that a percentile of a merged record is that of the merged histogram.
#[test]
fn histograms_add_up_bar_by_bar() {
    let whole = split(&[], By::Volume, None);
    let mut bars: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
    let column = |outcome: &Outcome| {
        let (_, uptos) =
            outcome.columns.floats.iter().find(|(name, _)| name == "latency.read.upto_ns").unwrap().clone();
        let (_, counts) =
            outcome.columns.counts.iter().find(|(name, _)| name == "latency.read.count").unwrap().clone();
        // The last bar ends at the maximum value, so differences of one in a million are visible.
        uptos.into_iter().map(|upto| (upto * 1e3) as u64).zip(counts).collect::<Vec<_>>()
    };
    for file in ["7.csv", "8.csv", "9.csv"] {
        for (upto, count) in column(&plain(&[("workload.file", file)])) {
            *bars.entry(upto).or_insert(0) += count;
        }
    }
    let found = column(&whole);
    let total: u64 = found.iter().map(|(_, count)| count).sum();
    assert_eq!(total, bars.values().sum::<u64>());
    let p99 = whole.record.latency.read.expect("there were reads").p99_ns * 1e3;
    let mut below = 0;
    let at = bars.iter().find(|&(_, count)| {
        below += count;
        below as f64 >= 0.99 * total as f64
    });
    let (&at, _) = at.expect("there is a 99th percentile");
    assert!((p99 / at as f64 - 1.0).abs() < 1e-3, "{p99} and {at} ps");
}

#[test]
fn a_hash_gives_every_byte_to_one_part_and_every_part_a_share_of_the_cache() {
    let expected = plain(&[COMPACT]).record;
    let found = split(&[COMPACT], By::Hash, Some(4)).record;
    assert_eq!((found.bytes.read, found.bytes.written), (expected.bytes.read, expected.bytes.written));
    assert_eq!(found.requests.flushes, expected.requests.flushes);
    assert!(found.requests.issued >= expected.requests.issued, "some are cut");
    assert!(found.requests.issued < 11 * expected.requests.issued / 10, "few are");
    assert!(found.cost.zip(expected.cost).is_some_and(|(a, b)| (a / b - 1.0).abs() < 1e-9));
    let split = found.split.expect("it was split");
    assert_eq!(split.shared, ["stack.level[0].device.capacity", "stack.backing.capacity"]);
    let cautions: Vec<_> = found.findings.iter().filter(|caution| caution.kind == "split").collect();
    assert_eq!(cautions.len(), 1, "{:?}", found.findings);
    assert!(cautions[0].text.contains("of every capacity"), "{}", cautions[0].text);
    assert!(expected.findings.iter().all(|caution| caution.kind != "split"), "one stack is one");
    assert_eq!(split.copies.iter().map(|part| part.requests).sum::<u64>(), found.requests.issued);
    assert!(found.steadiness.is_none() && found.latency.read.is_some_and(|read| read.mean_ci95_ns.is_none()));
}

#[test]
fn the_first_requests_of_the_whole_trace_warm_the_parts_up() {
    let found = split(&[("run.warm_up", "3000")], By::Volume, Some(2)).record;
    assert_eq!(found.requests.issued, 6000);
    // The split is even, with volumes 7 and 9 in part 0.
    assert_eq!(
        found.split.expect("it was split").copies.iter().map(|part| part.requests).collect::<Vec<_>>(),
        [4000, 2000]
    );
}

#[test]
fn what_happens_over_time_adds_up() {
    let found = split(&[COMPACT], By::Hash, Some(3));
    let sum = |name: &str| {
        let (_, counts) =
            found.columns.counts.iter().find(|(column, _)| column == name).expect("it is there");
        counts.iter().sum::<u64>()
    };
    assert_eq!(sum("time.reads"), found.record.requests.reads);
    assert_eq!(sum("time.writes"), found.record.requests.writes);
    assert_eq!(sum("time.bytes"), found.record.bytes.read + found.record.bytes.written);
}

#[test]
fn findings_are_read_as_they_were_written() {
    for overrides in [&[COMPACT][..], SSD] {
        for text in texts(overrides, By::Volume, Some(2)) {
            let found = Findings::from_text(&text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(found.to_text(), text);
        }
    }
    let text = &texts(&[COMPACT], By::Hash, Some(2))[0];
    assert!(Findings::from_text(&text[..text.len() / 2]).is_err());
    let other = text.replacen("nacre-part-1", "nacre-part-0", 1);
    assert!(Findings::from_text(&other).is_err_and(|error| error.contains("another version")));
}

#[test]
fn errors_are_reported_before_anything_runs() {
    let error =
        |overrides: &[(&str, &str)], by, number| planned(overrides, by, number).expect_err("an error");
    let says = |error: String, part: &str| assert!(error.contains(part), "{part}: {error}");
    for (text, problem) in [
        ("hash", "it needs the number of parts"),
        ("hash:0", "it makes no parts"),
        ("volume:0", "it makes no parts"),
        ("volume:-1", "the number of parts is invalid"),
        ("disk", "unknown way to split a trace"),
    ] {
        says(Splitting::parse(text).expect_err("no way").to_string(), problem);
    }
    assert_eq!(Splitting::parse("volume"), Ok(Splitting { by: By::Volume, parts: None }));
    assert_eq!(Splitting::parse("hash:8"), Ok(Splitting { by: By::Hash, parts: Some(8) }));
    says(
        error(&[("workload.file", "7.csv")], By::Volume, None),
        "--split: the trace has one volume only; split it by",
    );
    says(
        error(&[], By::Volume, Some(4)),
        "--split: 4 parts, but the trace has 3 volumes; use a smaller number",
    );
    says(error(&[], By::Hash, Some(70_000)), "--split: more than 65536 parts");
    says(
        error(&[("run.requests", "10")], By::Volume, None),
        "run.requests (--set run.requests=10): parts do not share a request count",
    );
    says(error(&[("run.wear_out", "true")], By::Volume, None), "run.wear_out (--set");
    says(
        error(&[("run.warm_up", "9000")], By::Volume, None),
        "all 3000 requests of part 0 of 3 are in the first 9000",
    );
    says(
        error(&[("workload.limit", "1")], By::Hash, Some(2)),
        "of 2 would have no requests; use fewer parts",
    );
    says(
        error(&[("stack.level[0].device.capacity", "8 KiB")], By::Hash, Some(4)),
        "it cannot be shared by 4 parts, given 8 KiB",
    );
    says(error(&[("workload.file", "no.csv")], By::Volume, None), "workload.file: the file cannot be read");
    let text = SCENARIO.replace("kind = \"trace\"\nfile = \"all.csv\"", "kind = \"uniform\"\nfootprint = \"1 MiB\"\nrequests = 10\narrival = { kind = \"closed\", queue_depth = 1 }");
    let checked =
        check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    let way = Splitting { by: By::Hash, parts: Some(2) };
    let error = parts(&checked, way, &traces(), &mut |_| ControlFlow::Continue(())).expect_err("no trace");
    says(
        error.to_string(),
        "workload: only a trace can be split, given uniform; use a workload of kind \"trace\"",
    );
}

#[test]
fn wear_is_that_of_all_blocks_of_all_copies() {
    // The test omits preconditioning, which uses the first writes of the whole trace and not of each volume.
    let settings = [SSD[0], COMPACT];
    let whole = split(&settings, By::Volume, None).record;
    let single = |file| plain(&[SSD[0], COMPACT, ("workload.file", file)]).record;
    let singles = ["7.csv", "8.csv", "9.csv"].map(single);
    let wear = |record: &crate::Record| record.components[0].wear.clone().expect("it wears");
    let found = wear(&whole);
    assert!(found.host > 0);
    assert_eq!(found.host, singles.iter().map(|record| wear(record).host).sum::<u64>());
    let blocks = |record: &crate::Record| wear(record).block_erases.expect("blocks are erased");
    assert_eq!(blocks(&whole).blocks, 3 * blocks(&singles[0]).blocks);
    assert_eq!(whole.components[0].tables["blocks"].rows, blocks(&whole).blocks);
}
