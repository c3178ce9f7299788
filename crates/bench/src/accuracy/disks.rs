//! Accuracy of a disk, compared with an event simulation of the disk arm.

use super::{Compared, Host, compare, head, line};
use crate::Result;
use crate::streams::{NoFiles, checked, requests};
use nacre_controller::hdd;
use nacre_machine::models::Models;
use nacre_machine::stack::build;
use nacre_media::disk::Disk;
use nacre_testkit::oracle::disk::{Firmware, Policy, serve};
use nacre_testkit::oracle::{Load, Summary};

/// Number of requests per case, as in the built-in scenario `disk-15k`.
const REQUESTS: u64 = 100_000;
/// Queue depths of the disk in closed loops and in open loops. The depth in closed loops exceeds the number
/// of clients. The depth in open loops is the depth of the preset.
const DEPTHS: [usize; 2] = [64, 32];

/// A case of the disk comparison.
#[derive(Clone, Copy)]
struct Case {
    pattern: &'static str,
    gib: u32,
    scheduling: &'static str,
    host: Host,
}

/// Prints the comparison of disks.
pub(super) fn print() {
    head(
        "disk_15k without an age limit, reads of 4 KiB in 64 GiB, as in disk-15k, and on the whole disk",
        "ms",
    );
    let closed = [1, 2, 4, 8, 16, 32, 64].map(Host::Closed);
    let open = [100, 150, 200, 250, 300, 350].map(Host::Open);
    for gib in [64, 419] {
        for pattern in ["uniform", "hot_cold"] {
            for &host in closed.iter().chain(&open) {
                Case { pattern, gib, scheduling: "shortest_access", host }.print();
            }
        }
        for host in [Host::Closed(1), Host::Closed(8), Host::Open(100)] {
            Case { pattern: "uniform", gib, scheduling: "first_come", host }.print();
        }
    }
}

impl Case {
    fn print(self) {
        let Case { pattern, gib, scheduling, host } = self;
        line(&format!("{pattern} {gib} GiB {scheduling} {host}"), 1e3, self.compare());
    }

    fn compare(self) -> Result<Compared> {
        let Case { pattern, gib, scheduling, host } = self;
        let (arrival, depth) = match host {
            Host::Closed(clients) => (format!("kind = \"closed\", queue_depth = {clients}"), DEPTHS[0]),
            Host::Open(rate) => (format!("kind = \"poisson\", rate = \"{rate} /s\""), DEPTHS[1]),
        };
        let scenario = format!(
            "[workload]\nkind = \"{pattern}\"\nrequests = {REQUESTS}\nfootprint = \"{gib} GiB\"\n\
             arrival = {{ {arrival} }}\n\
             [stack]\npreset = \"disk_15k\"\nscheduling = \"{scheduling}\"\nqueue = {depth}\n"
        );
        let requests = requests(&scenario, REQUESTS);
        let checked = checked(&scenario);
        let mut device = build(&checked, &NoFiles)?.device;
        let config: hdd::Config = checked.scenario.stack.config(&Models::new());
        let disk = Disk::of(&config.mechanics);
        let policy = match scheduling {
            "shortest_access" => Policy::ShortestAccess,
            _ => Policy::FirstCome,
        };
        let firmware = Firmware { policy, depth, age_limit: None };
        let simulated = |load: Load<'_>| Summary::of(&serve(&disk, firmware, &requests, load));
        Ok(compare(&mut *device, simulated, host, &requests))
    }
}
