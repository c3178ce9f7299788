//! How far disks are from an event simulation of the same arm with the same requests.

use crate::Result;
use crate::streams::{NoFiles, checked, requests};
use nacre_controller::hdd;
use nacre_kernel::{Request, Time};
use nacre_machine::rooms::Rooms;
use nacre_machine::stack::build;
use nacre_media::disk::Disk;
use nacre_testkit::drive::{Seen, closed_loop, open_loop};
use nacre_testkit::oracle::disk::{Firmware, Policy, serve};
use nacre_testkit::oracle::{Load, Summary};

/// Requests of each case, as of the shipped scenario `disk-15k`.
const REQUESTS: u64 = 100_000;
/// Requests among which the disk chooses: more than any closed loop here has clients, and that of the preset in open ones.
const DEPTHS: [usize; 2] = [64, 32];

/// How the host sends requests.
#[derive(Clone, Copy)]
enum Host {
    /// It keeps this many under way.
    Closed(u32),
    /// It sends this many a second, at random times.
    Open(u32),
}

/// One line of the comparison.
#[derive(Clone, Copy)]
struct Case {
    pattern: &'static str,
    gib: u32,
    scheduling: &'static str,
    host: Host,
}

/// Prints the comparison.
pub(crate) fn print() {
    println!(
        "disk_15k without an age limit, {REQUESTS} random reads of 4 KiB, Nacre against an event simulation (right)"
    );
    println!("64: in the first 64 GiB, as in the scenario disk-15k; 419: in 419 GiB, the whole disk");
    println!("closed n: n requests under way; open n: n Poisson arrivals/s; times in ms\n");
    println!(
        "{:30} {:>7} {:>7} {:>6}   {:>7} {:>7} {:>6}   {:>7} {:>7} {:>6}   {:>7} {:>7} {:>6}",
        "",
        "req/s",
        "right",
        "error",
        "mean",
        "right",
        "error",
        "p50",
        "right",
        "error",
        "p99",
        "right",
        "error"
    );
    let closed = [1, 2, 4, 8, 16, 32, 64].map(Host::Closed);
    let open = [100, 150, 200, 250, 300, 350].map(Host::Open);
    for gib in [64, 419] {
        for pattern in ["uniform", "hot_cold"] {
            for host in closed.iter().chain(&open) {
                line(Case { pattern, gib, scheduling: "nearest", host: *host });
            }
        }
        for host in [Host::Closed(1), Host::Closed(8), Host::Open(100)] {
            line(Case { pattern: "uniform", gib, scheduling: "arrival", host });
        }
    }
}

/// Prints one case.
fn line(case: Case) {
    let Case { pattern, gib, scheduling, host } = case;
    let host = match host {
        Host::Closed(clients) => format!("closed {clients}"),
        Host::Open(rate) => format!("open {rate}"),
    };
    let name = format!("{pattern} {gib} {scheduling} {host}");
    match compare(case) {
        Ok([found, right]) => {
            let ms = |time: Time| time.as_secs_f64() * 1e3;
            let values = |of: Summary| [of.per_second, of.mean_s * 1e3, ms(of.p50), ms(of.p99)];
            print!("{name:30}");
            for (found, right) in values(found).into_iter().zip(values(right)) {
                print!(" {found:7.2} {right:7.2} {:+5.1}%  ", 100.0 * (found / right - 1.0));
            }
            println!();
        }
        Err(error) => println!("{name}: {error}"),
    }
}

/// What the product and the event simulation make of the same requests.
fn compare(case: Case) -> Result<[Summary; 2]> {
    let Case { pattern, gib, scheduling, host } = case;
    let (arrival, depth) = match host {
        // The driver sends requests when others are done.
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
    let seen = match host {
        Host::Closed(clients) => {
            closed_loop(&mut *device, clients, REQUESTS, |number| requests[number as usize])
        }
        Host::Open(_) => open_loop(&mut *device, requests.iter().copied()),
    };
    let config: hdd::Config = checked.scenario.stack.config(&Rooms::new());
    let policy = if scheduling == "nearest" { Policy::ShortestAccess } else { Policy::FirstCome };
    let firmware = Firmware { policy, depth, age_limit: None };
    Ok([summary(&seen), simulated(&Disk::of(&config.mechanics), firmware, &requests, host)])
}

/// What the event simulation makes of `requests`.
fn simulated(disk: &Disk, firmware: Firmware, requests: &[Request], host: Host) -> Summary {
    let times: Vec<Time> = requests.iter().map(|request| request.arrival).collect();
    let load = match host {
        Host::Closed(clients) => Load::Closed { clients: clients as usize },
        Host::Open(_) => Load::Open(&times),
    };
    Summary::of(&serve(disk, firmware, requests, load))
}

fn summary(seen: &Seen) -> Summary {
    let quantile = |share| seen.latency.quantile(share).expect("requests were sent");
    Summary { per_second: seen.per_second(), mean_s: seen.mean_s(), p50: quantile(0.5), p99: quantile(0.99) }
}
