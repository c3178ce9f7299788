use crate::{Document, Files, Record, check, run};
use nacre_kernel::event::Device;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

const BANK: &str = "[workload]\nkind = \"tpca\"\nrate = \"10 kHz\"\ntransactions = 4_000\n\
                    [stack]\nkind = \"measured\"\nread = \"160 ns\"\nwrite = \"200 ns\"\n";

fn result(overrides: &[(&str, &str)]) -> Result<Record, String> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect();
    let checked = check(&Document { text: BANK, name: "test.toml", overrides: &overrides, seed: None });
    let outcome = run(&checked.expect("legal"), &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.map(|outcome| outcome.record).map_err(|problems| problems.to_string())
}

fn record(overrides: &[(&str, &str)]) -> Record {
    result(overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn one_asker_never_waits_in_a_queue_and_is_never_faster_than_the_memory() {
    for rate in ["1 kHz", "10 kHz", "1 MHz"] {
        let record = record(&[("workload.rate", &format!("{rate:?}"))]);
        let (read, write) = (record.latency.read.expect("reads"), record.latency.write.expect("writes"));
        assert_eq!((read.min_ns, read.max_ns), (160.0, 160.0), "latency counts from issue");
        assert_eq!((write.min_ns, write.max_ns), (200.0, 200.0));
        assert_eq!(record.requests.writes, 12_000);
    }
    let flooded = record(&[("workload.rate", "\"1 MHz\"")]);
    // All requests arrive right after the first gap, so the memory is always busy.
    let busy = flooded.requests.reads as f64 * 160e-9 + 12_000.0 * 200e-9;
    assert!((flooded.simulated_s / busy - 1.0).abs() < 1e-4, "{} of {busy} s", flooded.simulated_s);
}

#[test]
fn transactions_are_counted_beside_requests() {
    let whole = record(&[]);
    assert_eq!((whole.workload.unit, whole.workload.units), (Some("transactions"), Some(4_000)));
    let per_s = whole.throughput.units_per_s.expect("it has units");
    assert_eq!(per_s, 4_000.0 / whole.simulated_s);
    // An open process of 10,000 per second is far from the limit. Five standard deviations of 1/sqrt(4,000)
    // are 7.9 %.
    assert!((per_s / 10_000.0 - 1.0).abs() < 0.079, "{per_s} transactions a second");
}

#[test]
fn units_are_those_that_end_while_it_is_measured() {
    let writes_by = |requests: u64| record(&[("run.requests", &requests.to_string())]).requests.writes;
    for (warm_up, requests) in [(0, 1), (1, 70), (64, 4_096), (5_000, 5_001), (4_096, 20_000)] {
        let [from, to] = [warm_up, requests].map(|count| if count == 0 { 0 } else { writes_by(count) / 3 });
        let record =
            record(&[("run.warm_up", &warm_up.to_string()), ("run.requests", &requests.to_string())]);
        assert_eq!(record.workload.units, Some(to - from), "after {warm_up}, up to {requests} requests");
    }
}

#[test]
fn a_run_without_an_end_is_the_users_mistake() {
    let endless = "{ kind = \"tpca\", rate = \"10 kHz\" }";
    assert_eq!(
        result(&[("workload", endless)]).unwrap_err(),
        "run.requests: the workload never ends, and nothing ends the run; give run.requests or run.duration"
    );
    let timed = record(&[("workload", endless), ("run.duration", "\"100 ms\"")]);
    // The expected number is 1,000, and five standard deviations are 158.
    let units = timed.workload.units.expect("it has units");
    assert!(timed.complete && (842..=1_158).contains(&units), "{units} transactions in 100 ms");
}

const STORE: &str = "[workload]\nkind = \"kv\"\nkeys = 10_000\ncache = \"64 MiB\"\ntransactions = 4_000\n\
                     log = \"16 MiB\"\nthreads = 1\noperation = \"5 us\"\ncommit = \"10 us\"\n\
                     [stack]\nkind = \"measured\"\nread = \"0 ns\"\nwrite = \"70 us\"\n";

fn store(overrides: &[(&str, &str)]) -> Record {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect();
    let checked = check(&Document { text: STORE, name: "test.toml", overrides: &overrides, seed: None });
    let outcome = run(&checked.expect("legal"), &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap_or_else(|problems| panic!("{problems}")).record
}

#[test]
fn an_interactive_workload_waits_for_completions() {
    // One thread with all data in memory performs four gets and puts, a commit, and a log write. Records of
    // 604 B take a transaction to the next block of 4 KiB in 604 of 4,096 cases, and a write of two blocks
    // takes twice as long.
    let expected = |write: f64| 1.0 / (4.0 * 5e-6 + 10e-6 + write * (1.0 + 604.0 / 4096.0));
    let one = store(&[]);
    let per_s = one.throughput.units_per_s.expect("it has units");
    assert!((per_s / expected(70e-6) - 1.0).abs() < 1e-3, "{per_s} transactions a second");
    assert_eq!((one.workload.units, one.complete), (Some(4_000), true));
    let slow = store(&[("stack.write", "\"140 us\"")]).throughput.units_per_s.expect("it has units");
    assert!((slow / expected(140e-6) - 1.0).abs() < 1e-3, "{slow} transactions a second");
}

#[test]
fn an_interactive_workload_ends_with_the_run() {
    let timed = store(&[("run.duration", "\"50 ms\"")]);
    // Transactions take 110.3 us each.
    assert!((452..=454).contains(&timed.workload.units.expect("it has units")), "{:?}", timed.workload.units);
    let counted = store(&[("run.requests", "1_000"), ("run.warm_up", "500")]);
    let requests = &counted.requests;
    assert_eq!(requests.reads + requests.writes + requests.flushes, 500);
    // Every flush ends a transaction.
    assert_eq!(counted.workload.units, Some(requests.flushes));
}

const MD1: &str = "[workload]\nkind = \"uniform\"\nrequests = 400_000\nrequest = \"4 KiB\"\nfootprint = \"1 GiB\"\n\
                   arrival = { kind = \"poisson\", rate = \"5 kHz\" }\n\
                   [stack]\nkind = \"measured\"\nread = \"100 us\"\nwrite = \"100 us\"\n";

fn narrowed(until: &str, requests: &str, seed: u64) -> Record {
    let given = [("run.until", until), ("workload.requests", requests)];
    let overrides: Vec<(String, String)> =
        given.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect();
    let checked = check(&Document { text: MD1, name: "test.toml", overrides: &overrides, seed: Some(seed) });
    run(&checked.expect("legal"), &NoFiles, &mut |_| ControlFlow::Continue(())).expect("legal").record
}

#[test]
fn a_run_ends_when_its_mean_is_known_and_the_closed_form_lies_within() {
    // In M/D/1 at load .5, a request waits for half a service on average, so it takes 150 us. At least 47 of
    // 60 intervals at 95 % must cover the mean, which is five and a half standard errors below the expected
    // number.
    let mut covered = 0;
    for seed in 1..=60 {
        let record = narrowed("4 %", "400_000", seed);
        let read = record.latency.read.expect("reads");
        let half_width = read.mean_ci95_ns.expect("it is known");
        assert!(half_width <= 0.04 * read.mean_ns && read.count < 60_000, "{read:?}");
        assert!(record.findings.iter().all(|found| found.kind != "not_narrow"));
        covered += u32::from((read.mean_ns - 150e3).abs() <= half_width);
    }
    assert!(covered >= 50, "{covered} of 60 intervals hold the mean");
}

#[test]
fn a_run_that_ends_before_its_mean_is_known_says_so() {
    let record = narrowed("1 %", "6_000", 1);
    assert_eq!(record.requests.issued, 6_000);
    let found = record.findings.iter().find(|found| found.kind == "not_narrow").expect("a finding");
    assert!(
        found.text.starts_with(
            "the mean latencies are not within the target of 1 %: the run ended with reads within "
        ),
        "{}",
        found.text
    );
}

/// Returns the record of two closed loops with these queue depths on one server that takes 10 us per request.
fn tenants(depths: [u32; 2]) -> Record {
    let tenant = |name: &str, depth: u32| {
        format!(
            "[[workload.tenant]]\nname = \"{name}\"\nworkload = {{ kind = \"uniform\", requests = 1_000_000, \
             footprint = \"1 MiB\", arrival = {{ kind = \"closed\", queue_depth = {depth} }} }}\n"
        )
    };
    let text = format!(
        "[run]\nrequests = 20_000\n[workload]\nkind = \"tenants\"\n{}{}[stack]\nkind = \"measured\"\n\
         read = \"10 us\"\nwrite = \"10 us\"\nparallelism = 1\n",
        tenant("few", depths[0]),
        tenant("many", depths[1])
    );
    let checked = check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None });
    let checked = checked.unwrap_or_else(|problems| panic!("{problems}"));
    run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(())).expect("it runs").record
}

#[test]
fn tenants_at_one_server_share_it_by_their_queue_depths() {
    for depths in [[1, 1], [1, 4], [2, 6]] {
        let record = tenants(depths);
        let [few, many] = &record.tenants[..] else { panic!("two tenants") };
        assert_eq!((few.name.as_str(), many.name.as_str()), ("few", "many"));
        assert_eq!(few.requests + many.requests, record.requests.completed);
        assert_eq!(few.bytes.read + many.bytes.read, record.bytes.read);
        // With first come, first served, each outstanding request is served once per round.
        let all = f64::from(depths[0] + depths[1]);
        for (tenant, depth) in [(few, depths[0]), (many, depths[1])] {
            let rate = 1e5 * f64::from(depth) / all;
            assert!((tenant.throughput.iops / rate - 1.0).abs() < 1e-3, "{tenant:?} {rate}");
            let wait = tenant.latency.read.as_ref().or(tenant.latency.write.as_ref()).unwrap().p50_ns;
            assert!((wait / (1e4 * all) - 1.0).abs() < 0.01, "{wait}");
        }
        let [a, b] = depths.map(f64::from);
        let jain = (a + b) * (a + b) / (2.0 * (a * a + b * b));
        assert!((record.fairness.unwrap() - jain).abs() < 1e-3, "{:?} {jain}", record.fairness);
    }
}

#[test]
fn what_waits_for_a_place_counts_it_as_part_of_its_latency() {
    // With one slot in front of a device that serves one request at a time, requests wait as long in the host
    // as they otherwise would in the device.
    let text = "[workload]\nkind = \"tenants\"\n[[workload.tenant]]\nname = \"one\"\n\
        workload = { kind = \"uniform\", requests = 5_000, footprint = \"1 MiB\", arrival = { kind = \"poisson\", rate = \"8 kHz\" } }\n\
        [stack]\nkind = \"measured\"\nread = \"100 us\"\nwrite = \"100 us\"\n";
    let record = |overrides: &[(String, String)]| {
        let checked = check(&Document { text, name: "test.toml", overrides, seed: None }).expect("legal");
        let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
        outcome.unwrap_or_else(|problems| panic!("{problems}")).record
    };
    let (there, here) = (record(&[]), record(&[("workload.places".into(), "1".into())]));
    let [there_reads, here_reads] =
        [&there, &here].map(|record| record.latency.read.as_ref().expect("reads"));
    assert!(there_reads.mean_ns > 250_000.0, "a load of 0.8 waits");
    assert_eq!(there_reads.mean_ns, here_reads.mean_ns);
    assert_eq!(there_reads.max_ns, here_reads.max_ns);
    assert_eq!(
        format!("{:?}", there.time_spent),
        format!("{:?}", here.time_spent),
        "it is time in the queue"
    );
    assert_eq!(there.tenants[0].latency.read.as_ref().map(|read| read.mean_ns), Some(here_reads.mean_ns));
}

const ZONED: &str = "kind = \"zns_ssd\", channels = 2, ways = 2, blocks = 64, pages = 64, page = \"4 KiB\", \
    read = [\"50 us\"], program = [\"500 us\"], erase = \"3 ms\", bus = \"400 MB/s\", buffer = \"256 KiB\", \
    link = \"4 GB/s\"";

/// Returns the device of `stack`, or the errors that prevent building it.
fn built(stack: &str) -> Result<Box<dyn Device>, String> {
    let text =
        format!("[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n[stack]\n{stack}\n");
    let checked =
        check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    crate::stack::build_alone(&checked, &NoFiles).map_err(|problems| problems.to_string())
}

#[test]
fn faults_over_a_device_with_zones_pass_zone_commands_on() {
    let twice = format!(
        "kind = \"faulty\"\ndevice = {{ kind = \"faulty\", device = {{ {ZONED} }} }}\nfault = [{{ kind = \"error\" }}]"
    );
    let mut device = built(&twice).expect("it is legal");
    assert!(device.zones().is_some() && device.zone_commands().is_some());
}

#[test]
fn what_writes_anywhere_is_refused_over_zones() {
    for (path, stack) in [
        (
            "stack.backing",
            format!("kind = \"dram_disk_cache\"\ncapacity = \"8 MiB\"\nbacking = {{ {ZONED} }}"),
        ),
        (
            "stack.backing",
            format!(
                "kind = \"dram_disk_cache\"\ncapacity = \"8 MiB\"\nbacking = {{ kind = \"faulty\", device = {{ {ZONED} }} }}"
            ),
        ),
        (
            "stack.member[0]",
            format!(
                "kind = \"mirror\"\nmember = [{{ {ZONED} }}, {{ kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"4 MiB\" }}]"
            ),
        ),
    ] {
        let refused = built(&stack).err().expect("the zones are not passed on");
        assert!(
            refused.starts_with(&format!("{path}.kind: a device with zones is written sequentially")),
            "{refused}"
        );
    }
    let stack = format!("kind = \"dram_disk_cache\"\ncapacity = \"8 MiB\"\nbacking = {{ {ZONED} }}");
    assert_eq!(
        built(&stack).err().expect("it is refused"),
        "stack.backing.kind: a device with zones is written sequentially, but the device over it writes at random; \
         use kind = \"ssd\", or make this device the stack"
    );
}
