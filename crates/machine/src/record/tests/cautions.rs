//! Tests of the limitations that a record reports for its numbers.

use super::NoFiles;
use crate::{Document, Record, check, run};
use nacre_testkit::assert_close;
use std::ops::ControlFlow;

fn record(text: &str) -> Record {
    let checked = check(&Document { text, name: "test.toml", overrides: &[], seed: None });
    let checked = checked.unwrap_or_else(|problems| panic!("{problems}"));
    let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap_or_else(|problems| panic!("{problems}")).record
}

fn kinds(record: &Record) -> Vec<&'static str> {
    record.findings.iter().map(|caution| caution.kind).collect()
}

/// Returns the record of parallel writes to two devices: a write-through cache and its backing device.
fn cached(level: &str, backing: &str) -> Record {
    record(&format!(
        "[workload]\nkind = \"uniform\"\nrequests = 100\nfootprint = \"1 MiB\"\nread_share = \"0 %\"\n\
         [stack]\nkind = \"server_cache\"\n\
         backing = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"2 GiB\", {backing} }}\n\
         [[stack.level]]\n\
         device = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"1 GiB\", {level} }}\n"
    ))
}

#[test]
fn prices_counted_in_different_things_have_no_sum() {
    let ratio = "price = \"24 /GiB\", price_basis = \"kim-2014 ratio\"";
    let dollars = "price = \"0.1 /GiB\", price_basis = \"USD 2023\"";
    let apart = cached(ratio, dollars);
    assert_eq!((apart.cost, apart.cost_basis.as_deref()), (None, None));
    let costs: Vec<_> = apart.cost_by_basis.iter().map(|(basis, &cost)| (basis.as_str(), cost)).collect();
    assert_eq!(costs, [("USD 2023", 0.2), ("kim-2014 ratio", 24.0)]);
    assert_eq!(kinds(&apart), ["prices_differ"]);
    assert!(
        apart.findings[0].text.contains("USD 2023, kim-2014 ratio; convert"),
        "{}",
        apart.findings[0].text
    );
    assert_eq!(apart.findings[0].paths, ["stack.level[0].device", "stack.backing"]);
    let unstated = cached(ratio, "price = \"1 /GiB\"");
    assert_eq!((unstated.cost, unstated.cost_by_basis["not stated"]), (None, 2.0));
}

#[test]
fn prices_of_one_basis_are_added_and_the_basis_is_said() {
    let dollars = "price = \"2 /GiB\", price_basis = \"USD 2023\"";
    let alike = cached(dollars, dollars);
    assert_eq!((alike.cost, alike.cost_basis.as_deref()), (Some(6.0), Some("USD 2023")));
    assert_eq!(alike.components[1].cost_basis.as_deref(), Some("USD 2023"));
    assert!(kinds(&alike).is_empty());
    let plain = cached("price = \"2 /GiB\"", "price = \"2 /GiB\"");
    assert_eq!((plain.cost, plain.cost_basis), (Some(6.0), None));
}

#[test]
fn totals_of_energy_and_lifetime_name_what_they_leave_out() {
    let part =
        cached("read_energy = \"1 uJ\", write_energy = \"1 uJ\", endurance = \"1 TB\"", "trim = \"0 s\"");
    let unknown = ["stack.level[0].device.idle_power", "stack.backing"];
    assert_eq!(part.energy_unknown, unknown);
    assert!(part.lifetime_days.is_some());
    assert_eq!(part.lifetime_unknown, ["stack.backing"]);
    assert_eq!(kinds(&part), ["energy_incomplete", "lifetime_incomplete"]);
    let whole = "read_energy = \"1 uJ\", write_energy = \"1 uJ\", idle_power = \"1 W\", endurance = \"1 TB\"";
    let whole = cached(whole, whole);
    assert!(whole.energy_unknown.is_empty() && whole.lifetime_unknown.is_empty() && kinds(&whole).is_empty());
}

/// Returns the record of requests that arrive at a given rate at a server with a service time of 1 ms.
fn arriving(arrival: &str, requests: u32, parallelism: u32) -> Record {
    record(&format!(
        "[workload]\nkind = \"uniform\"\nrequests = {requests}\nfootprint = \"1 MiB\"\narrival = {arrival}\n\
         [stack]\nkind = \"measured\"\nread = \"1 ms\"\nwrite = \"1 ms\"\nparallelism = {parallelism}\n"
    ))
}

#[test]
fn a_stack_that_cannot_keep_up_is_said_to_be_saturated() {
    let over = arriving("{ kind = \"poisson\", rate = \"1500 Hz\" }", 2_000, 1);
    assert_eq!(kinds(&over), ["saturated"]);
    // Two thousand requests take 2 s and arrive within 1.33 s +- 30 ms, so the last one waits for the
    // remaining time.
    assert_close("from the first arrival to the last completion", over.simulated_s, 2.0, 0.01);
    let text = &over.findings[0].text;
    assert!(
        text.contains("the last completed 692 ms after its arrival, 53 % of the 1.31 s of arrivals"),
        "{text}"
    );
    assert_eq!(over.findings[0].paths, ["stack"]);
}

#[test]
fn queues_that_are_only_long_bursts_and_closed_loops_are_not_saturated() {
    let near = "{ kind = \"poisson\", rate = \"900 Hz\" }";
    for requests in [64, 500, 5_000] {
        assert!(!kinds(&arriving(near, requests, 1)).contains(&"saturated"), "{requests} at nine tenths");
    }
    // All requests arrive at the same time and are served in parallel, so the last one completes as soon as
    // the first.
    assert!(kinds(&arriving("{ kind = \"periodic\", rate = \"1 MHz\" }", 1_000, 4_000)).is_empty());
    // The first of 64 simultaneous requests does not wait, and the last one waits for all others, so
    // latencies are correlated.
    assert_eq!(kinds(&arriving("{ kind = \"closed\", queue_depth = 64 }", 1_000, 1)), ["dependent"]);
}

#[test]
fn latencies_that_go_on_changing_are_said_to_be_not_steady() {
    let text = "[workload]\nkind = \"uniform\"\nrequests = 4_000\nfootprint = \"8 MiB\"\n[stack]\n\
        kind = \"server_cache\"\nbacking = { kind = \"measured\", read = \"1 ms\", write = \"1 ms\" }\n\
        [[stack.level]]\ndevice = { kind = \"measured\", read = \"1 us\", write = \"1 us\", capacity = \"8 MiB\" }\n";
    let cold = record(text);
    assert_eq!(kinds(&cold), ["not_steady"]);
    assert!(
        cold.findings[0].text.contains("the mean latency of reads fell from"),
        "{}",
        cold.findings[0].text
    );
    let warm = record(&format!("{}\n[run]\nwarm_up = 20_000\n", text.replace("4_000", "24_000")));
    assert!(kinds(&warm).is_empty(), "{:?}", warm.findings);
    let half = cold.latency.read.expect("there are reads");
    assert_close("as many missed as there are blocks, less those never asked", half.mean_ns, 446_000.0, 0.1);
}

/// Returns the record of reads of this size, one at a time, from a device with a measured latency of 5 ms for
/// 4 KiB.
fn measured(request: &str, parallelism: u32) -> Record {
    record(&format!(
        "[workload]\nkind = \"uniform\"\nrequests = 100\nfootprint = \"1 MiB\"\nrequest = \"{request}\"\n\
         read_share = \"100 %\"\narrival = {{ kind = \"closed\", queue_depth = 1 }}\n\
         [stack]\nkind = \"measured\"\nread = \"5 ms\"\nwrite = \"5 ms\"\nparallelism = {parallelism}\n"
    ))
}

#[test]
fn requests_that_take_many_measured_latencies_in_turn_are_said() {
    let long = measured("64 KiB", 1);
    assert_close("sixteen in turn", long.latency.read.as_ref().expect("reads").mean_ns, 16.0 * 5e6, 1e-9);
    assert_eq!(kinds(&long), ["longer_than_measured"]);
    let text = &long.findings[0].text;
    assert!(
        text.contains("reads of 16.0 units on average, and took one latency per unit, 1 at a time"),
        "{text}"
    );
    assert_eq!(long.findings[0].paths, ["stack"]);
    assert!(kinds(&measured("4 KiB", 1)).is_empty());
    assert!(kinds(&measured("64 KiB", 16)).is_empty(), "all of a request's units work side by side");
}

#[test]
fn write_amplification_of_few_writes_is_said_to_be_that() {
    let text = |requests: u32| {
        format!(
            "[run]\nuntil_steady = {{}}\n[workload]\nkind = \"uniform\"\nrequests = {requests}\nfootprint = \"24 MiB\"\n\
             read_share = \"0 %\"\n[stack]\nkind = \"ssd\"\nchannels = 2\nways = 1\nblocks = 64\npages = 64\n\
             page = \"4 KiB\"\nread = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
             buffer = \"256 KiB\"\nlink = \"4 GB/s\"\n"
        )
    };
    let few = record(&text(8));
    let told = (&few.steadiness, few.write_amplification, few.bytes.written);
    assert!(kinds(&few).contains(&"few_writes"), "{:?} {told:?}", few.findings);
    let many = record(&text(40_000));
    assert!(!kinds(&many).contains(&"few_writes"), "{:?}", many.findings);
}

#[test]
fn write_amplification_and_lifetime_before_garbage_collection_are_said_to_be_that() {
    let run = |settings: &str, requests: u32| {
        record(&format!(
            "[run]\n{settings}\n[workload]\nkind = \"uniform\"\nrequests = {requests}\nfootprint = \"24 MiB\"\n\
             read_share = \"0 %\"\n[stack]\nkind = \"ssd\"\nchannels = 2\nways = 1\nblocks = 64\npages = 64\n\
             page = \"4 KiB\"\nread = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
             buffer = \"256 KiB\"\nlink = \"4 GB/s\"\nendurance = 3000\n"
        ))
    };
    let few = |record: &Record| {
        let found = record.findings.iter().find(|caution| caution.kind == "few_writes");
        found.map(|caution| caution.text.clone())
    };
    let new = run("", 100);
    assert_eq!((new.erases, new.write_amplification), (Some(0), Some(1.0)));
    let text = few(&new).expect("a new drive erases nothing");
    assert!(text.contains("write amplification 1.00 and the lifetime of stack are"), "{text}");
    assert!(text.contains("erased nothing"), "{text}");
    // The flash has 8,192 pages, so each block was erased less than once when 10,000 pages were written.
    let first_round = run("", 10_000);
    assert!(first_round.erases.is_some_and(|erases| erases > 0));
    assert!(few(&first_round).is_some_and(|text| text.contains("fewer than one erase per block")));
    assert_eq!(few(&run("", 40_000)), None, "every block was erased");
    assert!(few(&run("precondition = 40_000", 8)).is_some(), "this run erased nothing");
    // Reads program no page, so no number is unreliable.
    let reads = record(
        "[workload]\nkind = \"uniform\"\nrequests = 10\nfootprint = \"1 MiB\"\n[stack]\npreset = \"tlc_nvme\"\n",
    );
    assert_eq!(few(&reads), None);
}

#[test]
fn a_tenant_that_sends_more_than_is_served_is_said_to_be_saturated() {
    let sending = |rate: &str| {
        record(&format!(
            "[run]\nrequests = 20_000\n[workload]\nkind = \"tenants\"\n\
             [[workload.tenant]]\nname = \"patient\"\nworkload = {{ kind = \"uniform\", requests = 1_000_000, \
             footprint = \"1 MiB\", arrival = {{ kind = \"closed\", queue_depth = 2 }} }}\n\
             [[workload.tenant]]\nname = \"eager\"\nworkload = {{ kind = \"uniform\", requests = 1_000_000, \
             footprint = \"1 MiB\", arrival = {{ kind = \"poisson\", rate = \"{rate}\" }} }}\n\
             [stack]\nkind = \"measured\"\nread = \"10 us\"\nwrite = \"10 us\"\nparallelism = 1\n"
        ))
    };
    let over = sending("150 kHz");
    assert_eq!(kinds(&over), ["saturated"]);
    assert!(over.findings[0].text.starts_with("tenant eager: saturated:"), "{}", over.findings[0].text);
    assert!(!kinds(&sending("40 kHz")).contains(&"saturated"));
}
