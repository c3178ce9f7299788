//! Tests of access counts of whole workloads, and of the placements computed from them.

use crate::stack::mixes;
use crate::{Document, Files, Record, check, run};
use nacre_testkit::assert_close;
use std::io::{self, BufRead, Cursor};
use std::ops::ControlFlow;

/// A file collection in which every name refers to the same trace.
struct OneTrace(String);

impl Files for OneTrace {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(Cursor::new(self.0.clone().into_bytes())))
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Zipf requests, one at a time, over the three tiers that Kim et al. compare.
const ZIPF: &str = r#"
[workload]
kind = "zipf"
requests = 40_000
footprint = "64 MiB"
theta = 0.9
read_share = "80 %"
arrival = { kind = "closed", queue_depth = 1 }
[stack]
kind = "tiers"
extent = "1 MiB"
capacity = "64 MiB"
placement = "static_optimal"
[[stack.tier]]
share = "10 %"
device = { preset = "pcm_ssd" }
[[stack.tier]]
share = "30 %"
device = { preset = "emlc_ssd" }
[[stack.tier]]
share = "60 %"
device = { preset = "disk_15k_kim" }
"#;

fn record(text: &str, overrides: &[(&str, &str)], files: &dyn Files) -> Result<Record, String> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect();
    let checked = check(&Document { text, name: "test.toml", overrides: &overrides, seed: None });
    let outcome = run(&checked.expect("legal"), files, &mut |_| ControlFlow::Continue(()));
    outcome.map(|outcome| outcome.record).map_err(|problems| problems.to_string())
}

fn mean_ns(record: &Record) -> f64 {
    let read = record.latency.read.as_ref().map_or(0.0, |of| of.mean_ns * of.count as f64);
    let write = record.latency.write.as_ref().map_or(0.0, |of| of.mean_ns * of.count as f64);
    (read + write) / record.requests.completed as f64
}

#[test]
fn a_run_of_any_mix_takes_the_time_its_point_of_the_surface_says() {
    let no_files = OneTrace(String::new());
    let checked =
        check(&Document { text: ZIPF, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    let all = mixes(&checked, &no_files, 10, &mut |_| ControlFlow::Continue(()));
    let all = all.expect("tiers can be mixed").expect("it was not stopped");
    assert_eq!((all.mixes.len(), all.extents), (66, 64));
    assert_eq!(all.accesses.reads + all.accesses.writes, 40_000);
    assert_eq!(all.prices, [Some(24.0), Some(6.0), Some(1.0)]);
    for steps in [[0, 0, 10], [1, 3, 6], [2, 8, 0], [10, 0, 0], [0, 10, 0]] {
        let mix = all.mixes.iter().find(|mix| mix.steps == steps).expect("every mix is there");
        let shares = steps.map(|share| format!("\"{} %\"", share * 10));
        let names = ["stack.tier.0.share", "stack.tier.1.share", "stack.tier.2.share"];
        let overrides: Vec<(&str, &str)> = names.into_iter().zip(shares.iter().map(String::as_str)).collect();
        let alone = record(ZIPF, &overrides, &no_files).expect("it runs");
        assert_close(&format!("mean of {steps:?}"), mean_ns(&alone), all.mean_s(mix) * 1e9, 1e-6);
        let price = all.price(mix).expect("prices are known");
        assert_close(&format!("cost of {steps:?}"), alone.cost.expect("known"), price / 16.0, 1e-9);
    }
}

#[test]
fn requests_of_other_sizes_take_what_their_size_takes_in_mixes_as_in_runs() {
    let no_files = OneTrace(String::new());
    // A disk that was measured at 4 KiB takes 16 units, i.e. 80 ms, for 64 KiB. The run returns the same
    // latency.
    let large = ZIPF.replace("theta = 0.9", "request = \"64 KiB\"\ntheta = 0.9").replace("40_000", "4_000");
    let checked = check(&Document { text: &large, name: "test.toml", overrides: &[], seed: None });
    let all = mixes(&checked.expect("legal"), &no_files, 10, &mut |_| ControlFlow::Continue(()));
    let all = all.expect("tiers can be mixed").expect("it was not stopped");
    assert_eq!(all.bytes.iter().sum::<u64>(), 4_000 * 65_536);
    assert_close("a read of the disk", all.speeds[2].read_s, 0.08, 1e-9);
    for steps in [[0, 0, 10], [1, 3, 6], [10, 0, 0]] {
        let mix = all.mixes.iter().find(|mix| mix.steps == steps).expect("every mix is there");
        let shares = steps.map(|share| format!("\"{} %\"", share * 10));
        let names = ["stack.tier.0.share", "stack.tier.1.share", "stack.tier.2.share"];
        let overrides: Vec<(&str, &str)> = names.into_iter().zip(shares.iter().map(String::as_str)).collect();
        let alone = record(&large, &overrides, &no_files).expect("it runs");
        assert_close(&format!("mean of {steps:?}"), mean_ns(&alone), all.mean_s(mix) * 1e9, 1e-6);
    }
}

#[test]
fn requests_beyond_the_tiers_are_refused_by_mixes_as_by_runs() {
    let trace = "timestamp_us,op,offset,length\n0,read,0,512\n1,read,16384,512\n";
    let text = "[workload]\nkind = \"trace\"\nfile = \"x\"\n[stack]\nkind = \"tiers\"\nextent = \"4 KiB\"\ncapacity = \"16 KiB\"\n\
        placement = \"fixed\"\n[[stack.tier]]\nshare = \"100 %\"\ndevice = { preset = \"pcm_ssd\" }\n";
    let checked = check(&Document { text, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    let files = OneTrace(trace.into());
    let refused = mixes(&checked, &files, 1, &mut |_| ControlFlow::Continue(())).expect_err("it is beyond");
    let ran = record(text, &[], &files).expect_err("it is beyond");
    assert!(
        refused.to_string().contains("request 2 reaches to byte 16896, but the stack ends at byte 16384")
    );
    assert!(ran.contains("request 2 reaches to byte 16896, but the stack ends at byte 16384"), "{ran}");
    let large = ZIPF.replace("footprint = \"64 MiB\"", "footprint = \"65 MiB\"");
    let checked = check(&Document { text: &large, name: "test.toml", overrides: &[], seed: None });
    let refused = mixes(&checked.expect("legal"), &files, 1, &mut |_| ControlFlow::Continue(()));
    let refused = refused.expect_err("it is beyond").to_string();
    assert_eq!(refused, record(&large, &[], &files).expect_err("it is beyond"));
}

#[test]
fn no_placement_that_never_moves_is_faster_and_a_dynamic_one_is_not_under_requests_that_do_not_change() {
    let no_files = OneTrace(String::new());
    let best = mean_ns(&record(ZIPF, &[], &no_files).expect("it runs"));
    for placement in [
        "\"fixed\"",
        "{ kind = \"fixed\", layout = \"in_order\" }",
        "{ kind = \"dynamic\", epoch = \"1 s\", least_saving = \"10 ms\" }",
        "{ kind = \"dynamic\", epoch = \"5 s\", least_saving = \"100 ms\", weigh = \"accesses\" }",
    ] {
        let other = record(ZIPF, &[("stack.placement", placement)], &no_files).expect("it runs");
        assert!(mean_ns(&other) > best, "{placement}: {} ns against {best}", mean_ns(&other));
    }
}

#[test]
fn counts_of_a_trace_are_those_of_its_lines() {
    // Extents have 4 KiB, and the last request touches extents 1 to 3.
    let trace =
        "timestamp_us,op,offset,length\n0,read,0,512\n1,write,0,4096\n2,read,4096,512\n3,read,8191,4098\n";
    let text = "[workload]\nkind = \"trace\"\nfile = \"x\"\n[stack]\nkind = \"tiers\"\nextent = \"4 KiB\"\ncapacity = \"16 KiB\"\n\
        [[stack.tier]]\nshare = \"50 %\"\ndevice = { preset = \"pcm_ssd\" }\n\
        [[stack.tier]]\nshare = \"50 %\"\ndevice = { preset = \"disk_15k_kim\" }\n";
    let checked = check(&Document { text, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    let all = mixes(&checked, &OneTrace(trace.into()), 4, &mut |_| ControlFlow::Continue(()));
    let all = all.expect("a trace ends").expect("it was not stopped");
    assert_eq!((all.accesses.reads, all.accesses.writes), (5, 1));
}

#[test]
fn a_workload_without_an_end_cannot_be_known_as_a_whole() {
    let no_files = OneTrace(String::new());
    let (_, stack) = ZIPF.split_once("[stack]").expect("there is one");
    let bank = format!("[workload]\nkind = \"tpca\"\nrate = \"10 kHz\"\n[stack]{stack}");
    let endless = bank.replace("capacity = \"64 MiB\"", "capacity = \"2 GiB\"");
    let problem = record(&endless, &[("run.duration", "\"1 s\"")], &no_files).expect_err("it never ends");
    assert!(problem.contains("never ends") && problem.contains("run.requests"), "{problem}");
    let known = record(&endless, &[("run.requests", "1000")], &no_files).expect("a thousand is an end");
    assert_eq!(known.requests.completed, 1000);
}

#[test]
fn counting_ends_when_watch_breaks() {
    let no_files = OneTrace(String::new());
    let checked =
        check(&Document { text: ZIPF, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    let mut seen = Vec::new();
    let stopped = mixes(&checked, &no_files, 10, &mut |progress| {
        seen.push((progress.done, progress.expected));
        ControlFlow::Break(())
    });
    assert!(stopped.expect("legal").is_none());
    assert_eq!(seen, [(4096, Some(40_000))]);
}
