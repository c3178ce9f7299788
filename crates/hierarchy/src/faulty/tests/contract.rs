//! Tests of the device contract, and comparisons with the same device without faults.

use super::{BARE, ask, counts, faulty, request, text, with_bytes};
use crate::workbench::{self, MODELS};
use nacre_kernel::event::{Canceled, Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Random, Request, Status, Streams, Time};
use nacre_testkit::{Workbench, conformance, durability};

const DISK: &str = "kind = \"hdd\"\ncapacity = \"3 MiB\"\nrotation = \"15000 /min\"\nheads = 1\n\
    track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
    outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\nwrite_cache = \"64 KiB\"\n";

const DELAY: &str =
    "kind = \"delay\"\nlatency = { kind = \"exponential\", mean = \"40 us\" }\nshare = \"50 %\"";
const SLOW: &str = "kind = \"slow\"\nfactor = 2.5\nevery = 3";
const STALL: &str = "kind = \"stall\"\nstart = \"1 ms\"\nduration = \"700 us\"\nperiod = \"3 ms\"";
const LIMIT: &str =
    "kind = \"limit\"\niops = \"5 kHz\"\nbandwidth = \"100 MB/s\"\nduration = \"2 ms\"\nperiod = \"5 ms\"";
const ERRORS: [&str; 4] = [
    "kind = \"error\"\nshare = \"3 %\"\nafter = \"15 us\"",
    "kind = \"error\"\nat = \"transport\"\nevery = 17",
    "kind = \"failing_flush\"\nperiod = \"9 ms\"\nduration = \"5 ms\"",
    "kind = \"disconnect\"\ntimeout = \"2 ms\"\nstart = \"6 ms\"\nduration = \"1 ms\"\nperiod = \"20 ms\"",
];

fn build(below: &str, faults: &[&str], has_bytes: bool) -> Box<dyn Device> {
    let workbench = Workbench::new(MODELS, 1);
    let workbench = if has_bytes { workbench.with_bytes() } else { workbench };
    workbench::build(&text(below, faults), workbench).expect("it is legal")
}

#[test]
fn it_keeps_the_contract_and_acknowledged_data() {
    let late = [DELAY, SLOW, STALL, LIMIT];
    let all = [&late[..], &ERRORS].concat();
    for below in [BARE, DISK] {
        for pause in [Time::from_us(30), Time::from_ms(1)] {
            for has_bytes in [false, true] {
                conformance(pause, || build(below, &late, has_bytes));
                conformance(pause, || build(below, &all, has_bytes));
            }
            durability(pause, || build(below, &late, true));
        }
    }
}

/// Faults that corrupt data affect neither times nor statuses.
#[test]
fn a_device_that_corrupts_keeps_the_contract_of_time() {
    let wrong = ["lost_write", "torn_write", "misdirected_write", "bit_rot"];
    let faults: Vec<String> =
        wrong.iter().map(|kind| format!("kind = \"{kind}\"\nshare = \"10 %\"")).collect();
    let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
    conformance(Time::from_us(30), || build(BARE, &faults, false));
}

fn script(random: &mut Random, count: u64) -> Vec<(Time, Request, Payload)> {
    let mut now = Time::ZERO;
    let mut any = |number: u64| {
        now += Time::from_us(random.below(60));
        let op = [Op::Read, Op::Write, Op::Write, Op::Trim, Op::Flush][random.below(5) as usize];
        let bytes = if op == Op::Flush { 0 } else { 4096 };
        let data = if op == Op::Write { vec![number as u8; 4096].into() } else { Payload::NONE };
        (now, request(op, random.below(200) * 4096, bytes), data)
    };
    (0..count).map(&mut any).collect()
}

/// Serves a sequence of requests. Returns the number, time, status, and data of every completion.
fn served(device: &mut dyn Device) -> Vec<(u32, Time, Status, Payload)> {
    let mut seen = Vec::new();
    let mut run = |device: &mut dyn Device, until: Time| loop {
        let mut completions = Completions::new();
        device.run(until, &mut completions);
        if completions.is_empty() {
            return;
        }
        seen.extend(completions.iter().map(|of| (of.id.0, of.at, of.status, of.data.clone())));
    };
    for (number, (now, request, data)) in
        script(&mut Streams::new(5).stream("script"), 2000).into_iter().enumerate()
    {
        run(device, now);
        device.submit(now, RequestId(number as u32), &request, data);
    }
    run(device, Time::MAX);
    seen
}

#[test]
fn without_an_active_fault_it_is_the_device_alone() {
    let later = format!("{DELAY}\nstart = \"1000 s\"");
    let nowhere = "kind = \"error\"\nshare = \"0 %\"";
    for below in [BARE, DISK] {
        for has_bytes in [false, true] {
            let workbench = Workbench::new(MODELS, 1);
            let workbench = if has_bytes { workbench.with_bytes() } else { workbench };
            let alone = &mut *workbench::build(&format!("[stack]\n{below}"), workbench).expect("it is legal");
            let expected = served(alone);
            for faults in [&[][..], &[later.as_str(), nowhere]] {
                let mut device = build(below, faults, has_bytes);
                assert!(served(&mut *device) == expected, "{faults:?}");
                let (alone, below) = (alone.report(Time::from_s(1)), device.report(Time::from_s(1)));
                assert_eq!(alone.resources, below.children[0].resources);
                assert_eq!(alone.counters, below.children[0].counters);
                assert_eq!(device.next_event(), Time::MAX);
            }
        }
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let seen = |seed| {
        let workbench = Workbench::new(MODELS, seed);
        let mut device = workbench::build(&text(BARE, &[DELAY, ERRORS[0]]), workbench).expect("legal");
        served(&mut *device)
    };
    assert!(seen(1) == seen(1) && seen(1) != seen(2));
}

#[test]
fn a_request_that_is_held_back_can_be_canceled() {
    let mut device = with_bytes(&["kind = \"limit\"\niops = \"1 kHz\""]);
    let write = request(Op::Write, 0, 4096);
    for number in 0..3 {
        device.submit(Time::ZERO, RequestId(number), &write, vec![number as u8 + 1; 4096].into());
    }
    assert_eq!(device.cancel(Time::from_us(5), RequestId(2)), Canceled::Yes);
    assert_eq!(device.cancel(Time::from_us(5), RequestId(2)), Canceled::TooLate, "it is gone");
    assert_eq!(device.cancel(Time::from_us(5), RequestId(0)), Canceled::TooLate, "it is being written");
    let mut done = Vec::new();
    let mut completions = Completions::new();
    while device.next_event() < Time::MAX {
        completions.clear();
        device.run(Time::MAX, &mut completions);
        done.extend(completions.iter().map(|of| (of.id.0, of.at)));
    }
    assert_eq!(done, [(0, Time::from_us(20)), (1, Time::from_us(1020))]);
    let found = ask(&mut *device, Time::from_ms(5), request(Op::Read, 0, 4096), Payload::NONE).data;
    assert_eq!(found.bytes().expect("bytes")[0], 2, "what was canceled was not written");
    device.check_invariants();
}

#[test]
fn a_power_loss_loses_held_requests() {
    let mut device = with_bytes(&["kind = \"limit\"\niops = \"1 kHz\"", STALL]);
    for number in 0..3 {
        let data = vec![1; 4096].into();
        device.submit(
            Time::ZERO,
            RequestId(number),
            &request(Op::Write, u64::from(number) * 4096, 4096),
            data,
        );
    }
    let at = Time::from_us(500);
    while device.next_event() < at {
        device.run(at, &mut Completions::new());
    }
    device.power_fail(at, &mut Streams::new(1).stream("power"));
    assert_eq!(device.recover(at).done, at);
    assert_eq!(device.next_event(), Time::MAX, "nothing is outstanding");
    device.check_invariants();
    let (read, later) = (request(Op::Read, 0, 8192), Time::from_us(1100));
    let found = ask(&mut *device, later, read, Payload::NONE);
    assert_eq!(found.at, Time::from_us(1700), "the stall is still there");
    let found = found.data.bytes().expect("bytes").to_vec();
    assert!(found[..4096].iter().all(|&byte| byte == 1) && found[4096..].iter().all(|&byte| byte == 0));
}

#[test]
fn a_restarted_ledger_counts_anew() {
    let mut device = faulty(&["kind = \"error\"\nevery = 2"]);
    for turn in 0..3 {
        ask(&mut *device, Time::from_ms(turn), request(Op::Read, 0, 4096), Payload::NONE);
    }
    device.restart_ledger(Time::from_ms(5));
    assert_eq!(counts(&*device, 0), Default::default());
    let fourth = ask(&mut *device, Time::from_ms(6), request(Op::Read, 0, 4096), Payload::NONE);
    assert_eq!(
        fourth.status,
        Status::MediaError,
        "which request fails does not depend on when measuring began"
    );
    assert_eq!(counts(&*device, 0).errors, 1);
}
