mod cautions;
mod shares;
mod worn;

use crate::{Document, Files, Record, check, run};
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

const WORKLOAD: &str = "[workload]\nkind = \"uniform\"\nrequests = 600\nfootprint = \"1 GiB\"\n\
    arrival = { kind = \"closed\", queue_depth = 4 }\n";
const DRIVE: &str = "kind = \"hdd\"\ncapacity = \"600 GB\"\nrotation = \"15000 /min\"\nheads = 8\n\
    track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
    outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\n";

fn record(workload: &str, stack: &str) -> Record {
    let text = format!("{WORKLOAD}{workload}\n[stack]\n{stack}");
    let checked = check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None });
    let checked = checked.unwrap_or_else(|problems| panic!("{problems}"));
    let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap_or_else(|problems| panic!("{problems}")).record
}

#[test]
fn buffered_writes_are_charged_over_the_time_until_they_are_on_the_platter() {
    let options =
        "write_cache = \"8 MiB\"\nidle_power = \"10 W\"\nseek_power = \"16 W\"\nactive_power = \"13 W\"";
    let record = record("read_share = \"0 %\"", &format!("{DRIVE}{options}"));
    assert!(record.drained_s > 10.0 * record.simulated_s, "600 random writes take the arm seconds");
    let iops = 600.0 / record.simulated_s;
    assert_eq!(record.throughput.iops, iops, "the host does not wait for the platter");
    let drive = &record.components[0];
    let [arm, interface] = &drive.resources[..] else { panic!("two resources") };
    assert!((0.99..=1.0).contains(&arm.utilization), "the arm never rests: {}", arm.utilization);
    assert!(interface.utilization < 0.01, "the interface does: {}", interface.utilization);
    assert_eq!((drive.utilization, drive.servers), (arm.utilization, 1));
    let energy = drive.energy_j.as_ref().expect("the powers are given");
    assert_eq!(energy["idle"], 10.0 * record.drained_s);
    let seek = 6.0 * drive.busy["seek"];
    assert!((energy["seek"] / seek - 1.0).abs() < 1e-9, "{} J of seeking, expected {seek}", energy["seek"]);
}

#[test]
fn the_busiest_resource_gives_the_utilization() {
    let stack = "kind = \"measured\"\nread = \"10 us\"\nwrite = \"10 us\"\nparallelism = 64\nbandwidth = \"100 MB/s\"";
    let record = record("read_share = \"100 %\"", stack);
    let device = &record.components[0];
    let names: Vec<_> = device.resources.iter().map(|resource| (resource.name, resource.servers)).collect();
    assert_eq!(names, [("servers", 64), ("link", 1)]);
    let [servers, link] = &device.resources[..] else { unreachable!("two names") };
    assert!((0.99..=1.0).contains(&link.utilization), "the link is the limit: {}", link.utilization);
    // A request takes 40.96 us of the link and 10 us of one of the 64 servers.
    assert!((link.utilization / servers.utilization / (4.096 * 64.0) - 1.0).abs() < 1e-9);
    assert_eq!((device.utilization, device.servers), (link.utilization, 1));
    assert_eq!(device.busy["link"], link.busy["link"]);
    assert_eq!(device.busy["read"], servers.busy["read"]);
}

#[test]
fn energy_is_null_only_where_it_is_not_modeled() {
    let stack = "kind = \"measured\"\nread = \"10 us\"\nwrite = \"10 us\"\n";
    assert_eq!(record("read_share = \"0 %\"", stack).components[0].energy_j, None);
    let energies = "read_energy = \"2 uJ\"\nwrite_energy = \"0 J\"";
    let record = record("read_share = \"0 %\"", &format!("{stack}{energies}"));
    let energy = record.components[0].energy_j.as_ref().expect("reads would take energy");
    assert!(energy.is_empty(), "there was no read: {energy:?}");
    assert_eq!(record.energy_j["stack"], 0.0);
}

#[test]
fn devices_missing_in_the_cost_are_named() {
    let stack = "kind = \"server_cache\"\nbacking = { preset = \"disk_15k_kim\" }\n\
        [[stack.level]]\ndevice = { preset = \"pcm_ssd\", capacity = \"1 GiB\" }\n";
    let record = record("", stack);
    assert_eq!((record.cost, record.cost_unknown), (Some(24.0), vec!["stack.backing".to_string()]));
}

/// Tests that a disk cache without a price is listed as missing in the cost, because it has memory. Devices
/// that only combine other devices have no cost.
#[test]
fn memories_missing_in_the_cost_are_named() {
    let stack = "kind = \"dram_disk_cache\"\ncapacity = \"1 MiB\"\nbacking = { preset = \"disk_15k\" }\n";
    assert_eq!(record("", stack).cost_unknown, ["stack"]);
    assert!(record("", &format!("price = \"10 /GiB\"\n{stack}")).cost_unknown.is_empty());
}
