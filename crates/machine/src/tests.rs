use crate::{Checked, Document, Files, HostMemory, Outcome, Problems, catalog, check, run};
use nacre_config::{Node, Origin, Value};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};
use std::ops::ControlFlow;
use std::path::Path;

/// Files held in memory.
#[derive(Default)]
struct FilesInMemory(BTreeMap<String, Vec<u8>>);

impl FilesInMemory {
    fn with(name: &str, bytes: impl Into<Vec<u8>>) -> FilesInMemory {
        FilesInMemory(BTreeMap::from([(name.to_string(), bytes.into())]))
    }

    fn bytes(&self, file: &str) -> io::Result<Vec<u8>> {
        self.0.get(file).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }
}

impl Files for FilesInMemory {
    fn text(&self, file: &str) -> io::Result<String> {
        String::from_utf8(self.bytes(file)?).map_err(io::Error::other)
    }

    fn trace(&self, file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(Cursor::new(self.bytes(file)?)))
    }

    fn shipped_traces(&self) -> Vec<String> {
        vec!["pgbench".into()]
    }
}

fn checked(text: &str, overrides: &[(&str, &str)]) -> Result<Checked, Problems> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|&(path, value)| (path.to_string(), value.to_string())).collect();
    check(&Document { text, name: "test.toml", overrides: &overrides, seed: None })
}

fn outcome_with(text: &str, overrides: &[(&str, &str)], files: &FilesInMemory) -> Outcome {
    let checked = checked(text, overrides).unwrap_or_else(|problems| panic!("{problems}"));
    run(&checked, files, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(text: &str, overrides: &[(&str, &str)]) -> Outcome {
    outcome_with(text, overrides, &FilesInMemory::default())
}

const QUEUE: &str = r#"
[workload]
kind = "uniform"
requests = 400_000
footprint = "1 GiB"
read_share = "100 %"
arrival = { kind = "poisson", rate = "80 kHz" }
[stack]
kind = "measured"
read = "10 us"
write = "10 us"
parallelism = 1
"#;

const CACHE: &str = r#"
[workload]
kind = "zipf"
requests = 50_000
footprint = "64 MiB"
theta = 0.9
read_share = "70 %"
arrival = { kind = "poisson", rate = "20 kHz" }
[stack]
kind = "server_cache"
backing = { preset = "network_store" }
[[stack.level]]
device = { preset = "pcm_ssd", capacity = "8 MiB" }
"#;

#[test]
fn a_run_of_one_server_under_poisson_arrivals_meets_the_law_of_m_d_1() {
    let record = outcome(QUEUE, &[]).record;
    let read = record.latency.read.expect("there were reads");
    // With rho = .8, the mean wait is rho S / (2 (1 - rho)) = 2 S, so the latency is 30 us.
    assert!((read.mean_ns / 30_000.0 - 1.0).abs() < 0.02, "mean {} ns", read.mean_ns);
    let half_width = read.mean_ci95_ns.expect("enough requests for an interval");
    assert!(half_width < 0.03 * read.mean_ns, "half width {half_width} ns");
    let device = &record.components[0];
    assert!((device.utilization - 0.8).abs() < 0.01, "utilization {}", device.utilization);
    let shares: f64 = record.time_spent.read.iter().map(|part| part.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "the parts of the mean latency sum to {shares}");
    let queue = record.time_spent.read.iter().find(|part| part.activity == "queue").expect("requests waited");
    assert!((queue.mean_ns / 20_000.0 - 1.0).abs() < 0.03, "waited {} ns", queue.mean_ns);
    assert_eq!((record.requests.issued, record.requests.completed), (400_000, 400_000));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_other_ones() {
    let json = |overrides: &[(&str, &str)]| outcome(CACHE, overrides).record.to_json();
    assert_eq!(json(&[]), json(&[]));
    assert_eq!(json(&[("run.seed", "7")]), json(&[("run.seed", "7")]));
    let latency = |seed: &str| outcome(CACHE, &[("run.seed", seed)]).record.latency.read.unwrap().mean_ns;
    assert!((latency("1") - latency("2")).abs() > 0.0, "seeds 1 and 2 gave the same mean");
}

#[test]
fn everything_that_ships_is_legal_and_every_number_of_the_catalog_has_a_source() {
    for entry in catalog::entries() {
        assert!(!entry.summary.is_empty(), "{} says what it is", entry.name);
        assert_sourced(&entry.settings, entry.name);
        let text = format!(
            "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n[stack]\npreset = \"{}\"\n",
            entry.name
        );
        if entry.family == "device" {
            checked(&text, &[]).unwrap_or_else(|problems| panic!("{}: {problems}", entry.name));
        }
    }
    for scenario in catalog::scenarios() {
        checked(scenario.text, &[]).unwrap_or_else(|problems| panic!("{}: {problems}", scenario.name));
    }
    assert!(catalog::entries().len() >= 4 && !catalog::scenarios().is_empty());
}

fn assert_sourced(node: &Node, path: &str) {
    match &node.value {
        Value::Table(entries) => {
            for (key, node) in entries.iter().filter(|(key, _)| key != "kind" && key != "summary") {
                assert_sourced(node, &format!("{path}.{key}"));
            }
        }
        Value::List(nodes) => nodes.iter().for_each(|node| assert_sourced(node, path)),
        _ => {
            let Origin::Catalog { source, confidence, .. } = &node.origin else {
                panic!("{path} = {node} has no source");
            };
            let known = ["standard", "datasheet", "measured", "paper", "fitted", "assumed"];
            assert!(known.contains(&&**confidence), "{path} has confidence {confidence:?}");
            assert!(!source.is_empty(), "{path} has an empty source");
        }
    }
}

#[test]
fn warm_up_requests_are_served_and_not_counted() {
    let whole = outcome(CACHE, &[]).record;
    let warmed = outcome(CACHE, &[("run.warm_up", "40000")]).record;
    assert_eq!(warmed.requests.completed, 10_000);
    let hit_ratio = |record: &crate::Record| {
        let count = |name: &str| record.components[0].counters[name].as_f64().unwrap();
        assert_eq!(
            record.requests.reads as f64,
            count("read_hits") + count("read_misses") + count("read_merged")
        );
        count("read_hits") / record.requests.reads as f64
    };
    assert!(hit_ratio(&warmed) > hit_ratio(&whole) + 0.01, "a warm cache hits more");
}

#[test]
fn a_watched_run_can_be_stopped_and_says_so() {
    let checked = checked(QUEUE, &[]).unwrap();
    let mut calls = 0;
    let outcome = run(&checked, &FilesInMemory::default(), &mut |progress| {
        calls += 1;
        assert_eq!(progress.expected, Some(400_000));
        if progress.done >= 8192 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let record = outcome.unwrap().record;
    assert!(!record.complete && record.requests.completed == 8192 && calls == 128);
}

#[test]
fn a_limit_on_requests_or_time_ends_a_run_in_good_order() {
    let limited = outcome(QUEUE, &[("run.requests", "1000")]).record;
    assert!(limited.complete && limited.requests.completed == 1000);
    let timed = outcome(QUEUE, &[("run.duration", "10 ms")]).record;
    assert!(timed.complete && (700..900).contains(&timed.requests.completed), "{:?}", timed.requests);
}

#[test]
fn a_workload_larger_than_the_stack_is_refused_before_it_runs() {
    let text = run_problems(QUEUE, &[("stack.capacity", "16 MiB")]);
    assert_eq!(
        text,
        "workload: it reaches to byte 1073741824, but the stack ends at byte 16777216; use a larger device or a \
         smaller footprint"
    );
}

#[test]
fn a_request_of_a_trace_past_the_end_of_the_stack_is_the_users_mistake() {
    let files = FilesInMemory::with(
        "t.csv",
        "timestamp_us,op,offset,length\n0,read,4096,4096\n5,write,1048576,4096\n",
    );
    let workload = &QUEUE[QUEUE.find("[workload]").unwrap()..QUEUE.find("[stack]").unwrap()];
    let text =
        QUEUE.replace(workload, "[workload]\nkind = \"trace\"\nfile = \"t.csv\"\nformat = \"nacre_csv\"\n");
    let checked = checked(&text, &[("stack.capacity", "1 MiB")]).unwrap();
    let problems = run(&checked, &files, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(
        problems.contains("request 2 reaches to byte 1052672, but the stack ends at byte 1048576"),
        "{problems}"
    );
    assert!(problems.contains("placement = \"compact\""), "{problems}");
}

#[test]
fn a_misspelt_shipped_trace_gets_the_name_that_was_meant() {
    let text = CACHE.replace(
        &CACHE[CACHE.find("[workload]").unwrap()..CACHE.find("[stack]").unwrap()],
        "[workload]\nkind = \"trace\"\nfile = \"pgbenhc\"\n",
    );
    let problems = run_problems(&text, &[]);
    assert!(problems.contains("given \"pgbenhc\"; did you mean \"pgbench\"? give a file"), "{problems}");
}

#[test]
fn mistakes_in_every_part_come_at_once_with_place_and_remedy() {
    let text = "[workload]\nkind = \"zip\"\n[stack]\nkind = \"server_cache\"\nblok = \"4 KiB\"\n\
                backing = { preset = \"network_stor\" }\n[[stack.level]]\n\
                device = { preset = \"pcm_ssd\", capacity = \"8 MB of\" }\npolicy = \"lfu\"\n[run]\nsed = 4\n";
    let problems = checked(text, &[("stack.levle[0].policy", "lru")]).unwrap_err();
    let lines: Vec<String> = problems.0.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 7, "one line for each error: {lines:#?}");
    let mentions = |part: &str| assert!(lines.iter().any(|line| line.contains(part)), "{part} in {lines:#?}");
    mentions(
        "stack.backing.preset (test.toml:6): there is no such catalog entry, given \"network_stor\"; did you mean \"network_store\"?",
    );
    mentions("workload (test.toml:2): there is no workload called \"zip\"");
    mentions("stack.blok (test.toml:5): there is no such setting; did you mean \"block\"?");
    mentions("stack.level[0].device.capacity (test.toml:8): there is no unit \"MB of\"");
    mentions("stack.level[0].policy (test.toml:9): there is no replacement called \"lfu\"");
    mentions("run.sed (test.toml:11): there is no such setting; did you mean \"seed\"?");
    mentions(
        "stack.levle (--set stack.levle[0].policy=lru): there is no such setting; did you mean \"level\"?",
    );
}

#[test]
fn every_value_of_a_record_knows_its_origin() {
    let record = outcome(CACHE, &[("workload.theta", "0.8")]).record;
    let origin = |path: &str| {
        let found = record.origins.iter().find(|origin| origin.path == path);
        let found = found.unwrap_or_else(|| panic!("{path} is not among the origins"));
        (found.from, found.confidence.as_str())
    };
    assert_eq!(origin("workload.theta"), ("override", ""));
    assert_eq!(origin("workload.footprint"), ("file", ""));
    assert_eq!(origin("stack.level[0].device.read.latency"), ("catalog", "paper"));
    assert_eq!(origin("stack.block").0, "default");
    assert_eq!(origin("run.seed").0, "default");
    assert_eq!(record.scenario["stack"]["level"][0]["device"]["preset"], "pcm_ssd");
    assert_eq!(record.scenario["workload"]["theta"], 0.8);
}

#[test]
#[ignore = "needs the published samples: NACRE_SAMPLES=FOLDER, as make test-samples says"]
#[expect(clippy::disallowed_methods, reason = "the samples are not part of the project")]
fn the_cloudphysics_sample_runs_to_its_published_counts() {
    let folder = std::env::var_os("NACRE_SAMPLES").expect("NACRE_SAMPLES names the folder of the samples");
    let path = Path::new(&folder).join("cloudphysics.vscsi");
    let files = FilesInMemory::with("trace.vscsi", std::fs::read(path).unwrap());
    let text = CACHE.replace(
        &CACHE[CACHE.find("[workload]").unwrap()..CACHE.find("[stack]").unwrap()],
        "[workload]\nkind = \"trace\"\nfile = \"trace.vscsi\"\n",
    );
    let record = outcome_with(&text, &[("stack.level[0].device.capacity", "128 MiB")], &files).record;
    assert_eq!(record.requests.completed, 113_872);
    let read_share = record.requests.reads as f64 / 113_872.0;
    assert!((read_share - 0.413).abs() < 0.0005, "{read_share}");
    let count = |name: &str| record.components[0].counters[name].as_u64().unwrap();
    let accesses = count("read_hits")
        + count("read_misses")
        + count("write_hits")
        + count("write_misses")
        + count("read_merged")
        + count("write_merged");
    assert_eq!(accesses, 1_141_869);
}

fn run_problems(text: &str, overrides: &[(&str, &str)]) -> String {
    let checked = checked(text, overrides).unwrap_or_else(|problems| panic!("{problems}"));
    match run(&checked, &FilesInMemory::default(), &mut |_| ControlFlow::Continue(())) {
        Ok(outcome) => panic!("it ran: {:?}", outcome.record.requests),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn a_run_that_never_leaves_its_warm_up_is_refused() {
    let text = run_problems(QUEUE, &[("run.duration", "10 ms"), ("run.warm_up", "1000")]);
    let [before, behind] = [
        "run.warm_up (--set run.warm_up=1000): the run ended after ",
        " requests, all of them warm-up; reduce it, or run more requests",
    ];
    assert!(text.starts_with(before) && text.ends_with(behind), "{text}");
}

#[test]
fn a_scenario_whose_requests_are_all_warm_up_is_a_mistake() {
    let told =
        |overrides: &[(&str, &str)]| checked(QUEUE, overrides).map(|_| ()).map_err(|it| it.to_string());
    for (path, requests) in [("run.requests", "1000"), ("workload.requests", "1000")] {
        for warm_up in ["1000", "1001"] {
            let expected = format!(
                "run.warm_up (--set run.warm_up={warm_up}): the run has 1000 requests, all of them \
                 warm-up, given {warm_up}; reduce it, or run more requests"
            );
            assert_eq!(told(&[(path, requests), ("run.warm_up", warm_up)]), Err(expected));
        }
        assert_eq!(told(&[(path, requests), ("run.warm_up", "999")]), Ok(()));
    }
}

#[test]
fn a_device_that_holds_nothing_is_a_mistake() {
    let error = checked(QUEUE, &[("stack.capacity", "0 B")]).expect_err("it holds nothing").to_string();
    assert!(
        error.starts_with("stack.capacity (--set stack.capacity=0 B): it is too small, given \"0 B\";"),
        "{error}"
    );
}

#[test]
fn a_run_past_the_end_of_simulated_time_is_refused() {
    let closed = [("workload.arrival", "{ kind = \"closed\", think = \"1 d\" }")];
    let text = run_problems(QUEUE, &closed);
    assert!(text.contains("the end of simulated time; use a faster device"), "{text}");
    let slow = [("stack.read", "100 d"), ("run.requests", "10")];
    assert!(run_problems(QUEUE, &slow).contains("the end of simulated time"));
}

#[test]
fn a_seed_that_toml_cannot_hold_is_refused_and_not_changed() {
    let document = Document { text: QUEUE, name: "test.toml", overrides: &[], seed: Some(u64::MAX) };
    let problems = check(&document).unwrap_err().to_string();
    assert!(
        problems.starts_with("run.seed (--set run.seed=18446744073709551615): it is too large"),
        "{problems}"
    );
}

#[test]
fn a_stack_of_too_many_parts_is_refused() {
    let nested = (0..20).fold("{ preset = \"network_store\" }".to_string(), |backing, _| {
        let level = "{ device = { preset = \"pcm_ssd\", capacity = \"1 MiB\" } }";
        format!("{{ kind = \"server_cache\", backing = {backing}, level = [{level}, {level}, {level}] }}")
    });
    let workload = &QUEUE[QUEUE.find("[workload]").unwrap()..QUEUE.find("[stack]").unwrap()];
    let problems = checked(&format!("stack = {nested}\n{workload}"), &[]).unwrap_err().to_string();
    assert!(problems.ends_with("devices, policies and distributions; the limit is 250"), "{problems}");
}

/// A caller without files and with little memory.
struct Small {
    free: u64,
    all: u64,
}

impl Files for Small {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }

    fn memory(&self) -> Option<HostMemory> {
        Some(HostMemory { free: self.free, all: self.all, address_space: None })
    }
}

#[test]
fn a_device_that_memory_cannot_hold_is_refused_before_it_is_built() {
    let text = "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n\
        [stack]\npreset = \"tlc_nvme\"\nblocks = 4_000\n";
    let refused = |settings: &[(&str, &str)], free_mib: u64, all_mib: u64| {
        let large = checked(text, settings).expect("legal");
        let files = Small { free: free_mib << 20, all: all_mib << 20 };
        run(&large, &files, &mut |_| ControlFlow::Continue(()))
            .map(|_| ())
            .map_err(|problems| problems.to_string())
    };
    // Superblocks of 64 planes x 2304 pages x 4 units are 2^20 numbers apart. 3988 superblocks have 4.18 G
    // numbers, each of slightly more than 4 bytes. The host has 4000 x 589,824 / 1.1315 = 2.09 G units of 4
    // bytes. A block takes 16 bytes.
    let endless = [("workload.requests", "1_000_000_000_000")];
    let said = refused(&endless, 1024, 2048).expect_err("it is too large");
    let expected = "stack: its tables take 23.8 GiB of memory when all of it is written, and this machine has 2.0 GiB; use a";
    assert!(said.starts_with(expected), "{said}");
    let filled = [("run.fill.share", "50 %")];
    let said = refused(&filled, 1024, 32 << 10).expect_err("what is filled is too large");
    assert!(
        said.starts_with("stack: its tables take 11.9 GiB of memory, and 1.0 GiB are free; use a"),
        "{said}"
    );
    let rows = [("stack", "{ kind = \"onyx\", ranks = 256, chip = \"64 GiB\" }")];
    // 8 controllers of 256 ranks of 4 chips have 2^37 rows of 4 KiB with some gaps. Each row takes 4 bytes
    // after its neighbors are written, and 4096 rows take 8 bytes at the start.
    let said = refused(&rows, 1024, 2048).expect_err("it is too large");
    assert!(
        said.starts_with("stack: its tables take 512.3 GiB of memory when all of it is written"),
        "{said}"
    );
    let said = refused(&rows, 128, 1 << 20).expect_err("what is there at once is too large");
    assert!(said.starts_with("stack: its tables take 0.3 GiB of memory, and 0.1 GiB are free"), "{said}");
    assert_eq!(refused(&[("stack.blocks", "150")], 1, 1024), Ok(()), "one unit of it is written");
    assert!(refused(&[("stack.blocks", "150"), endless[0]], 1, 512).is_err());
}

#[test]
fn a_run_that_writes_little_of_a_large_drive_needs_little_memory() {
    let text = "[workload]\nkind = \"uniform\"\nrequests = 2000\nread_share = \"0 %\"\nrequest = \"16 KiB\"\n\
        footprint = \"122880000016384 B\"\n\
        [stack]\nkind = \"ssd\"\nchannels = 16\nways = 32\nplanes = 4\nblocks = 1960\npages = 2048\n\
        page = \"16 KiB\"\nunit = \"16 KiB\"\nover_provisioning = \"7 %\"\nbuffer = \"1 GiB\"\n\
        read = [\"60 us\"]\nprogram = [\"1 ms\"]\nerase = \"3 ms\"\nbus = \"2 GB/s\"\nlink = \"14 GB/s\"\n";
    let refused = |settings: &[(&str, &str)], all_mib: u64| {
        let files = Small { free: all_mib << 20, all: all_mib << 20 };
        run(&checked(text, settings).expect("legal"), &files, &mut |_| ControlFlow::Continue(()))
            .map(|_| ())
            .map_err(|problems| problems.to_string())
    };
    assert_eq!(refused(&[], 2048), Ok(()));
    // The drive has 1960 x 2^22 physical units, and 1.07 times fewer units of the host, with 4.25 bytes each.
    // A physical unit has one more bit, and each of 1960 x 2048 blocks has 16 bytes. The run needs the bits and
    // the blocks, a bit for each of 512 x 1960 x 2048 operations, and few entries of units.
    let said = refused(&[], 1024).expect_err("the run needs more");
    let expected = "stack: its tables take up to 1.3 GiB of memory in this run (64.0 GiB when all of it is written), and this machine has 1.0 GiB; use fewer requests";
    assert!(said.starts_with(expected), "{said}");
    for unknown in [
        ("workload.requests", "10_000_000_000"),
        ("workload.requests", "9_000_000_000_000_000_000"),
        ("run.wear_out", "true"),
        ("run.precondition", "10_000_000_000"),
        ("run.until_steady.windows", "5"),
        ("host.timeout", "\"1 s\""),
    ] {
        let said = refused(&[unknown], 2048).expect_err("all of it may be written");
        assert!(said.contains("take 64.0 GiB of memory"), "{unknown:?}: {said}");
    }
}

#[test]
fn tables_of_several_devices_have_to_fit_together() {
    let tier = "[[stack.tier]]\nshare = \"50 %\"\ndevice = { preset = \"tlc_nvme\", blocks = 400 }\n";
    let text = format!(
        "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n\
        [stack]\nkind = \"tiers\"\ncapacity = \"1 TiB\"\nextent = \"1 GiB\"\nmigration_bandwidth = \"1 MB/s\"\n{tier}{tier}"
    );
    // A share of 512 GiB takes 258 of the 400 blocks and 7 of the 12 spare blocks: 251 x 2^20 numbers of
    // slightly more than 4 bytes, as above, and 2^27 units of 4 bytes.
    let files = Small { free: 1 << 30, all: 3 << 30 };
    let problems = run(&checked(&text, &[]).expect("legal"), &files, &mut |_| ControlFlow::Continue(()));
    let said = problems.map(|_| ()).expect_err("two are too large").to_string();
    let expected = "stack.tier[1].device: its tables take 1.5 GiB of memory, in addition to 1.5 GiB for other tables when all of \
        it is written, and this machine has 3.0 GiB";
    assert!(said.starts_with(expected), "{said}");
}
