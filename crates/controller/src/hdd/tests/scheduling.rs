//! Compares the drive with an event simulation of the disk arm, request by request.

use super::{BLOCK, BLOCKS, DRIVE};
use crate::hdd::Config;
use crate::workbench::{models, workbench};
use nacre_kernel::{Op, Random, Request, Streams, Time};
use nacre_media::disk::Disk;
use nacre_testkit::oracle::disk::{Firmware, Policy, serve};
use nacre_testkit::oracle::{Load, Visit};
use nacre_testkit::{conformance, visits};

const POLICIES: [(&str, Policy); 3] = [
    ("first_come", Policy::FirstCome),
    ("shortest_seek", Policy::ShortestSeek),
    ("shortest_access", Policy::ShortestAccess),
];

/// Non-overlapping requests of up to 64 KiB. If `is_skewed`, 90 % of the requests go to 10 % of the disk.
/// Otherwise, addresses are uniformly distributed.
fn requests(count: u64, is_skewed: bool, random: &mut Random) -> Vec<Request> {
    const SLOT: u64 = 16;
    let slots = BLOCKS / SLOT;
    let mut used = std::collections::BTreeSet::new();
    let mut draw = || loop {
        let within = if is_skewed && random.chance(0.9) { slots / 10 } else { slots };
        let slot = random.below(within);
        if used.insert(slot) {
            let bytes = (1 + random.below(SLOT)) as u32 * BLOCK;
            let op = if random.chance(0.7) { Op::Read } else { Op::Write };
            break Request { arrival: Time::ZERO, address: slot * SLOT * 4096, bytes, volume: 0, op };
        }
    };
    (0..count).map(|_| draw()).collect()
}

/// Serves the same requests on the drive and in the event simulation. Returns the results of both.
fn both(options: &str, firmware: Firmware, requests: &[Request], load: Load<'_>) -> [Vec<Visit>; 2] {
    let toml = format!("{DRIVE}write_settle = \"0.4 ms\"\n{options}");
    let mut drive = workbench(1).build(&toml).expect("the test's drive is legal");
    let config: Config = workbench(1).slot(&toml).expect("it is legal").config(models());
    let right = serve(&Disk::of(&config.mechanics), firmware, requests, load);
    [visits(&mut *drive, requests, load), right]
}

#[test]
fn every_request_of_a_closed_loop_is_done_when_an_event_simulation_says() {
    let mut random = Streams::new(11).stream("requests");
    for (name, policy) in POLICIES {
        for (clients, queue) in [(1, 32), (2, 32), (4, 4), (16, 32), (64, 32), (64, 64)] {
            for is_skewed in [false, true] {
                let requests = requests(2_000, is_skewed, &mut random);
                let firmware = Firmware { policy, depth: queue, age_limit: None };
                let options = format!("scheduling = \"{name}\"\nqueue = {queue}");
                let [seen, right] = both(&options, firmware, &requests, Load::Closed { clients });
                assert!(seen == right, "{name}, {clients} clients, queue {queue}, skewed: {is_skewed}");
            }
        }
    }
}

#[test]
fn every_request_of_an_open_loop_is_done_when_an_event_simulation_says() {
    let mut random = Streams::new(12).stream("requests");
    for (name, policy) in POLICIES {
        for rate in [50.0, 150.0, 250.0] {
            let requests = requests(3_000, rate < 200.0, &mut random);
            let mut now = 0.0;
            let mut arrivals = Vec::new();
            for _ in &requests {
                now += random.exponential() / rate;
                arrivals.push(Time::from_secs_f64(now));
            }
            let firmware = Firmware { policy, depth: 32, age_limit: None };
            let options = format!("scheduling = \"{name}\"");
            let [seen, right] = both(&options, firmware, &requests, Load::Open(&arrivals));
            assert!(seen == right, "{name} at {rate} requests per second");
        }
    }
}

/// An age limit shortens the longest waits and reduces throughput.
#[test]
fn a_request_that_is_too_old_goes_first() {
    let mut random = Streams::new(13).stream("requests");
    let requests = requests(6_000, true, &mut random);
    let limit = Time::from_ms(300);
    let firmware = |age_limit| Firmware { policy: Policy::ShortestAccess, depth: 64, age_limit };
    let options = "scheduling = \"shortest_access\"\nqueue = 64\n";
    let load = Load::Closed { clients: 64 };
    let [free, _] = both(options, firmware(None), &requests, load);
    let [limited, right] =
        both(&format!("{options}age_limit = \"300 ms\""), firmware(Some(limit)), &requests, load);
    assert!(limited == right, "with an age limit");
    let longest = |visits: &[Visit]| visits.iter().map(Visit::latency).max().expect("there are requests");
    assert!(longest(&limited) < longest(&free), "{} and {}", longest(&limited), longest(&free));
    let end = |visits: &[Visit]| visits.iter().map(|visit| visit.done).max();
    assert!(end(&limited) > end(&free), "the arm moves further");
}

/// Two requests to the same bytes stay in order if one of them is a write, even if the policy is the
/// shortest access time.
#[test]
fn a_request_never_overtakes_one_that_it_depends_on() {
    let mut drive = workbench(1)
        .build(&format!("{DRIVE}scheduling = \"shortest_access\"\nqueue = 64"))
        .expect("the test's drive is legal");
    let mut random = Streams::new(14).stream("requests");
    let place = |random: &mut Random| random.below(4) * 100_000_000_000;
    let requests: Vec<Request> = (0..4_000)
        .map(|_| {
            let op = if random.chance(0.5) { Op::Read } else { Op::Write };
            Request { arrival: Time::ZERO, address: place(&mut random), bytes: BLOCK, volume: 0, op }
        })
        .collect();
    let seen = visits(&mut *drive, &requests, Load::Closed { clients: 32 });
    for (number, (visit, request)) in seen.iter().zip(&requests).enumerate() {
        for (other, earlier) in seen[..number].iter().zip(requests[..number].iter()).rev().take(64) {
            let depends = request.address == earlier.address && [request.op, earlier.op].contains(&Op::Write);
            assert!(!depends || other.done < visit.done, "request {number} overtakes an earlier one");
        }
    }
}

#[test]
fn every_event_driven_drive_keeps_the_contract() {
    for options in [
        "",
        "scheduling = \"shortest_seek\"\nqueue = 8",
        "scheduling = \"shortest_access\"\nage_limit = \"40 ms\"\nwrite_cache = \"256 KiB\"",
        "scheduling = \"shortest_access\"\nread_ahead = \"512 KiB\"\nwrite_cache = \"64 KiB\"",
        "read_ahead = \"64 KiB\"\nwrite_cache = \"1 MiB\"\nstandby = { after = \"20 ms\", spin_up = \"100 ms\" }",
    ] {
        let toml = format!("{}{options}", DRIVE.replace("600 GB", "64 MiB"));
        for pause in [Time::from_ms(4), Time::from_ms(60)] {
            conformance(pause, || workbench(1).build(&toml).expect("it is legal"));
            conformance(pause, || workbench(1).with_bytes().build(&toml).expect("it is legal"));
        }
    }
}
