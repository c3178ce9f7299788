//! Reads go first, and wait for what has begun: the law of priority without preemption.
//!
//! Reads of the host (1) and other operations (2) come at random, at rates l1 and l2, and take fixed times s1 and s2:
//! loads r = l s. What is under way when something comes takes R = (l1 s1^2 + l2 s2^2) / 2 more on average. Reads
//! wait R / (1 - r1), the others R / ((1 - r1)(1 - r1 - r2)) (Cobham 1954; Kleinrock, *Queueing Systems*, vol. 2,
//! equation 3.31).

use super::super::die::{Die, Suspending};
use super::super::line::Task;
use super::*;
use nacre_kernel::Data;
use nacre_kernel::{Activity, Breakdown};
use nacre_testkit::assert_close;
use nacre_testkit::drive::poisson;
use nacre_testkit::queueing::priority_waits;
use std::collections::VecDeque;

const READ: Time = Time::from_us(50);
const LOADS: [f64; 4] = [0.2, 0.5, 0.8, 0.85];

/// Nothing is suspended.
const NEVER: Suspending = Suspending { suspend: None, resume: Time::ZERO, most: 8 };

/// One die, programs of 500 us and reads of 50 us; nothing else takes time to speak of.
fn one_die(settings: &str) -> Box<dyn Device> {
    drive(&format!(
        "channels = 1\nways = 1\npages = 128\nbus = \"400 GB/s\"\ncommand = \"0 s\"\nlink = \"40000 GB/s\"\n\
         buffer = \"16 MiB\"\n{settings}"
    ))
}

fn latency(device: &mut dyn Device, at: Time, address: u64) -> f64 {
    (device.submit(at, &unit(Op::Read, address), Data::None, &mut Breakdown::new()).done - at).as_secs_f64()
}

#[test]
fn every_read_waits_for_a_program_that_has_begun() {
    let mut device = one_die("");
    device.submit(Time::ZERO, &unit(Op::Write, 1), Data::None, &mut Breakdown::new());
    assert_close("the first", latency(&mut *device, Time::from_us(10), 2), 540e-6, 0.001);
    assert_close("the second", latency(&mut *device, Time::from_us(20), 3), 580e-6, 0.001);
    assert_close("the program is over", latency(&mut *device, Time::from_us(610), 4), 50e-6, 0.005);
}

#[test]
fn every_read_waits_for_a_program_whose_suspensions_are_used_up() {
    let mut device = one_die("suspend = \"10 us\"\nsuspensions = 1");
    device.submit(Time::ZERO, &unit(Op::Write, 1), Data::None, &mut Breakdown::new());
    assert_close("suspends", latency(&mut *device, Time::from_us(10), 2), 60e-6, 0.005);
    // The program ends at 560 us.
    assert_close("the first", latency(&mut *device, Time::from_us(100), 3), 510e-6, 0.001);
    assert_close("the second", latency(&mut *device, Time::from_us(200), 4), 460e-6, 0.001);
}

#[test]
fn a_program_does_not_begin_later_for_a_read_that_ends_before() {
    let mut die = Die::on(0, 64, Time::ZERO);
    let program =
        die.work(Time::ZERO, Time::from_us(100), Time::from_us(500), Task::program(1, Activity::Drain, 1));
    assert_eq!(die.read(Time::from_us(10), READ, &NEVER).start, Time::from_us(10));
    assert_eq!(die.time_of(program), Time::from_us(600), "the die is idle from 60 to 100 us");
    assert_eq!(die.read(Time::from_us(120), READ, &NEVER).start, Time::from_us(600));
}

#[test]
fn a_read_asked_for_later_goes_before_what_had_not_begun_at_its_time() {
    let mut die = Die::on(0, 64, Time::ZERO);
    let programs: Vec<Time> = (0..2_u32)
        .map(|number| {
            die.work(Time::ZERO, Time::ZERO, Time::from_us(500), Task::program(number, Activity::Drain, 1))
        })
        .collect();
    // Both programs are over when the first of the reads comes, which is asked for before the second.
    assert_eq!(die.read(Time::from_us(1_200), READ, &NEVER).start, Time::from_us(1_200));
    assert_eq!(die.read(Time::from_us(200), READ, &NEVER).start, Time::from_us(500));
    die.begin_before(Time::from_us(1_100));
    assert_eq!(die.time_of(programs[1]), Time::from_us(1_050));
    die.check_invariants();
}

/// What a random run of reads and other operations shows: the rates drawn, and mean waits.
struct Waits {
    rates: [f64; 2],
    waits: [f64; 2],
}

/// Half of `load` is reads, half operations of `duration`.
fn waits_on_a_die(load: f64, duration: Time, may_suspend: bool, how: &Suspending) -> Waits {
    let (read, work) = (READ.as_secs_f64(), duration.as_secs_f64());
    let rates = [load / 2.0 / read, load / 2.0 / work];
    let end = (150_000.0 / rates[0]).max(30_000.0 / rates[1]);
    let mut of_reads = poisson(random("reads"), rates[0]).peekable();
    let mut of_work = poisson(random("work"), rates[1]).peekable();
    let (mut counts, mut sums) = ([0_u64; 2], [0.0; 2]);
    let (mut die, mut under_way) = (Die::on(0, 64, Time::ZERO), VecDeque::new());
    let mut last = Time::ZERO;
    while last.as_secs_f64() < end {
        let is_read = of_reads.peek() < of_work.peek();
        let at = if is_read { of_reads.next() } else { of_work.next() }.expect("arrivals go on");
        // Before anything else comes, what ends by now is known for good.
        while let Some((ready, to)) = under_way.pop_front_if(|&mut (_, to)| die.time_of(to) <= at) {
            sums[1] += (die.time_of(to) - duration - ready).as_secs_f64();
            counts[1] += 1;
        }
        if is_read {
            sums[0] += (die.read(at, READ, how).start - at).as_secs_f64();
            counts[0] += 1;
        } else {
            under_way.push_back((at, die.work(at, at, duration, Task { may_suspend, ..Task::erase(1) })));
        }
        last = at;
    }
    die.check_invariants();
    let seconds = last.as_secs_f64();
    Waits {
        rates: counts.map(|count| count as f64 / seconds),
        waits: [0, 1].map(|class| sums[class] / counts[class] as f64),
    }
}

#[test]
fn reads_and_programs_copies_or_erases_wait_as_priority_without_preemption_says() {
    let used_up = Suspending { suspend: Some(Time::from_us(10)), resume: Time::ZERO, most: 0 };
    for (what, duration, may_suspend) in [
        ("programs", Time::from_us(500), true),
        ("copies", Time::from_us(60), false),
        ("erases", Time::from_us(1_500), true),
    ] {
        for load in LOADS {
            for how in [NEVER, used_up] {
                let found = waits_on_a_die(load, duration, may_suspend, &how);
                let expected = priority_waits(found.rates, [READ, duration].map(Time::as_secs_f64));
                let case = format!("{what} at load {load}, {how:?}");
                assert_close(&format!("reads beside {case}"), found.waits[0], expected[0], 0.02);
                assert_close(&case, found.waits[1], expected[1], 0.05);
            }
        }
    }
}

#[test]
fn reads_of_a_drive_beside_programs_wait_as_priority_without_preemption_says() {
    let mut device = one_die("");
    let (mut reads, mut writes) =
        (poisson(random("reads"), 8_000.0).peekable(), poisson(random("writes"), 800.0).peekable());
    let (mut counts, mut sum, mut last) = ([0_u64; 2], 0.0, Time::ZERO);
    while counts[0] < 300_000 {
        if reads.peek() < writes.peek() {
            last = reads.next().expect("arrivals go on");
            sum += latency(&mut *device, last, 51_000 - counts[0] % 1_000) - READ.as_secs_f64();
            counts[0] += 1;
        } else {
            last = writes.next().expect("arrivals go on");
            device.submit(last, &unit(Op::Write, counts[1] % 50_000), Data::None, &mut Breakdown::new());
            counts[1] += 1;
        }
        if counts[0] % 64 == 0 {
            device.advance(last);
        }
    }
    let rates = counts.map(|count| count as f64 / last.as_secs_f64());
    let [expected, _] = priority_waits(rates, [READ.as_secs_f64(), 500e-6]);
    assert_close("reads", sum / counts[0] as f64, expected, 0.02);
}
