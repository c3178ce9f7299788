//! Compares the completion times of requests in submission queues with a simulation of the queues and slots.

use super::*;
use nacre_testkit::oracle::Summary;
use nacre_testkit::oracle::queue::{Fetching, weighted};

const NAMES: [&str; 4] = ["urgent", "high", "medium", "low"];

/// A setting of the drive, with the equivalent parameters of the simulation.
struct Case {
    name: &'static str,
    classes: &'static [usize],
    weights: [usize; 3],
}

const CASES: &[Case] = &[
    Case { name: "round_robin", classes: &[2, 2, 2], weights: [1, 1, 1] },
    Case { name: "weighted_round_robin", classes: &[1, 2, 3], weights: [8, 4, 1] },
    Case { name: "weighted_round_robin", classes: &[3, 0, 1, 1], weights: [3, 2, 1] },
    Case { name: "weighted_round_robin", classes: &[3, 1], weights: [256, 1, 1] },
];

impl Case {
    fn setting(&self, depth: usize) -> String {
        let Case { name, classes, weights: [high, medium, low] } = *self;
        if name == "round_robin" {
            return format!("queue = {{ kind = \"{name}\", depth = {depth} }}\n");
        }
        let classes: Vec<&str> = classes.iter().map(|&class| NAMES[class]).collect();
        let weights = format!("{{ high = {high}, medium = {medium}, low = {low} }}");
        format!(
            "queue = {{ kind = \"{name}\", depth = {depth}, classes = {classes:?}, weights = {weights} }}\n"
        )
    }

    fn fetching(&self) -> Fetching<'_> {
        Fetching { classes: self.classes, weights: self.weights }
    }
}

/// Returns the tenants of `count` requests. If `is_skewed`, 90 % of the requests belong to the first half of
/// the tenants.
fn tenants(count: usize, tenants: usize, is_skewed: bool, random: &mut Random) -> Vec<usize> {
    let mut draw = || {
        let within = if is_skewed && random.chance(0.9) { tenants.div_ceil(2) } else { tenants };
        random.below(within as u64) as usize
    };
    (0..count).map(|_| draw()).collect()
}

/// Returns the arrival times of `count` requests at `rate` requests per second.
fn open(count: usize, rate: f64, random: &mut Random) -> Vec<Time> {
    let mut now = 0.0;
    let mut next = || {
        now += random.exponential() / rate;
        Time::from_secs_f64(now)
    };
    (0..count).map(|_| next()).collect()
}

#[track_caller]
fn agree(what: &str, found: &[Visit], right: &[Visit]) {
    let differs = found.iter().zip(right).position(|(found, right)| found != right);
    assert_eq!(differs, None, "{what}: {:?}, expected {:?}", Summary::of(found), Summary::of(right));
}

/// Compares completion times with a simulation of the queues. Each slot has a processor, and each request
/// is a flush that occupies its processor for 50 us.
#[test]
fn every_request_is_done_when_a_simulation_of_the_queues_says() {
    const COUNT: usize = 3_000;
    let firmware = Time::from_us(50);
    let services = vec![firmware; COUNT];
    let mut random = random("fetching");
    for case in CASES {
        for depth in [1, 2, 7] {
            let settings = format!("{}firmware = \"50 us\"\nprocessors = {depth}\n", case.setting(depth));
            for is_skewed in [false, true] {
                let queues = tenants(COUNT, case.classes.len(), is_skewed, &mut random);
                let flush = |&tenant: &usize| Request { volume: tenant as u32, ..units(Op::Flush, 0, 0) };
                let requests: Vec<Request> = queues.iter().map(flush).collect();
                let rates = [0.5, 0.9, 1.1].map(|load| load * depth as f64 / firmware.as_secs_f64());
                let arrivals = rates.map(|rate| open(COUNT, rate, &mut random));
                let closed = [1, 4, 64].map(|clients| Load::Closed { clients });
                for load in arrivals.iter().map(|times| Load::Open(times)).chain(closed) {
                    let mut device = drive(&settings);
                    let found = visits(&mut *device, &requests, load);
                    device.check_invariants();
                    let right = weighted(depth, case.fetching(), &queues, &services, load);
                    agree(&settings, &found, &right);
                }
            }
        }
    }
}

/// Compares completion times of reads with a simulation of the queues. With one slot, a read of several
/// pages takes as long as on an idle drive, including its waits for dies and channels.
#[test]
fn every_read_of_a_whole_drive_with_one_slot_is_done_when_a_simulation_of_the_queues_says() {
    const COUNT: usize = 2_000;
    let mut random = random("reads");
    let alone = [1, 2, 3, 4].map(|count| driven("").ask(Time::ZERO, &units(Op::Read, 0, count)).latency());
    for case in CASES {
        let queues = tenants(COUNT, case.classes.len(), false, &mut random);
        let sizes: Vec<usize> = (0..COUNT).map(|_| 1 + random.below(4) as usize).collect();
        let services: Vec<Time> = sizes.iter().map(|&size| alone[size - 1]).collect();
        let read = |(&tenant, &size): (&usize, &usize)| Request {
            volume: tenant as u32,
            ..units(Op::Read, 0, size as u32)
        };
        let requests: Vec<Request> = queues.iter().zip(&sizes).map(read).collect();
        let mean = services.iter().map(|service| service.as_secs_f64()).sum::<f64>() / COUNT as f64;
        let arrivals = open(COUNT, 0.9 / mean, &mut random);
        for load in [Load::Open(&arrivals), Load::Closed { clients: 16 }] {
            let found = visits(&mut *drive(&case.setting(1)), &requests, load);
            agree(case.name, &found, &weighted(1, case.fetching(), &queues, &services, load));
        }
    }
}

/// Checks that tenants that always have waiting requests share the throughput of a drive in proportion to
/// their weights, regardless of the flash of the drive.
#[test]
fn classes_share_a_drive_by_weight() {
    let case = Case { name: "weighted_round_robin", classes: &[1, 2, 3], weights: [6, 3, 1] };
    let mut device = driven(&case.setting(4));
    let mut random = random("shares");
    let mut read = |device: &mut Driven, volume| {
        device.submit(device.now, &Request { volume, ..unit(Op::Read, random.below(1_000)) })
    };
    let mut outstanding: Vec<(usize, u32)> =
        (0..48).map(|number| (read(&mut device, number % 3), number % 3)).collect();
    let mut done = [0.0; 3];
    while device.run_once(Time::from_ms(400)) > 0 {
        for (number, volume) in &mut outstanding {
            if device.seen(*number).done < Time::MAX {
                done[*volume as usize] += 1.0;
                *number = read(&mut device, *volume);
            }
        }
    }
    let all: f64 = done.iter().sum();
    for (volume, share) in [0.6, 0.3, 0.1].into_iter().enumerate() {
        assert_close(&format!("tenant {volume}"), done[volume] / all, share, 0.01);
    }
}

/// Checks that an urgent request waits for the request in service, but not for waiting requests of other
/// tenants.
#[test]
fn an_urgent_request_goes_before_all_waiting_requests() {
    let case = Case { name: "weighted_round_robin", classes: &[3, 0], weights: [1, 1, 1] };
    let mut device = driven(&case.setting(1));
    (0..100).for_each(|number| _ = device.submit(Time::ZERO, &unit(Op::Read, number)));
    let urgent = Request { volume: 1, ..unit(Op::Read, 500) };
    let alone = driven("").ask(Time::ZERO, &urgent).latency();
    let late = device.ask(Time::from_us(100), &urgent);
    assert!(late.latency() < alone * 2, "{}", late.latency());
    assert_eq!(late.spent(Activity::Queue), late.latency() - alone);
}

#[test]
fn queues_without_sense_are_refused() {
    let refused = problems("queue = { kind = \"round_robin\" }");
    assert!(refused.contains("queue.depth"), "{refused}");
    let of = |classes: &str, high: u32| {
        format!(
            "queue = {{ kind = \"weighted_round_robin\", depth = 2, classes = {classes}, weights = {{ high = {high}, \
             medium = 1, low = 1 }} }}"
        )
    };
    for (classes, high, path) in
        [("[]", 1, "queue.classes"), ("[\"some\"]", 1, "queue.classes"), ("[\"low\"]", 0, "high")]
    {
        let refused = problems(&of(classes, high));
        assert!(refused.contains(path), "{refused}");
    }
}
