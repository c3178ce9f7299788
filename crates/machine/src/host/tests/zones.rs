//! Tests of hosts that write to a device with zones: one write per zone at a time, or zone appends.

use super::super::{HostConfig, HostScheduler, ZoneWrites};
use super::{Record, over, record};
use nacre_kernel::Time;
use nacre_testkit::conformance;

/// Firmware time of each request, plus the link time of 4 KiB.
const LATENCY_S: f64 = 400e-6 + 4096.0 / 4e9;
const PROGRAM_S: f64 = 500e-6;

/// Returns the number of 4 KiB units in a zone on `dies` dies.
fn units(dies: u32) -> u32 {
    16 * 64 * dies
}

fn stack(dies: u32) -> String {
    format!(
        "kind = \"zns_ssd\"\nchannels = {dies}\nways = 1\nblocks = 128\npages = 64\npage = \"4 KiB\"\n\
         read = [\"50 us\"]\nprogram = [\"{PROGRAM_S} s\"]\nerase = \"3 ms\"\nbus = \"1 GB/s\"\nbuffer = \"{} KiB\"\n\
         link = \"4 GB/s\"\nprocessors = 64\nfirmware = \"400 us\"\nover_provisioning = \"20 %\"\nzone_superblocks = 16\n\
         active_zones = 2\n",
        4 * (2 * dies + 4)
    )
}

/// Returns the record of a log workload that fills `open` zones once, in parallel, with `depth` outstanding
/// requests.
fn filled(dies: u32, open: u32, depth: u32, zone_writes: &str) -> Record {
    let zone = units(dies) * 4;
    let text = format!(
        "[workload]\nkind = \"log\"\nrequests = {}\nfootprint = \"{} KiB\"\nzone = \"{zone} KiB\"\nopen_zones = {open}\n\
         arrival = {{ kind = \"closed\", queue_depth = {depth} }}\n[host]\nzone_writes = \"{zone_writes}\"\n\
         queue_depth = 1000\n[stack]\n{}",
        open * (units(dies) + 1),
        2 * zone,
        stack(dies)
    );
    record(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn assert_rate(record: &Record, law: f64, case: &str) {
    assert_eq!(record.requests.errors, 0, "{case}");
    let rate = record.requests.writes as f64 / record.simulated_s;
    assert!((rate / law - 1.0).abs() < 0.02, "{case}: {rate} a second, not {law}");
}

/// Tests the rate of appends to one zone. At queue depth d, the rate is d appends per latency, but at most
/// one append per program time and die.
#[test]
fn appends_to_one_zone_reach_the_bandwidth_of_its_dies() {
    for dies in [1, 2, 4, 8] {
        for depth in [1, 2, 3, 4, 6, 8, 16] {
            let law = (f64::from(depth) / LATENCY_S).min(f64::from(dies) / PROGRAM_S);
            let found = filled(dies, 1, depth, "append");
            assert_rate(&found, law, &format!("{dies} dies, depth {depth}"));
            let host = &found.components[0];
            let counts = ["appends", "appends_elsewhere"].map(|name| host.counters[name].as_u64());
            assert_eq!(counts, [Some(u64::from(units(dies))), Some(0)]);
            let drive = &found.components[1];
            assert_eq!(drive.counters["zone_appends"].as_u64(), Some(u64::from(units(dies))));
        }
    }
}

/// With one write per zone at a time, the queue depth does not affect the rate of a zone, and several zones
/// are written in parallel.
#[test]
fn one_write_of_a_zone_at_a_time_takes_its_latency() {
    for depth in [1, 2, 8, 32] {
        let found = filled(8, 1, depth, "one_per_zone");
        assert_rate(&found, 1.0 / LATENCY_S, &format!("depth {depth}"));
        let found = filled(8, 2, depth, "one_per_zone");
        let law = f64::from(depth.min(2)) / LATENCY_S;
        assert_rate(&found, law, &format!("two zones, depth {depth}"));
    }
}

#[test]
fn a_host_of_zones_keeps_the_contract_of_devices() {
    for zone_writes in [ZoneWrites::OnePerZone, ZoneWrites::Append] {
        for queue_depth in [None, Some(3)] {
            let config = || HostConfig {
                timeout: None,
                queue_depth,
                scheduler: HostScheduler::FirstCome,
                zone_writes: Some(zone_writes),
            };
            conformance(Time::from_us(300), || Box::new(over(config(), &stack(2))));
        }
    }
}

#[test]
fn a_host_that_writes_zones_needs_them() {
    let text = "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n[host]\nzone_writes = \"append\"\n\
        [stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"\n";
    let refused = record(text).expect_err("there are no zones");
    assert_eq!(
        refused,
        "host.zone_writes (test.toml:6): the stack, measured, has no zones; use stack.kind = \"zns_ssd\", or remove it"
    );
}
