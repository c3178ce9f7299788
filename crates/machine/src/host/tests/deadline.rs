//! Compares mq-deadline in the host with a naive simulation.

use super::*;
use crate::host::Deadline;
use crate::models::Models;
use nacre_controller::hdd;
use nacre_kernel::Random;
use nacre_media::disk::Disk;
use nacre_testkit::oracle::Summary;
use nacre_testkit::oracle::deadline::{self, Deadlines};

const DISK: &str = "preset = \"disk_15k\"\nscheduling = \"first_come\"\n";

/// The default parameters of Linux, and parameters for which deadlines and batches end frequently.
const RULES: [Deadlines; 3] = [
    Deadlines { read_expire: Time::from_ms(500), write_expire: Time::from_s(5), batch: 16, starved: 2 },
    Deadlines { read_expire: Time::from_ms(40), write_expire: Time::from_ms(100), batch: 3, starved: 1 },
    Deadlines { read_expire: Time::from_us(900), write_expire: Time::from_us(300), batch: 1, starved: 0 },
];

fn with(rules: Deadlines, queue_depth: u32, stack: &str) -> Hosted {
    let Deadlines { read_expire, write_expire, batch, starved } = rules;
    let deadline = Deadline { read_expire, write_expire, fifo_batch: batch, writes_starved: starved };
    let scheduler = HostScheduler::Deadline(deadline);
    over(HostConfig { timeout: None, queue_depth: Some(queue_depth), scheduler, zone_writes: None }, stack)
}

/// Returns requests of 4 KiB at `slots` addresses, so that some requests have the same address.
fn requests(count: usize, slots: u64, reads: f64, random: &mut Random) -> Vec<Request> {
    let mut draw = || {
        let op = if random.chance(reads) { Op::Read } else { Op::Write };
        Request { address: random.below(slots) << 20, bytes: 4096, op, ..Request::default() }
    };
    (0..count).map(|_| draw()).collect()
}

#[track_caller]
fn agree(what: &str, found: &[Visit], right: &[Visit]) {
    let differs = found.iter().zip(right).position(|(found, right)| found != right);
    assert_eq!(differs, None, "{what}: {:?}, expected {:?}", Summary::of(found), Summary::of(right));
}

#[test]
fn every_request_of_a_disk_is_done_when_a_naive_simulation_says() {
    let config: hdd::Config = checked(DISK).scenario.stack.config(&Models::new());
    let disk = Disk::of(&config.mechanics);
    let mut random = Streams::new(21).stream("requests");
    for rules in RULES {
        for reads in [0.5, 0.9] {
            // The first case covers the whole disk, and the second has so few addresses that many requests
            // share one.
            for slots in [400_000, 40] {
                let requests = requests(3_000, slots, reads, &mut random);
                let rates = [100.0, 170.0];
                let arrivals = rates
                    .map(|rate| poisson(random.clone(), rate).take(requests.len()).collect::<Vec<Time>>());
                let closed = [1, 8, 64].map(|clients| Load::Closed { clients });
                for load in arrivals.iter().map(|times| Load::Open(times)).chain(closed) {
                    let mut device = with(rules, 1, DISK);
                    let found = visits(&mut device, &requests, load);
                    device.check_invariants();
                    let right = deadline::disk(&disk, rules, &requests, load);
                    agree(&format!("{rules:?}, {reads} reads, {slots} places"), &found, &right);
                }
            }
        }
    }
}

#[test]
fn every_request_of_several_slots_is_done_when_a_naive_simulation_says() {
    let mut random = Streams::new(22).stream("requests");
    let requests: Vec<Request> = requests(5_000, 8, 0.6, &mut random)
        .into_iter()
        .map(|request| Request { address: request.address >> 4, ..request })
        .collect();
    for rules in RULES {
        for (servers, slots) in [(1, 1), (3, 3), (8, 3)] {
            let rate = 0.95 * f64::from(slots) / SERVICE.as_secs_f64();
            let arrivals: Vec<Time> = poisson(random.clone(), rate).take(requests.len()).collect();
            for load in [Load::Open(&arrivals), Load::Closed { clients: 32 }] {
                let mut device = with(rules, slots, &measured(servers));
                let found = visits(&mut device, &requests, load);
                let right = deadline::servers(slots as usize, SERVICE, rules, &requests, load);
                agree(&format!("{rules:?}, {slots} of {servers} servers"), &found, &right);
            }
        }
    }
}

/// Tests that reads among many writes wait for one batch of writes with deadlines, and for all writes
/// without deadlines.
#[test]
fn reads_do_not_wait_for_all_writes() {
    let mut random = Streams::new(23).stream("requests");
    let requests = requests(4_000, 400_000, 0.1, &mut random);
    let load = Load::Closed { clients: 128 };
    let mean_s = |device: &mut Hosted| {
        let seen = visits(device, &requests, load);
        let reads: Vec<f64> = seen
            .iter()
            .zip(&requests)
            .filter(|(_, request)| request.op == Op::Read)
            .map(|(visit, _)| visit.latency().as_secs_f64())
            .collect();
        reads.iter().sum::<f64>() / reads.len() as f64
    };
    let first_come = mean_s(&mut hosted(None, Some(1), DISK));
    let mut device = with(RULES[0], 1, DISK);
    let by_deadline = mean_s(&mut device);
    // A batch of 16 writes takes about an eighth of the time of 128 requests.
    assert!(by_deadline < first_come / 4.0, "{by_deadline} s, first come {first_come} s");
    assert!(count(&device, "waited") > 3_000);
}

#[test]
fn requests_that_get_their_slot_after_their_deadline_are_counted() {
    // Requests take 100 us each, one at a time, so request number i starts at 100 us x i.
    let rules = Deadlines { read_expire: Time::from_us(450), ..RULES[0] };
    let mut device = with(rules, 1, &measured(1));
    let seen = visits(&mut device, &reads(10), Load::Open(&[Time::ZERO; 10]));
    assert_eq!(seen.iter().map(Visit::latency).max(), Some(SERVICE * 10));
    assert_eq!((count(&device, "waited"), count(&device, "expired")), (9, 5));
}

#[test]
fn flushes_go_first_and_trims_are_writes() {
    let at = |op, mib: u64| Request { address: mib << 20, bytes: 4096, op, ..Request::default() };
    let flush = Request { bytes: 0, op: Op::Flush, ..Request::default() };
    let requests =
        [at(Op::Trim, 0), at(Op::Write, 9), at(Op::Read, 7), at(Op::Read, 3), at(Op::Write, 1), flush];
    let stack = "kind = \"measured\"\nread = \"100 us\"\nwrite = \"100 us\"\nflush = \"100 us\"\ntrim = \"100 us\"\n\
                 capacity = \"16 MiB\"\n";
    let mut device = with(RULES[0], 1, stack);
    let seen = visits(&mut device, &requests, Load::Open(&[Time::ZERO; 6]));
    let mut order: Vec<usize> = (0..6).collect();
    order.sort_by_key(|&number| seen[number].done);
    assert_eq!(order[..3], [5, 3, 2], "the flush, and the reads by address");
    assert_eq!(order[3..], [0, 4, 1], "the writes by address");
}

#[test]
fn a_host_with_deadlines_keeps_the_contract_of_devices() {
    for rules in RULES {
        for depth in [1, 3] {
            conformance(Time::from_us(120), || Box::new(with(rules, depth, &measured(2))));
        }
    }
}

#[test]
fn deadlines_without_a_queue_are_refused() {
    let refused = |host: &str| record(&format!("{STALL}[host]\n{host}\n")).expect_err(host);
    assert!(refused("scheduler = \"deadline\"").contains("set host.queue_depth"));
    assert!(refused("timeout = \"1 s\"\nscheduler = \"deadline\"").contains("no request waits in the host"));
    let zero = refused("queue_depth = 4\nscheduler = { kind = \"deadline\", fifo_batch = 0 }");
    assert!(zero.contains("host.scheduler.fifo_batch"), "{zero}");
    record(&format!("{STALL}[host]\nqueue_depth = 4\nscheduler = \"deadline\"\n")).expect("it is legal");
}
